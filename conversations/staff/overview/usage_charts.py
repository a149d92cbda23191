"""What all model requests came to over time: figures of hours, added up by what is asked for, as charts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils import timezone

from conversations.context.reasons import Reason
from conversations.providers import prices
from conversations.staff import display
from conversations.staff.overview import charts
from conversations.staff.overview.charts import Chart, Series, Value
from conversations.upkeep import hourly_figures
from conversations.upkeep.hourly_figures import Hour

STATUSES = ("completed", "stopped", "interrupted", "failed", "pending")
USED = {
    "cache_read": ("read from the cache", ["cache_read"]),
    "cache_write": ("written to it", ["cache_write", "cache_write_hour"]),
    "input": ("other input", ["input"]),
    "output": ("output", ["output"]),
}
"""What the chart of tokens stacks, and the figures that each of it is the sum of."""
SHARES = {"p50": 0.5, "p95": 0.95}
LEFT_OUT = (
    Reason.OVER_BUDGET,
    Reason.TURN_LIMIT,
    Reason.FULFILLED_ARTIFACT,
    Reason.REFUSED,
    Reason.FAILED,
    Reason.OFFLINE,
    Reason.SUPERSEDED,
    Reason.ORPHAN_TOOL,
    Reason.OUTSIDE_PART,
)


@dataclass(frozen=True, kw_only=True)
class Range:
    """A stretch of time up to now, and the steps in which it is shown."""

    slug: str
    label: str
    step: timedelta
    steps: int
    shown: str


RANGES = (
    Range(slug="24h", label="24 hours", step=timedelta(hours=1), steps=24, shown="%H:%M"),
    Range(slug="7d", label="7 days", step=timedelta(hours=6), steps=28, shown="%b %d %H:%M"),
    Range(slug="30d", label="30 days", step=timedelta(days=1), steps=30, shown="%b %d"),
)


@dataclass(frozen=True, kw_only=True)
class UsageStep:
    """What the requests that began within a step came to. ``cost`` is of those whose price is known."""

    label: str
    sums: Counter[str]
    cost: Decimal
    unpriced: int


@dataclass(frozen=True, kw_only=True)
class KeyFigure:
    label: str
    value: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Overview:
    requests: int
    facts: Sequence[KeyFigure]
    charts: Sequence[Chart]
    assistants: Sequence[int]
    models: Sequence[str]
    start: datetime
    until: datetime


def overview(shown: Range, *, assistant: int | None, model: str, now: datetime | None = None) -> Overview:
    """Two statements, whatever the number of requests."""
    until = now or timezone.now()
    start = first_step(shown, until)
    hours = list(hourly_figures.hours(start, until))
    wanted = [hour for hour in hours if assistant in (None, hour.assistant) and model in ("", hour.model)]
    steps = steps_of(shown, start, wanted, hourly_figures.price_list())
    whole = together(steps)
    return Overview(
        requests=requests_of(whole.sums),
        facts=facts(whole),
        charts=charts_of(steps, whole),
        assistants=sorted({hour.assistant for hour in hours}),
        models=sorted({hour.model for hour in hours}),
        start=start,
        until=until,
    )


def first_step(shown: Range, until: datetime) -> datetime:
    """The beginning of the oldest step; steps begin at whole multiples of themselves in UTC."""
    seconds = int(shown.step.total_seconds())
    newest = datetime.fromtimestamp(until.timestamp() // seconds * seconds, UTC)
    return newest - (shown.steps - 1) * shown.step


def steps_of(shown: Range, start: datetime, hours: Iterable[Hour], known: prices.PriceList) -> list[UsageStep]:
    sums: list[Counter[str]] = [Counter() for _ in range(shown.steps)]
    costs = [Decimal(0)] * shown.steps
    unpriced = [0] * shown.steps
    for hour in hours:
        index = (hour.hour - start) // shown.step
        sums[index].update(hour.figures)
        cost = cost_of(hour, known)
        if cost is None:
            unpriced[index] += hour.figures["reported"]
        else:
            costs[index] += cost
    return [
        UsageStep(
            label=timezone.localtime(start + index * shown.step).strftime(shown.shown),
            sums=sums[index],
            cost=costs[index],
            unpriced=unpriced[index],
        )
        for index in range(shown.steps)
    ]


def cost_of(hour: Hour, known: prices.PriceList) -> Decimal | None:
    price = prices.price_of(known, provider=hour.provider, model=hour.model, at=hour.hour, prompt=hour.above + 1)
    tokens = prices.Tokens(**{kind: hour.figures[kind] for kind in prices.KINDS})
    return prices.cost_of(price, tokens) if price else None


def together(steps: Sequence[UsageStep]) -> UsageStep:
    sums: Counter[str] = Counter()
    for step in steps:
        sums.update(step.sums)
    cost = sum((step.cost for step in steps), Decimal(0))
    return UsageStep(label="", sums=sums, cost=cost, unpriced=sum(step.unpriced for step in steps))


def requests_of(sums: Mapping[str, int]) -> int:
    return sum(sums.get(f"status {status}", 0) for status in STATUSES)


def prompt_of(sums: Counter[str]) -> int:
    return sums["input"] + sums["cache_read"] + sums["cache_write"] + sums["cache_write_hour"]


def cache_share(sums: Counter[str]) -> float | None:
    """How much of the input was read from the prompt cache."""
    prompt = prompt_of(sums)
    return sums["cache_read"] / prompt if prompt else None


def facts(whole: UsageStep) -> list[KeyFigure]:
    sums, requests = whole.sums, requests_of(whole.sums)
    failed = sums["status failed"]
    share = cache_share(sums)
    return [
        KeyFigure(label="model requests", value=f"{requests:,}"),
        KeyFigure(label="failed", value=f"{failed:,}", note=percent(failed / requests) if requests else ""),
        KeyFigure(label="tokens in, reported", value=f"{prompt_of(sums):,}"),
        KeyFigure(label="tokens out, reported", value=f"{sums['output']:,}"),
        KeyFigure(
            label="cost",
            value=display.money(whole.cost if whole.unpriced < sums["reported"] else None),
            note=f"without {display.with_noun(whole.unpriced, 'request')} of unknown price" if whole.unpriced else "",
        ),
        KeyFigure(label="input from the cache", value=display.NOTHING if share is None else percent(share)),
        *(
            KeyFigure(
                label=f"{what}, {name}", value=display.milliseconds(hourly_figures.percentile(sums, kind, SHARES[name]))
            )
            for kind, what in (("first_token", "first token"), ("took", "in all"))
            for name in SHARES
        ),
        KeyFigure(label="over budget", value=f"{sums['over_budget']:,}"),
        KeyFigure(label="with a source that failed", value=f"{sums['troubled']:,}"),
    ]


def charts_of(steps: Sequence[UsageStep], whole: UsageStep) -> list[Chart]:
    labels = [step.label for step in steps]
    sums = [step.sums for step in steps]
    count = "{:,.0f}".format
    left_out = [reason for reason in LEFT_OUT if whole.sums[f"left_out {reason.value}"]]
    return [
        charts.bars(
            "requests",
            "Model requests",
            labels,
            [Series(name=name, look=name, values=[one[f"status {name}"] for one in sums]) for name in STATUSES],
            show=count,
            note="by how they ended",
        ),
        charts.bars(
            "tokens",
            "Tokens",
            labels,
            [
                Series(name=name, look=kind, values=[sum(one[each] for each in counted) for one in sums])
                for kind, (name, counted) in USED.items()
            ],
            show=count,
            tick=short_number,
            note="as reported",
        ),
        charts.bars(
            "cost",
            "Cost",
            labels,
            [Series(name="USD", look="cost", values=[float(step.cost) for step in steps])],
            show=lambda value: display.money(Decimal(str(value))),
            note="by list prices",
        ),
        charts.lines(
            "cache",
            "Input from the prompt cache",
            labels,
            [Series(name="share of the input", look="cache_read", values=[cache_share(one) for one in sums])],
            show=percent,
            most=1,
        ),
        latency("first-token", "Time to the first token", "first_token", labels, sums),
        latency("took", "Time in all", "took", labels, sums),
        charts.bars(
            "left-out",
            "Turns left out",
            labels,
            [
                Series(name=reason.label, look=reason.value, values=[one[f"left_out {reason.value}"] for one in sums])
                for reason in left_out
            ],
            show=count,
            tick=short_number,
            note="by reason, summed over the requests",
        ),
        charts.bars(
            "recalled",
            "Requests with something recalled",
            labels,
            [
                Series(name="recalled for the message", look="recalled", values=[one["recalled"] for one in sums]),
            ],
            show=count,
            note="memories and earlier turns, beside the message",
        ),
    ]


def latency(slug: str, title: str, kind: str, labels: Sequence[str], sums: Sequence[Counter[str]]) -> Chart:
    series = [
        Series(name=name, look=name, values=[_percentile(one, kind, share) for one in sums])
        for name, share in SHARES.items()
    ]
    return charts.lines(
        slug,
        title,
        labels,
        series,
        show=display.milliseconds,
        note="to within a tenth: half and 95 of 100 took no longer",
    )


def _percentile(sums: Counter[str], kind: str, share: float) -> Value:
    return hourly_figures.percentile(sums, kind, share)


def percent(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 else f"{value:.0%}"


def short_number(value: float) -> str:
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.1f}".removesuffix(".0") + unit
    return f"{value:,.0f}"
