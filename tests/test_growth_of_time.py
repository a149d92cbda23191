"""No text may keep the others waiting: what reads texts takes time in proportion to them, whatever they repeat."""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import sys
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from artifacts.exporting import markdown_blocks
from artifacts.reading import parts
from artifacts.reading.blocks import Title
from artifacts.reading.text import markdown as markdown_reader
from artifacts.reading.text import plain as text_reader
from conversations.context.tokens import budget
from conversations.providers import offline_answers, offline_artifacts
from conversations.runtime import bounded_json
from memory.consolidation import rule_extraction
from memory.consolidation.findings import SourceTurn
from memory.consolidation.sentences import LONGEST_SENTENCE
from memory.forgetting import matcher
from memory.index import word_index
from memory.index.word_index import SaidTurn
from memory.language import days, words
from tests.growth_of_time import (
    COMMON,
    MANY,
    UNITS,
    own_units,
    pattern_runs,
    patterns_in,
    steep,
    steep_after,
    steep_numbered,
    too_long,
)

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = frozenset({"artifacts", "config", "conversations", "memory"})
USES = frozenset({"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"})
ALL = ("match", "fullmatch", "finditer")
WHOLE = {"conversations.context.record.snapshot_codec": {"fullmatch"}}
"""Modules whose patterns are handed to a function of theirs that does only this with them."""
BOUNDED = {f"memory.language.{name}": LONGEST_SENTENCE for name in ("cue_phrases", "first_person", "coming_days")}
"""Modules whose patterns are tried on sentences, which are cut to so many characters (``LONGEST_SENTENCE``)."""
MADE_OF_PARTS = frozenset([
    "artifacts/exporting/pdf", "artifacts/web/sanitizer", "conversations/context/files/citations",
    "artifacts/reading/kinds", "artifacts/reading/web/tokens", "config/settings",
    "conversations/upkeep/partitions", "conversations/providers/file_frames", "conversations/providers/markers",
    "conversations/providers/masking", "conversations/providers/dialects", "conversations/providers/image_tokens",
    "conversations/providers/offline_artifacts", "conversations/runtime/request_ids",
    "conversations/runtime/word_tables", "memory/index/phrases", "memory/language/date_words", "memory/language/words",
])  # fmt: skip
"""Modules with patterns that are made in functions, of parts that are no person's or are escaped: no run of theirs can begin
at more than one place."""
READERS = (
    "artifacts.exporting", "artifacts.reading", "conversations.context", "conversations.import_export",
    "conversations.providers", "conversations.runtime.text", "conversations.threads", "conversations.tools",
    "memory.consolidation", "memory.forgetting", "memory.index", "memory.language", "memory.sources",
)  # fmt: skip
"""Where texts are read. Other modules only pass them on."""
TEXT_NAMES = frozenset([
    "text", "sentence", "content", "line", "piece", "html", "title", "bare", "query", "thing", "code", "words",
    "start", "part", "answer", "block", "message", "explanation",
])  # fmt: skip
OF_SENTENCES = ("memory.consolidation.statements", "memory.consolidation.endings")
"""What reads sentences, which are no longer than ``LONGEST_SENTENCE``."""
NO_TEXTS = {
    "artifacts.exporting.word._text_run": "makes elements of a library, a hundred times as slow as all else, in a helper"
}


@cache
def modules() -> list[ModuleType]:
    packages = [importlib.import_module(name) for name in sorted(PACKAGES)]
    names = [
        found.name for package in packages for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [importlib.import_module(name) for name in names]


@cache
def sources() -> dict[Path, ast.Module]:
    paths = [path for package in sorted(PACKAGES) for path in (ROOT / package).rglob("*.py")]
    return {path: ast.parse(path.read_text("utf-8")) for path in paths}


@cache
def uses() -> dict[tuple[str, str], set[str]]:
    """What is done with each module's names in capitals, there and where they are imported: all, where they are handed on."""
    methods: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path, tree in sources().items():
        here = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        nodes = [*ast.walk(tree)]
        imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        owners = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name.isupper():
                    key = imported.get(name, (here, name))
                case ast.Attribute(value=ast.Name(id=owner), attr=name, ctx=ast.Load()) if name.isupper():
                    key = ".".join(imported.get(owner, ("", owner))), name
                case _:
                    continue
            used = owners.get(id(node))
            methods[key].update({used} if used in USES else () if used in {"pattern", "flags"} else ALL)
    return methods


def compiled() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Every pattern that stands in a module, once for each use, with its place and what it is used for."""
    seen: defaultdict[tuple[Any, int], set[str]] = defaultdict(set)
    for module in modules():
        for name, pattern in patterns_in(module, PACKAGES):
            own = uses().get((module.__name__, name), set())
            wanted = WHOLE.get(module.__name__) or (own if vars(module)[name] is pattern else {*ALL})
            kinds = {use if use in ALL else "finditer" for use in wanted}
            key = pattern.pattern, pattern.flags
            if new := kinds - seen[key]:
                seen[key] |= new
                yield f"{module.__name__}.{name}", pattern, new


def growth_of(pattern: re.Pattern[Any], methods: set[str], bound: int = 0) -> str:
    own = own_units(pattern)
    units = [*UNITS, *own] if MANY else [*dict.fromkeys([*COMMON, *own])]
    for kind, run in pattern_runs(pattern, methods):
        slow = too_long(run, bound, units) if bound else steep(run, units)
        if MANY and not bound:
            slow = slow or steep_after(run, own[:16], [*COMMON, *own[:8]])
        if slow:
            return f"{pattern.pattern[:60]!r}.{kind}: {slow}"
    return ""


def calls_of_re() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call of ``re`` within a function, with its place and the function of ``re``."""
    for path, tree in sources().items():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for node in {inner for function in functions for inner in ast.walk(function)}:
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=used)):
                    yield f"{path.relative_to(ROOT).with_suffix('')}", node, used


@pytest.mark.wide
def test_every_pattern_takes_time_in_proportion_to_the_text() -> None:
    slow = [
        f"{place} {growth}"
        for place, pattern, methods in compiled()
        if (growth := growth_of(pattern, methods, bound=BOUNDED.get(place.rpartition(".")[0], 0)))
    ]
    assert slow == []


@pytest.mark.wide
def test_patterns_within_functions_take_time_in_proportion_to_the_text() -> None:
    made, slow = set(), []
    for place, call, used in calls_of_re():
        match call.args:
            case [ast.Constant(value=str(text) | bytes(text)), *_]:
                flags = re.IGNORECASE if "re.I" in ast.unparse(call) else 0
                slow += [f"{place} {growth}" for growth in [growth_of(re.compile(text, flags), {used})] if growth]
            case _:
                made.add(place)
    assert slow == []
    assert made == MADE_OF_PARTS


def text_functions() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Every function that reads a text and needs nothing else, with its place; without what it keeps of texts read before."""
    for module in modules():
        if not module.__name__.startswith(READERS):
            continue
        for name, value in vars(module).items():
            function = inspect.unwrap(value) if callable(value) else None
            place = f"{module.__name__}.{name}"
            if (
                not inspect.isfunction(function)
                or inspect.iscoroutinefunction(function)
                or function.__module__ != module.__name__
                or place in NO_TEXTS
            ):
                continue
            required = [
                parameter
                for parameter in inspect.signature(function).parameters.values()
                if parameter.default is parameter.empty
            ]
            if [parameter.annotation for parameter in required] == [str] and required[0].name in TEXT_NAMES:
                yield place, function


def read(function: Callable[[str], object], text: str, *, most: int) -> None:
    with suppress(Exception):  # it may be no text of the kind
        result = function(text[:most])
        if isinstance(result, Iterator):
            deque(result, 0)


def offline_payload(text: str) -> dict[str, Any]:
    return {"system": [], "messages": [{"role": "user", "content": text}], "tools": [{"name": "save_artifact"}]}


def indexed(text: str) -> object:
    turn = SaidTurn(thread=uuid.UUID(int=1), depth=1, position=1, role="user", text=text, at=MOMENT)
    return word_index.rows_of(1, turn)


def noted(text: str) -> object:
    turn = SourceTurn(id=uuid.UUID(int=1), position=1, role="user", text=text, at=MOMENT)
    return rule_extraction.extract([turn])


MOMENT = datetime(2026, 11, 2, tzinfo=UTC)
OTHERS: dict[str, Callable[[str], object]] = {
    "the index": indexed,
    "notes by rules": noted,
    "days": lambda text: days.spans(text, MOMENT.date()),
    "an excerpt": lambda text: words.excerpt(text, words.sought("harbour END")),
    "marks": lambda text: words.marked(text, ["END", "x"]),
    "facts to forget": lambda text: matcher.facts_in(text, {}, 10),
    "shortened": lambda text: budget.shorten(text, 100),
    "parts of a file": lambda text: parts.split(text, 500),
    "a text file": lambda text: deque(parts.make_parts([Title(), *markdown_reader.markdown(text.splitlines())]), 0),
    "paragraphs": lambda text: deque(text_reader.paragraphs(text.splitlines()), 0),
    "Markdown": lambda text: markdown_blocks.parse_markdown(text, title="Title"),
    "offline answer": lambda text: offline_answers.answer(offline_payload(text)),
    "offline artifact": lambda text: offline_artifacts.artifact_asked_for(offline_payload(f"Make a list. {text}")),
    "JSON of an import": lambda text: bounded_json.loads(json.dumps(text).encode()),
}
"""What reads a text with something else beside it."""


@pytest.mark.wide
def test_what_reads_a_whole_text_takes_time_in_proportion_to_it() -> None:
    units = UNITS if MANY else [*COMMON, *UNITS[:: len(UNITS) // 6]]
    functions = {**dict(text_functions()), **OTHERS}
    slow = []
    for place, function in functions.items():
        run = partial(read, function, most=LONGEST_SENTENCE if place.startswith(OF_SENTENCES) else sys.maxsize)
        slow += [f"{place}: {growth}" for growth in [steep(run, units) or steep_numbered(run)] if growth]
    assert slow == []
    assert len(functions) > 100
