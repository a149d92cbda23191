"""Estimated tokens of texts and turns. Pure: no tokenizer, no network.

A text is counted the way a byte-pair tokenizer sees it, but only roughly: how many bytes of each kind it has, and how often
one kind follows another – where words, numbers and punctuation begin, where a long word will be cut in two, how many Chinese
characters or emoji there are. Each such count has a weight in tokens, fitted by least squares. The counting is done by
``bytes.translate`` and ``bytes.count``, a fixed number of passes over the text, each as fast as the memory.

Real tokenizers differ more among themselves than this differs from them: from 0.3 tokens a Hindi character to 1.1. The
weights serve two of them, both published: Claude's own of 2023, the last that its maker gave away, and cl100k. Where the two
disagree, they lean to the higher. What a model counts today is learnt from what it reports: see ``token_calibration``.

Measured on messages that were held out, mean error of a message against Claude's and cl100k: English 4–5 % and 6–8 %, code
3 % and 14 %, JSON 2–3 % and 3–6 %, Chinese 13 % and 5 %, Japanese 3 % and 3 %, Russian 4 % and 10 %, Arabic 10 % and 15 %,
Hindi 7 % and 15 %, emoji 6 % and 3 %; none of them more than 15 % under. Shown by ``tests/benchmarks/tokens.py``.
"""

import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conversations.context.turns.groups import without_thinking
from conversations.runtime.word_tables import read_tables

TURN_OVERHEAD = 4
"""Tokens that the envelope of a message takes."""

VOWELS, RARE = "aeiouy", "bfjkqvwxz"
CONSONANTS = "".join(letter for letter in string.ascii_lowercase if letter not in VOWELS + RARE)

# The first byte of a character in UTF-8 tells its script, near enough. Continuation bytes are of no kind.
SCRIPTS = {
    "2": range(0xC2, 0xC3),  # signs of Latin-1
    "L": range(0xC3, 0xC4),  # its letters
    "X": range(0xC4, 0xCC),  # further Latin letters, phonetic signs
    "G": range(0xCC, 0xD0),  # combining marks, Greek
    "C": range(0xD0, 0xD4),  # Cyrillic
    "Y": range(0xD4, 0xD7),  # Armenian
    "H": range(0xD7, 0xD8),  # Hebrew
    "A": range(0xD8, 0xE0),  # Arabic and its neighbours
    "i": range(0xE0, 0xE1),  # Indic scripts, Thai
    "e": range(0xE1, 0xE2),  # Georgian, Ethiopic, Khmer, Latin for Vietnamese
    "S": range(0xE2, 0xE3),  # typographic punctuation, symbols
    "K": range(0xE3, 0xE4),  # kana, punctuation of Chinese and Japanese
    "Z": range(0xE4, 0xEA),  # Chinese characters
    "h": range(0xEA, 0xEE),  # Hangul
    "F": range(0xEE, 0xF0),  # full-width forms, variation selectors
    "E": range(0xF0, 0xF5),  # emoji and all else beyond the basic plane
}


def _table(rest: str, kinds: Mapping[str, str]) -> bytes:
    table = bytearray(rest.encode() * 256)
    for kind, characters in kinds.items():
        for byte in characters.encode():
            table[byte] = ord(kind)
    return bytes(table)


def _with_scripts(table: bytes) -> bytes:
    kinds = bytearray(table[:0x80] + b"-" * 0x80)
    for kind, first_bytes in SCRIPTS.items():
        for byte in first_bytes:
            kinds[byte] = ord(kind)
    return bytes(kinds)


_SPACES = {"d": string.digits, "s": " \t", "n": "\n\r"}
LETTERS = _with_scripts(_table("p", {"v": VOWELS, "c": CONSONANTS, "r": RARE, "U": string.ascii_uppercase} | _SPACES))
"""Byte to kind: vowel, consonant, rare letter, Upper case, digit, space, newline, punctuation, or one of ``SCRIPTS``."""
SHAPES = _table("p", {"l": string.ascii_letters} | _SPACES)[:0x80] + b"x" * 0x43 + b"l" * 3 + b"x" * 0x3A
"""Byte to kind: letter, digit, space, newline, punctuation, anything else."""

ASCII_BUT_SPACE = bytes(set(range(0x80)) - {0x20})

BY_LETTERS, BY_SHAPES, BY_SCRIPTS, BY_CHARACTERS = (
    {pattern.encode("latin-1"): tokens for pattern, tokens in weights.items()}
    for weights in read_tables(__file__).values()
)


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text, in time proportional to its length. At least 1 for a text that isn't empty."""
    if not text:
        return 0
    # The space stands before the first word as before any other; a lone surrogate counts as the character that it isn't.
    raw = f" {text}".encode("utf-8", "surrogatepass")
    total = _weigh(raw.translate(LETTERS), BY_LETTERS) + _weigh(raw.translate(SHAPES), BY_SHAPES)
    if not raw.isascii():
        foreign = raw.translate(None, ASCII_BUT_SPACE)
        total += _weigh(foreign.translate(LETTERS), BY_SCRIPTS) + _weigh(foreign, BY_CHARACTERS)
    return max(1, math.ceil(total))


def _weigh(kinds: bytes, weights: Mapping[bytes, float]) -> float:
    return sum(weight * kinds.count(pattern) for pattern, weight in weights.items())


def text_of(blocks: Iterable[Mapping[str, Any]]) -> str:
    """The text of content blocks, as people read it."""
    return "\n\n".join(block["text"] for block in blocks if _is_text(block))


def turn_tokens(blocks: Sequence[Mapping[str, Any]]) -> int:
    """Estimated tokens of one turn with its envelope."""
    return TURN_OVERHEAD + sum(map(estimate_tokens, countable_texts(blocks)))


def countable_texts(blocks: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """What of a turn takes tokens: its text, and the JSON of blocks other than text – tool calls, results. Thinking doesn't
    count, as no later request holds it."""
    others = (json.dumps(block, ensure_ascii=False) for block in without_thinking(blocks) if not _is_text(block))
    return text_of(blocks), "\n".join(others)


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)
