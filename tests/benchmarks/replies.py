"""A turn from question to stored answer: its two database steps, beside the least that any store must do."""

import os
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import product
from typing import Any

import psycopg
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.accounts import tokens
from conversations.context.built_context import Context
from conversations.models import ApiToken, Reply, Thread, text_blocks
from conversations.providers.base import Usage
from conversations.replies.closing import ReplyProgress, close
from conversations.replies.cursor import next_turn, place_in, session_after
from conversations.replies.events import OWNER
from conversations.replies.model_requests import OpenedReply
from conversations.replies.opening import open_turn
from conversations.replies.opening import store_turn as store_opened
from conversations.replies.outcomes import Outcome
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from tests.benchmarks.measuring import BLOCK, side_by_side, table
from tests.conversations.factories import make_thread, make_user

TINY = "INSERT INTO bench_tiny (id, body) VALUES (%s, %s)"
LIMIT = "one tiny INSERT and commit"
RECORDING = "recording a user turn with its reply and snapshot"
TURNS = [f"Turn {n}: the harbour lay quiet, and nobody had yet come down to the boats." for n in range(80)]
QUESTION = "And when did they come down to the boats?"
ANSWER = "They came at first light. The harbour master wrote it down in his book, as every morning."
USAGE = Usage(input_tokens=2_900, output_tokens=80, cache_read_input_tokens=2_400)
REQUESTS = 600


def main(url: str) -> None:
    with raw() as floor, peers(url) as elsewhere:
        sizes(floor)
        floor.execute("CREATE TABLE bench_tiny (id uuid PRIMARY KEY, body text)")
        candidates: dict[str, Callable[[], object]] = {
            LIMIT: lambda: floor.execute(TINY, (uuid.uuid4(), "x" * 200), prepare=True)
        }
        candidates |= recording_candidates() | elsewhere
        floor.execute("VACUUM ANALYZE")  # as autovacuum does; until then PostgreSQL keeps plans for empty tables
        taken = side_by_side(candidates)
    table("storing a turn of 80 turns", taken, limit=LIMIT)
    if elsewhere:
        beside = {name: taken[name] for name in [RECORDING, *elsewhere]}
        table("the same, beside what only stores its items", beside, limit=RECORDING)
    statements()


@contextmanager
def peers(url: str) -> Iterator[dict[str, Callable[[], object]]]:
    """What storing turns costs elsewhere, where that is installed."""
    if not find_spec("agents"):
        yield {}
        return
    from tests.benchmarks.peers.writing import writers  # noqa: PLC0415

    with writers(url) as found:
        yield found


def recording_candidates() -> dict[str, Callable[[], object]]:
    """The two steps of a turn, and the first without building its context, which no other store does.

    They take turns in blocks: what a block of the first step opens, a block of the second ends.
    """
    user = make_user("writer")
    free = deque(make_thread(user, TURNS) for _ in range(BLOCK))
    opened: deque[OpenedReply] = deque()
    spare = deque(make_thread(user, TURNS[:2]) for _ in range(BLOCK * 60))
    recorded = opening(make_thread(user, TURNS)).recorded
    assert recorded is not None
    context = recorded[1]

    def ask() -> None:
        opened.append(opening(free.popleft()))

    def answer() -> None:
        one = opened.popleft()
        ending(one)
        free.append(one.thread)

    def record() -> None:
        store_turn(spare.popleft(), context)

    return {
        RECORDING: record,
        "the same, and building its context of 80 turns": ask,
        "recording the answer and the end": answer,
    }


def opening(thread: Thread, token: ApiToken | None = None) -> OpenedReply:
    return open_turn(NewMessage(user=thread.user, thread_id=thread.id, blocks=text_blocks(QUESTION)), token=token)


def store_turn(thread: Thread, context: Context) -> None:
    """Everything of ``opening`` but the building: the thread is looked at, the turn is made and stored with the request."""
    place = place_in(thread.user, thread.id)
    message = next_turn(place, text_blocks(QUESTION), None)
    assert store_opened(place, message, session_after(place, message.created_at), context)


def ending(opened: OpenedReply) -> None:
    outcome = Outcome(status=Reply.Status.COMPLETED, stop_reason="end_turn", usage=USAGE)
    close(
        reply_id=opened.reply.id,
        user_id=opened.reply.user_id,
        owner=OWNER,
        outcome=outcome,
        progress=ReplyProgress(transcript=ReplyTranscript.of(ANSWER)),
    )


def sizes(floor: psycopg.Connection) -> None:
    """WAL and growth of the tables, a request. Apart from the pages that PostgreSQL writes whole after a checkpoint: they
    are as many as there are pages in use, however little is written to each."""
    floor.execute("ALTER SYSTEM SET autovacuum = off")
    print(f"\n== bytes a request, over {REQUESTS}, at a window of 80 turns")
    for whole_pages, kind in product(("off", "on"), ASKED_WITH):
        floor.execute(f"ALTER SYSTEM SET full_page_writes = {whole_pages}")
        floor.execute("SELECT pg_reload_conf()")
        thread = make_thread(make_user(), TURNS)
        token = issued(thread, **ASKED_WITH[kind]) if kind != A_SESSION else None
        ending(opening(thread, token))
        floor.execute("VACUUM")
        floor.execute("CHECKPOINT")
        asked = answered = 0
        before = {name: heap(floor, name) for name in TABLES}
        for _ in range(REQUESTS):
            start = written(floor)
            opened = opening(thread, token)
            middle = written(floor)
            ending(opened)
            asked, answered = asked + middle - start, answered + written(floor) - middle
        print(f"  full_page_writes={whole_pages}, asked for with {kind}")
        print(f"    WAL of a user turn with its reply and snapshot {asked / REQUESTS:8.0f}")
        print(f"    WAL of the answer and the end                  {answered / REQUESTS:8.0f}")
        for name in TABLES:
            print(f"    growth of {name:<36} {(heap(floor, name) - before[name]) / REQUESTS:8.0f}")
    floor.execute("ALTER SYSTEM RESET autovacuum")
    floor.execute("SELECT pg_reload_conf()")


def issued(thread: Thread, **limits: Any) -> ApiToken:
    tokens.issue(user=thread.user, name="bench", **limits)
    return ApiToken.objects.latest("id")


A_SESSION = "a session"
ASKED_WITH: dict[str, dict[str, int]] = {
    A_SESSION: {},
    "a token": {},
    "a token with limits of its own": {"running_replies": 4, "tokens_day": 10**9},
}
TABLES = [
    f"conversations_{name}" for name in ("contextsnapshot", "contextblock", "message", "reply", "replyevent", "thread")
]


def statements() -> None:
    thread = make_thread(make_user(), TURNS)
    ending(opening(thread))
    with CaptureQueriesContext(connection) as first:
        opened = opening(thread)
    with CaptureQueriesContext(connection) as second:
        ending(opened)
    print(f"\n== statements of a whole turn: {len(first)} to store it and its request, {len(second)} to store the end")
    for query in [*first, *second]:
        print("   ", " ".join(query["sql"].split())[:100])


@contextmanager
def raw() -> Iterator[psycopg.Connection]:
    with psycopg.connect(
        os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"], autocommit=True
    ) as opened:
        opened.prepare_threshold = 0
        yield opened


def written(floor: psycopg.Connection) -> int:
    return int(_count(floor, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def heap(floor: psycopg.Connection, name: str) -> int:
    """Of the table and what it keeps out of line, without indexes."""
    return int(_count(floor, "SELECT pg_table_size(%s)", name))


def _count(floor: psycopg.Connection, statement: str, *values: object) -> int:
    row = floor.execute(statement, values).fetchone()
    assert row is not None
    return int(row[0])
