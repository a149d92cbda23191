"""Charts as figures in a plane: bars that stand on one another, or lines. A template draws them as SVG. Pure."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH, HEIGHT = 600, 170
LEFT, BOTTOM, TOP = 52, 28, 8
RIGHT_EDGE = WIDTH - 4
FLOOR = HEIGHT - BOTTOM
PLANE = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT_EDGE, "floor": FLOOR, "below": FLOOR + 20}
MOST_LABELS = 6
Value = float | None


@dataclass(frozen=True, kw_only=True)
class Series:
    """One value for each label; ``None`` where there is nothing to tell. ``look`` names the class that colours it."""

    name: str
    look: str
    values: Sequence[Value]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """How values are written, at its ticks perhaps shorter. It ends at ``most``, by default above the largest value."""

    show: Callable[[float], str]
    tick: Callable[[float], str] | None = None
    most: float | None = None


@dataclass(frozen=True, kw_only=True)
class ChartBar:
    look: str
    title: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """Points joined by strokes; a value with no neighbour is a dot alone."""

    look: str
    points: str
    dots: Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class ChartTick:
    at: float
    label: str


@dataclass(frozen=True, kw_only=True)
class ChartRow:
    label: str
    values: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What is drawn, and the same numbers as a table."""

    slug: str
    title: str
    note: str
    legend: Sequence[tuple[str, str]]
    bars: Sequence[ChartBar]
    lines: Sequence[ChartLine]
    ticks: Sequence[ChartTick]
    marks: Sequence[ChartTick]
    rows: Sequence[ChartRow]

    @property
    def is_empty(self) -> bool:
        return not self.bars and not self.lines


def chart(
    slug: str,
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    axis: Axis,
    *,
    note: str = "",
    are_lines: bool = False,
) -> Chart:
    """Bars that stand on one another for each label, or lines."""
    by_label = list(zip(*(one.values for one in series), strict=True))
    top = max(((max if are_lines else math.fsum)([value or 0 for value in values]) for values in by_label), default=0)
    scale, step = nice(axis.most or top), (RIGHT_EDGE - LEFT) / max(len(labels), 1)
    has_any = any(value for one in series for value in one.values)
    return Chart(
        slug=slug,
        title=title,
        note=note,
        legend=[(one.name, one.look) for one in series],
        bars=list(_bars(labels, series, scale, step, axis.show)) if has_any and not are_lines else [],
        lines=[_line(one, scale, step) for one in series] if has_any and are_lines else [],
        ticks=list(_ticks(axis, scale)),
        marks=list(_marks(labels, step)),
        rows=list(_rows(labels, series, axis)),
    )


def nice(top: float) -> float:
    """The next 1, 2, 2.5 or 5 with noughts that is not below."""
    if top <= 0:
        return 1.0
    base = 10.0 ** math.floor(math.log10(top))
    return next(base * step for step in (1, 2, 2.5, 5, 10) if base * step >= top * (1 - 1e-9))


def _bars(
    labels: Sequence[str], series: Sequence[Series], scale: float, step: float, show: Callable[[float], str]
) -> Iterator[ChartBar]:
    for index, label in enumerate(labels):
        below = 0.0
        for one in series:
            if value := one.values[index]:
                yield ChartBar(
                    look=one.look,
                    title=f"{label}: {show(value)} {one.name}",
                    x=round(LEFT + index * step + step * 0.1, 1),
                    y=round(_y(below + value, scale), 2),
                    width=round(step * 0.8, 1),
                    height=round(_y(below, scale) - _y(below + value, scale), 2),
                )
                below += value


def _line(one: Series, scale: float, step: float) -> ChartLine:
    places = [
        None if value is None else (round(LEFT + (index + 0.5) * step, 1), round(_y(value, scale), 1))
        for index, value in enumerate(one.values)
    ]
    parts = [[place for place in part if place] for known, part in groupby(places, key=bool) if known]
    path = " ".join("M" + " L".join(f"{x},{y}" for x, y in part) for part in parts if len(part) > 1)
    return ChartLine(look=one.look, points=path, dots=[part[0] for part in parts if len(part) == 1])


def _ticks(axis: Axis, scale: float) -> Iterator[ChartTick]:
    tick = axis.tick or axis.show
    for value in (0, scale / 2, scale):
        yield ChartTick(at=_y(value, scale), label=tick(value) if value else "0")


def _rows(labels: Sequence[str], series: Sequence[Series], axis: Axis) -> Iterator[ChartRow]:
    for label, *values in zip(labels, *(one.values for one in series), strict=True):
        yield ChartRow(label=label, values=["–" if value is None else axis.show(value) for value in values])


def _marks(labels: Sequence[str], step: float) -> Iterator[ChartTick]:
    every = max(1, math.ceil(len(labels) / MOST_LABELS))
    for index in range(0, len(labels), every):
        yield ChartTick(at=round(LEFT + (index + 0.5) * step, 1), label=labels[index])


def _y(value: float, scale: float) -> float:
    return round(FLOOR - (FLOOR - TOP) * min(value / scale, 1), 2)
