"""What a context is made of: what was asked for, what is known of the model, and all that was read for it. Values alone."""

import uuid
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property
from typing import Any

from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.files.excerpts import FileForm
from conversations.context.files.thread_files import NO_FILES, Contents, ThreadFiles, named_files
from conversations.context.gather.history import History, HistoryQuery, PathEnd, UsableTurns, usable_turns
from conversations.context.query.rewriting import Rewriting
from conversations.context.render.rendering import QUOTING
from conversations.context.render.tool_sections import NO_TOOLS, ToolTexts
from conversations.context.rules.fitting import Section
from conversations.context.rules.prompt_cache import Lifetime
from conversations.context.rules.standing import Known
from conversations.context.sessions import Session
from conversations.context.sources import Fitted, SourceQuery
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, Model
from conversations.providers.base import Provider
from conversations.runtime.values import dataclass
from memory.scope import MemoryScope

UNREAD: Any = None
"""Stands where the step hasn't run yet that reads it."""


@dataclass(frozen=True, kw_only=True)
class ThreadScope:
    """Whose thread it is, which, and what of it counts. Without ``thread_id`` it is one to come.

    ``end`` is the turn that the newest one follows, where that need not be the last of the active path. ``last_reply`` made
    the turn before. Without ``remembers`` nothing is known or recalled; ``withholds``: because it is a temporary chat, which
    says so. ``cleared_through`` is the last position that was cleared away, 0 in a thread that never was. ``memory``: whose is
    open to it.
    """

    user_id: int
    thread_id: uuid.UUID | None
    session: Session
    end: PathEnd | None = None
    last_reply: uuid.UUID | None = None
    remembers: bool = True
    withholds: bool = False
    cleared_through: int = 0
    memory: MemoryScope


@dataclass(frozen=True, kw_only=True)
class BuildRequest:
    """What a context is asked for: the turn to answer, which may not be stored yet, by whom, and how.

    ``at`` is the time of the request: the same rows at the same time give the same bytes. ``query`` is what a model made of the
    message; without it the assistant's rules decide, and where a model has to be asked first, ``rewriting`` says so.
    ``silent``: ``newest`` is the instruction of a preset, and no turn of the thread (F9). ``for_another_model``: the history is
    not for the provider alone. ``brings_files``: the message will bring files that are not stored yet.
    """

    scope: ThreadScope
    assistant: Assistant
    provider: Provider
    newest: Turn
    at: datetime
    tools: ToolTexts = NO_TOOLS
    options: CallerOptions = NO_OPTIONS
    query: Rewriting | None = None
    silent: bool = False
    for_another_model: bool = False
    brings_files: bool = False


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What holds before anything of the thread is read: which model is asked, what it takes, and how it is told.

    ``assistant`` is the request's, or a copy without memory where that is no use to the model. ``window`` is the model's, in
    its tokens. ``lifetime``, ``citing`` and ``file_form`` are ``None`` where they are still to be decided. ``is_past``: the
    request was made at its time, and nothing newer counts.
    """

    assistant: Assistant
    model: str
    row: Model
    base: str
    allowance: OutputAllowance
    factor: Factor
    window: int
    program: Section | None
    lifetime: Lifetime | None = None
    citing: str | None = None
    file_form: FileForm | None = None
    quoting: int | None = QUOTING
    is_past: bool = False


@dataclass(frozen=True, kw_only=True)
class SearchedSource:
    """What a source beside the message gave, what it was searched by, and the room that it had; ``None`` is as it takes."""

    fitted: Fitted
    by: Hashable = None
    room: int | None = None

    def holds(self, by: Hashable, room: int | None) -> bool:
        """Whether it would give the same if it were searched by this, in this room."""
        if by != self.by or room is None or self.room is None:
            return by == self.by
        return estimate_tokens(self.fitted.text) <= room <= self.room


@dataclass(frozen=True, kw_only=True)
class Material:
    """All that was read for a request; nothing in it tells whether that is as of now or of a record.

    ``beside`` is what each source gave for the message. ``contents`` are what the parts say that stand in turns,
    ``read_contents`` those that the reply has read in its rounds.
    """

    request: BuildRequest
    facts: Facts
    source_query: SourceQuery = UNREAD
    history_query: HistoryQuery = UNREAD
    history: History = UNREAD
    known: Known = UNREAD
    beside: Mapping[str, SearchedSource] = field(default_factory=dict)
    files: ThreadFiles = NO_FILES
    contents: Contents = field(default_factory=dict)
    read_contents: Contents = field(default_factory=dict)

    @property
    def new_files(self) -> Sequence[str]:
        """The ids of the files that the newest turn brings."""
        return named_files(self.request.newest.content)

    @property
    def has_files(self) -> bool:
        """Whether the thread has files, or gets some with the newest turn."""
        return self.history.has_files or self.request.brings_files or bool(self.new_files)

    @cached_property
    def usable(self) -> UsableTurns:
        """The turns that were read without those that no model is given."""
        return usable_turns(self.history, self.request.newest, keeps_offline=self.history_query.keeps_offline)

    @property
    def tools(self) -> ToolTexts:
        tools = self.request.tools
        return tools.with_files if tools.with_files and self.has_files else tools
