"""An upload as records, section by section: threads first, because the rest refers to them.

It is read twice: first to see that it is JSON, of which kind, and how much it holds; then element by element.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conversations import long_work
from conversations.errors import InvalidImport
from conversations.exchange import FORMAT
from conversations.exchange.foreign import thread_of
from conversations.exchange.reading import Reader, preferences
from conversations.exchange.records import Record
from conversations.exchange.uploads import Document
from conversations.exchange.values import refuse
from conversations.exchange.walking import walk

SECTIONS = ("threads", "memories", "topics")
UNKNOWN = (
    f'The document must be an object with `"format": "{FORMAT}"`, or be `conversations.json` of ChatGPT or Claude.'
)


@dataclass(frozen=True, kw_only=True)
class Outline:
    """What a document holds: how many elements each section has."""

    document: Document
    counts: Mapping[str, int]
    is_foreign: bool = False
    preferences: Any = None

    def place(self, section: str, index: int) -> str:
        """Where in the upload an element stands; an export of elsewhere is nothing but a list."""
        within = f"[{index}]" if self.is_foreign else f"{section}[{index}]"
        return f"{self.document.name}{'' if self.is_foreign or not self.document.name else ': '}{within}"

    def elements(self, section: str) -> Iterator[tuple[str, Any]]:
        """Each with its place."""
        if not self.counts.get(section):
            return
        name = None if self.is_foreign else section
        with self.document.opened() as file:
            for found in walk(file):
                long_work.check()
                if found.name == name and found.number is not None:
                    yield self.place(section, found.number), found.value


def outline(document: Document) -> Outline:
    """Raises ``InvalidImport`` for what is no JSON, or no document of a kind that is known."""
    counts: Counter[str | None] = Counter()
    choices: dict[str, Any] = {}
    with document.opened() as file:
        for name, index, value in walk(file):
            long_work.check()
            if index is not None:
                counts[name] += 1
            elif name is None and not isinstance(value, list):
                raise InvalidImport(UNKNOWN, place="")
            elif name in SECTIONS and not isinstance(value, list | None):
                refuse(name, "must be a list.")
            else:
                choices[name or ""] = value
    if "" in choices:
        if not counts:
            raise InvalidImport(UNKNOWN, place="")
        return Outline(document=document, is_foreign=True, counts={"threads": counts[None]})
    if choices.get("format") != FORMAT:
        refuse("format", f'must be "{FORMAT}".')
    return Outline(
        document=document, counts={name: counts[name] for name in SECTIONS}, preferences=choices.get("preferences")
    )


def records(outlines: Sequence[Outline], *, user_id: int, now: datetime, new_ids: bool = False) -> Iterator[Record]:
    """All that the documents hold. Raises ``InvalidImport``, which names the first place that is wrong.

    Ids that they give are kept, or with ``new_ids`` replaced wherever they stand.
    """
    reader = Reader(user_id=user_id, now=now, new_ids=new_ids)
    for one in outlines:
        if one.preferences is not None:
            yield preferences(one.preferences, "preferences")
    for one in outlines:
        for place, value in one.elements("threads"):
            thread = thread_of(value, place) if one.is_foreign else value
            if thread is not None:
                yield reader.thread(thread, place)
    for one in outlines:
        yield from (reader.memory(value, place) for place, value in one.elements("memories"))
    for one in outlines:
        yield from (reader.topic(value, place) for place, value in one.elements("topics"))
