"""From the first released schema on, migrations only go forward, and bring each released database to where a new one begins."""

import psycopg
import pytest

from tests.services import fresh_database
from tests.upgrades import contents_of, dump, load, manage, recorded, recorded_contents, restore, schema

pytestmark = pytest.mark.process


@pytest.mark.parametrize("name", recorded())
def test_a_released_database_is_upgraded_with_all_that_it_holds(name: str, migrated: str) -> None:
    before = recorded_contents(name)
    with fresh_database() as old, fresh_database(migrated) as new:
        restore(name, old)
        manage(old, "migrate", "--verbosity", "0")
        assert as_loaded(old) ^ as_loaded(new) == set()
        assert shipped(new) <= shipped(old)
        after = contents_of(old)
        kept = {table: count for table, count in before["rows"].items() if table not in REMADE}
        added = {table: after["rows"].get(table, 0) - count for table, count in kept.items()}
        assert {table for table, count in added.items() if count} <= SHIPPED.keys(), (
            "rows are only added, by migrations"
        )
        assert min(added.values()) >= 0
        assert (after["proven"], after["pages"]) == (before["proven"], [200])
        answer = manage(old, "chat", "--user", "ada", "--thread", "last", "How many cats do I have?")
        assert "two cats" in answer
        assert contents_of(old)["rows"]["memory_indexedpassage"] > 0, "the index is filled again"


def as_loaded(url: str) -> set[str]:
    """The schema as a dump of it makes it: PostgreSQL writes the conditions of a dump otherwise than those of a migration."""
    with fresh_database() as again:
        load(dump(url), again)
        return set(schema(again))


REMADE = {"memory_indexedturn", "memory_vocabulary"}
"""What is kept up beside the turns, and made anew where a migration gave it another form."""

SHIPPED = {"artifacts_preset": "slug", "conversations_assistant": "slug", "conversations_model": "provider || name"}
"""What a row is known by, of each table that migrations fill."""


def shipped(url: str) -> set[tuple[str, str]]:
    """The rows that migrations bring along, by table and name."""
    with psycopg.connect(url) as connection:
        return {
            (table, name)
            for table, column in SHIPPED.items()
            for (name,) in connection.execute(f"SELECT {column} FROM {table}")  # noqa: S608
        }
