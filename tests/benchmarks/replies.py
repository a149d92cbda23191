"""A turn from question to stored answer: its three database steps, beside the least that any store must do."""

import os
import uuid

import psycopg
from django.contrib.auth.models import User
from django.db import connection

from conversations.models import Message, Reply, Thread, text_blocks
from conversations.providers.base import Usage
from conversations.replies import store
from conversations.replies.events import OWNER
from tests.benchmarks.measuring import side_by_side, table
from tests.conversations.factories import make_thread, make_user

TINY = "INSERT INTO bench_tiny (id, body) VALUES (%s, %s)"


def main() -> None:
    user = make_user("writer")
    thread = make_thread(user, [f"turn {n} of a thread that has some history" for n in range(80)])
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"], autocommit=True) as raw:
        raw.execute("CREATE TABLE bench_tiny (id uuid PRIMARY KEY, body text)")
        raw.prepare_threshold = 0
        candidates = {
            "one tiny INSERT and commit": lambda: raw.execute(TINY, (uuid.uuid4(), "x" * 200), prepare=True),
            "a whole turn: user turn, context, snapshot, answer": lambda: whole_turn(user, thread),
        }
        table(
            "storing a turn, its snapshot and its answer",
            side_by_side(candidates, 20),
            limit="one tiny INSERT and commit",
        )
        before = written(raw)
        for _ in range(100):
            whole_turn(user, thread)
        print(f"  WAL of a whole turn, its reply, snapshot and events: {(written(raw) - before) / 100 / 1024:.1f} KiB")


def whole_turn(user: User, thread: Thread) -> None:
    opened = store.open_turn(
        user=user, thread_id=thread.id, assistant=None, blocks=text_blocks("And now?"), client_message_id=None
    )
    store.build_and_record(message_id=opened.message.id, reply_id=opened.reply.id)
    outcome = store.Outcome(status=Reply.Status.COMPLETED, message_status=Message.Status.COMPLETE, usage=Usage())
    store.close(reply_id=opened.reply.id, owner=OWNER, outcome=outcome, text="An answer of a few words.")


def written(raw: psycopg.Connection) -> int:
    row = raw.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchone()
    assert row is not None
    return int(row[0])
