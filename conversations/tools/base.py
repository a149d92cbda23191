"""What a tool is: a name, a wording, a schema for its input, and a function that does the work."""

import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.context.files.excerpts import FileExcerpt, FileOutline, PartKey
from conversations.context.files.thread_files import NO_PICTURES, PictureCounter
from conversations.wire.artifacts import ArtifactNote


class ToolError(Exception):
    """A call that can't be carried out. The model reads the message, and may try otherwise."""


@dataclass(frozen=True, kw_only=True)
class ReadableFiles:
    """The files of a thread by id, the parts that the request holds already, and the estimated tokens that are left for
    reading more of them in this reply. Of the thread's ``project`` those are among them that the request had to do with; the
    others are read when one is named, pictures counted by ``pictures``."""

    outlines: Mapping[str, FileOutline] = field(default_factory=dict)
    given: frozenset[PartKey] = frozenset()
    room: int = 0
    project: uuid.UUID | None = None
    pictures: PictureCounter = NO_PICTURES

    def after(self, read: Sequence[FileExcerpt]) -> "ReadableFiles":
        """Once these have been read, too."""
        numbers = {(excerpt.file.id, number) for excerpt in read for number in excerpt.numbers}
        return replace(self, given=self.given | numbers, room=self.room - sum(excerpt.tokens for excerpt in read))


NO_READABLE_FILES = ReadableFiles()


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a tool is called from: everything that it does is for this user, in this thread. ``messages`` are those of the
    request that called it, as the Messages API has them."""

    user_id: int
    thread_id: uuid.UUID
    reply_id: uuid.UUID
    last_position: int
    preset: str = ""
    files: ReadableFiles = NO_READABLE_FILES
    messages: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What came of a call: ``text`` for the model, and after it the parts of files that were ``read``; ``summary`` in a few
    words for the person, and the artifact, if any. ``quoted`` are the turns and files whose words the text holds, by id.
    ``question`` is the id of the call that the person is asked about. ``made`` are blocks that name files of the thread."""

    text: str
    summary: str
    quoted: Collection[uuid.UUID] = ()
    read: Sequence[FileExcerpt] = ()
    artifact: ArtifactNote | None = None
    question: str | None = None
    made: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class Tool:
    """``run`` gets an input that fulfils ``schema`` (JSON Schema), works in a transaction of its own, and raises ``ToolError``.
    Where it is a coroutine function it waits for what is outside, holds no connection to the database meanwhile, and notes
    itself what it quotes.

    ``doing`` says in a few words what is going on, for the person who waits. ``streamed`` names the property of the input
    whose text is worth watching while the model writes it. ``rules`` are what the system text says about the tool. One that
    ``reads_files`` is offered only where there are some.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Callable[[ToolContext, Mapping[str, Any]], ToolResult | Awaitable[ToolResult]]
    doing: str
    streamed: str = ""
    rules: str = ""
    reads_files: bool = False

    def definition(self) -> dict[str, Any]:
        """As the Messages API takes it."""
        definition = {"name": self.name, "description": self.description, "input_schema": dict(self.schema)}
        # Else the API holds the input back until it is whole, and nobody could watch it being written.
        return definition | ({"eager_input_streaming": True} if self.streamed else {})
