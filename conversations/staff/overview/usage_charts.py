"""What all model requests came to over time: figures of hours, added up by what is asked for, as charts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from conversations.context.reasons import Reason
from conversations.models import Assistant, ContextSnapshot
from conversations.providers import prices
from conversations.providers.price_list import price_list
from conversations.runtime.wording import filled, lazy, number
from conversations.staff import display, feedback
from conversations.staff.overview import charts
from conversations.staff.overview.charts import Axis, Chart, Series, Value, chart
from conversations.upkeep import hourly_figures
from conversations.upkeep.hourly_figures import Hour

STATUSES = ("completed", "stopped", "interrupted", "failed", "pending")
USED = {
    "cache_read": (lazy("read from the cache"), ["cache_read"]),
    "cache_write": (lazy("written to it"), ["cache_write", "cache_write_hour"]),
    "input": (lazy("other input"), ["input"]),
    "output": (lazy("output"), ["output"]),
}
"""What the chart of tokens stacks, and the figures that each of it is the sum of."""
SHARES = {"p50": 0.5, "p95": 0.95}
COUNT = "{:,.0f}".format
LEFT_OUT = (
    Reason.OVER_BUDGET,
    Reason.TURN_LIMIT,
    Reason.FULFILLED_ARTIFACT,
    Reason.REFUSED,
    Reason.FAILED,
    Reason.OFFLINE,
    Reason.SUPERSEDED,
    Reason.OTHER_BRANCH,
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
    Range(slug="24h", label=lazy("24 hours"), step=timedelta(hours=1), steps=24, shown="%H:%M"),
    Range(slug="7d", label=lazy("7 days"), step=timedelta(hours=6), steps=28, shown="%b %d %H:%M"),
    Range(slug="30d", label=lazy("30 days"), step=timedelta(days=1), steps=30, shown="%b %d"),
)


@dataclass(kw_only=True)
class UsageStep:
    """What the requests that began within a step came to. ``cost`` is of those whose price is known."""

    label: str = ""
    sums: Counter[str] = field(default_factory=Counter)
    cost: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, figures: Counter[str], cost: Decimal | None, unpriced: int = 0) -> None:
        self.sums.update(figures)
        self.cost += cost or 0
        self.unpriced += unpriced


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


def overview_context(query: Mapping[str, str]) -> dict[str, Any]:
    """What the template shows, as the address chooses. An unknown choice is none."""
    shown = next((one for one in RANGES if one.slug == query.get("range")), RANGES[0])
    chosen, model = query.get("assistant", ""), query.get("model", "")
    assistant = int(chosen) if chosen.isdecimal() else None
    page = overview(shown, assistant=assistant, model=model)
    names = dict(Assistant.objects.values_list("pk", "name"))
    assistants = sorted({*page.assistants, *filter(None, [assistant])})
    filters = {"assistant": assistant, "model": model}
    return {
        "page": page,
        "feedback": feedback.counts(page.start, assistant, model),
        "plane": charts.PLANE,
        "title": gettext("Overview of model requests"),
        "range": shown,
        "ranges": RANGES,
        "assistant": assistant,
        "assistants": [(pk, names.get(pk, display.NOTHING)) for pk in assistants],
        "model": model,
        "models": sorted({*page.models, *filter(None, [model])}),
        "empty_text": gettext(
            "No model requests in this time. Each message that somebody sends makes one, counted here at once."
        ),
        "requests_url": display.list_url(ContextSnapshot, **{name: value for name, value in filters.items() if value}),
    }


def overview(shown: Range, *, assistant: int | None, model: str, now: datetime | None = None) -> Overview:
    """Two statements, whatever the number of requests."""
    until = now or timezone.now()
    start = first_step(shown, until)
    hours = list(hourly_figures.hours(start, until))
    wanted = [hour for hour in hours if assistant in (None, hour.assistant) and model in ("", hour.model)]
    steps = steps_of(shown, start, wanted, price_list())
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
    begins = [timezone.localtime(start + index * shown.step) for index in range(shown.steps)]
    steps = [UsageStep(label=at.strftime(shown.shown)) for at in begins]
    for hour in hours:
        cost = cost_of(hour, known)
        unpriced = counted(hour.figures) if cost is None else 0
        steps[(hour.hour - start) // shown.step].add(hour.figures, cost, unpriced)
    return steps


def cost_of(hour: Hour, known: prices.PriceList) -> Decimal | None:
    price = prices.price_of(known, provider=hour.provider, model=hour.model, at=hour.hour, prompt=hour.above + 1)
    tokens = prices.Tokens(**{kind: hour.figures[kind] for kind in prices.KINDS})
    return prices.cost_of(price, tokens) if price else None


def together(steps: Sequence[UsageStep]) -> UsageStep:
    whole = UsageStep()
    for step in steps:
        whole.add(step.sums, step.cost, step.unpriced)
    return whole


def requests_of(sums: Mapping[str, int]) -> int:
    return sum(sums.get(f"status {status}", 0) for status in STATUSES)


def added(kinds: Sequence[str], sums: Counter[str]) -> int:
    return sum(sums[kind] for kind in kinds)


def prompt_of(sums: Counter[str]) -> int:
    return added(("input", "cache_read", "cache_write", "cache_write_hour"), sums)


def cache_share(sums: Counter[str]) -> float | None:
    """How much of the input was read from the prompt cache."""
    prompt = prompt_of(sums)
    return sums["cache_read"] / prompt if prompt else None


def counted(sums: Counter[str]) -> int:
    """Requests whose tokens are known or estimated."""
    return sums["reported"] + sums["estimated"]


def of_estimates(sums: Counter[str]) -> str:
    if not sums["estimated"]:
        return ""
    return filled(
        "with estimates for {requests} whose service told nothing",
        requests=display.with_noun(sums["estimated"], "request"),
    )


def facts(whole: UsageStep) -> list[KeyFigure]:
    sums, requests = whole.sums, requests_of(whole.sums)
    failed = sums["status failed"]
    share = cache_share(sums)
    return [
        KeyFigure(label=gettext("model requests"), value=number(requests)),
        KeyFigure(label=gettext("failed"), value=number(failed), note=percent(failed / requests) if requests else ""),
        KeyFigure(label=gettext("tokens in, reported"), value=number(prompt_of(sums)), note=of_estimates(sums)),
        KeyFigure(label=gettext("tokens out, reported"), value=number(sums["output"]), note=of_estimates(sums)),
        KeyFigure(
            label=gettext("cost"),
            value=display.money(whole.cost if whole.unpriced < counted(sums) else None),
            note=filled("without {requests} of unknown price", requests=display.with_noun(whole.unpriced, "request"))
            if whole.unpriced
            else "",
        ),
        KeyFigure(label=gettext("input from the cache"), value=display.NOTHING if share is None else percent(share)),
        *(
            KeyFigure(
                label=f"{what}, {name}",
                value=display.milliseconds(hourly_figures.percentile(sums, kind, SHARES[name])),
            )
            for kind, what in (("first_token", gettext("first token")), ("took", gettext("in all")))
            for name in SHARES
        ),
        KeyFigure(label=gettext("over budget"), value=number(sums["over_budget"])),
        KeyFigure(label=gettext("in place of another model"), value=number(sums["fallback"])),
        KeyFigure(label=gettext("with a source that failed"), value=number(sums["troubled"])),
    ]


def charts_of(steps: Sequence[UsageStep], whole: UsageStep) -> list[Chart]:
    return [*request_charts(steps), *latency_charts(steps), *context_charts(steps, whole)]


def request_charts(steps: Sequence[UsageStep]) -> list[Chart]:
    """How requests ended, and what they took."""
    labels = labels_of(steps)
    return [
        chart(
            "requests",
            gettext("Model requests"),
            labels,
            [series_of(steps, gettext(name), name, itemgetter(f"status {name}")) for name in STATUSES],
            Axis(show=COUNT),
            note=gettext("by how they ended"),
        ),
        chart(
            "tokens",
            gettext("Tokens"),
            labels,
            [series_of(steps, str(name), kind, partial(added, kinds)) for kind, (name, kinds) in USED.items()],
            Axis(show=COUNT, tick=short_number),
            note=gettext("as reported"),
        ),
        chart(
            "cost",
            gettext("Cost"),
            labels,
            [Series(name="USD", look="cost", values=[float(step.cost) for step in steps])],
            Axis(show=lambda value: display.money(Decimal(str(value)))),
            note=gettext("by list prices"),
        ),
        chart(
            "cache",
            gettext("Input from the prompt cache"),
            labels,
            [series_of(steps, gettext("share of the input"), "cache_read", cache_share)],
            Axis(show=percent, most=1),
            are_lines=True,
        ),
    ]


def latency_charts(steps: Sequence[UsageStep]) -> list[Chart]:
    return [
        chart(
            slug,
            title,
            labels_of(steps),
            [
                series_of(steps, name, name, partial(hourly_figures.percentile, name=kind, share=share))
                for name, share in SHARES.items()
            ],
            Axis(show=display.milliseconds),
            note=gettext("to within a tenth: half and 95 of 100 took no longer"),
            are_lines=True,
        )
        for slug, title, kind in (
            ("first-token", gettext("Time to the first token"), "first_token"),
            ("took", gettext("Time in all"), "took"),
        )
    ]


def context_charts(steps: Sequence[UsageStep], whole: UsageStep) -> list[Chart]:
    """What the contexts went without, and what was recalled for them."""
    left_out = [reason for reason in LEFT_OUT if whole.sums[f"left_out {reason.value}"]]
    return [
        chart(
            "left-out",
            gettext("Turns left out"),
            labels_of(steps),
            [
                series_of(steps, gettext(each.label), each.value, itemgetter(f"left_out {each.value}"))
                for each in left_out
            ],
            Axis(show=COUNT, tick=short_number),
            note=gettext("by reason, summed over the requests"),
        ),
        chart(
            "recalled",
            gettext("Requests with something recalled"),
            labels_of(steps),
            [series_of(steps, gettext("recalled for the message"), "recalled", itemgetter("recalled"))],
            Axis(show=COUNT),
            note=gettext("memories and earlier turns, beside the message"),
        ),
    ]


def labels_of(steps: Sequence[UsageStep]) -> list[str]:
    return [step.label for step in steps]


def series_of(steps: Sequence[UsageStep], name: str, look: str, value: Callable[[Counter[str]], Value]) -> Series:
    return Series(name=name, look=look, values=[value(step.sums) for step in steps])


def percent(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 else f"{value:.0%}"


def short_number(value: float) -> str:
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:,.1f}".removesuffix(".0") + unit
    return f"{value:,.0f}"
