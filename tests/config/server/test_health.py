"""What probes are told: whether the process answers, and whether requests may be sent to it."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient

from config.postgres.migrations import unapplied
from config.server import draining, health

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _not_seen_yet() -> Iterator[None]:
    health.migrated.complete = False
    yield
    draining.state.leaving = False


async def asked(path: str) -> tuple[int, object]:
    answer = await AsyncClient().get(path)
    return answer.status_code, answer.json()


async def test_a_server_that_is_well_is_live_and_ready() -> None:
    assert await asked("/health/live/") == (200, {"status": "ok"})
    checks = {"database": "ok", "migrations": "ok"}
    assert await asked("/health/ready/") == (200, {"status": "ok", "checks": checks})


async def test_a_server_that_leaves_is_live_but_not_ready() -> None:
    draining.state.leaving = True
    assert await asked("/health/live/") == (200, {"status": "ok"})
    assert await asked("/health/ready/") == (503, {"status": "draining", "checks": {}})


def test_a_migration_that_is_not_applied_is_missed(transactional_db: None) -> None:
    assert unapplied() == []
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("memory", "0001_initial")
    try:
        assert unapplied()
    finally:
        recorder.record_applied("memory", "0001_initial")
