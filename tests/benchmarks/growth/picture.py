"""Two pictures, as SVG that follows the reader's light or dark. Pure."""

import math
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 165, 46, 44
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600; font-size: 15px }
  .ground { fill: #ffffff } .grid { stroke: #d0d7de; stroke-width: 1 } .line { fill: none; stroke-width: 2.5 }
  .mark { stroke-width: 1.5; stroke-dasharray: 5 4 } .end { text-anchor: end } .middle { text-anchor: middle }
  .f0 { fill: #1f6feb } .f1 { fill: #bc4c00 } .f2 { fill: #1a7f37 } .f3 { fill: #8250df } .f4 { fill: #9a6700 }
  .s0 { stroke: #1f6feb } .s1 { stroke: #bc4c00 } .s2 { stroke: #1a7f37 } .s3 { stroke: #8250df } .s4 { stroke: #24292f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .ground { fill: #0d1117 } .grid { stroke: #30363d } .s4 { stroke: #e6edf3 }
    .f0 { fill: #58a6ff } .f1 { fill: #f0883e } .f2 { fill: #3fb950 } .f3 { fill: #bc8cff } .f4 { fill: #d29922 }
    .s0 { stroke: #58a6ff } .s1 { stroke: #f0883e } .s2 { stroke: #3fb950 } .s3 { stroke: #bc8cff }
  }
"""
MONTHS = ("Jan", "Mar", "May", "Jul", "Sep", "Nov")


def year_of_bytes(title: str, kinds: Mapping[str, Sequence[float]], other: tuple[str, Sequence[float]]) -> str:
    """Gigabytes of a year's days, one kind upon the other, and another total as a line."""
    totals = [sum(day) for day in zip(*kinds.values(), strict=True)]
    days, most = len(totals), nice(max(totals) / 1e9)

    def across(day: int) -> float:
        return LEFT + day / (days - 1) * (WIDTH - LEFT - RIGHT)

    def up(size: float) -> float:
        return HEIGHT - BOTTOM - size / 1e9 / most * (HEIGHT - TOP - BOTTOM)

    parts = [horizontal(up(step * most / 5 * 1e9), f"{step * most / 5:g} GB") for step in range(6)]
    parts += [words(across(n * 61 + 5), HEIGHT - 18, month) for n, month in enumerate(MONTHS)]
    below = [0.0] * days
    for number, sizes in enumerate(kinds.values()):
        above = [low + size for low, size in zip(below, sizes, strict=True)]
        edge = [(across(day), up(size)) for day, size in enumerate(above)]
        edge += [(across(day), up(below[day])) for day in reversed(range(days))]
        parts.append(f'<polygon class="f{number % 5}" points="{points(edge)}"/>')
        below = above
    parts += legend(
        [(f"f{n % 5}", f"{kind}, {sizes[-1] / 1e9:.1f} GB") for n, (kind, sizes) in enumerate(kinds.items())]
    )
    name, line = other
    parts.append(f'<polyline class="line s4" points="{points([(across(d), up(s)) for d, s in enumerate(line)])}"/>')
    parts.append(words(across(days - 1) + 10, up(line[-1]) + 4, name, ""))
    return picture(title, parts)


def cores_by_rate(title: str, lines: Mapping[str, Sequence[tuple[float, float]]], marks: Mapping[str, float]) -> str:
    """Cores by messages a second, both by powers of ten; marks are limits by the rate that they are met at."""

    def across(rate: float) -> float:
        return LEFT + (math.log10(rate) + 1) / 4.6 * (WIDTH - LEFT - RIGHT)

    def up(cores: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(cores) + 2) / 4.6 * (HEIGHT - TOP - BOTTOM)

    parts = [horizontal(up(10.0**power), f"{10.0**power:g}") for power in range(-2, 3)]
    parts += [words(across(10.0**power), HEIGHT - 24, f"{10.0**power:g}") for power in range(-1, 4)]
    parts.append(words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 7, "messages a second"))
    for number, ((name, rate), letter) in enumerate(zip(marks.items(), ascii_lowercase, strict=False)):
        x = across(rate)
        parts.append(f'<line class="mark s3" x1="{x:.1f}" y1="{TOP + 6}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(words(x + (4, -4)[number % 2 == 0], TOP + 10, letter, ("", "end")[number % 2 == 0]))
        parts.append(words(LEFT + 10, TOP + 18 + 19 * number, f"{letter}: {rate:,.0f}/s, {name}", ""))
    for number, (name, values) in enumerate(lines.items()):
        drawn = [(across(rate), up(cores)) for rate, cores in values if cores >= 0.01]
        parts.append(f'<polyline class="line s{number}" points="{points(drawn)}"/>')
        parts.append(words(drawn[-1][0] + 8, drawn[-1][1] + 4, name, ""))
    return picture(title, parts)


def picture(title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    ground = f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
    lines = [head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", ground, *parts]
    return "\n".join([*lines, words(LEFT, 26, title, "title"), "</svg>"]) + "\n"


def horizontal(y: float, name: str) -> str:
    line = f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>'
    return line + words(LEFT - 8, y + 4, name, "end")


def legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    x = LEFT + 14
    return [
        f'<rect class="{kind}" x="{x}" y="{TOP + 8 + 20 * n}" width="12" height="12"/>'
        + words(x + 19, TOP + 19 + 20 * n, name, "")
        for n, (kind, name) in enumerate(entries)
    ]


def words(x: float, y: float, text: str, kind: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def points(places: Sequence[tuple[float, float]]) -> str:
    return "\n".join(f"{x:.1f},{y:.1f}" for x, y in places)


def nice(value: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value)
