"""Where the database is slow, a message waits for the files that it brings: nothing else can stand in for them."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection

from conversations.context.files.thread_files import PictureCounter
from conversations.context.gather.files import read_contents, read_outlines
from conversations.context.tokens.factor import PLAIN
from conversations.runtime.db import read_only, start_over
from tests.conversations.factories import make_file
from tests.locks import LOCKS
from tests.processes import database_url
from tests.waiting import until

COUNTER = PictureCounter(are_seen=False, factor=PLAIN)
UNLIMITED = f"{LOCKS} AND NOT granted AND clock_timestamp() - query_start > '0.3 s'"
"""That wait for a lock longer than a statement with a limit would."""


@pytest.mark.django_db(transaction=True)
def test_files_are_waited_for(user: User) -> None:
    id = str(make_file(user, parts=["The costs were 12 euros."]).id)

    def read() -> tuple[int, str]:
        try:
            with read_only():
                start_over(milliseconds=20)
                (outline,) = read_outlines(user.pk, [id], COUNTER).values()
                return len(outline.parts), read_contents([user.pk], [(id, 1)], sees_pictures=False)[id][1].text
        finally:
            connection.close()

    with (
        psycopg.connect(database_url()) as other,
        psycopg.connect(database_url(), autocommit=True) as watcher,
        ThreadPoolExecutor(1) as reader,
    ):
        other.execute("LOCK TABLE conversations_filepart IN ACCESS EXCLUSIVE MODE")
        answer = reader.submit(read)
        until(lambda: watcher.execute(UNLIMITED).fetchall() or answer.done())
        other.rollback()
        assert answer.result(60) == (1, "The costs were 12 euros.")
