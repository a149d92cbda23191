"""Turns and files of a person indexed again, after the rules by which texts are found have changed.

The terms are exchanged where they stand, so that all is found meanwhile, by the rules of before or by those of now. Rows of
``StaleIndex``, which a migration makes for everybody, tell who is still to come and how far this is.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from django.db.backends.postgresql.psycopg_any import Jsonb
from django.db.models import QuerySet

from conversations.context.files.ranking import part_terms
from conversations.models import File, FilePart, Message, Thread
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.index import word_index
from memory.index.index_turns import said_turn
from memory.models import StaleIndex

MOST_TURNS, MOST_PARTS = 250, 50

SQL = read_statements(__file__)


def index_anew(user_id: int, alive: Callable[[], bool]) -> None:
    """Go on where the last one stopped. ``alive`` is asked after each thread and file whether there is time for more."""
    stale = StaleIndex.objects.filter(user=user_id).first()
    if stale is None:
        return
    threads, files = Thread.objects.filter(user=user_id), File.objects.filter(user=user_id)
    for thread in _ids_after(threads, stale.thread):
        _index_turns(user_id, thread)
        StaleIndex.objects.filter(user=user_id).update(thread=thread)
        if not alive():
            return
    for file in _ids_after(files, stale.file):
        _index_parts(user_id, file)
        StaleIndex.objects.filter(user=user_id).update(file=file)
        if not alive():
            return
    word_index.count_words(user_id, list(threads.values_list("id", flat=True)))
    StaleIndex.objects.filter(user=user_id).delete()


def _ids_after(rows: QuerySet[Any], last: uuid.UUID | None) -> Iterator[uuid.UUID]:
    ids = rows.order_by("id").values_list("id", flat=True)
    yield from ids.filter(id__gt=last) if last else ids


def _index_turns(user_id: int, thread: uuid.UUID) -> None:
    turns = Message.objects.filter(user=user_id, thread=thread, is_active=True, forgotten_at=None).order_by("position")
    position = 0
    while rows := list(
        turns.filter(position__gt=position).values("thread_id", "depth", "position", "role", "text", "created_at")[
            :MOST_TURNS
        ]
    ):
        passages = [passage for row in rows for passage in word_index.rows_of(user_id, said_turn(row))]
        run(SQL["passages"], user=user_id, rows=Jsonb(passages))
        position = rows[-1]["position"]


def _index_parts(user_id: int, file: uuid.UUID) -> None:
    parts = (
        FilePart.objects.filter(user=user_id, file=file).order_by("number").only("number", "label", "heading", "text")
    )
    number = 0
    while some := list(parts.filter(number__gt=number)[:MOST_PARTS]):
        rows = [
            {"number": part.number, "terms": part_terms(user_id, part.label, part.heading, part.text)} for part in some
        ]
        run(SQL["parts"], user=user_id, file=file, rows=Jsonb(rows))
        number = some[-1].number
