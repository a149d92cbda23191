"""Secrets of the file: it names the variable or the file that holds one, and never the secret itself."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allauth.socialaccount.models import SocialApp
from django.db.models import Model as Row

from conversations.accounts import provider_secrets
from conversations.models import Connection
from conversations.staff.connection_form import kept_secrets
from conversations.staff.plain_values import Unknown

HOLDERS = ("env", "file")


def kept(row: Row) -> dict[str, Any]:
    """What the row has now, by the names that the file has for it: texts, and of headers a text each."""
    if isinstance(row, Connection):
        secrets, _ = kept_secrets(row)
        return {"key": secrets.key, "headers": dict(secrets.headers)}
    if isinstance(row, SocialApp):
        row.secret = ""
        provider_secrets.open_secret(row)
        return {"secret": row.secret}
    return {}


def references(row: Row, label: str) -> dict[str, Any]:
    """Variables to hold what the row has; nothing for what it does not have."""
    written: dict[str, Any] = {}
    for name, secret in kept(row).items():
        if isinstance(secret, Mapping):
            if secret:
                written[name] = {each: {"env": _variable(label, name, each)} for each in sorted(secret)}
        elif secret:
            written[name] = {"env": _variable(label, name)}
    return written


def resolve(reference: Any, before: str) -> str:
    """The secret that it names; what is kept where the variable or the file is not there. Raises ``Unknown``."""
    if not isinstance(reference, dict) or len(reference) != 1 or next(iter(reference)) not in HOLDERS:
        raise Unknown("must name what holds the secret: {env: NAME} or {file: PATH}. Never write the secret itself")
    [(holder, name)] = reference.items()
    if holder == "env":
        found = os.environ.get(str(name), "")
    else:
        path = Path(str(name))
        found = path.read_text().strip() if path.is_file() else ""
    if not (found or before):
        what = f"the variable {name}" if holder == "env" else f"the file {name}"
        raise Unknown(f"{what} holds nothing: set it, or leave this out")
    return found or before


def _variable(*parts: str) -> str:
    return "OPENBOOK_" + "_".join(re.sub(r"[^A-Z0-9]+", "_", part.upper()).strip("_") for part in parts)
