"""How resources are named. Pure."""

import re
import uuid

THREAD, MEMORY, REQUEST = "threads", "memories", "requests"
SCHEME = "openbook://"
KNOWN = re.compile(rf"{SCHEME}({THREAD}|{MEMORY}|{REQUEST})/([^/]+)")


def thread(id: uuid.UUID) -> str:
    return f"{SCHEME}{THREAD}/{id}"


def memory(id: uuid.UUID) -> str:
    return f"{SCHEME}{MEMORY}/{id}"


def request(id: uuid.UUID) -> str:
    return f"{SCHEME}{REQUEST}/{id}"


def template(kind: str) -> str:
    return f"{SCHEME}{kind}/{{id}}"


def parts(uri: str) -> tuple[str, str] | None:
    """The kind and the id; ``None`` where it names nothing that is here."""
    match = KNOWN.fullmatch(uri)
    return (match[1], match[2]) if match else None
