import psycopg
import pytest
from django.db import InternalError, OperationalError, connection

from conversations.models import Thread
from conversations.runtime.db import is_away, read_only, run, start_over
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
