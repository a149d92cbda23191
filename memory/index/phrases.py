"""Texts as they are written – beginnings of words, small words – in turns and in parts of files.

The index holds numbers of whole words that count, so it can't tell of these. The newest texts are looked through instead,
those of threads that were written to last, until enough of them are found.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from conversations.models import Thread
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.index.ranking import RankedPassage
from memory.language.words import Sought, term

MOST_THREADS, MOST_TURNS, MOST_PARTS = 1_000, 15_000, 1_500
"""What is looked through; a single thread that has more turns is looked through whole."""
FIRST_TURNS = 3_000
"""Turns that are looked through before all of them, as what is written often stands there."""
ENOUGH_THREADS = 100

HOLDS = {
    # Of ASCII the quick way: one search in a text without capitals.
    True: """strpos(lower(text COLLATE "C"), %(text)s) > 0""",
    False: "text LIKE ANY(%(written)s)",
}
STATEMENTS = {
    is_ascii: {name: statement.replace("{holds}", holds) for name, statement in read_statements(__file__).items()}
    for is_ascii, holds in HOLDS.items()
}


def threads_beginning(user_id: int, text: str, before: Sequence[Sought]) -> dict[uuid.UUID, int]:
    """The threads that hold a text from the start of a word on, in one turn with all of the words before it: the position of
    the newest such turn."""
    found: dict[uuid.UUID, int] = {}
    for threads in _newest(user_id):
        found |= dict(_run("turns", user_id, text, threads=threads, before=_arrays(user_id, before)))
        if len(found) >= ENOUGH_THREADS:
            break
    return found


def parts_beginning(user_id: int, text: str, before: Sequence[Sought]) -> list[int]:
    """The ids of parts of files that hold a text from the start of a word on, and all of the words before it."""
    return [id for (id,) in _run("parts", user_id, text, most=MOST_PARTS, before=_arrays(user_id, before))]


def passages_holding(
    user_id: int,
    text: str,
    *,
    here: uuid.UUID | None,
    before: int,
    for_message: bool,
    wanted: int,
    scope: Mapping[str, Any],
) -> list[RankedPassage]:
    """The newest passages that hold a text, but for those of the thread ``here`` from a depth on; ``for_message``: none that
    ask; ``scope``: whose memory is open."""
    found: list[RankedPassage] = []
    values = {"here": here, "before": before, "for_message": for_message, **scope}
    for threads in _newest(user_id):
        rows = _run("passages", user_id, text, threads=threads, wanted=wanted - len(found), **values)
        found += [RankedPassage(*row) for row in rows]
        if len(found) >= wanted:
            break
    return found


def _run(name: str, user_id: int, text: str, **values: Any) -> list[Any]:
    statement = STATEMENTS[text.isascii()][name]
    return run(statement, user=user_id, pattern=rf"\m{re.escape(text)}", **_written(text), **values)


def _written(text: str) -> Mapping[str, Any]:
    """What stands in a statement for the text: the ways in which it may be written."""
    if text.isascii():
        return {"text": text.lower()}
    written = {text, text.lower(), text.upper(), text.capitalize()}
    return {"written": ["%" + re.sub(r"([\\%_])", r"\\\1", each) + "%" for each in sorted(written)]}


def _newest(user_id: int) -> Iterator[list[uuid.UUID]]:
    newest = (
        Thread.objects.filter(user=user_id, temporary=False).order_by("-updated_at").values_list("id", "message_count")
    )
    threads = list(newest[:MOST_THREADS])
    totals = list(accumulate(count for _, count in threads))
    looked_through = [
        (id, total) for (id, count), total in zip(threads, totals, strict=True) if total <= MOST_TURNS or total == count
    ]
    yield [id for id, total in looked_through if total <= FIRST_TURNS]
    yield [id for id, total in looked_through if total > FIRST_TURNS]


def _arrays(user_id: int, words: Sequence[Sought]) -> list[str]:
    """The terms of each word as PostgreSQL writes an array; arrays of arrays would have to be of one length."""
    return ["{" + ",".join(str(term(user_id, stem)) for stem in word) + "}" for word in words]
