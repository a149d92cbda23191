"""The file itself: YAML, of which JSON is a part."""

import difflib
from collections.abc import Iterator
from typing import Any

import yaml

from config.installation.secret_references import references
from config.installation.sections import FORMAT, SECTIONS, Section
from conversations.staff.plain_values import value_of

Document = dict[str, list[dict[str, Any]]]


class InvalidConfiguration(Exception):
    """``problems`` say each where and what, and what to do."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class _Dumper(yaml.SafeDumper):
    """Texts of several lines stand as they are read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def current() -> Document:
    """The installation as it is."""
    return {section.name: [_entry(section, row) for row in section.rows()] for section in SECTIONS}


def _entry(section: Section, row: Any) -> dict[str, Any]:
    values = {name: value_of(row, name) for name in (*section.key, *section.fields)}
    label = "_".join(str(values[name]) for name in section.key[-1:])
    return values | (references(row, f"{section.name[:-1]}_{label}") if section.secrets else {})


def written(document: Document) -> str:
    whole = {"format": FORMAT, **{name: rows for name, rows in document.items() if rows}}
    return yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def read(text: str) -> Document:
    """Raises ``InvalidConfiguration``."""
    try:
        whole = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidConfiguration([f"it is neither YAML nor JSON: {error}"]) from error
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise InvalidConfiguration([f"it must begin with `format: {FORMAT}`, as `manage.py configuration` prints it"])
    sections = {section.name: section for section in SECTIONS}
    problems = [_unknown(name, [*sections], "section", "") for name in whole if name not in {*sections, "format"}]
    document = {name: whole[name] or [] for name in whole if name in sections}
    for name, rows in document.items():
        problems += _problems(sections[name], rows)
    if problems:
        raise InvalidConfiguration(problems)
    return document


def _problems(section: Section, rows: Any) -> Iterator[str]:
    if not isinstance(rows, list):
        yield f"{section.name}: must be a list of rows, each with {' and '.join(section.key)}"
        return
    seen: set[tuple[str, ...]] = set()
    for number, entry in enumerate(rows, start=1):
        if not isinstance(entry, dict) or not {*section.key} <= {*entry}:
            yield f"{section.name}, row {number}: give it {' and '.join(section.key)}, by which it is known"
            continue
        key = key_of(section, entry)
        if key in seen:
            yield f"{label_of(section, entry)} stands twice: keep one of them"
        seen.add(key)
        for name in entry:
            if name not in section.known:
                yield _unknown(name, [*section.known], "setting", f"{label_of(section, entry)}: ")


def _unknown(name: Any, known: list[str], what: str, where: str) -> str:
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"take it out; there are {', '.join(known)}"
    return f"{where}there is no {what} {name!r}: {hint}"


def key_of(section: Section, entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple("" if entry[name] is None else str(entry[name]) for name in section.key)


def label_of(section: Section, entry: dict[str, Any]) -> str:
    named = "/".join(part for part in key_of(section, entry) if part)
    return f"{section.name} {named or 'of everybody'}"
