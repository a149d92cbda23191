"""Statements that stand whole in ``.sql`` files, each under a line ``-- name: NAME``."""

import re
from pathlib import Path

NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)


def read_statements(module_file: str, name: str = "") -> dict[str, str]:
    """The statements by name of the ``.sql`` file beside a module (or of the file called ``name`` beside it), without its
    comment lines: psycopg reads a statement of more than 4,096 characters anew each time."""
    path = Path(module_file)
    before, *parts = NAME.split((path.with_name(name) if name else path.with_suffix(".sql")).read_text("utf-8"))
    assert not re.sub(r"--.*", "", before).strip(), f"a statement without a name in {path}"
    return {name: COMMENT.sub("", statement).strip() for name, statement in zip(parts[::2], parts[1::2], strict=True)}
