"""Statements that stand whole in ``.sql`` files, each under a line ``-- name: NAME``."""

import re
from pathlib import Path

from psycopg import _queries

_queries.MAX_CACHED_STATEMENT_LENGTH = 8_192
"""psycopg reads a longer statement for its parameters anew each time; of itself that is one of more than 4,096 characters."""

NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
BLANK = re.compile(r"^ *(?:--.*\n)?", re.MULTILINE)


def read_statements(module_file: str) -> dict[str, str]:
    """The statements by name of the ``.sql`` file beside a module, without its comment lines and indentation."""
    path = Path(module_file).with_suffix(".sql")
    before, *parts = NAME.split(path.read_text("utf-8"))
    assert not re.sub(r"--.*", "", before).strip(), f"a statement without a name in {path}"
    return {name: BLANK.sub("", statement).strip() for name, statement in zip(parts[::2], parts[1::2], strict=True)}
