import uuid

import psycopg
import pytest
from django.db import DataError, InternalError, OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.models import Thread
from conversations.runtime.db import is_away, read_only, run, run_often, start_over
from tests.conversations.factories import make_thread

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_read_only_transaction_refuses_every_write_and_the_next_one_does_not() -> None:
    thread = make_thread()
    with pytest.raises(InternalError, match="read-only transaction"), read_only():
        Thread.objects.filter(id=thread.id).update(title="changed")
    assert Thread.objects.filter(id=thread.id).update(title="changed") == 1


def test_a_connection_lost_while_reading_is_said_and_the_next_one_writes() -> None:
    thread = make_thread()
    with pytest.raises(OperationalError, match="terminat"), read_only(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert Thread.objects.filter(id=thread.id).update(title="changed") == 1


COUNT = "SELECT count(*) AS of_this_test FROM pg_prepared_statements WHERE statement LIKE %(like)s"


def test_what_was_prepared_outlives_read_only_transactions_and_their_starting_over() -> None:
    """psycopg forgets all of it where it sees a ROLLBACK, and then every message plans each of its statements anew."""
    counts = []
    for _ in range(4):
        with read_only():
            start_over()
            counts += run(COUNT, like="%of_this_test%")
    assert counts == [(0,), (0,), (1,), (1,)]


OFTEN = "SELECT 12 / %(by)s, %(at)s::timestamptz, %(id)s::uuid"


def test_a_statement_that_is_asked_often_keeps_its_cursor_and_is_seen_by_who_counts() -> None:
    id, at = uuid.uuid4(), timezone.now()
    with read_only(), CaptureQueriesContext(connection) as captured:
        rows = [run_often(OFTEN, {"by": by, "at": at, "id": id}) for by in (3, 4)]
        kept = connection.connection.kept_cursor(OFTEN)
        assert connection.connection.kept_cursor(OFTEN) is kept
    assert rows == [[(4, at, id)], [(3, at, id)]]
    assert len(captured) == 2


def test_a_statement_that_is_asked_often_may_fail_once() -> None:
    values = {"at": timezone.now(), "id": uuid.uuid4()}
    with read_only():
        for _ in range(3):
            assert run_often(OFTEN, values | {"by": 2})[0][0] == 6
            with pytest.raises(DataError, match="division by zero"):
                run_often(OFTEN, values | {"by": 0})
            start_over()
    assert Thread.objects.count() == 0


@pytest.mark.parametrize(
    ("cause", "away"),
    [
        (psycopg.InternalError("received 2 results from command 'BEGIN'"), True),
        (psycopg.errors.InternalError_("no"), False),
    ],
)
def test_an_answer_that_psycopg_cannot_read_is_of_a_database_that_is_away(cause: Exception, away: bool) -> None:
    """As where a pooler whose server died answers one command twice."""
    error = InternalError(str(cause))
    error.__cause__ = cause
    assert is_away(error) is away
