"""The statement that ranks, as psycopg is given it."""

import re

from psycopg import _queries

from memory.index.ranking import STATEMENT


def test_the_statement_is_short_enough_to_be_read_once_a_connection() -> None:
    """psycopg keeps what it read of a statement of a bounded length and at most 50 parameters."""
    squeezed = " ".join(STATEMENT.split())
    assert (
        len(squeezed) <= _queries.MAX_CACHED_STATEMENT_LENGTH,
        len(set(re.findall(r"%\((\w+)\)s", squeezed))) < 50,
    ) == (True, True)
