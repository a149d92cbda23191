"""Sealed events pushed to where the settings say: at least once, in the order of their numbers.

How far a destination has come is a row, which moves only once it has taken the events. Whoever is killed in between leaves them
to be sent again. There is one sender for a destination in the whole installation, by a lease; two, while one takes over, would
send some events twice and lose none.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, QuerySet

from conversations.audit import chain, http_destination, syslog_destination
from conversations.audit.destinations import DeliveryFailed, Destination
from conversations.models import AuditDelivery, AuditEvent
from conversations.runtime import clock

log = logging.getLogger("openbook.audit")

AT_ONCE = 250
"""Events of an attempt: some hundred kilobytes."""
FIRST_REST, LONGEST_REST = timedelta(seconds=1), timedelta(minutes=5)
"""After the first attempt that failed; after many of them."""


@dataclass(frozen=True, kw_only=True)
class DeliveryStatus:
    """``waiting``: sealed events that it has not taken; ``behind``: seconds since the oldest of them happened."""

    destination: str
    place: str
    number: int
    waiting: int
    behind: float
    failures: int
    problem: str
    failed_since: datetime | None


def destinations() -> list[Destination]:
    """Those that are set."""
    wanted = [
        (settings.OPENBOOK_AUDIT_PUSH_URL, http_destination.destination),
        (settings.OPENBOOK_AUDIT_SYSLOG, syslog_destination.destination),
    ]
    return [make() for setting, make in wanted if setting]


def step(destination: Destination) -> int:
    """Send the next events, if there are some and it is time to. Returns how many it has taken."""
    row, _ = AuditDelivery.objects.get_or_create(destination=destination.name)
    if row.next_at and row.next_at > clock.now():
        return 0
    events = list(_waiting(row)[:AT_ONCE])
    if not events:
        return 0
    mine = AuditDelivery.objects.filter(destination=row.destination, number=row.number)
    try:
        destination.send(events)
    except DeliveryFailed as error:
        now = clock.now()
        mine.update(
            failures=F("failures") + 1,
            failed_since=row.failed_since or now,
            next_at=now + rest_after(row.failures + 1),
            problem=str(error)[:300],
        )
        log.warning("audit events can't be pushed", extra={"destination": destination.name, "cause": str(error)})
        return 0
    number = events[-1].number
    assert number
    mine.update(number=number, delivered_at=clock.now(), failures=0, failed_since=None, next_at=None, problem="")
    return len(events)


def rest_after(failures: int) -> timedelta:
    """Until the next attempt: twice as long after each that failed."""
    return min(FIRST_REST * (1 << min(failures - 1, 20)), LONGEST_REST)


def status() -> list[DeliveryStatus]:
    """Of the destinations that are set. Two short statements each."""
    return list(_statuses(destinations()))


def delivered_to_all() -> int | None:
    """The last event that every destination has taken; ``None`` where there is no destination. What is after it may not be
    pruned."""
    names = [each.name for each in destinations()]
    if not names:
        return None
    numbers = dict(AuditDelivery.objects.filter(destination__in=names).values_list("destination", "number"))
    return min(numbers.get(name, 0) for name in names)


def send_again(name: str, after: int) -> None:
    """Let a destination begin anew behind this number, at once."""
    AuditDelivery.objects.update_or_create(
        destination=name,
        defaults={"number": after, "failures": 0, "failed_since": None, "next_at": None, "problem": ""},
    )


def _statuses(wanted: Sequence[Destination]) -> Iterator[DeliveryStatus]:
    if not wanted:
        return
    begin, last, now = chain.beginning().number, chain.head().number, clock.now()
    rows = AuditDelivery.objects.in_bulk([each.name for each in wanted])
    for each in wanted:
        row = rows.get(each.name) or AuditDelivery(destination=each.name)
        oldest = _waiting(row).first()
        yield DeliveryStatus(
            destination=each.name,
            place=each.place,
            number=row.number,
            waiting=max(0, last - max(begin, row.number)),
            behind=max(0.0, (now - oldest.at).total_seconds()) if oldest else 0.0,
            failures=row.failures,
            problem=row.problem,
            failed_since=row.failed_since,
        )


def _waiting(row: AuditDelivery) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(number__gt=row.number).order_by("number")
