"""What one process at a time may do: who has it, who takes over, and what becomes of whoever lost it."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from conversations.models import Lease as Row
from conversations.runtime import leases
from conversations.runtime.leases import Lease, LeaseLost
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

THEIRS = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND "


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    assert not Row.objects.exists()


@pytest.fixture
def lease() -> Iterator[Lease]:
    lease = leases.take("tea")
    assert lease
    yield lease
    leases.give_back(lease)


def pass_over(name: str, holder: uuid.UUID | None = None, **duration: float) -> None:
    changes = {"holder": holder} if holder else {}
    Row.objects.filter(name=name).update(lease_until=timezone.now() + timedelta(**duration), **changes)


def test_one_of_many_that_ask_at_once_has_it(lease: Lease) -> None:
    assert leases.take("tea") is None
    with ThreadPoolExecutor(4) as pool:
        taken = [each for each in pool.map(lambda _: leases.take("coffee"), range(12)) if each]
    (coffee,) = taken
    leases.give_back(coffee)
    again = leases.take("coffee")
    assert again
    leases.give_back(again)


@pytest.mark.parametrize("left", [{"seconds": 0.0}, {"days": 2.0}], ids=["run out", "of a clock that was wrong"])
def test_what_a_dead_process_held_is_taken_over(left: dict[str, float]) -> None:
    Row.objects.create(name="tea", holder=uuid.uuid4(), lease_until=timezone.now() + timedelta(**left))
    with leases.held("tea") as lease:
        assert lease


def test_it_is_renewed_and_taken_again_after_a_crash_that_emptied_the_table(
    lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)
    began = lease.unbroken_since = lease.unbroken_since - 10
    assert lease.others_live()
    Row.objects.all().delete()
    until(lambda: Row.objects.filter(name="tea", holder=lease.holder))
    until(lambda: lease.unbroken_since > began)  # others are to take theirs again, too
    pass_over("tea", seconds=3)
    until(lambda: Row.objects.filter(lease_until__gt=timezone.now() + timedelta(seconds=4)))
    with connection.cursor() as cursor:
        cursor.execute(THEIRS + "application_name = 'openbook leases'")
    pass_over("tea", seconds=3)
    until(lambda: Row.objects.filter(lease_until__gt=timezone.now() + timedelta(seconds=4)))
    assert not lease.lost.is_set()


def test_whoever_comes_too_late_to_renew_it_is_told_and_stores_nothing(
    lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease.confirm()
    pass_over("tea", uuid.uuid4(), seconds=5)
    with pytest.raises(LeaseLost):
        lease.confirm()
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)
    assert lease.lost.wait(30)
    with pytest.raises(LeaseLost):
        lease.check()
    Row.objects.all().delete()
