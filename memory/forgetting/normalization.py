"""Texts as they are compared. Pure."""

import json
import re
import unicodedata
from typing import Any

from memory.language.words import LONGEST_TEXT, alike

SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’»)\]]*\s+|(?<=[。！？])|\n+")


def folded(text: str) -> str:
    """As texts are compared: without case, marks and differences of white space."""
    plain = " ".join(text.split())
    if not plain.isascii():
        plain = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
    return alike(plain.casefold())


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in SENTENCE_END.split(text[:LONGEST_TEXT]) if sentence and sentence.strip()]


def read_json(text: str) -> Any:
    """What a text says as JSON, or else the text."""
    try:
        return json.loads(text) if text.startswith(("[", "{")) else text
    except ValueError:
        return text
