"""From the first released schema on, migrations only go forward, and bring each released database to where a new one begins."""

import psycopg
import pytest

from tests.commands import Commands
from tests.processes import started
from tests.services import fresh_database
from tests.upgrades import (
    LAST,
    RELEASES,
    broken_rules,
    contents_of,
    dump,
    load,
    manage,
    recorded_contents,
    restore,
    schema,
)
from tests.waiting import until

pytestmark = pytest.mark.process
EARLIER = [name for name in RELEASES if name != LAST]


@pytest.mark.wide
@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.operate) for name in EARLIER), LAST])
def test_a_released_database_is_upgraded_with_all_that_it_holds(name: str, forks: Commands, migrated: str) -> None:
    before = recorded_contents(name)
    with fresh_database() as old, fresh_database(migrated) as new:
        restore(name, old)
        manage(forks, old, "migrate", "--verbosity", "0")
        assert as_loaded(old) ^ as_loaded(new) == set()
        assert shipped(new) <= shipped(old)
        after = contents_of(forks, old)
        kept = {table: count for table, count in before["rows"].items() if table not in REMADE}
        added = {table: after["rows"].get(table, 0) - count for table, count in kept.items()}
        assert {table for table, count in added.items() if count} <= SHIPPED.keys() | RECORDED, (
            "rows are only added, by migrations"
        )
        assert min(added.values()) >= 0
        assert (after["proven"], after["pages"]) == (before["proven"], [200])
        answer = manage(forks, old, "chat", "--user", "ada", "--thread", "last", "How many cats do I have?")
        assert "two cats" in answer
        assert contents_of(forks, old)["rows"]["memory_indexedpassage"] > 0, "the index is filled again"


DIFFERS = {
    "conversations.0042_temporary_threads": "its index holds no row yet, and is one pass over threads",
    "conversations.0043_instructions_id": "no release had the table that is made anew",
    "conversations.0045_project_assistant": "no release had the table that gets an index",
    "conversations.0049_token_scopes": "names of scopes become longer: one pass over tokens, which are few",
    "memory.0007_project_scopes": "notes are written once more, and a worker of before can't keep the summary of a day",
}
"""Migrations since the last release that its code can't run beside, with the reason, which CHANGELOG tells operators."""


@pytest.mark.wide
def test_the_last_release_can_run_beside_each_migration_since(forks: Commands) -> None:
    """Nothing that it reads goes or changes, what it inserts is enough, and no table is locked while an index is built."""
    with fresh_database() as old:
        restore(LAST, old)
        assert broken_rules(forks, old).keys() == DIFFERS.keys()
        assert broken_rules(forks, old, "memory.0002_passages"), "the rules find something"


@pytest.mark.operate
def test_a_migration_keeps_nobody_waiting_and_a_worker_waits_for_it(forks: Commands, migrated: str) -> None:
    """A table that somebody reads for long is asked for again and again, each time for a moment."""
    with fresh_database(migrated) as old:
        manage(forks, old, "migrate", "conversations", "0034", "--verbosity", "0")
        with psycopg.connect(old) as reader, started("work", "--skip-checks", DATABASE_URL=old) as worker:
            until(lambda: "waits for `manage.py migrate`" in worker.output)
            reader.execute("SELECT FROM conversations_file LIMIT 1")
            with started("migrate", "--verbosity", "0", DATABASE_URL=old) as migrating:
                until(lambda: "A table is locked by somebody else" in migrating.output)
                with psycopg.connect(old) as another:
                    another.execute("SELECT count(*) FROM conversations_file")
                reader.rollback()
                assert migrating.process.wait(240) == 0, migrating.output
            until(lambda: has_worker(old))
            assert "Traceback" not in worker.output


def has_worker(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT count(*) FROM conversations_lease WHERE name LIKE 'worker%'").fetchone() != (
            0,
        )


def as_loaded(url: str) -> set[str]:
    """The schema as a dump of it makes it: PostgreSQL writes the conditions of a dump otherwise than those of a migration."""
    with fresh_database() as again:
        load(dump(url), again)
        return set(schema(again))


REMADE = {"memory_indexedturn", "memory_vocabulary", "conversations_lease"}
"""What is kept up beside the turns and made anew where a migration gave it another form, and what lasts for seconds."""

SHIPPED = {"artifacts_preset": "slug", "conversations_assistant": "slug", "conversations_model": "provider || name"}
RECORDED = {"conversations_givenright"}
"""What `migrate` notes of what it brought: each right of a group, once."""
"""What a row is known by, of each table that migrations fill."""


def shipped(url: str) -> set[tuple[str, str]]:
    """The rows that migrations bring along, by table and name."""
    with psycopg.connect(url) as connection:
        return {
            (table, name)
            for table, column in SHIPPED.items()
            for (name,) in connection.execute(f"SELECT {column} FROM {table}")  # noqa: S608
        }
