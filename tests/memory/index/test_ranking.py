"""The statement that ranks, as psycopg is given it."""

import re

from memory.index.ranking import STATEMENT


def test_the_statement_is_short_enough_to_be_read_once_a_connection() -> None:
    """psycopg keeps what it read of a statement of at most 4,096 characters and 50 parameters."""
    squeezed = " ".join(STATEMENT.split())
    assert (len(squeezed) < 4_096, len(set(re.findall(r"%\((\w+)\)s", squeezed))) < 50) == (True, True)
