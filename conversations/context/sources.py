"""What can stand in a request beside its turns and what staff wrote: a source each, all of one shape.

A source is a file. ``CONTEXT_SOURCES`` of the settings lists them in the order in which they are sent; nothing else names
them. The builder, the snapshot, replay, the pages of staff, the comparison, forgetting and the API go by this interface.
"""

import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.core.signals import setting_changed
from django.db.models import Model
from django.utils.module_loading import import_string
from django.utils.translation import gettext

from conversations.context.reasons import Reason
from conversations.context.sessions import Session
from conversations.context.source_problems import Problem, ProblemKind
from conversations.context.tokens.factor import Factor
from conversations.context.turns.turn import Turn
from conversations.models import Assistant
from conversations.runtime.values import dataclass
from memory.scope import MemoryScope

type Row = list[Any]
"""What one element of a source's JSON is read as."""


WHOLE_PATH = 2**31 - 1
"""A depth that no turn has."""


class Place(StrEnum):
    STANDING = "standing"
    """In the system text, before the turns: the same all session long, so that the provider's prompt cache holds (C3)."""
    BESIDE = "beside"
    """Beside the person's own words, in the newest message (Q2)."""


class InvalidRow(Exception):
    """A row that can't be used. The message holds no text of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceItem:
    """A row that might have been given. ``tokens`` is what it takes in the request: 0 where it was left out."""

    kind: str
    id: str
    included: bool
    reason: Reason
    tokens: int

    def in_model_tokens(self, factor: Factor) -> "SourceItem":
        """Its estimated tokens as the model's."""
        tokens = factor.of_estimate(self.tokens)
        return self if tokens == self.tokens else replace(self, tokens=tokens)

    def left_out(self) -> "SourceItem":
        return replace(self, included=False, reason=Reason.OVER_BUDGET, tokens=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredItem(SourceItem):
    """``score`` is how much it bears on the message, beside the others."""

    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnItem(ScoredItem):
    """A turn of any thread of the person."""

    thread: str
    position: int
    passages: "list[PassageItem]" = field(default_factory=list)
    """Of a long turn: those that bear on the message, in their order. Empty where it is whole."""
    replaced_by: str | None = None
    """The note that holds instead of what was noted from the turn."""

    def in_model_tokens(self, factor: Factor) -> "TurnItem":
        if not self.tokens:
            return self
        passages = [replace(passage, tokens=factor.of_estimate(passage.tokens)) for passage in self.passages]
        return replace(self, tokens=factor.of_estimate(self.tokens), passages=passages)

    def left_out(self) -> "TurnItem":
        gone = [replace(passage, included=False, reason=Reason.OVER_BUDGET, tokens=0) for passage in self.passages]
        return replace(self, included=False, reason=Reason.OVER_BUDGET, tokens=0, passages=gone)


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageItem:
    """The characters of a turn from ``start`` to before ``end``. ``tokens`` is what they add to the request."""

    start: int
    end: int
    included: bool
    reason: Reason
    tokens: int


def item_of(recorded: Mapping[str, Any]) -> SourceItem:
    """An item as a snapshot has it, in the model's tokens."""
    form = TurnItem if "thread" in recorded else ScoredItem if "score" in recorded else SourceItem
    values = {name.name: recorded[name.name] for name in fields(form) if name.name in recorded}
    if passages := recorded.get("passages"):
        values["passages"] = [PassageItem(**part | {"reason": Reason(part["reason"])}) for part in passages]
    return form(**values | {"reason": Reason(recorded["reason"])})


@dataclass(frozen=True, kw_only=True)
class ItemKind:
    """What items of a kind are: rows of this model. ``what`` names one for staff, ``text``, ``turn`` and ``thread`` are the
    columns of what it says and of where it comes from, ``page`` is the admin's."""

    code: str
    what: str
    model: type[Model]
    text: str
    turn: str = ""
    thread: str = ""
    page: str = ""


@dataclass(frozen=True, kw_only=True)
class SourceQuery:
    """Who is answered, where and since when. The current time plays no part, so that what stands all session long does.
    ``depth`` is that of the turn that is answered: what the path holds from there on does not lead to it."""

    user_id: int
    thread_id: uuid.UUID | None
    session: Session
    depth: int = WHOLE_PATH
    offers_tools: bool = False
    offers_server_tools: bool = False
    silent: bool = False
    memory: MemoryScope
    """Whose memory is open to the thread."""
    withholds: bool = False
    """It is a temporary chat, which is given nothing that is remembered."""


@dataclass(frozen=True, kw_only=True)
class MessageQuery(SourceQuery):
    """What a source beside the message may go by: the message – or what it was rewritten to – and what the request holds
    already. Of the thread only what comes before the depth ``before`` is outside the window; turns that are ``gone`` were
    filtered. ``is_past``: the request was made at ``at``, and nothing newer counts."""

    at: datetime
    text: str
    zone: tzinfo = UTC
    query: str = ""
    before: int = 0
    gone: frozenset[uuid.UUID | None] = frozenset()
    filtering: bool = True
    is_past: bool = False
    already_sent: Mapping[str, Sequence[SourceItem]] = field(default_factory=dict)
    lines_sent: Sequence[str] = ()
    """Of the sections that stand before the newest message, the turns among them."""


@dataclass(kw_only=True)
class Reading:
    """The rows of one source being read: who they are of, and what went wrong with them."""

    source: str
    session: Session
    zone: tzinfo = UTC
    problems: list[Problem] = field(default_factory=list)

    def parsed[T](self, rows: Sequence[Row], parse: Callable[[Row], T]) -> tuple[T, ...]:
        """The rows as what they stand for. One that can't be used is left out with a problem."""
        usable = []
        for row in rows:
            try:
                usable.append(parse(row))
            except InvalidRow as error:
                self.problems.append(Problem(source=self.source, kind=ProblemKind.GARBAGE, message=str(error)))
        return tuple(usable)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What a source puts into the request – nothing where it is empty –, the account of its rows, and which turns of the
    thread itself are in it."""

    text: str = ""
    items: Sequence[SourceItem] = ()
    turns: Sequence[Turn] = ()
    problems: Sequence[Problem] = ()


NOTHING = Fitted()


ADDED = "added"
"""The id of a note that nobody made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddedNote:
    """A note that nobody made, as of a time."""

    text: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What a request made again is to be ``without``, such as rows of sources, turns and files by their ids; a note that it is
    to be given besides; and the names of sources that are ``widened``: they may take more than they could then."""

    without: frozenset[str] = frozenset()
    note: AddedNote | None = None
    widened: frozenset[str] = frozenset()

    def takes(self, items: Sequence[SourceItem]) -> bool:
        """Whether it takes out one that was given."""
        return any(item.included and item.id in self.without for item in items)

    def touches(self, source: str, items: Sequence[SourceItem]) -> bool:
        """Whether it takes out a row of a source, or has room for one that found none."""
        has_more = source in self.widened and any(item.reason is Reason.OVER_BUDGET for item in items)
        return has_more or self.takes(items)


UNEDITED = Edit()


class Source[Candidates: Hashable]:
    """One source. Candidates are whatever it makes of its rows; ``None`` is none."""

    name: ClassVar[str]
    """The key of its section in snapshot, pages, comparison and API."""
    place: ClassVar[Place]
    label: ClassVar[str]
    """For staff."""
    personal_label: ClassVar[str]
    """For the person whose request it is."""
    named_in_problems: ClassVar[Mapping[str, str]] = {}
    """What the person is told is missing, by the source that a problem names; else it is the label."""
    kinds: ClassVar[Sequence[ItemKind]] = ()
    is_memory: ClassVar[bool] = True
    """Whether it goes where memory is switched off, by the person, the thread or the assistant."""
    tells_withheld: ClassVar[bool] = False
    """Whether it tells what a temporary chat is not given."""
    cut_order: ClassVar[int] = 0
    """Of what stands all session long the highest is cut first where there is no room. 0 is kept, unless it alone is too
    much beside a message of usual length."""
    gives_way: ClassVar[int] = 0
    """Of what stands all session long: what two would say stands in that with the lower number, in the same first."""
    informs_query: ClassVar[bool] = False
    """Whether a model that is asked for the contextualised query is given it."""
    takes_notes: ClassVar[bool] = False
    """Whether a note that is added to a request stands in it."""
    budget_field: ClassVar[str] = ""
    """The column of an assistant where staff set what it may take, in tokens of the model."""
    statement: ClassVar[str] = ""
    """One column: a JSON list of rows, or null. All sources are asked in one round trip. ``user``, ``thread`` (may be null)
    and ``began_at`` are there as values; a statement should end at a LIMIT."""
    statement_then: ClassVar[str] = ""
    """The same as of the time ``at``, where that can be asked for."""
    comes_from: ClassVar[tuple[str, bool]] = ("the rows of today", True)
    """Where a part comes from that is another than was recorded, in a request that is made again, and whether that is of
    today."""

    def values(self, query: SourceQuery) -> Mapping[str, Any]:
        """What else the statement is asked with. Names that several sources use mean the same."""
        return {}

    def is_wanted(self, query: SourceQuery) -> bool:
        return True

    def read(self, rows: Sequence[Row], reading: Reading) -> Candidates | None:
        """What the rows stand for. Pure."""
        return None

    def completed(
        self, candidates: Candidates | None, query: SourceQuery, prepared: Any, zone: tzinfo
    ) -> tuple[Candidates | None, Sequence[Problem]]:
        """The candidates in the light of what a service said that was asked before, days by the person's zone. May read."""
        return candidates, ()

    def unrepeated(self, candidates: Candidates, lines: Sequence[str]) -> Candidates:
        """The candidates, of which those are marked that lines of the system text say already, or others of them. Pure."""
        return candidates

    def search(self, candidates: Candidates | None, query: MessageQuery, room: int) -> Candidates | None:
        """What bears on the message, for a source that stands beside it. May read."""
        return candidates

    def searches_by(self, query: MessageQuery) -> Hashable:
        """What the result of ``search`` depends on."""
        return ()

    def tokens(self, assistant: Assistant) -> int | None:
        """What it may take, in tokens of the model; ``None`` is what it takes."""
        return getattr(assistant, self.budget_field) if self.budget_field else None

    def fit(self, candidates: Candidates, tokens: int) -> Fitted:
        """As much of it as so many estimated tokens hold. Pure."""
        raise NotImplementedError

    def recorded(self, text: str, items: Sequence[SourceItem], at: datetime) -> Candidates | None:
        """The candidates as far as the text tells that was sent at a time: it may have to be cut to another room. Pure."""
        return None

    def edited(
        self, candidates: Candidates | None, items: Sequence[SourceItem], query: SourceQuery, edit: Edit
    ) -> Candidates | None:
        """The candidates of a request that is made again, without what is taken out of it and with what is added. The ``items``
        tell which of them found no room then: those are among them again, as they are today. May read."""
        return None if edit.takes(items) else candidates

    def columns(self, fitted: Fitted) -> Mapping[str, Any]:
        """What a snapshot says of it in columns of its own."""
        return {}

    def owns(self, item: Mapping[str, Any]) -> bool:
        """Whether a recorded item is one of its own, by its kind and by whether it has a score."""
        return "score" not in item and any(kind.code == item["kind"] for kind in self.kinds)

    def rule(self, assistant: Assistant) -> str:
        """Why an item found no room, in a sentence with the numbers of the assistant."""
        return gettext("What stands beside a message goes where the message needs the room itself.")


@cache
def all_sources() -> tuple[Source[Any], ...]:
    """In the order in which they are sent, those before the turns first."""
    sources = [import_string(path)() for path in settings.CONTEXT_SOURCES]
    return tuple(source for place in Place for source in sources if source.place is place)


def sources_at(place: Place) -> tuple[Source[Any], ...]:
    return tuple(source for source in all_sources() if source.place is place)


def source_of(item: Mapping[str, Any]) -> Source[Any] | None:
    """The source that a recorded item comes from."""
    return next((source for source in all_sources() if source.owns(item)), None)


def _forget_sources(*, setting: str, **_: Any) -> None:
    if setting == "CONTEXT_SOURCES":
        all_sources.cache_clear()


setting_changed.connect(_forget_sources)
