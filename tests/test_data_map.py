"""Every table, column, folder and key stands in the data map: what is new and not declared fails here."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import CASCADE, DB_CASCADE, ForeignKey, Model

from conversations.models import data_map
from conversations.models.data_map import STORES, TABLES, UNMODELLED, Fate, Holds, Keep, Table
from conversations.staff.content import MaskedAdmin
from conversations.upkeep import retention

PLAIN = {
    *("boolean", "smallint", "integer", "bigint", "numeric", "double precision", "real", "uuid"),
    *("date", "time without time zone", "timestamp with time zone", "interval"),
}
"""Types that hold no text."""
COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = table_name::regclass)
  AND table_name IN (SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f'))
"""
WITH_WORDS = sorted(label for label, table in TABLES.items() if table.has_words)
WITH_AN_ACCOUNT = sorted(label for label in WITH_WORDS if not TABLES[label].outlives)
RECORDED = {"conversations.ContextBlock", "conversations.ContextSnapshot", "conversations.Reply"}
"""What a model was given and how it ended: made of words, and evidence of its own."""


def declared(table: Table) -> list[str]:
    return [*table.columns, *table.never.split(), *table.staff.split()]


def catalogue() -> Iterator[tuple[str, str]]:
    """Each table of the database, with those of its columns that may hold a text."""
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        for table, column, kind in cursor.fetchall():
            if kind not in PLAIN:
                yield table, column


def known_columns() -> set[tuple[str, str]]:
    by_label = {model._meta.label: model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    of_models = {(by_label[label], column) for label, table in TABLES.items() for column in declared(table)}
    return of_models | {(table, column) for table, columns in UNMODELLED.items() for column in columns.split()}


@pytest.mark.django_db
def test_every_column_that_may_hold_a_text_is_declared_once() -> None:
    assert {*catalogue()} == known_columns()
    assert {model._meta.label for model in apps.get_models(include_auto_created=True)} == {*TABLES}
    for label, table in TABLES.items():
        assert len(declared(table)) == len({*declared(table)}), label


@pytest.mark.django_db
def test_a_new_column_or_table_is_seen_whoever_made_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_topic ADD COLUMN remark text")
        cursor.execute("CREATE TABLE notes_of_a_library (id bigint, tags varchar(9)[])")
    assert {*catalogue()} - known_columns() == {("memory_topic", "remark"), ("notes_of_a_library", "tags")}


def test_a_legal_hold_keeps_every_table_of_words_and_nothing_that_is_made_of_them() -> None:
    of_words = {
        label
        for label, table in TABLES.items()
        if any(column.holds is Holds.WORDS for column in table.columns.values()) and not table.outlives
    }
    assert {label for label, table in TABLES.items() if table.held} == of_words | RECORDED | {"auth.User"}


@pytest.mark.parametrize("label", WITH_AN_ACCOUNT)
def test_what_holds_words_goes_with_its_person(label: str) -> None:
    """By cascade, link by link, whoever deletes the row above: so no row is left behind when an account goes."""
    model: type[Model] = apps.get_model(label)
    for _ in range(5):
        if model is User:
            return
        link = model._meta.get_field(TABLES[model._meta.label].goes_with)
        assert isinstance(link, ForeignKey)
        assert link.remote_field.on_delete in (CASCADE, DB_CASCADE), link
        model = link.remote_field.model
    pytest.fail(f"{label} leads to no account")


@pytest.mark.parametrize("label", WITH_WORDS)
def test_each_column_with_words_says_what_becomes_of_it(label: str) -> None:
    table = TABLES[label]
    with_words = {name: column for name, column in table.columns.items() if column.has_words}
    is_blanked = Fate.BLANKED in (table.forgotten, table.cleared)
    assert {name for name, column in with_words.items() if column.blank is not Keep} == (
        {*with_words} if is_blanked else set()
    )
    assert (Fate.STAYS in (table.forgotten, table.cleared)) == bool(table.stays)
    for name, column in with_words.items():
        assert bool(column.exported) != bool(column.not_exported), name
        assert (column.holds is Holds.DERIVED) == bool(column.of), name


def test_no_table_without_words_is_said_to_lose_any() -> None:
    for label, table in TABLES.items():
        if not table.has_words:
            assert Fate.BLANKED not in (table.forgotten, table.cleared), label


@pytest.mark.django_db
def test_retention_knows_each_kind_that_the_map_names() -> None:
    named = {kind for table in TABLES.values() for kind in table.retained.split()}
    assert named == {kind.name for kind in retention.kinds()}


def test_every_page_of_staff_about_rows_with_words_masks_them() -> None:
    shown: dict[str, Any] = {model._meta.label: its for model, its in admin.site._registry.items()}
    of_words = {label: its for label, its in shown.items() if TABLES[label].has_words}
    assert not [label for label, its in of_words.items() if not isinstance(its, MaskedAdmin)]
    assert of_words.keys() >= {"conversations.Message", "memory.Memory", "artifacts.Artifact", "conversations.File"}
    for label, its in of_words.items():
        names = {column.name for column in its.model._meta.concrete_fields}
        assert {*data_map.content_columns(its.model)} <= names, label


def test_stores_outside_of_the_database_are_settings() -> None:
    for name, store in STORES.items():
        assert hasattr(settings, store.setting), name
        re.compile(store.place)
