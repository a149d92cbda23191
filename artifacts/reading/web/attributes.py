"""The attributes of an element of a page."""

from collections.abc import Mapping

ByName = Mapping[str, str | None]
"""None where there is a name and no value."""
MOST_DIGITS = 6


def whole_number(text: str | None) -> int | None:
    """None where it is none, or one too large to mean anything."""
    digits = (text or "").strip()
    bare = digits.removeprefix("-")
    return int(digits) if bare.isascii() and bare.isdecimal() and len(bare) <= MOST_DIGITS else None
