"""Runs of backups, drills and restores are told apart by how they ended."""

import pytest

from config.backups import runs
from conversations.models import MaintenanceRun

pytestmark = pytest.mark.django_db


def test_the_latest_that_succeeded_is_told_with_its_numbers() -> None:
    assert runs.latest(runs.KIND.BACKUP) is None
    with runs.recorded(runs.KIND.BACKUP) as details:
        details["rows"] = 3
    with pytest.raises(OSError), runs.recorded(runs.KIND.BACKUP):
        raise OSError("No space left on device")
    last = runs.latest(runs.KIND.BACKUP)
    assert last
    assert (last.succeeded, last.details, last.ended_at is not None) == (True, {"rows": 3}, True)
    assert runs.latest(runs.KIND.DRILL) is None


def test_a_restore_that_has_not_succeeded_is_known() -> None:
    assert not runs.is_being_restored()
    with runs.recorded(runs.KIND.RESTORE):
        assert runs.is_being_restored()
    with pytest.raises(OSError), runs.recorded(runs.KIND.RESTORE):
        raise OSError("No space left on device")
    assert runs.is_being_restored()
    MaintenanceRun.objects.filter(succeeded=False).delete()
    assert not runs.is_being_restored()
