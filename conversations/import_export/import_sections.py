"""An upload as records, section by section: threads first, because the rest refers to them.

It is read twice: first to see that it is JSON, of which kind, and how much it holds; then element by element.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import batched, chain
from typing import IO, Any

from django.db.models import Model

from conversations.errors import ImportTooLarge, InvalidImport
from conversations.import_export import FORMAT
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader, preferences
from conversations.import_export.importers import thread_of
from conversations.import_export.json_stream import PASSED, Shape, Text, walk
from conversations.import_export.project_fields import read_instructions
from conversations.import_export.records import Record
from conversations.import_export.uploads import Document
from conversations.import_export.values import refuse
from conversations.models import Prompt, Schedule
from conversations.runtime.wording import worded
from conversations.threads.projects import MOST_PROJECTS
from conversations.threads.prompts import MOST_PROMPTS
from memory.models import Memory, Topic

VERSION: dict[str, Shape] = dict.fromkeys(("content", "created_at", "origin", "message"))
ARTIFACT: Shape = {
    **dict.fromkeys(("id", "title", "kind", "language", "preset", "after_position", "after")),
    **VERSION,
    "versions": [VERSION],
}
MESSAGE: dict[str, Shape] = dict.fromkeys(
    ("id", "role", "content", "created_at", "status", "offline", "model", "files", "citations", "feedback")
)
THREAD: Shape = {
    **dict.fromkeys(("id", "title", "assistant", "created_at", "remembers", "model", "pinned", "archived", "tags")),
    **dict.fromkeys(("project", "instructions", "uses_account_instructions", "forked_from", "title_through")),
    "messages": [MESSAGE],
    "branches": [{**MESSAGE, "parent": None, "after_position": None}],
    "artifacts": [ARTIFACT],
    "files": [dict.fromkeys(("id", "name", "created_at", "path", "sha256"))],
    "summaries": [None],
}
BOOK: Mapping[str, Shape] = {
    "format": None,
    "preferences": None,
    "instructions": None,
    "projects": None,
    "threads": [THREAD],
    "memories": [None],
    "topics": [None],
    "prompts": [None],
    "schedules": [None],
}
"""What is read of a document; all else is passed over."""
OUTLINE: Mapping[str, Shape] = {name: [PASSED] if isinstance(shape, list) else None for name, shape in BOOK.items()}
AT_ONCE = 200
"""Memories or topics that are looked up together."""
CONVERSATIONS = ("mapping", "chat_messages")
"""By which one conversation of another product is known."""
SECTIONS = {"threads": 100_000, "memories": 100_000, "topics": 100_000, "prompts": MOST_PROMPTS, "schedules": 1_000}
"""The lists of a document, and how many elements each may have in an upload."""
UNKNOWN = (
    f'The document must be an object with `"format": "{FORMAT}"`, or be `conversations.json` of ChatGPT or Claude.'
)


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What a document holds: how many elements each section has."""

    document: Document
    scratch: Scratch
    counts: Mapping[str, int]
    is_foreign: bool = False
    preferences: Any = None
    instructions: Any = None
    projects: Any = None

    def place(self, section: str, index: int) -> str:
        """Where in the upload an element stands; an export of elsewhere is nothing but a list."""
        within = f"[{index}]" if self.is_foreign else f"{section}[{index}]"
        return f"{self.document.name}{'' if self.is_foreign or not self.document.name else ': '}{within}"

    def elements(self, section: str) -> Iterator[tuple[str, Any]]:
        """Each with its place."""
        if not self.counts.get(section):
            return
        name = None if self.is_foreign else section
        shape: dict[str, Shape] = {**dict.fromkeys(BOOK, PASSED), section: BOOK[section]}
        with self.document.opened() as file:
            for value in walk(file, self.scratch, shape):
                if value.name == name and value.number is not None:
                    yield self.place(section, value.number), value.value


def outline(document: Document, scratch: Scratch) -> Outline:
    """Raises ``InvalidImport`` for what is no JSON, or no document of a kind that is known.

    One conversation of another product is taken as a list of it alone.
    """
    shape: Mapping[str, Shape] = {**OUTLINE, **dict.fromkeys(CONVERSATIONS, Text.skip)}
    counts: Counter[str | None] = Counter()
    choices: dict[str, Any] = {}
    with document.opened() as file:
        for name, index, value in walk(file, scratch, shape, makes_elements=False):
            if name in CONVERSATIONS and "format" not in choices:
                return outline(listed(document), scratch)
            if index is not None:
                counts[name] += 1
                _check_count(name or "threads", counts[name])
            elif name is None and not isinstance(value, list):
                raise InvalidImport(UNKNOWN, place="")
            elif name in SECTIONS and not isinstance(value, list | None):
                refuse(name, "must be a list.")
            else:
                choices[name or ""] = value
    if "" in choices:
        if not counts:
            raise InvalidImport(UNKNOWN, place="")
        return Outline(document=document, scratch=scratch, is_foreign=True, counts={"threads": counts[None]})
    if choices.get("format") != FORMAT:
        refuse("format", f'must be "{FORMAT}".')
    return Outline(
        document=document,
        scratch=scratch,
        counts={name: counts[name] for name in SECTIONS},
        preferences=choices.get("preferences"),
        instructions=choices.get("instructions"),
        projects=_projects(choices.get("projects")),
    )


def _projects(value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        refuse("projects", "must be a list.")
    if value and len(value) > MOST_PROJECTS:
        refuse("projects", f"has {len(value):,} elements; the limit is {MOST_PROJECTS}.")
    return value or []


def listed(document: Document) -> Document:
    """The document as the only element of a list."""

    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        with document.opened() as file:
            yield Joined(b"[", file, b"]")  # type: ignore[misc]  # as far as it is read

    return replace(document, opened=opened)


class Joined:
    """Bytes, a file and bytes, one after another."""

    def __init__(self, before: bytes, file: IO[bytes], after: bytes) -> None:
        self._parts = [io.BytesIO(before), file, io.BytesIO(after)]

    def read(self, size: int) -> bytes:
        return next(filter(None, (part.read(size) for part in self._parts)), b"")


def _check_count(section: str, number: int) -> None:
    most = SECTIONS[section]
    if number > most:
        raise ImportTooLarge(
            worded(
                "The document has more than {most} {section}. Nothing was imported: send it as several documents.",
                most=most,
                section=section,
            ),
            limit=most,
        )


def records(outlines: Sequence[Outline], reader: DocumentReader) -> Iterator[Record]:
    """All that the documents hold. Raises ``InvalidImport``, which names the first place that is wrong."""
    for section in SECTIONS:
        _check_count(section, sum(one.counts.get(section, 0) for one in outlines))
    for one in outlines:
        if one.preferences is not None:
            yield preferences(one.preferences, "preferences")
        if one.instructions is not None:
            yield read_instructions(one.instructions, "instructions")
        for index, project in enumerate(one.projects or ()):
            yield reader.project(project, f"projects[{index}]", one.document)
    for one in outlines:
        for place, value in one.elements("threads"):
            thread = thread_of(value, place) if one.is_foreign else value
            if thread is not None:
                yield reader.thread(thread, place, one.document, foreign=one.is_foreign)
    yield from _remembered(outlines, "memories", Memory, reader, reader.memory)
    yield from reader.successors()
    yield from _remembered(outlines, "topics", Topic, reader, reader.topic)
    yield from _remembered(outlines, "prompts", Prompt, reader, reader.prompt)
    yield from _remembered(outlines, "schedules", Schedule, reader, reader.schedule)


def _remembered[R](
    outlines: Sequence[Outline],
    section: str,
    model: type[Model],
    reader: DocumentReader,
    read: Callable[[Any, str], R],
) -> Iterator[R]:
    for some in batched(chain.from_iterable(one.elements(section) for one in outlines), AT_ONCE):
        reader.look_up(model, some)
        yield from (read(value, place) for place, value in some)
