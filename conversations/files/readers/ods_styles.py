"""How cells and letters of OpenDocument sheets look: raised, lowered, struck, or set as invisible."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from conversations.files import marks
from conversations.files.xml_stream import attribute, found, name

BLACK, WHITE = "#000000", "#ffffff"
DEEPEST = 20
"""Styles that go back to others."""


@dataclass(frozen=True)
class TextStyle:
    colour: str = ""
    background: str = ""
    points: float | None = None
    position: str = ""
    """``super 58%``, or a share of the line such as ``-33% 58%``."""
    is_struck: bool = False
    is_displayed: bool = True

    def over(self, base: "TextStyle") -> "TextStyle":
        """This style where it says something, else the other one."""
        return TextStyle(
            colour=self.colour or base.colour,
            background=self.background or base.background,
            points=self.points if self.points is not None else base.points,
            position=self.position or base.position,
            is_struck=self.is_struck or base.is_struck,
            is_displayed=self.is_displayed and base.is_displayed,
        )

    @property
    def is_invisible(self) -> bool:
        background = WHITE if self.background in {"", "transparent"} else self.background
        return (
            not self.is_displayed
            or (self.colour or BLACK) == background
            or (self.points is not None and self.points <= 1)
        )

    def marked(self, text: str) -> str:
        place = self.position.split(" ")[0]
        if place == "super" or (place.endswith("%") and not place.startswith("-") and place != "0%"):
            text = marks.raised(text)
        elif place == "sub" or place.startswith("-"):
            text = marks.lowered(text)
        return marks.struck(text) if self.is_struck else text


PLAIN = TextStyle()


@dataclass
class Styles:
    """By their names, as they are read."""

    _own: dict[str, tuple[TextStyle, str]] = field(default_factory=dict)
    """With the name of the style that each goes back to."""
    _whole: dict[str, TextStyle] = field(default_factory=dict)
    hidden_tables: set[str] = field(default_factory=set)

    def add(self, element: Element) -> None:
        """A ``style:style``."""
        style = PLAIN
        for properties in element:
            match name(properties.tag).rpartition("}")[2].rpartition(":")[2]:
                case "text-properties":
                    style = _of_text(properties, style)
                case "table-cell-properties":
                    style = replace(style, background=_value(properties, "background-color").lower())
                case "table-properties" if _value(properties, "display") == "false":
                    self.hidden_tables.add(_value(element, "name"))
        self._own[_value(element, "name")] = style, _value(element, "parent-style-name")

    def get(self, wanted: str) -> TextStyle:
        if wanted not in self._whole:
            style, after = PLAIN, wanted
            for _ in range(DEEPEST):
                own, after = self._own.get(after, (PLAIN, ""))
                style = style.over(own)
                if not after:
                    break
            self._whole[wanted] = style
        return self._whole[wanted]


def _of_text(properties: Element, style: TextStyle) -> TextStyle:
    size = _value(properties, "font-size").removesuffix("pt")
    struck = {_value(properties, key) for key in ("text-line-through-style", "text-line-through-type")}
    return replace(
        style,
        colour=_value(properties, "color").lower(),
        points=float(size) if size.replace(".", "", 1).isdecimal() else None,
        position=_value(properties, "text-position"),
        is_struck=bool(struck - {"", "none"}),
        is_displayed=_value(properties, "display") != "none",
    )


def _value(element: Element, local: str) -> str:
    """Of an attribute, whatever its namespace."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == local), "")


class Lines:
    """Texts of paragraphs as they are shown. ``hidden`` counts what was left out as invisible."""

    def __init__(self, styles: Styles) -> None:
        self.styles = styles
        self.hidden = 0
        self.comments: list[str] = []

    def text(self, element: Element, style: TextStyle) -> str:
        shown = [self._run(element.text or "", style)]
        for inner in element:
            tag = name(inner.tag)
            if tag in SPECIAL:
                shown.append(SPECIAL[tag](inner))
            elif tag == "text:span":
                own = self.styles.get(attribute(inner, "text:style-name"))
                shown.append(
                    self.text(inner, own.over(replace(style, position="", is_struck=False)) if own != PLAIN else style)
                )
            elif tag == "office:annotation":
                self.comments.append(comment(inner))
            else:
                shown.append(self.text(inner, style))
            shown.append(self._run(inner.tail or "", style))
        return "".join(shown)

    def _run(self, text: str, style: TextStyle) -> str:
        if not text:
            return ""
        if style.is_invisible:
            self.hidden += bool(text.strip())
            return ""
        return style.marked(text)


def comment(element: Element) -> str:
    """What somebody noted, such as ``[Eva: Ask the mayor.]``."""
    author = next((inner.text or "" for inner in element if name(inner.tag) == "dc:creator"), "")
    text = " ".join(word for line in found(element, "text:p") for word in "".join(line.itertext()).split())
    return f"[{author}: {text}]" if author else f"[comment: {text}]"


def _spaces(element: Element) -> str:
    times = attribute(element, "text:c")
    return " " * (min(int(times), 80) if times.isdecimal() and len(times) < 4 else 1)


SPECIAL: dict[str, Callable[[Element], str]] = {
    "text:s": _spaces,
    "text:tab": lambda _: "\t",
    "text:line-break": lambda _: "\n",
}
