"""Rows that travel to a statement as JSON, which PostgreSQL turns into rows by itself: one parameter a table, whatever columns
it has. Each statement runs on Django's own connection and in no transaction of ours."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.backends.postgresql.psycopg_any import Jsonb
from django.db.models import Model


def fetch(statement: str, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The only row that the statement gives, by column; ``None`` where it gives none."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
        return row and dict(zip((column.name for column in cursor.description), row, strict=True))


def columns(instance: Model) -> dict[str, Any]:
    """The columns that have a value; PostgreSQL takes the others as absent."""
    values = ((str(field.column), getattr(instance, field.attname)) for field in instance._meta.concrete_fields)
    return {column: value for column, value in values if value is not None}


def as_json(value: Any) -> Jsonb:
    return Jsonb(value, dumps=_dumps)


def _plain(value: Any) -> str:
    match value:
        case bytes():
            return f"\\x{value.hex()}"
        case datetime():
            return value.isoformat()
        case uuid.UUID():
            return str(value)
    raise TypeError(f"{type(value).__name__} has no column")


_dumps = json.JSONEncoder(default=_plain, ensure_ascii=False, separators=(",", ":")).encode
