"""Sources that may fail: a statement with a time-out that leaves the transaction as it was, and what to say of it (C9)."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DatabaseError, connection
from psycopg.errors import QueryCanceled

from conversations.context.problems import Problem, ProblemKind

# In one round trip. To plan such a statement anew can take longer than to run it.
BEFORE = """\
SAVEPOINT source; SET LOCAL statement_timeout = {milliseconds}; SET LOCAL plan_cache_mode = force_generic_plan"""


def asked(statement: str, values: Mapping[str, Any], *, milliseconds: int) -> Sequence[Any]:
    """The one row of a statement with a time-out. The transaction is left as it was."""
    # Not in pipeline mode: there psycopg takes a statement for prepared whose preparing failed, and it fails ever after.
    with connection.wrap_database_errors:
        connection.connection.execute(BEFORE.format(milliseconds=milliseconds), prepare=False)
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            row: Sequence[Any] = cursor.fetchone()
            return row
    finally:
        with connection.wrap_database_errors:
            connection.connection.execute("ROLLBACK TO SAVEPOINT source", prepare=False)


def problem_of(source: str, error: DatabaseError) -> Problem:
    late = isinstance(error.__cause__, QueryCanceled)
    kind = ProblemKind.TIMED_OUT if late else ProblemKind.ERROR
    return Problem(source=source, kind=kind, message=f"The database did not answer: {cause_of(error)}.")


def cause_of(error: DatabaseError) -> str:
    """By its class alone: messages of the database can quote values."""
    return type(error.__cause__ or error).__name__
