"""What all requests of an hour came to, by assistant and model. Whole hours are kept as rows, the newest are counted anew.

``figures`` are numbers by name: ``status completed`` and so on; the sums of what was reported and billed, as ``input``,
``output``, ``cache_read``, ``cache_write`` and ``cache_write_hour``, each token once, ``reported`` for how many requests, and
``estimated`` for how many of which the service told nothing, whose estimates are in these sums;
``recalled`` and ``troubled`` for requests with something recalled, or without a source that failed; ``fallback`` for
those asked in place of another model; ``over_budget``;
``left_out fulfilled_artifact`` for turns by reason; ``first_token 31`` and ``took 31`` for requests by the bin of ``BINS`` that
their milliseconds fall into.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate, chain
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Max, Min

from conversations.context.reasons import Reason
from conversations.models import ContextSnapshot, RequestHour, TemporaryHour, Thread
from conversations.providers import prices, refusals
from conversations.providers.price_list import price_list
from conversations.runtime import clock
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.sql_files import read_statements

HOUR = timedelta(hours=1)
SETTLED = timedelta(hours=1)
"""After so long, the requests of an hour have ended."""
STUCK = timedelta(days=1)
"""One that has not ended by then never will be waited for."""
AT_ONCE = timedelta(days=1)
CLOCKS = timedelta(minutes=1)
"""By so much the time within an id may differ from the time of its row."""

BINS = tuple(sorted({round(10 * 1.1**step) for step in range(122)}))
"""Milliseconds at which bins begin, each a tenth longer than the one before; the first bin is what lies below."""

SENT = [reason.value for reason in (Reason.NEWEST, Reason.RECENT, Reason.SHORTENED, Reason.RECALLED)]
COLUMNS = ("hour", "assistant_id", "provider", "model", "above", "figures")
SQL = read_statements(__file__)
PLAIN = SQL["plain_plan"]


class Hour(NamedTuple):
    """The figures of the requests to one model for one assistant that began within an hour."""

    hour: datetime
    assistant: int
    provider: str
    model: str
    above: int
    figures: Counter[str]


def hours(start: datetime, until: datetime) -> Iterator[Hour]:
    """Of all requests that began between these times; ``start`` is a whole hour."""
    since = max(start, kept_until() or start)
    kept = RequestHour.objects.filter(hour__gte=start, hour__lt=since).values_list(*COLUMNS)
    closed = TemporaryHour.objects.filter(hour__gte=start, hour__lt=until).values_list(*COLUMNS)
    for *whose, figures in chain(kept, closed, _count(since, until)):
        yield Hour._make([*whose, Counter(figures)])


def keep(now: datetime) -> None:
    """Keep the figures of all whole hours whose requests have ended, a day at a time."""
    since = kept_until() or _first()
    if since is None:
        return
    until = _whole(min([now - SETTLED, *_pending(now)]))
    while since < until:
        step = min(since + AT_ONCE, until)
        rows = [RequestHour(**dict(zip(COLUMNS, row, strict=True))) for row in _count(since, step)]
        RequestHour.objects.bulk_create(rows, ignore_conflicts=True)
        since = step


def keep_of_temporary(thread: Thread) -> None:
    """What the requests of a temporary chat came to, before they go with it; but for hours that are kept already."""
    since = max(_whole(thread.created_at), kept_until() or _whole(thread.created_at))
    rows = [TemporaryHour(**dict(zip(COLUMNS, row, strict=True))) for row in _count(since, clock.now(), thread.id)]
    for row in rows[:1]:
        row.figures["temporary"] = 1
    TemporaryHour.objects.bulk_create(rows)


def kept_until() -> datetime | None:
    newest: datetime | None = RequestHour.objects.aggregate(Max("hour"))["hour__max"]
    return newest and newest + HOUR


def percentile(figures: Counter[str], name: str, share: float) -> int | None:
    """The milliseconds that this share of the requests did not exceed: the end of a bin, so up to a tenth too many."""
    counts = [figures[f"{name} {number}"] for number in range(len(BINS) + 1)]
    if not (total := sum(counts)):
        return None
    reached = next(number for number, below in enumerate(accumulate(counts)) if below >= share * total)
    return BINS[min(reached, len(BINS) - 1)]


def cost_of(snapshot: ContextSnapshot) -> Decimal | None:
    """USD by what the provider reported, or else by the estimate; ``None`` where nothing or no price is known."""
    if refusals.is_free(stop_reason=snapshot.stop_reason, stop_details=snapshot.stop_details, usage=snapshot.usage):
        return Decimal(0)
    return prices.cost(
        price_list(),
        provider=snapshot.provider,
        model=snapshot.model,
        at=snapshot.created_at,
        usage=snapshot.usage,
    )


def _count(since: datetime, until: datetime, thread: uuid.UUID | None = None) -> Iterator[tuple[Any, ...]]:
    """Rows of ``COLUMNS``, of the requests that began between these times, of one thread where it is named."""
    values: dict[str, Any] = {
        "since": since,
        "until": until,
        "thread": thread,
        "lowest": lowest_uuid7(since - CLOCKS),
        "highest": lowest_uuid7(until + CLOCKS),
        "thresholds": prices.thresholds(price_list()),
        "bins": list(BINS),
        "sent": SENT,
        "refusal": refusals.STOP_REASON,
        "free": list(refusals.FREE_CATEGORIES),
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLAIN)
        cursor.execute(SQL["count_requests"], values)
        rows = cursor.fetchall()
    return ((*whose, json.loads(figures)) for *whose, figures in rows)


def _first() -> datetime | None:
    time: datetime | None = ContextSnapshot.objects.order_by("id").values_list("created_at", flat=True).first()
    return time and _whole(time)


def _pending(now: datetime) -> Sequence[datetime]:
    """When the first request began that has not ended yet."""
    recent = ContextSnapshot.objects.filter(id__gte=lowest_uuid7(now - STUCK), status=ContextSnapshot.Status.PENDING)
    first: datetime | None = recent.aggregate(Min("created_at"))["created_at__min"]
    return [first] if first else []


def _whole(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
