"""Sources that may fail, and what to say of it: a source costs itself only (C9). Within ``read_only`` alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import DatabaseError, OperationalError, connection
from psycopg.errors import QueryCanceled
from psycopg.pq import Format

from conversations.context.source_problems import Problem, ProblemKind
from conversations.runtime.db import start_over

Row = Sequence[Any]


def fetch_row(statement: str, values: Mapping[str, Any], *, milliseconds: int | None = None) -> Row:
    """The one row of a statement, with a time-out of its own where one is named. What fails leaves the transaction usable."""
    if milliseconds is not None:
        start_over(milliseconds=milliseconds)
    return fetch_rows(statement, values)[0]


def fetch_rows(statement: str, values: Mapping[str, Any], *, binary: bool = False) -> list[Row]:
    """All rows, within the time that statements have by now. ``binary``: ids and times are not spelled out and read again."""
    try:
        with connection.cursor() as cursor:
            if binary:
                cursor.cursor.format = Format.BINARY
            cursor.execute(statement, values)
            return list(cursor.fetchall())
    except DatabaseError:
        start_over()
        raise


def fetch_required(read: Callable[[], list[Row]]) -> list[Row]:
    """The rows of a read that nothing can stand in for: where it takes long, it is waited for."""
    try:
        return read()
    except OperationalError as error:
        if not isinstance(error.__cause__, QueryCanceled):
            raise
        start_over(milliseconds=0)
        return read()


def problem_of(source: str, error: DatabaseError) -> Problem:
    late = isinstance(error.__cause__, QueryCanceled)
    kind = ProblemKind.TIMED_OUT if late else ProblemKind.ERROR
    return Problem(source=source, kind=kind, message=f"The database did not answer: {cause_of(error)}.")


def cause_of(error: DatabaseError) -> str:
    """By its class alone: messages of the database can quote values."""
    return type(error.__cause__ or error).__name__
