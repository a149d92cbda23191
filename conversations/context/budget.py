"""Token budgets and estimates. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conversations.models import Assistant

TURN_OVERHEAD = 4
"""Tokens that the envelope of a message takes."""

# Estimated characters per token, by what the characters are. English prose has about 4.4 to a token and code about 3.3; one
# token holds about one and a half Chinese characters, and symbols beyond the basic plane take two or three tokens each.
# Per class: pattern, tokens of a run of such characters, tokens of each character of the run.
CLASSES = (
    (r"[A-Za-z]+", 0.55, 0.13),
    (r"[0-9]", 0.0, 0.4),
    (r"[ \t]+", 0.0, 0.05),
    (r"\n", 0.0, 0.5),
    (r"[!-/:-@\[-`{-~]", 0.0, 0.55),
    (r"[\u00a0-\u024f]", 0.0, 0.7),
    (r"[\u0250-\u2fff\ufb00-\ufdff]", 0.0, 0.55),
    (r"[\u3000-\ufaff\ufe00-\uffff]", 0.0, 1.0),
    (r"[\U00010000-\U0010ffff]", 0.0, 2.6),
)
PATTERN = re.compile("|".join(f"({pattern})" for pattern, _, _ in CLASSES))

SHORTENED_MARK = "\n\n[… {count} characters left out here to fit the context …]\n\n"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a context may take, in estimated tokens and turns."""

    history_tokens: int
    history_turns: int
    total_tokens: int
    hard_cap: int

    @classmethod
    def of(cls, assistant: Assistant) -> "Budget":
        return cls(
            history_tokens=assistant.history_tokens_high,
            history_turns=assistant.history_turns_max,
            total_tokens=assistant.total_tokens,
            hard_cap=assistant.hard_cap_tokens,
        )


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text, in one pass and without a tokenizer. At least 1 for a text that isn't empty."""
    if not text:
        return 0
    total = 0.0
    for match in PATTERN.finditer(text):
        _, each_run, each_character = CLASSES[(match.lastindex or 1) - 1]
        total += each_run + each_character * (match.end() - match.start())
    return max(1, round(total))


def text_of(blocks: Iterable[Mapping[str, Any]]) -> str:
    """The text of content blocks, as people read it."""
    return "\n\n".join(block["text"] for block in blocks if block["type"] == "text")


def turn_tokens(blocks: Iterable[Mapping[str, Any]]) -> int:
    """Estimated tokens of one turn with its envelope."""
    return TURN_OVERHEAD + estimate_tokens(text_of(blocks))


def shorten(text: str, tokens: int) -> str:
    """The beginning and the end of a text, with a visible mark between them, in at most so many tokens (W6)."""
    if estimate_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        kept = (low + high + 1) // 2
        low, high = (kept, high) if estimate_tokens(_cut(text, kept)) <= tokens else (low, kept - 1)
    return _cut(text, low)


def _cut(text: str, kept: int) -> str:
    head = kept * 2 // 3
    tail = kept - head
    mark = SHORTENED_MARK.format(count=f"{len(text) - kept:,}")
    return text[:head] + mark + (text[-tail:] if tail else "")
