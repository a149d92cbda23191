"""The statements that a piece of code asks of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db.backends.utils import CursorWrapper


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of the database, on whatever connection."""
    asked: list[str] = []
    execute = CursorWrapper.execute

    def noted(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        asked.append(str(sql))
        return execute(self, sql, params)

    with monkeypatch.context() as patched:
        patched.setattr(CursorWrapper, "execute", noted)
        yield asked
