"""Texts that repeat one thing, and whether the time that something takes grows faster than they do."""

import gc
import importlib
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from types import BuiltinMethodType, CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from conversations.runtime.word_tables import _Uncompiled

PARSER: Any = importlib.import_module("re._parser")  # which the types of re don't know
MANY = "OPENBOOK_TEST_CHARACTERS" in os.environ
"""Each unit is tried with each pattern, and behind what may open something; else those that a pattern itself names."""
CHARACTERS = int(os.environ.get("OPENBOOK_TEST_CHARACTERS", "1_600"))
LEAST_SECONDS = 1.5e-6 * CHARACTERS
"""Of processor time: what takes less doesn't grow with the square of its characters, and is not looked at again."""
BOUND_SECONDS = 0.1
STEEPEST = 9
"""Times as long for four times as much: 4 where the time grows with the text, 16 where it grows with its square."""

UNITS = (
    *" \n\t\r\v\u00a0\u3000\u200b\u200d\u0301\ufeff",
    *".…!?。？、，,;:：-–_=+*~`#>|[({<])}\"'“”„’«»「」\\/&@$%€^",
    *"AaßжЖע日あ한กँ1٣😀\x01",
    *(
        "\r\n",
        "\n\n",
        " \n",
        "\n ",
        "a\n",
        "a ",
        "A ",
        "I ",
        "a, ",
        "a. ",
        "A. ",
        "1. ",
        "1, ",
        "1 ",
        "1 a",
        "a: ",
        "\na: ",
    ),
    *(
        "- ",
        "# ",
        "> ",
        "| ",
        "* ",
        "**",
        "``",
        "```",
        "~~~",
        "---",
        "...",
        "!?",
        "[[",
        "](",
        "![",
        "[]",
        "[a](",
        "{}",
        "{{",
    ),
    *(
        "<!--",
        "<a",
        "<a>",
        "</",
        "<a ",
        "<p>",
        "&a",
        "&#",
        "a@",
        "a.",
        "a@a.",
        "a-",
        "http://",
        "www.",
        "don't ",
        '"a ',
        "“a",
    ),
    *(
        " '",
        "a' ",
        "A.\n",
        '."',
        '. "',
        "日。",
        "あ ",
        "ab ab ",
        "2024-01-01 ",
        "12:00 ",
        "1,000 ",
        "e\u0301 ",
        "👩\u200d",
        "(a ",
    ),
    *(
        "{a} ",
        "a=",
        "a,",
        ",\n",
        "a\t",
        "|a",
        "|a|\n",
        "a|\n",
        ": \n",
        "$a",
        "__",
        "* a\n",
        "-\n",
        "=\n",
        "\\",
        "\\\n",
        "\\u",
    ),
)


COMMON = (" ", "\n", "a", "a ", ".", '"', "1")


def repeated(unit: str, size: int) -> Iterator[str]:
    """About so many characters of it between two words, and behind the end of a sentence, as a line, before another."""
    run = (unit * (size // len(unit) + 1))[:size]
    return iter((f"x{run}END", f"x.\n{run}\nx"))


def growth(run: Callable[[str], object], texts: Callable[[int], str]) -> str:
    """How the time that a text takes grows, where it grows faster than the text; else nothing.

    A short one goes first: where time grows with the third power, the long one would take minutes.
    """
    short_text = texts(CHARACTERS // 10)
    if _seconds(run, short_text) > 4 * LEAST_SECONDS:
        seconds = min(_seconds(run, short_text) for _ in range(4))
        if seconds > 4 * LEAST_SECONDS:
            return f"{seconds * 1000:.0f} ms for {CHARACTERS // 10} characters of {texts(8)!r}"
    if _seconds(run, texts(CHARACTERS)) < LEAST_SECONDS:
        return ""
    sizes = CHARACTERS // 4, CHARACTERS, CHARACTERS * 4
    short, long = _least_seconds(run, texts(sizes[0])), _least_seconds(run, texts(sizes[1]))
    if long < LEAST_SECONDS or long < STEEPEST * short:
        return ""
    longest = _least_seconds(run, texts(sizes[2]))
    if longest < STEEPEST * long:  # a step: longer texts are read in another way, which grows with the text again
        return ""
    return ", ".join(
        f"{seconds * 1000:.1f} ms for {size} characters of {texts(8)!r}"
        for size, seconds in zip(sizes, (short, long, longest), strict=True)
    )


def steep(run: Callable[[str], object], units: Iterable[str] = UNITS) -> str:
    """The first unit for which the time grows faster than the text, and how."""
    texts = (partial(_shaped, unit, shape) for unit in units for shape in range(2 if MANY or unit in COMMON else 1))
    return next(filter(None, (growth(run, text) for text in texts)), "")


def _shaped(unit: str, shape: int, size: int) -> str:
    return [*repeated(unit, size)][shape]


NUMBERED = (
    "word{} ",
    "Name{}, ",
    "{}. ",
    "- a{}\n",
    "{}\n",
    "«{}» ",
    "I have {} cats. ",
    "Who is Name{}? ",
    "{{{}}}",
    "a@{}.b ",
)


def steep_numbered(run: Callable[[str], object]) -> str:
    """The same for what is never the same twice."""
    return next(filter(None, (growth(run, partial(_numbered, unit)) for unit in NUMBERED)), "")


def _numbered(unit: str, size: int) -> str:
    return "".join(unit.format(number) for number in range(size // len(unit) + 1))[:size]


def too_long(run: Callable[[str], object], size: int, units: Iterable[str]) -> str:
    """The first unit of which so many characters take longer than ``BOUND_SECONDS``: for texts that are never longer."""
    for text in (text for unit in units for text in repeated(unit, size)):
        if (seconds := _seconds(run, text)) > BOUND_SECONDS:
            seconds = min(seconds, *(_seconds(run, text) for _ in range(4)))
            if seconds > BOUND_SECONDS:
                return f"{seconds * 1000:.0f} ms for {size} characters of {text[:8]!r}"
    return ""


def steep_after(run: Callable[[str], object], openings: Iterable[str], units: Iterable[str]) -> str:
    """The same behind something that opens what they are read as: a quotation, a tag, a fence."""
    texts = (partial(_opened, opening, unit) for opening in openings for unit in units)
    return next(filter(None, (growth(run, text) for text in texts)), "")


def _opened(opening: str, unit: str, size: int) -> str:
    return opening + (unit * (size // len(unit) + 1))[:size]


def _least_seconds(run: Callable[[str], object], text: str) -> float:
    return min(_seconds(run, text) for _ in range(3))


def _seconds(run: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    run(text)
    return time.thread_time() - start


def pattern_runs(pattern: re.Pattern[Any], methods: Iterable[str]) -> Iterator[tuple[str, Callable[[str], object]]]:
    """What a pattern is used for, by name. Searching is a part of finding all; replacing and dividing are as much."""
    as_read = str.encode if isinstance(pattern.pattern, bytes) else str
    kinds = {name if name in {"match", "fullmatch"} else "finditer" for name in methods}
    for kind in sorted(kinds):
        if kind == "finditer":
            yield kind, lambda text: deque(pattern.finditer(as_read(text)), 0)
        else:
            yield kind, partial(_once, getattr(pattern, kind), as_read)


def _once(run: Callable[[Any], object], as_read: Callable[[str], object], text: str) -> object:
    return run(as_read(text))


OF_CATEGORY = {
    "CATEGORY_SPACE": " \n",
    "CATEGORY_NOT_SPACE": "a.",
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a ",
    "CATEGORY_WORD": "a_1",
    "CATEGORY_NOT_WORD": " .\n",
}


def own_units(pattern: re.Pattern[Any]) -> list[str]:
    """What a pattern itself names: its words, the first of each of its ranges, letters of its kinds; those of UNITS first."""
    units = {*_named(PARSER.parse(pattern.pattern, pattern.flags & ~re.DEBUG))} - {""}
    names, most = sorted(units - {*UNITS}), 24 if MANY else 8
    return [*sorted(units & {*UNITS}), *names[:: max(1, len(names) // most)]]


def _named(part: Any) -> Iterator[str]:
    match part:
        case (operation, int(letter)) if str(operation) == "LITERAL":
            yield chr(letter)
        case (operation, (int(first), int())) if str(operation) == "RANGE":
            yield chr(first)
        case (operation, kind) if str(operation) == "CATEGORY":
            yield from OF_CATEGORY.get(str(kind), "")
        case tuple() | list():
            for inner in part:
                yield from _named(inner)
        case PARSER.SubPattern():
            yield "".join(chr(value) for operation, value in part if str(operation) == "LITERAL")
            yield from _named(list(part))


CONTAINERS = (
    dict, list, tuple, set, frozenset, MappingProxyType, partial, BuiltinMethodType, MethodType, CellType, type(lru_cache(len)),
)  # fmt: skip


def patterns_in(module: ModuleType, packages: frozenset[str]) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Every compiled pattern that a module's names lead to – through containers, objects, classes, closures and caches –
    with the name in the module."""
    seen: dict[int, object] = {}
    for name, value in vars(module).items():
        todo = [] if name.startswith("__") else [value]
        while todo:
            part = todo.pop()
            if id(part) in seen:
                continue
            seen[id(part)] = part
            if isinstance(part, re.Pattern):
                yield name, part
            else:
                todo += _within(part, module.__name__, packages)


def _within(part: Any, module: str, packages: frozenset[str]) -> Iterator[object]:
    if isinstance(part, _Uncompiled):
        yield part._compiled
    elif isinstance(part, FunctionType):
        if part.__module__ == module:
            yield from (part.__closure__, part.__defaults__, part.__kwdefaults__, part.__dict__)
    elif isinstance(part, type):
        if part.__module__ == module:
            yield from vars(part).values()
    elif isinstance(part, CONTAINERS) or type(part).__module__.split(".")[0] in packages:
        yield from (inner for inner in gc.get_referents(part) if not isinstance(inner, ModuleType))
