"""The map of a thread: requests across, turns down, and what became of each turn in each request."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.context.explain import turn_history
from conversations.context.explain.turn_history import Fate, FateRange
from conversations.models import ContextSnapshot, Thread
from conversations.runtime.wording import filled
from conversations.runtime.wording import number as number_of
from conversations.staff import display
from conversations.staff.thread_page import position
from conversations.staff.trace import trace_reads
from conversations.staff.trace.trace_reads import SummarizedPart, TracedRequest

SHOWN = 300
"""So many requests stand on one page."""
WIDTH, HEIGHT = 760, 640
COLUMN_WIDTHS = (2.5, 24.0)
ROW_HEIGHT = 16.0
FOLDED_HEIGHT = 28.0
FOLDED_SHARE = 3
"""Turns before the first one that is sent are folded into a strip where they are at least 1 of so many."""
LEAST_HEIGHT = 1.5
TICK_HEIGHT, TICK_WIDTH = 18, 110
HEAD, FOOT = 24, 20
"""Room above and below for labels."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
LEFT_OUT = (
    Fate.NO_ROOM,
    Fate.MADE,
    Fate.DECLINED,
    Fate.UNSPOKEN,
    Fate.UNSENDABLE,
    Fate.REPLACED,
    Fate.BRANCHED,
)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Where turns stand: from the turn ``begin`` on each takes ``unit``, those before it share a strip."""

    begin: int
    end: int
    unit: float

    @property
    def folded(self) -> float:
        return FOLDED_HEIGHT if self.begin > 1 else 0.0

    @property
    def height(self) -> float:
        return round(self.top(self.end + 1), 1)

    def top(self, turn: int) -> float:
        """The upper edge of a turn."""
        if turn < self.begin:
            return self.folded * (turn - 1) / (self.begin - 1)
        return self.folded + (turn - self.begin) * self.unit

    def span(self, first: int, last: int) -> tuple[float, float]:
        """The upper edge of neighbouring turns, and their height: enough of it to be seen."""
        top = self.top(first)
        return round(top, 1), round(max(self.top(last + 1) - top, LEAST_HEIGHT), 1)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A request on the map. ``counts`` are its turns by fate, in the order of ``MapPage.fates``."""

    request: TracedRequest
    number: int
    x: float
    url: str
    made_for: str
    at: str
    told: str
    counts: Sequence[int]

    @property
    def newest(self) -> int:
        """The last turn that the request knew of."""
        return self.request.runs[-1].last

    @property
    def cells(self) -> list[str]:
        return [f"{count:,}" for count in self.counts]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """All areas of one fate, as one path."""

    fate: Fate
    path: str
    count: int


@dataclass(frozen=True, kw_only=True)
class MapTick:
    at: float
    label: str
    turn: int = 0

    @property
    def y(self) -> float:
        """Where the label of a turn is written."""
        return round(self.at + HEAD + 10, 1)


@dataclass(frozen=True, kw_only=True)
class Band:
    """A summary beside the turns that it tells of."""

    id: UUID
    top: float
    height: float
    title: str
    is_empty: bool


@dataclass(frozen=True, kw_only=True)
class MapPage:
    verdict: str
    first: int
    last: int
    total: int
    older: int | None
    newer: int | None
    columns: Sequence[Column]
    column_width: float
    width: float
    axis: Axis
    shapes: Sequence[Shape]
    turns: Sequence[MapTick]
    times: Sequence[MapTick]
    numbers: Sequence[MapTick]
    bands: Sequence[Band]
    fates: Sequence[Fate]
    top = HEAD

    @property
    def column_links(self) -> SafeString:
        """The columns as what can be chosen. Not by the template, which takes ten times as long for some thousand values."""
        column = (
            '<a href="{}" tabindex="-1"><rect class="ob-column" x="{}" width="{}" height="{}"/>'
            "<title>{}; {}</title></a>\n"
        )
        width, height = self.column_width, self.axis.height
        return format_html_join("", column, ((c.url, c.x, width, height, c.told, c.at) for c in self.columns))

    @property
    def number_rows(self) -> SafeString:
        """The rows of the table, newest first."""
        row = (
            '<tr><th scope="row"><a href="{}">{}</a> {}</th><td class="ob-time">{}</td><td class="ob-number">{}</td>'
            + '<td class="ob-number">{}</td>' * len(self.fates)
            + "</tr>\n"
        )
        newest_first = self.columns[::-1]
        return format_html_join(
            "", row, ((c.url, f"{c.number:,}", c.made_for, c.at, f"{c.newest:,}", *c.cells) for c in newest_first)
        )

    @property
    def legend(self) -> Sequence[Fate]:
        return [shape.fate for shape in self.shapes]

    @property
    def full_width(self) -> float:
        """With room for the last label."""
        return self.width + TICK_WIDTH / 2

    @property
    def height(self) -> float:
        return HEAD + self.axis.height + FOOT

    @property
    def foot(self) -> float:
        return self.height - 4


def map_page(thread: Thread, *, until: str) -> MapPage:
    """The newest requests, or those up to the one of a number."""
    total = trace_reads.replying(thread).count()
    last = min(position(until) or total, total)
    first = max(1, last - SHOWN + 1)
    shown = trace_reads.requests(thread, first, last) if last else []
    return drawn(shown, trace_reads.summaries(thread), total=total)


def drawn(requests: Sequence[TracedRequest], summaries: Sequence[SummarizedPart], *, total: int) -> MapPage:
    """The map of these requests, of so many that there are. Pure."""
    parts = [summary.part for summary in summaries if not summary.is_empty]
    bars = [turn_history.bars(request.runs, parts, request.at) for request in requests]
    axis, width = axis_of(bars), column_width(len(requests))
    shapes = shapes_of(bars, axis, width)
    counts = [turn_history.count_fates(request.runs) for request in requests]
    fates = [fate for fate in Fate if any(count[fate] for count in counts)]
    first, last = (requests[0].number, requests[-1].number) if requests else (0, 0)
    columns = [
        Column(
            request=request,
            number=request.number,
            x=round(index * width, 1),
            url=display.change_url(ContextSnapshot, request.id),
            made_for=display.purpose(request.purpose, request.round),
            at=display.moment(request.at),
            told=describe_counts(request.number, count),
            counts=[count[fate] for fate in fates],
        )
        for index, (request, count) in enumerate(zip(requests, counts, strict=True))
    ]
    return MapPage(
        verdict=verdict(columns, total),
        first=first,
        last=last,
        total=total,
        older=first - 1 if first > 1 else None,
        newer=min(last + SHOWN, total) if last < total else None,
        columns=columns,
        column_width=width,
        width=round(width * len(requests), 1),
        axis=axis,
        shapes=shapes,
        turns=turn_ticks(axis),
        times=ticks(width, [column.at[5:16] for column in columns]),
        numbers=ticks(width, [f"{column.number:,}" for column in columns]),
        bands=[band(part, axis) for part in summaries if part.part.first <= axis.end],
        fates=fates,
    )


def verdict(columns: Sequence[Column], total: int) -> str:
    if not columns:
        return gettext("No request has been made in this thread")
    shown = (
        filled(
            "Requests {first} to {last} of {total}",
            first=columns[0].number,
            last=columns[-1].number,
            total=total,
        )
        if total > 1
        else gettext("The only request")
    )
    return f"{shown}. {columns[-1].told}"


def describe_counts(number: int, counts: Mapping[Fate, int]) -> str:
    """What became of the turns in a request, in words and numbers."""
    sent = counts[Fate.SENT] + counts[Fate.SHORTENED] + counts[Fate.ASKED]
    beside = [
        f"{number_of(counts[fate])} {gettext(str(fate.label))}"
        for fate in (Fate.SHORTENED, Fate.RECALLED)
        if counts[fate]
    ]
    without = [
        f"{number_of(counts[fate])} {gettext(fate.label.removeprefix('left out: '))}"
        for fate in LEFT_OUT
        if counts[fate]
    ]
    left_out = (
        [
            filled(
                "{total} left out ({reasons})", total=sum(counts[fate] for fate in LEFT_OUT), reasons=", ".join(without)
            )
        ]
        if without
        else []
    )
    words = ", ".join([filled("{turns} sent", turns=display.with_noun(sent, "turn")), *beside, *left_out])
    return filled("Request {number}: {words}", number=number, words=words)


def axis_of(columns: Sequence[Sequence[FateRange]]) -> Axis:
    """Turns older than any that was sent in its place are folded, where that makes much room."""
    end = max((column[-1].last for column in columns), default=1)
    in_place = {*Fate} - {Fate.NO_ROOM, Fate.SUMMARISED, Fate.REPLACED, Fate.BRANCHED, Fate.RECALLED}
    begin = min((bar.first for column in columns for bar in column if bar.fate in in_place), default=1)
    begin = begin if (begin - 1) * FOLDED_SHARE >= end else 1
    return Axis(begin=begin, end=end, unit=min(ROW_HEIGHT, HEIGHT / (end - begin + 1)))


def column_width(count: int) -> float:
    narrow, wide = COLUMN_WIDTHS
    return round(min(wide, max(narrow, WIDTH / max(count, 1))), 1)


def shapes_of(columns: Sequence[Sequence[FateRange]], axis: Axis, width: float) -> list[Shape]:
    """What is drawn, from what lies below to what may not be hidden. A path a fate is light for a browser."""
    paths: defaultdict[Fate, list[str]] = defaultdict(list)
    for area in turn_history.areas(columns):
        top, height = axis.span(area.bar.first, area.bar.last)
        left, across = area.begin * width, (area.end - area.begin + 1) * width
        paths[area.bar.fate].append(f"M{left:.1f} {top}h{across:.1f}v{height}h-{across:.1f}z")
    return [Shape(fate=fate, path="".join(paths[fate]), count=len(paths[fate])) for fate in Fate if fate in paths]


def turn_ticks(axis: Axis) -> list[MapTick]:
    """Turns that are named beside the map, as many as can be read."""
    step = next((step for step in STEPS if step * axis.unit >= TICK_HEIGHT), STEPS[-1])
    places = [place for place in range(step, axis.end + 1, step) if place >= axis.begin]
    first = 1 if axis.begin == 1 or axis.folded else axis.begin
    named = [first, *(place for place in places if axis.top(place) - axis.top(first) >= TICK_HEIGHT)]
    return [MapTick(at=round(axis.top(place), 1), label=f"{place:,}", turn=place) for place in named]


def ticks(width: float, labels: Sequence[str]) -> list[MapTick]:
    """As many of the labels of columns as can be read."""
    every = max(1, round(TICK_WIDTH / width))
    return [MapTick(at=round(place * width, 1), label=labels[place]) for place in range(0, len(labels), every)]


def band(summary: SummarizedPart, axis: Axis) -> Band:
    first, last = summary.part.first, min(summary.part.last, axis.end)
    top, height = axis.span(first, last)
    state = (
        gettext("nothing to tell, or forgotten")
        if summary.is_empty
        else filled("summarised {when}", when=display.moment(summary.part.at))
    )
    stale = gettext(", to be made anew") if summary.is_stale else ""
    return Band(
        id=summary.id,
        top=top,
        height=height,
        title=filled(
            "Turns {first} to {last}: {state}{stale}", first=first, last=summary.part.last, state=state, stale=stale
        ),
        is_empty=summary.is_empty,
    )
