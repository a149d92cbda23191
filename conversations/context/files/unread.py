"""What a file holds and none of its parts does, in words: the same for API, chat, book, admin and model. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any

from conversations.context.reasons import Reason, personal_words
from conversations.context.record.snapshot_shapes import UnreadAnswer

CONTENT = "content"
"""The kind of such a thing, where reasons are worded."""
ALL, ALL_READ = "all of it", "all that could be read"
"""What all parts of a file are together, by whether anything is unread."""
REST = "rest"
MOST_NAMED = 6
"""Kinds of things that a line names."""
MOST_PLACES = 20
"""As many as a file keeps of a kind: there may be more."""


def unread(left_out: Iterable[Any], error: Any = None) -> list[UnreadAnswer]:
    """``left_out`` is as a file keeps it. With the ``error`` of a reading that did not come to its end, the rest is missing."""
    entries = [_answer(each["what"], each["why"], each["count"], each["places"]) for each in left_out]
    if error:
        rest: UnreadAnswer = {"what": REST, "why": Reason.BROKEN_OFF.value, "count": 1, "places": [], "text": ""}
        entries.append(rest | {"text": error["message"]})
    return entries


def things(entry: UnreadAnswer) -> str:
    """Such as ``2 charts``."""
    if entry["why"] == Reason.BROKEN_OFF:
        return f"the {entry['what']}"
    return f"{entry['count']:,} {entry['what']}{'' if entry['count'] == 1 else 's'}"


def listed(entries: Sequence[UnreadAnswer]) -> str:
    """Such as ``2 charts, 3 hidden paragraphs``; of many kinds the first."""
    others = sum(entry["count"] for entry in entries[MOST_NAMED:])
    named = ", ".join(map(things, entries[:MOST_NAMED]))
    return f"{named}, {others:,} other thing{'' if others == 1 else 's'}" if others else named


def _answer(what: str, why: str, count: int, places: Sequence[str]) -> UnreadAnswer:
    entry: UnreadAnswer = {"what": what, "why": why, "count": count, "places": list(places), "text": ""}
    where = f" ({', '.join(places)}{' …' if len(places) >= MOST_PLACES else ''})" if places else ""
    return entry | {"text": f"{things(entry)}: {personal_words(Reason(why), CONTENT)}{where}."}
