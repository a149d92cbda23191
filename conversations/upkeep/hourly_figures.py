"""What all requests of an hour came to, by assistant and model. Whole hours are kept as rows, the newest are counted anew.

``figures`` are numbers by name: ``status completed`` and so on; the sums of what was reported and billed, as ``input``,
``output``, ``cache_read``, ``cache_write`` and ``cache_write_hour``, each token once, and ``reported`` for how many requests;
``recalled`` and ``troubled`` for requests with something recalled, or without a source that failed; ``over_budget``;
``left_out fulfilled_artifact`` for turns by reason; ``first_token 31`` and ``took 31`` for requests by the bin of ``BINS`` that
their milliseconds fall into.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max, Min

from conversations.context.reasons import Reason
from conversations.models import ContextSnapshot, RequestHour
from conversations.providers import model_catalog, prices, refusals
from conversations.runtime.ids import lowest_uuid7

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

SENT = tuple(reason.value for reason in (Reason.NEWEST, Reason.RECENT, Reason.SHORTENED, Reason.RECALLED))
KEYS = "hour, assistant_id, provider, model, above"

COUNTED = """
WITH request AS MATERIALIZED (
    SELECT date_trunc('hour', snapshot.created_at, 'UTC') AS hour, thread.assistant_id, snapshot.provider, snapshot.model,
           (ARRAY[0] || %(thresholds)s::int[])[1 + width_bucket(
               coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(written, 0) - 1, %(thresholds)s::int[])] AS above,
           snapshot.status, snapshot.purpose, snapshot.runs, told.*,
           (input IS NOT NULL)::int AS reported,
           NOT (snapshot.stop_reason = %(refusal)s AND coalesce(output, 0) = 0
                AND coalesce(snapshot.stop_details ->> 'category', '') = ANY(%(free)s)) AS billed,
           (snapshot.recalled IS NOT NULL)::int AS recalled,
           (snapshot.problems IS NOT NULL)::int AS troubled,
           (snapshot.total_tokens > snapshot.budget AND snapshot.purpose IN ('reply', 'artifact'))::int AS over_budget,
           width_bucket(first_token_ms, %(bins)s::int[]) AS first_token,
           width_bucket((extract(epoch FROM snapshot.ended_at - snapshot.created_at) * 1000)::int, %(bins)s::int[]) AS took
    FROM conversations_contextsnapshot AS snapshot
    JOIN conversations_thread AS thread ON thread.id = snapshot.thread_id
    CROSS JOIN LATERAL jsonb_to_record(snapshot.usage) AS said(
        input_tokens int, output_tokens int, cache_read_input_tokens int, cache_creation_input_tokens int,
        cache_creation_1h_input_tokens int)
    CROSS JOIN LATERAL (
        SELECT said.input_tokens, said.output_tokens, said.cache_read_input_tokens, said.cache_creation_input_tokens,
               said.cache_creation_input_tokens - coalesce(said.cache_creation_1h_input_tokens, 0),
               said.cache_creation_1h_input_tokens
    ) AS told(input, output, cache_read, written, cache_write, cache_write_hour)
    WHERE snapshot.id >= %(lowest)s AND snapshot.id < %(highest)s
      AND snapshot.created_at >= %(since)s AND snapshot.created_at < %(until)s
), counted AS (
    SELECT KEYS, 'status ' || status AS name, count(*) AS number FROM request GROUP BY KEYS, status
    UNION ALL
    SELECT KEYS, 'first_token ' || first_token, count(*) FROM request
    WHERE first_token IS NOT NULL GROUP BY KEYS, first_token
    UNION ALL
    SELECT KEYS, 'took ' || took, count(*) FROM request WHERE took IS NOT NULL GROUP BY KEYS, took
    UNION ALL
    SELECT KEYS, 'left_out ' || split_part(run, ' ', 2), sum(CASE
               WHEN run LIKE '%%/%%' THEN split_part(split_part(run, ' ', 1), '/', 2)::int
               WHEN run LIKE '%%-%%' THEN split_part(split_part(run, ' ', 1), '-', 2)::int - split_part(run, '-', 1)::int + 1
               ELSE 1 END)
    FROM request, string_to_table(runs, ';') AS run
    WHERE split_part(run, ' ', 2) <> ALL(%(sent)s) GROUP BY KEYS, split_part(run, ' ', 2)
    UNION ALL
    SELECT KEYS, sums.* FROM (
        SELECT KEYS, sum(reported) AS reported, sum(input) FILTER (WHERE billed) AS input,
               sum(output) FILTER (WHERE billed) AS output, sum(cache_read) FILTER (WHERE billed) AS cache_read,
               sum(cache_write) FILTER (WHERE billed) AS cache_write,
               sum(cache_write_hour) FILTER (WHERE billed) AS cache_write_hour, sum(recalled) AS recalled,
               sum(troubled) AS troubled, sum(over_budget) AS over_budget
        FROM request GROUP BY KEYS
    ) AS summed, LATERAL (VALUES
        ('reported', reported), ('input', input), ('output', output), ('cache_read', cache_read),
        ('cache_write', cache_write), ('cache_write_hour', cache_write_hour), ('recalled', recalled),
        ('troubled', troubled), ('over_budget', over_budget)
    ) AS sums(name, number) WHERE number > 0
)
SELECT KEYS, jsonb_object_agg(name, number) AS figures FROM counted GROUP BY KEYS
""".replace("KEYS", KEYS)
KEPT = """
SELECT KEYS, figures FROM conversations_requesthour WHERE hour >= %(start)s AND hour < %(since)s UNION ALL
""".replace("KEYS", KEYS)
FOUND = KEPT + "(" + COUNTED + ")"
KEEP = "INSERT INTO conversations_requesthour (" + KEYS + ", figures)" + COUNTED + "ON CONFLICT DO NOTHING"
PLAIN = "SELECT set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)"
"""A plan for these times, not compiled: that takes longer than an hour's requests."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hour:
    """The figures of the requests to one model for one assistant that began within an hour."""

    hour: datetime
    assistant: int
    provider: str
    model: str
    above: int
    figures: Counter[str]


def hours(start: datetime, until: datetime) -> Iterator[Hour]:
    """Of all requests that began between these times; ``start`` is a whole hour. Two statements."""
    since = max(start, kept_until() or start)
    values = _values(since, until) | {"start": start}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLAIN)
        cursor.execute(FOUND, values)
        for hour, assistant, provider, model, above, figures in cursor.fetchall():
            yield Hour(
                hour=hour,
                assistant=assistant,
                provider=provider,
                model=model,
                above=above,
                figures=Counter(json.loads(figures)),
            )


def keep(now: datetime) -> None:
    """Keep the figures of all whole hours whose requests have ended, a day at a time."""
    since = kept_until() or _first()
    if since is None:
        return
    until = _whole(min([now - SETTLED, *_pending(now)]))
    while since < until:
        step = min(since + AT_ONCE, until)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(PLAIN)
            cursor.execute(KEEP, _values(since, step))
        since = step


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


def price_list() -> prices.PriceList:
    """Those of the models, and before them the operator's own."""
    return {**model_catalog.prices(), **own_prices()}


def own_prices() -> prices.PriceList:
    return _own_prices(settings.OPENBOOK_PRICES)


_own_prices = lru_cache(maxsize=1)(prices.own)


def cost_of(snapshot: ContextSnapshot) -> Decimal | None:
    """USD by what the provider reported; ``None`` where it reported nothing or no price is known."""
    if refusals.is_free(stop_reason=snapshot.stop_reason, stop_details=snapshot.stop_details, usage=snapshot.usage):
        return Decimal(0)
    return prices.cost(
        price_list(),
        provider=snapshot.provider,
        model=snapshot.model,
        at=snapshot.created_at,
        usage=snapshot.usage,
    )


def _values(since: datetime, until: datetime) -> dict[str, Any]:
    return {
        "since": since,
        "until": until,
        "lowest": lowest_uuid7(since - CLOCKS),
        "highest": lowest_uuid7(until + CLOCKS),
        "thresholds": prices.thresholds(price_list()),
        "bins": list(BINS),
        "sent": list(SENT),
        "refusal": refusals.STOP_REASON,
        "free": list(refusals.FREE_CATEGORIES),
    }


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
