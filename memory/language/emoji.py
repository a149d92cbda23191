"""Pictures of things as the words that they are found by. Pure.

Faces, gestures, people, hearts and what everybody sends with anything tell nothing of what a text is about.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

THINGS = re.compile(
    "[\u2600-\u2604\u260e\u2614\u2615\u26bd\u26be\u26c4\u26ea\u26f0-\u26f5\u26fa\u2708"  # weather, sports, places
    "\U0001f300-\U0001f388\U0001f38c-\U0001f3fa\U0001f400-\U0001f43f"  # nature, food, places, sports, animals
    "\U0001f451-\U0001f45f\U0001f484\U0001f488-\U0001f48a\U0001f48d\U0001f48e\U0001f490\U0001f492"  # clothes
    "\U0001f4a1\U0001f4b0-\U0001f4ff\U0001f526-\U0001f52e\U0001f56f\U0001f570\U0001f576-\U0001f579\U0001f5a5-\U0001f5fe"
    "\U0001f680-\U0001f6ff\U0001f940-\U0001f96f\U0001f97b-\U0001f9af\U0001f9b8-\U0001f9cb\U0001f9e0-\U0001f9ff"
    "\U0001fa70-\U0001fac2\U0001face-\U0001fadf]"  # objects
)
TELLING_NOTHING = frozenset(
    ["and", "black", "building", "face", "heavy", "of", "on", "over", "sign", "slice", "symbol", "the", "white", "with"]
)
EARLY = "\ufe0f☔☕⚽⚾⛄⛪⛵⛺"
"""Beside the mark that asks for a picture, those of old that need none."""
CALLED = {"🚗": "car", "🚙": "car", "☕": "coffee", "💻": "laptop", "⚽": "football", "🍔": "burger", "📱": "phone"}
"""What people call them, where their names are none of it."""


def words_for_things(text: str) -> Iterator[str]:
    """The words of a text's pictures in English, in lower case, in their order."""
    if _may_hold_pictures(text):
        for picture in THINGS.findall(text):
            yield from _words_for(picture)


def _may_hold_pictures(text: str) -> bool:
    """Quick: such a character takes four bytes of UTF-16, or it is one of a few, or has a mark behind it."""
    if text.isascii():
        return False
    return len(text.encode("utf-16-le", "surrogatepass")) > 2 * len(text) or any(map(text.__contains__, EARLY))


@lru_cache(maxsize=2_048)
def _words_for(picture: str) -> tuple[str, ...]:
    named = re.findall("[a-z]+", unicodedata.name(picture, "").lower())
    return tuple(word for word in (*named, *CALLED.get(picture, "").split()) if word not in TELLING_NOTHING)
