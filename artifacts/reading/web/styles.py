"""Whether people see an element: by its tag, its attributes and the style sheets of its page, as far as rules name single
elements. Rules for what stands within something else, or for a state such as ``:hover``, are not followed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from PIL import ImageColor

from artifacts.reading.web.tokens import ByName

Declarations = Mapping[str, str]
Color = tuple[int, int, int]

RELEVANT = frozenset({
    "display", "visibility", "opacity", "font-size", "color", "background", "background-color", "position", "left", "top",
    "right", "text-indent", "clip", "clip-path", "height", "max-height", "margin-left", "overflow", "transform",
    "vertical-align", "text-decoration", "text-decoration-line", "white-space", "mso-hide", "content-visibility",
    "animation", "animation-name",
})  # fmt: skip
HIDING = frozenset({
    "display", "visibility", "opacity", "position", "left", "top", "right", "clip", "clip-path", "height", "max-height",
    "transform",
})  # fmt: skip
MOST_RULES = 5_000
MOST_FOR_AN_ELEMENT = 64
MOST_SHEET = 2 * 2**20
MOST_KEPT = 4_096
SELECTOR = re.compile(r"(\*|[a-zA-Z][\w-]*)?((?:[.#][\w-]+)*)")
STATE = re.compile(r":(?:hover|focus|checked|target|active)")
SCREENS = re.compile(r"@(?:media\s*(?:all|screen|only screen)?|layer\b.*|supports\s*\(.*)", re.DOTALL)
LENGTH = re.compile(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+))\s*(px|pt|r?em|%|ex|ch|v[wh])?")
NUMBERS = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)%?")
CLEAR = frozenset({"transparent", "none", "initial"})
TINY = 1.5
"""Pixels: letters of one point."""
FAR = -900.0
"""Pixels out of the page."""
ALIKE = 12
"""Of 255: colours that differ by less can't be told apart."""
WHITE: Color = (255, 255, 255)
NEVER_SHOWN = frozenset({
    "template", "noscript", "datalist", "defs", "symbol", "clippath", "mask", "marker", "metadata", "desc",
})  # fmt: skip
NO_DECLARATIONS: Declarations = {}
PRESENTING = frozenset({"style", "bgcolor", "color", "text"})
INLINE = frozenset({
    "span", "font", "b", "strong", "i", "em", "u", "s", "a", "small", "big", "sup", "sub", "code", "tt", "strike", "del",
    "ins", "label", "abbr", "cite", "mark",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """Of an element; what stands in it takes all of it over but what is called its own."""

    is_gone: bool = False
    """With all that stands in it."""
    is_invisible: bool = False
    is_tiny: bool = False
    color: Color | None = None
    """None where it can't be told, or is the browser's own."""
    background: Color | None = WHITE
    keeps_lines: bool = False
    display: str = ""
    """Its own, where a style says so."""
    script: str = ""
    """Its own: ``super`` or ``sub``."""
    is_struck: bool = False
    """Its own."""

    @property
    def is_seen(self) -> bool:
        return not (self.is_gone or self.is_invisible or self.is_tiny or self.is_camouflaged)

    @property
    def is_camouflaged(self) -> bool:
        if self.color is None or self.background is None:
            return False
        return max(abs(one - other) for one, other in zip(self.color, self.background, strict=True)) < ALIKE


@dataclass(frozen=True, slots=True)
class _Rule:
    tag: str
    classes: frozenset[str]
    weight: tuple[int, int, int, int]
    """Ids, classes, tags, and how late it stands."""
    declarations: Declarations


class StyleSheet:
    """Of all style sheets of a page, in their order."""

    def __init__(self) -> None:
        self.is_partial = False
        """There are style sheets elsewhere."""
        self._rules: dict[str, list[_Rule]] = {}
        self._shown_at_times: set[str] = set()
        self._doubtful: dict[str, dict[str, str]] = {}
        """By class, id or tag: colours that rules may set which are not followed."""
        self._count = 0
        self._known: dict[object, Declarations] = {}

    def add(self, css: str) -> None:
        self._known.clear()
        for selectors, body in _rules(_without_comments(css[:MOST_SHEET])):
            declarations = declared(body)
            if not declarations:
                continue
            for selector in selectors.split(","):
                self._add(selector.strip(), declarations)

    def _add(self, selector: str, declarations: Declarations) -> None:
        simple = SELECTOR.fullmatch(selector)
        if not selector or simple is None or simple[2].count("#") > 1:
            self._note(selector, declarations)
            return
        tag, names = (simple[1] or "*").lower(), re.findall(r"[.#][\w-]+", simple[2])
        ids = [name for name in names if name[0] == "#"]
        classes = [name for name in names if name[0] == "."]
        key = (ids or classes or [tag])[0]
        rules = self._rules.setdefault(key, [])
        self._count += 1
        if self._count > MOST_RULES or len(rules) >= MOST_FOR_AN_ELEMENT:
            return
        weight = len(ids), len(classes), tag != "*", self._count
        rules.append(_Rule(tag, frozenset(name[1:] for name in classes), weight, declarations))

    def _note(self, selector: str, declarations: Declarations) -> None:
        """What hover, focus or a tick shows is what people can get to see."""
        last = re.split(r"[\s>+~]+", selector)[-1].partition(":")[0].partition("[")[0]
        keys = re.findall(r"[.#][\w-]+", last) or [last.lower() or "*"]
        if STATE.search(selector):
            is_shown = not _is_gone(declarations) and not _is_invisible(declarations, False)
            if is_shown and declarations.keys() & HIDING:
                self._shown_at_times.update(keys)
            return
        colours = {
            name.replace("background", "background-color") for name in declarations.keys() & {"color", "background"}
        }
        colours |= declarations.keys() & {"background-color"}
        for key in keys if colours else ():
            self._doubtful.setdefault(key, {}).update(dict.fromkeys(colours, "unknown"))

    def declarations(self, tag: str, attributes: ByName) -> Declarations:
        if not self._rules and not self._doubtful:
            return NO_DECLARATIONS
        id, classes = attributes.get("id") or "", attributes.get("class") or ""
        key = tag, id, classes
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            known = self._known[key] = self._merged(tag, id, classes.split()[:MOST_FOR_AN_ELEMENT])
        return known

    def _merged(self, tag: str, id: str, classes: list[str]) -> Declarations:
        keys = dict.fromkeys(["*", tag, *(f".{name}" for name in classes), f"#{id}"])
        fitting = [
            rule
            for key in keys
            for rule in self._rules.get(key, ())
            if rule.tag in {"*", tag} and rule.classes <= set(classes)
        ]
        merged: dict[str, str] = {}
        for rule in sorted(fitting, key=lambda rule: rule.weight):
            merged |= rule.declarations
        for key in keys:
            merged |= self._doubtful.get(key, NO_DECLARATIONS)
        if not self._shown_at_times.isdisjoint(keys):
            merged = {name: value for name, value in merged.items() if name not in HIDING}
        return merged


def look_of(tag: str, attributes: ByName, parent: Look, sheet: StyleSheet) -> Look:
    """Of an element that stands in another."""
    if tag in NEVER_SHOWN or (tag == "dialog" and "open" not in attributes) or _has_hidden(attributes):
        return replace(parent, is_gone=True)
    declarations = sheet.declarations(tag, attributes)
    if not attributes.keys().isdisjoint(PRESENTING):
        declarations = {**_presented(tag, attributes), **declarations, **declared(attributes.get("style") or "")}
    if not declarations and not (parent.display or parent.script or parent.is_struck):
        keeps = not sheet.is_partial or parent.background is None or _is_plain(tag, attributes)
        if keeps and tag not in {"a", "button", "input", "select", "textarea"}:
            return parent
    return _look(tag, attributes, parent, declarations, is_partial=sheet.is_partial)


def _look(tag: str, attributes: ByName, parent: Look, declarations: Declarations, *, is_partial: bool) -> Look:
    is_own = tag in {"button", "input", "select", "textarea"}
    background = parent.background if not is_own and (not is_partial or _is_plain(tag, attributes)) else None
    color = None if is_own or (tag == "a" and "href" in attributes) else parent.color
    background = _color(_background(declarations), background, background)
    lines = declarations.get("text-decoration", "") + declarations.get("text-decoration-line", "")
    spaces = declarations.get("white-space", "")
    return Look(
        is_gone=parent.is_gone or _is_gone(declarations),
        is_invisible=_is_invisible(declarations, parent.is_invisible),
        is_tiny=_is_tiny(declarations.get("font-size", ""), parent.is_tiny),
        color=_color(declarations.get("color", ""), color, background),
        background=background,
        keeps_lines=spaces.startswith("pre") if spaces else parent.keeps_lines,
        display=declarations.get("display", ""),
        script={"super": "super", "sub": "sub"}.get(declarations.get("vertical-align", ""), ""),
        is_struck="line-through" in lines,
    )


def declared(style: str) -> Declarations:
    """What a style says, of what matters here; what is important is taken for the last word."""
    names: dict[str, str] = {}
    important: dict[str, str] = {}
    for declaration in _without_comments(style).split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip().lower(), value.strip().lower()
        if name in RELEVANT and value:
            plain, mark, _ = value.partition("!")
            (important if mark else names)[name] = plain.strip()
    return names | important


def _presented(tag: str, attributes: ByName) -> Declarations:
    """What older attributes say."""
    declarations = {}
    if background := attributes.get("bgcolor"):
        declarations["background-color"] = background.lower()
    if color := attributes.get("color" if tag == "font" else "text" if tag == "body" else ""):
        declarations["color"] = color.lower()
    return declarations


def _has_hidden(attributes: ByName) -> bool:
    """``until-found`` is shown to who looks for it."""
    return "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found"


def _is_plain(tag: str, attributes: ByName) -> bool:
    return tag in INLINE and "class" not in attributes and "id" not in attributes


def _is_gone(declarations: Declarations) -> bool:
    said = declarations.get
    if said("display") == "none" or said("mso-hide") == "all" or said("content-visibility") == "hidden":
        return True
    if _number(said("opacity", "")) == 0 and not declarations.keys() & {"animation", "animation-name"}:
        return True
    if said("transform", "").replace(" ", "").startswith(("scale(0)", "scale(0,")):
        return True
    is_placed = said("position") in {"absolute", "fixed"}
    if (is_placed and _is_cut_away(declarations)) or any(
        number is not None and number < FAR
        for number in (_number(said(name, "")) for name in (("left", "top", "right") if said("position") else ()))
    ):
        return True
    if any((_number(said(name, "")) or 0) < FAR for name in ("text-indent", "margin-left")):
        return True
    if said("clip-path", "").startswith(("inset(50%", "inset(100%")):
        return True
    sizes = (_number(said(name, "")) for name in ("height", "max-height"))
    return said("overflow") in {"hidden", "clip"} and any(size is not None and size <= 1 for size in sizes)


def _is_cut_away(declarations: Declarations) -> bool:
    clip = declarations.get("clip", "")
    return clip.startswith("rect(") and all((_number(each) or 0) <= 1 for each in NUMBERS.findall(clip))


def _is_invisible(declarations: Declarations, inherited: bool) -> bool:
    said = declarations.get("visibility", "inherit")
    return inherited if said in {"inherit", "unset"} else said in {"hidden", "collapse"}


def _is_tiny(size: str, inherited: bool) -> bool:
    length = LENGTH.fullmatch(size)
    if length is None:
        return inherited if size in {"", "inherit", "smaller", "larger", "unset"} else False
    number, unit = float(length[1]), length[2] or "px"
    if unit in {"em", "%", "ex", "ch"} and inherited:
        return True
    pixels = number * {"px": 1.0, "pt": 4 / 3, "%": 0.16, "rem": 16, "em": 16}.get(unit, 8.0)
    return pixels < TINY


def _number(text: str) -> float | None:
    """In pixels, roughly."""
    length = LENGTH.match(text)
    if length is None:
        return None
    return float(length[1]) * {"em": 16, "rem": 16, "pt": 1.33, "%": 10, "vw": 10, "vh": 10}.get(length[2] or "px", 1)


def _background(declarations: Declarations) -> str:
    return declarations.get("background-color") or declarations.get("background", "")


def _color(text: str, inherited: Color | None, through: Color | None) -> Color | None:
    """``through`` is what is seen where it is transparent."""
    if text in {"", "inherit", "unset", "currentcolor"}:
        return inherited
    if text in CLEAR:
        return through
    if text.startswith("rgb"):
        numbers = NUMBERS.findall(text)
        if len(numbers) > 3 and not float(numbers[3].rstrip("%")):
            return through
        if len(numbers) < 3:
            return None
        red, green, blue = (min(int(float(n.rstrip("%")) * (2.55 if n.endswith("%") else 1)), 255) for n in numbers[:3])
        return red, green, blue
    try:
        parsed = ImageColor.getrgb(text[:40])
    except ValueError:
        return None
    return parsed[:3]


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors and bodies: those at the top, and those for all screens."""
    at = 0
    while (brace := css.find("{", at)) >= 0:
        prelude = css[at:brace].rpartition(";")[2].strip("} \t\r\n\f")
        at = brace + 1
        if prelude.startswith("@"):
            if not SCREENS.fullmatch(prelude):
                at = _behind(css, at)
            continue
        end = css.find("}", at)
        end = len(css) if end < 0 else end
        inner = css.find("{", at, end)
        if inner < 0:
            yield prelude, css[at:end]
            at = end + 1
        else:
            yield prelude, css[at:inner].rpartition(";")[0]
            at = _behind(css, at)


def _behind(css: str, at: int) -> int:
    """Behind the brace that closes what is open here."""
    depth = 1
    for brace in re.compile(r"[{}]").finditer(css, at):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(css)


def _without_comments(css: str) -> str:
    first, *others = css.split("/*")
    return " ".join([first, *(other.partition("*/")[2] for other in others)])
