"""What a tool is: a name, a wording, a schema for its input, and a function that does the work."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conversations.wire.artifacts import ArtifactNote


class ToolError(Exception):
    """A call that can't be carried out. The model reads the message, and may try otherwise."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a tool is called from: everything that it does is for this user, in this thread."""

    user_id: int
    thread_id: uuid.UUID
    reply_id: uuid.UUID
    last_position: int
    preset: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """What came of a call: ``text`` for the model, ``summary`` in a few words for the person, and the artifact, if any."""

    text: str
    summary: str
    artifact: ArtifactNote | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """``run`` gets an input that fulfils ``schema`` (JSON Schema), works in a transaction of its own, and raises ``ToolError``.

    ``doing`` says in a few words what is going on, for the person who waits. ``streamed`` names the property of the input
    whose text is worth watching while the model writes it. ``rules`` are what the system text says about the tool.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    run: Callable[[ToolContext, Mapping[str, Any]], ToolResult]
    doing: str
    streamed: str = ""
    rules: str = ""

    def definition(self) -> dict[str, Any]:
        """As the Messages API takes it."""
        definition = {"name": self.name, "description": self.description, "input_schema": dict(self.schema)}
        # Else the API holds the input back until it is whole, and nobody could watch it being written.
        return definition | ({"eager_input_streaming": True} if self.streamed else {})
