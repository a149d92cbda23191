"""Text of slides and of drawings of Office (DrawingML): paragraphs with their numbers, and how their letters look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from artifacts.reading.formulas import formula
from artifacts.reading.office.letters import UNKNOWN
from artifacts.reading.office.numerals import numeral
from artifacts.reading.office.runs import SMALLEST_POINTS, Look, Piece, Run, is_invisible, marked, seen
from artifacts.reading.office.symbols import OF_SYMBOLS, readable
from artifacts.reading.xml_stream import alternative, attribute, child, children_named, inside, value, whole_number

NUMBERS = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
FRAMES = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}
LEAST_OPAQUE = 0.05


@dataclass(frozen=True)
class Palette:
    """Colours by the names that a theme gives them, as ``RRGGBB``."""

    colours: Mapping[str, str] = field(default_factory=dict)

    def colour(self, fill: Element | None) -> str:
        """Of an ``a:solidFill``; ``UNKNOWN`` where it is worked out from another colour."""
        for inner in inside(fill):
            if any(change.tag != "a:alpha" for change in inner):
                return UNKNOWN
            match inner.tag:
                case "a:srgbClr":
                    return value(inner)
                case "a:sysClr":
                    return attribute(inner, "lastClr") or UNKNOWN
                case "a:schemeClr":
                    return self.colours.get(value(inner), UNKNOWN)
                case "a:prstClr":
                    return {"white": "FFFFFF", "black": "000000"}.get(value(inner), UNKNOWN)
        return UNKNOWN

    def background(self, properties: Element | None) -> str | None:
        """What a shape, a cell or a slide is filled with; ``None`` where one sees through."""
        for inner in inside(properties):
            match inner.tag:
                case "a:solidFill":
                    return self.colour(inner)
                case "a:gradFill" | "a:blipFill" | "a:pattFill" | "a:grpFill":
                    return UNKNOWN
                case "a:noFill":
                    return None
        return None


def paragraphs(body: Element | None, palette: Palette, background: str) -> Iterator[Piece | str]:
    """Of a ``p:txBody``, an ``a:txBody`` or a ``p188:txBody``: a text for each paragraph, and what is left out of it."""
    numbers = _Numbers()
    for paragraph in children_named(body, "a:p"):
        properties = child(paragraph, "a:pPr")
        level = attribute(properties, "lvl")
        depth = int(level) if level in set("12345678") else 0
        runs, beside = seen(_pieces(paragraph, palette, background))
        text = marked(runs).strip()
        label = numbers.label(properties, depth) if text else ""
        if text:
            bullet = f"{label} " if label else "- " if depth else ""
            yield f"{'  ' * depth}{bullet}{text}"
        yield from beside


class _Numbers:
    """Of the paragraphs of one shape."""

    def __init__(self) -> None:
        self._counted: dict[int, tuple[str, int]] = {}

    def label(self, properties: Element | None, depth: int) -> str:
        """``1.``; empty where it has no number."""
        bullet = child(properties, "a:buAutoNum")
        for deeper in [at for at in self._counted if at > depth]:
            del self._counted[deeper]
        if bullet is None:
            self._counted.pop(depth, None)
            return ""
        kind, start = attribute(bullet, "type"), attribute(bullet, "startAt")
        before, number = self._counted.get(depth, ("", 0))
        first = whole_number(start, 1)
        number = number + 1 if before == kind else first
        self._counted[depth] = kind, number
        digits = next((style for prefix, style in NUMBERS.items() if kind.startswith(prefix)), "1")
        frame = next((shape for ending, shape in FRAMES.items() if kind.endswith(ending)), "{}.")
        return frame.format(numeral(number, digits))


def _pieces(element: Element | None, palette: Palette, background: str) -> Iterator[Piece]:
    for inner in inside(element):
        match inner.tag:
            case "a:r" | "a:fld":
                properties = child(inner, "a:rPr")
                text = "".join(at.text or "" for at in inner if at.tag == "a:t").replace("\xad", "")
                yield Run(_readable(text, properties), look(properties, palette, background))
            case "a:br":
                yield Run("\n")
            case "m:oMath" | "m:oMathPara":
                yield Run(formula(inner))
            case "mc:AlternateContent":
                yield from _pieces(alternative(inner), palette, background)
            case "a:pPr" | "a:endParaRPr":
                pass
            case _:
                yield from _pieces(inner, palette, background)


def _readable(text: str, properties: Element | None) -> str:
    """What is of the private area is of the font for symbols, if one is named."""
    symbols = attribute(child(properties, "a:sym"), "typeface") if OF_SYMBOLS.search(text) else ""
    return readable(text, symbols or attribute(child(properties, "a:latin"), "typeface"))


def look(properties: Element | None, palette: Palette, background: str) -> Look:
    """Of an ``a:rPr``."""
    if properties is None:
        return Look()
    return Look(
        script=_script(attribute(properties, "baseline")),
        is_struck=attribute(properties, "strike") in {"sngStrike", "dblStrike"},
        is_hidden=_is_hidden(properties, palette, background),
    )


def _script(baseline: str) -> int:
    shift = baseline.removesuffix("%").strip()
    if shift.strip("-0.") == "":
        return 0
    return -1 if shift.startswith("-") else 1


def _is_hidden(properties: Element, palette: Palette, background: str) -> bool:
    size = attribute(properties, "sz")
    if size.isdecimal() and int(size[:9]) <= SMALLEST_POINTS * 100:
        return True
    fill = child(properties, "a:solidFill")
    if fill is None:
        return child(properties, "a:noFill") is not None and child(properties, "a:ln", "a:solidFill") is None
    if any(_share(value(at)) <= LEAST_OPAQUE for at in fill.iter() if at.tag == "a:alpha"):
        return True
    highlight = child(properties, "a:highlight")
    return is_invisible(palette.colour(fill), palette.colour(highlight) if highlight is not None else background)


def _share(text: str) -> float:
    """``50000`` or ``50%``."""
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text) / 100_000
    except ValueError:
        return 1
