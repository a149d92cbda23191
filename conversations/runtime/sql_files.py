"""Statements that stand whole in ``.sql`` files, each under a line ``-- name: NAME``. What several share stands once, as a
part, and a line ``-- part: NAME`` in its place."""

import re
from collections.abc import Mapping
from pathlib import Path

from psycopg import _queries

_queries.MAX_CACHED_STATEMENT_LENGTH = 12_288
"""psycopg reads a longer statement for its parameters anew each time; of itself that is one of more than 4,096 characters."""

NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
PART = re.compile(r"^-- part: (\w+)$", re.MULTILINE)
BLANK = re.compile(r"^ *(?:--.*\n)?", re.MULTILINE)


def read_statements(module_file: str, parts: Mapping[str, str] | None = None) -> dict[str, str]:
    """The statements by name of the ``.sql`` file beside a module, without its comment lines and indentation, with ``parts`` of
    others where they name one."""
    path = Path(module_file).with_suffix(".sql")
    text = PART.sub(lambda line: (parts or {})[line[1]], path.read_text("utf-8"))
    before, *pieces = NAME.split(text)
    assert not re.sub(r"--.*", "", before).strip(), f"a statement without a name in {path}"
    return {name: BLANK.sub("", statement).strip() for name, statement in zip(pieces[::2], pieces[1::2], strict=True)}
