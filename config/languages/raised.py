"""The messages that code raises for people: they stand where they are raised, and pages translate them.

Read from the source, so that none is left out: whatever text stands in the place of an error's message. One with figures has to
be ``worded("… {name} …", name=…)``, as no translation can reach an f-string.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from conversations import errors

FOLDERS = ("artifacts", "conversations", "memory")
FOR_PROGRAMS = {
    "conversations/rest": "what a program gets wrong in a call; no page makes such a call",
    "memory/rest": "the same",
    "conversations/import_export/json_stream.py": "where a document is no JSON, with the words of its reader",
    "conversations/import_export/values.py": "what is wrong at a place in a document, by the names of its fields",
    "conversations/import_export/import_sections.py": "the same",
    "conversations/accounts/tokens.py": "a token of a program",
    "conversations/accounts/directory.py": "what a directory asks for by SCIM",
    "conversations/scim": "the same",
    "conversations/files/uploads.py": "the form of a program; what stands for people in it is worded",
}
"""Files, or folders, of which only what is worded is translated, and why."""
WORDED = "worded"


def messages() -> Iterator[str]:
    for path in sources():
        yield from texts_in(path.read_text(), only_worded=is_for_programs(path))


def problems() -> Iterator[str]:
    for path in sources():
        if not is_for_programs(path):
            name = path.relative_to(settings.BASE_DIR)
            yield from (
                f"{name}:{line}: a message with figures has to be worded" for line in filled_in(path.read_text())
            )


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((settings.BASE_DIR / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def is_for_programs(path: Path) -> bool:
    name = path.relative_to(settings.BASE_DIR)
    return any(name.is_relative_to(place) for place in FOR_PROGRAMS)


def texts_in(source: str, *, only_worded: bool = False) -> Iterator[str]:
    """The sentences of the messages, in the order of the source."""
    if not any(name in source for name in (WORDED, *kinds())):
        return
    tree = ast.parse(source)
    assigned = assignments(tree)
    for call in calls(tree, {WORDED} if only_worded else {WORDED, *kinds()}):
        for part in parts_of(call.args, assigned):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
                yield part.value


def filled_in(source: str) -> list[int]:
    """The lines of f-strings in the place of messages, and of texts that are formatted there."""
    if not any(name in source for name in kinds()):
        return []
    tree = ast.parse(source)
    assigned = assignments(tree)
    parts = (part for call in calls(tree, kinds()) for part in parts_of(call.args, assigned))
    return sorted({part.lineno for part in parts if isinstance(part, ast.JoinedStr)})


def kinds() -> set[str]:
    """The names of all errors that people and programs are told."""
    found = [errors.OpenbookError]
    for kind in found:
        found.extend(kind.__subclasses__())
    return {kind.__name__ for kind in found}


def calls(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in names:
                yield node


def assignments(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What each name of a module is given, wherever in it."""
    given: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    given.setdefault(target.id, []).append(node.value)
    return given


def parts_of(nodes: list[ast.expr], assigned: dict[str, list[ast.expr]]) -> Iterator[ast.expr]:
    """The parts of what a message may be: with the parts of names that stand in it, but not of calls, which fill it in."""
    seen: set[str] = set()
    waiting = [*nodes]
    while waiting:
        node = waiting.pop(0)
        yield node
        match node:
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                waiting += assigned.get(name, [])
            case ast.IfExp(body=one, orelse=other):
                waiting += [one, other]
            case ast.Subscript(value=value):
                waiting.append(value)
            case ast.Dict(values=values):
                waiting += values
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                waiting += elements
            case ast.Starred(value=value):
                waiting.append(value)
