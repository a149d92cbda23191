"""Formulas of Office (OMML) and of the web (MathML) as one line: ``x = (-b ± √(b^2-4ac))/(2a)``. Pure."""

from collections.abc import Callable, Iterable, Iterator
from xml.etree.ElementTree import Element

from artifacts.reading import marks

INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
"""Operators of MathML that are not seen."""
OVER = {
    "̂": "hat",
    "̃": "tilde",
    "̇": "dot",
    "̈": "ddot",
    "⃗": "vec",
    "→": "vec",
    "̅": "bar",
    "¯": "bar",
    "^": "hat",
    "~": "tilde",
}
NOT_SHOWN = {"annotation", "annotation-xml", "mphantom", "phant", "del", "moveFrom", "mprescripts", "none"}


def formula(element: Element) -> str:
    """Of an ``m:oMath``, an ``m:oMathPara`` or a ``math``."""
    return " ".join(_line(element).translate(INVISIBLE).split())


def _line(element: Element) -> str:
    kind = _local(element)
    if kind in NOT_SHOWN or kind.endswith("Pr"):
        return ""
    if kind in LETTERS:
        return element.text or ""
    if kind in SHAPES:
        return SHAPES[kind](element)
    if kind == "semantics":
        return next(map(_line, element), "")
    return _row(element)


def _row(elements: Iterable[Element]) -> str:
    """One beside the other, with a space between a word and a letter, as in ``sin x``."""
    text = ""
    for element in elements:
        following = _line(element)
        is_word = len(following) > 1 or text[-2:].isalpha()
        text += " " * (text[-1:].isalpha() and following[:1].isalpha() and is_word and _is_name(element)) + following
    return text


def _is_name(element: Element) -> bool:
    return _local(element) in {"mi", "func", "mrow", "mtext", "d", "mfenced"}


def _local(element: Element) -> str:
    return element.tag.rpartition(":")[2]


def _children(element: Element) -> list[Element]:
    return [inner for inner in element if not _local(inner).endswith("Pr")]


def _part(element: Element, wanted: str) -> str:
    """Of Office: a part by its name."""
    return next((_row(inner) for inner in element if _local(inner) == wanted), "")


def _property(element: Element, wanted: str, otherwise: str) -> str:
    """Of Office: the value that the properties of an element have of that name."""
    for properties in (inner for inner in element if _local(inner).endswith("Pr")):
        for value in (inner for inner in properties if _local(inner) == wanted):
            return next((text for key, text in value.items() if key.endswith("val")), "")
    return otherwise


def _parts(element: Element) -> list[str]:
    """Of the web: parts by their place; four at least."""
    return [*map(_line, _children(element)), "", "", "", ""]


def _grouped(text: str) -> str:
    return text if len(text) == 1 or text.isalnum() else f"({text})"


def _fraction(above: str, below: str) -> str:
    return f"({above})/({below})"


def _root(text: str, degree: str = "") -> str:
    signs = {"": "√", "2": "√", "3": "∛", "4": "∜"}
    return f"{signs[degree]}({text})" if degree in signs else f"root_{_grouped(degree)}({text})"


def _scripts(base: str, below: str, above: str) -> str:
    return f"{base}{marks.lowered(below)}{marks.raised(above)}"


def _accent(base: str, sign: str) -> str:
    return f"{OVER[sign]}({base})" if sign in OVER else f"{base}{marks.raised(sign)}"


def _matrix(rows: Iterator[Iterator[str]]) -> str:
    return f"[{'; '.join(', '.join(row) for row in rows)}]"


def _office_fraction(element: Element) -> str:
    above, below = _part(element, "num"), _part(element, "den")
    return f"({above} over {below})" if _property(element, "type", "") == "noBar" else _fraction(above, below)


def _office_root(element: Element) -> str:
    is_square = _property(element, "degHide", "0") in {"1", "on", "true", ""}
    return _root(_part(element, "e"), "" if is_square else _part(element, "deg"))


def _office_delimiters(element: Element) -> str:
    inside = _property(element, "sepChr", "|").join(_row(inner) for inner in element if _local(inner) == "e")
    return f"{_property(element, 'begChr', '(')}{inside}{_property(element, 'endChr', ')')}"


def _office_nary(element: Element) -> str:
    body = _part(element, "e")
    sign = _scripts(_property(element, "chr", "∫"), _part(element, "sub"), _part(element, "sup"))
    return f"{sign}{' ' if body else ''}{body}"


def _office_function(element: Element) -> str:
    argument = _part(element, "e")
    return f"{_part(element, 'fName')}{'' if argument.startswith('(') else ' '}{argument}"


def _office_bar(element: Element) -> str:
    return f"{'bar' if _property(element, 'pos', 'bot') == 'top' else 'underline'}({_part(element, 'e')})"


def _web_scripts(element: Element, below: int, above: int) -> str:
    parts = _parts(element)
    return _scripts(parts[0], parts[below] if below else "", parts[above] if above else "")


def _web_fence(element: Element) -> str:
    separators = element.get("separators", ",").strip()[:1]
    inside = f"{separators} ".join(map(_line, element)) if separators else "".join(map(_line, element))
    return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"


def _web_multiscripts(element: Element) -> str:
    """The base, then pairs of a lowered and a raised one behind it, then those before it."""
    children = _children(element)
    cut = next((at for at, inner in enumerate(children) if _local(inner) == "mprescripts"), len(children))
    behind, before = [*map(_line, children[1:cut]), ""], [*map(_line, children[cut + 1 :]), ""]
    pairs = [
        "".join(_scripts("", *pair) for pair in zip(few[::2], few[1::2], strict=False)) for few in (before, behind)
    ]
    return f"{pairs[0]}{_line(children[0]) if children else ''}{pairs[1]}"


LETTERS = {"t", "mi", "mn", "mo", "ms", "mtext"}
SHAPES: dict[str, Callable[[Element], str]] = {
    "f": _office_fraction,
    "rad": _office_root,
    "sSup": lambda at: _scripts(_part(at, "e"), "", _part(at, "sup")),
    "sSub": lambda at: _scripts(_part(at, "e"), _part(at, "sub"), ""),
    "sSubSup": lambda at: _scripts(_part(at, "e"), _part(at, "sub"), _part(at, "sup")),
    "sPre": lambda at: f"{_scripts('', _part(at, 'sub'), _part(at, 'sup'))}{_part(at, 'e')}",
    "nary": _office_nary,
    "d": _office_delimiters,
    "m": lambda at: _matrix(map(_row, _children(row)) for row in at if _local(row) == "mr"),
    "eqArr": lambda at: "; ".join(map(_row, _children(at))),
    "func": _office_function,
    "limLow": lambda at: _scripts(_part(at, "e"), _part(at, "lim"), ""),
    "limUpp": lambda at: _scripts(_part(at, "e"), "", _part(at, "lim")),
    "acc": lambda at: _accent(_part(at, "e"), _property(at, "chr", "̂")),
    "bar": _office_bar,
    "mfrac": lambda at: _fraction(*_parts(at)[:2]),
    "msqrt": lambda at: _root(_row(_children(at))),
    "mroot": lambda at: _root(*_parts(at)[:2]),
    "msup": lambda at: _web_scripts(at, 0, 1),
    "msub": lambda at: _web_scripts(at, 1, 0),
    "msubsup": lambda at: _web_scripts(at, 1, 2),
    "munder": lambda at: _web_scripts(at, 1, 0),
    "mover": lambda at: _accent(_parts(at)[0], _parts(at)[1].strip()),
    "munderover": lambda at: _web_scripts(at, 1, 2),
    "mmultiscripts": _web_multiscripts,
    "mfenced": _web_fence,
    "mtable": lambda at: _matrix(map(_line, row) for row in at if _local(row) in {"mtr", "mlabeledtr"}),
    "mspace": lambda _: " ",
}
