"""JSON that is counted before it is made: a body of some bytes may hold a value in each three of them, which takes forty times
as much memory."""

import json
import re
from typing import Any

STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")
MOST_VALUES, DEEPEST = 20_000, 100


class TooManifold(ValueError):
    """Says what is too much."""


def loads(text: bytes | str) -> Any:
    """The value. Raises ``TooManifold``, and ``ValueError`` where it is no JSON or holds a number that is none."""
    check(text if isinstance(text, bytes) else text.encode(errors="surrogatepass"))
    return json.loads(text, parse_constant=_no_constant)


def check(body: bytes, *, most: int = MOST_VALUES) -> None:
    """Raise ``TooManifold`` where so many values would be made, or too deep a one."""
    bare = STRING.sub(b"", body)
    if sum(map(bare.count, (b",", b"[", b"{"))) > most:
        raise TooManifold(f"The JSON holds more than {most:,} values. Send less at once.")
    level = 0
    for bracket in bare.translate(None, NO_BRACKETS):
        level += 1 if bracket in b"[{" else -1
        if level > DEEPEST:
            raise TooManifold(f"The JSON is nested more than {DEEPEST} levels deep.")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number in JSON")
