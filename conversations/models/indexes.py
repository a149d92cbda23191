"""Keys without an index, and indexes that storing a request leaves alone.

A BRIN index tells of each 16 pages of the table what they may hold. It is filled by the vacuum, not by who writes a row, and
on PostgreSQL 16 and newer a change of its columns is still a HOT update.
"""

from typing import Any

from django.contrib.postgres.indexes import BrinIndex
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import DO_NOTHING, Func, IntegerField, Model, TextField
from django.db.models.lookups import Exact

UNCHECKED: dict[str, Any] = {"on_delete": DO_NOTHING, "db_constraint": False, "db_index": False}
"""Of a foreign key that names a row and does not hold on to it: PostgreSQL neither looks nor locks."""
BLOOM = "text_bloom_ops(n_distinct_per_range=16)"
"""A text by its equality; few different ones stand together in so many pages."""
PAGES = 16


class SummaryIndex(BrinIndex):
    def __init__(self, *expressions: Any, **options: Any) -> None:
        super().__init__(*expressions, **({"autosummarize": True, "pages_per_range": PAGES} | options))


class ChangingSummaryIndex(SummaryIndex):
    """Of columns that the end of a request changes. PostgreSQL 15, where that is no HOT update then, goes without it."""

    def create_sql(
        self, model: type[Model], schema_editor: BaseDatabaseSchemaEditor, using: str = "", **kwargs: Any
    ) -> Statement:
        if schema_editor.connection.pg_version < 160_000:  # type: ignore[attr-defined]
            return Statement("SELECT 1")
        return super().create_sql(model, schema_editor, using=using, **kwargs)

    def remove_sql(  # type: ignore[override]
        self, model: type[Model], schema_editor: BaseDatabaseSchemaEditor, **kwargs: Any
    ) -> Statement:
        return Statement("DROP INDEX IF EXISTS %(name)s", name=schema_editor.quote_name(self.name))


class Flag(Func):
    """1 or 0, as PostgreSQL has no BRIN for booleans. Constants stand in the SQL itself, or no index would know them again."""

    output_field = IntegerField()

    def is_set(self) -> Exact[int]:
        return Exact(self, 1)


class Tells(Flag):
    """Whether the runs of a snapshot name a reason: at the end of a run that was left out, before the tokens of one sent."""

    template = (
        "((strpos((%(expressions)s || ';'), ' %(reason)s;') + strpos(%(expressions)s, ' %(reason)s ')) > 0)::integer"
    )


class Exceeds(Flag):
    template = "(%(expressions)s)::integer"
    arg_joiner = " > "


class IsThere(Flag):
    template = "(%(expressions)s IS NOT NULL)::integer"


class ErrorCode(Func):
    # Never NULL: to a range of nothing but NULLs, each further one is news that PostgreSQL writes down.
    template = "coalesce(%(expressions)s ->> 'code', '')"
    output_field = TextField()
