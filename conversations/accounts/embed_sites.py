"""The sites that show a small chat: who they are is the operator's to say, as a setting of JSON."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured

NAME = "OPENBOOK_EMBED_SITES"
SHORTEST_SECRET = 32
ORIGIN = re.compile(r"https?://[^/\s]+")
KEYS = {"secret", "origins", "group"}


@dataclass(frozen=True)
class EmbedSite:
    """``secret`` signs its assertions. Its chats are shown by pages of ``origins`` alone, and their people are in ``group``;
    empty: in none."""

    secret: str
    origins: tuple[str, ...]
    group: str = ""


def embed_sites(text: str) -> Mapping[str, EmbedSite]:
    """By name. Raises ``ImproperlyConfigured``."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise ImproperlyConfigured(f"{NAME} is no JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ImproperlyConfigured(f'{NAME} must be an object such as {{"shop": {{"secret": "…", "origins": ["…"]}}}}.')
    return {name: _site(name, fields) for name, fields in value.items()}


def _site(name: str, fields: Any) -> EmbedSite:
    if not isinstance(fields, dict) or fields.keys() - KEYS or not re.fullmatch(r"[a-z0-9-]{1,20}", name):
        raise ImproperlyConfigured(
            f"{NAME}: {name!r} must be lower-case letters, digits and dashes, and have a secret, origins and maybe a group."
        )
    secret, origins, group = fields.get("secret"), fields.get("origins"), fields.get("group", "")
    if not isinstance(secret, str) or len(secret) < SHORTEST_SECRET:
        raise ImproperlyConfigured(f"{NAME}: the secret of {name} must have {SHORTEST_SECRET} characters at least.")
    if not isinstance(origins, list) or not origins or not all(map(_is_origin, origins)):
        raise ImproperlyConfigured(f'{NAME}: the origins of {name} must be a list such as ["https://shop.example"].')
    return EmbedSite(secret=secret, origins=tuple(origins), group=str(group))


def _is_origin(value: Any) -> bool:
    return isinstance(value, str) and bool(ORIGIN.fullmatch(value))
