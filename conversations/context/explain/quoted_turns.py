"""Which lines of what stands beside a message quote an earlier turn, and where the whole of it stands. Pure.

A line says neither: it is told by its words, which must be those of the turn as it is stored today.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conversations.context.record.snapshot_shapes import QuotedTurnAnswer
from conversations.providers.markers import RECALLED
from conversations.providers.quoting import quoted_lines
from conversations.runtime.text import clean


def quoted_turns(text: str, recalled: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> list[QuotedTurnAnswer]:
    """By line. ``recalled`` are items of turns as a snapshot has them, ``texts`` what these turns say, by their ids."""
    before, heading, block = text.rpartition(f"{RECALLED}\n")
    if not heading:
        return []
    left = [(item, pieces) for item in recalled if (pieces := _pieces(item, texts.get(item["id"], "")))]
    quoted: list[QuotedTurnAnswer] = []
    for line, words in _quotations(block, before.count("\n") + 2):
        for item, pieces in left:
            if words == pieces[0] or (item.get("passages") and _are_in_order(pieces, words)):
                quoted.append({"line": line, "thread": item["thread"], "position": item["position"]})
                left.remove((item, pieces))
                break
    return quoted


def _quotations(block: str, first_line: int) -> Iterator[tuple[int, str]]:
    return ((first_line + place, line.text) for place, line in quoted_lines(block) if not line.is_note)


def _pieces(item: Mapping[str, Any], text: str) -> list[str]:
    """What a line that quotes the turn holds of it: all of it, or the passages that were given, as one line each."""
    parts = item.get("passages") or [{"start": 0, "end": len(text), "included": item["included"]}]
    lines = (" ".join(clean(text[part["start"] : part["end"]]).split()) for part in parts if part["included"])
    return [line for line in lines if line]


def _are_in_order(pieces: Sequence[str], words: str) -> bool:
    end = 0
    for piece in pieces:
        start = words.find(piece, end)
        if start < 0:
            return False
        end = start + len(piece)
    return True
