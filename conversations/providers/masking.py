"""What a service answers beside its content, without the secrets that it was sent: it may repeat them in any field. Pure."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from conversations.providers.base import (
    Finished,
    ProviderEvent,
    ThinkingDone,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    UsageSoFar,
)
from conversations.providers.model_listing import OfferedModel

PIECE = 8
"""Characters in a row of a secret that are taken out wherever they stand."""
KEYLIKE = re.compile(r"[\w.~+/=%-]{16,}")
"""Another secret – a word, an address, a sentence – is taken out as a whole alone: its pieces are words."""
MARK = "…"
DROPPED = {0: 0, 1: 2, 2: 3}
"""Characters of base64 that what stands before a secret has a part in, by the count of its bytes, modulo 3."""


class Mask:
    """Of the secrets of one endpoint, as they are, encoded, or cut short; upper and lower case are alike. What is shorter than
    ``PIECE`` is none: local servers are given words such as "none"."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        parts = {part for secret in secrets for part in (secret, *secret.split()) if len(part) >= PIECE}
        whole = {form for part in parts if not KEYLIKE.fullmatch(part) for form in written_forms(part)}
        self._whole = re.compile("|".join(map(re.escape, sorted(whole, key=len, reverse=True))), re.IGNORECASE)
        keys = (form.lower() for part in parts if KEYLIKE.fullmatch(part) for form in written_forms(part))
        self._pieces = {form[at : at + PIECE] for form in keys for at in range(len(form) - PIECE + 1)}
        self._has_whole = bool(whole)

    def text(self, text: str) -> str:
        if self._has_whole:
            text = self._whole.sub(MARK, text)
        lowered = text.lower()
        if not self._pieces or len(lowered) != len(text):  # as for letters whose lower case is two
            lowered = text
        starts = [at for at in range(len(lowered) - PIECE + 1) if lowered[at : at + PIECE] in self._pieces]
        kept: list[str] = []
        end = 0
        for start in starts:
            if start > end or not kept:
                kept += [text[end:start], MARK]
            end = start + PIECE
        return "".join([*kept, text[end:]])

    def deep(self, value: Any) -> Any:
        """Each text of a JSON value, names as well."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(name): self.deep(part) for name, part in value.items()}
            case list():
                return [self.deep(part) for part in value]
        return value

    def event(self, event: ProviderEvent) -> ProviderEvent:
        """Content is left as it is: texts, what the model thinks, the input of a tool."""
        match event:
            case UsageSoFar() | Finished():
                texts = {name: self.deep(value) for name, value in vars(event).items() if name != "usage"}
                return replace(event, **texts)
            case ToolStarted() | ToolCalled():
                return replace(event, id=self.call_id(event.id), name=self._name(event.name))
            case ToolDelta():
                return replace(event, id=self.call_id(event.id))
            case ThinkingDone():
                block = {name: part if name == "thinking" else self.deep(part) for name, part in event.block.items()}
                return replace(event, block=block)
        return event

    def model(self, model: OfferedModel) -> OfferedModel:
        return replace(model, id=self.text(model.id), label=self.text(model.label))

    def call_id(self, id: str) -> str:
        """Unlike those of other calls still, and one that a service takes back."""
        return id if self.text(id) == id else f"call_{sha256(id.encode()).hexdigest()[:24]}"

    def _name(self, name: str) -> str:
        return name if self.text(name) == name else "unnamed"


@lru_cache(maxsize=256)
def mask_of(secrets: tuple[str, ...]) -> Mask:
    return Mask(secrets)


def written_forms(secret: str) -> Iterator[str]:
    """As it is, in an address, in hexadecimal, and in base64 after any other bytes."""
    encoded = secret.encode()
    yield from (secret, quote(secret, safe=""), encoded.hex())
    for before, dropped in DROPPED.items():
        for encode in (b64encode, urlsafe_b64encode):
            written = encode(b"\0" * before + encoded).decode().rstrip("=")
            yield written[dropped : len(written) - (0 if (before + len(encoded)) % 3 == 0 else 1)]
