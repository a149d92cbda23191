"""What other agents may read by its address: threads, notes, and what a model was given."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp_types import Resource, ResourceTemplate

from conversations import threads
from conversations.errors import NotFound
from conversations.models import Message, Scope
from memory import services
from memory.mcp import uris
from memory.mcp.caller import Caller
from memory.mcp.tools import whole_context
from memory.rest.memories import memory_objects

LISTED = 50
"""The newest of each kind. Tools find the others."""
TITLE_CHARS = 80
JSON, TEXT = "application/json", "text/markdown"


class ResourceNotFound(NotFound):
    message = "There is no such resource. `resources/templates/list` says how they are named."


@dataclass(frozen=True, kw_only=True)
class ResourceKind:
    """``read`` gives the text of the one with an id."""

    name: str
    title: str
    about: str
    type: str
    scopes: tuple[Scope, ...]
    read: Callable[[Caller, str], str]

    def described(self) -> ResourceTemplate:
        return ResourceTemplate(
            name=self.name,
            title=self.title,
            description=self.about,
            uri_template=uris.template(self.name),
            mime_type=self.type,
        )


def _thread(caller: Caller, id: str) -> str:
    thread = threads.get(caller.user, id)
    turns = "\n\n".join(map(_turn, threads.messages_of(thread)))
    return f"# {thread.title}\n\n{turns}\n"


def _turn(turn: Message) -> str:
    return f"## {turn.position} · {turn.role} · {turn.created_at:%Y-%m-%d %H:%M} UTC\n\n{turn.text}"


def _memory(caller: Caller, id: str) -> str:
    return _json(memory_objects(caller.user, [services.memory_of(caller.user, id)])[0])


def _request(caller: Caller, id: str) -> str:
    return _json(whole_context(threads.request_of(caller.user, id)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


KINDS = {
    kind.name: kind
    for kind in (
        ResourceKind(
            name=uris.THREAD,
            title="Conversation",
            about="All turns of a conversation's active path, oldest first.",
            type=TEXT,
            scopes=(Scope.READ,),
            read=_thread,
        ),
        ResourceKind(
            name=uris.MEMORY,
            title="Note",
            about="A note that is remembered, with the turns that it rests on.",
            type=JSON,
            scopes=(Scope.READ, Scope.MEMORY),
            read=_memory,
        ),
        ResourceKind(
            name=uris.REQUEST,
            title="Context of an answer",
            about="What a model was given, word for word, what was left out and why.",
            type=JSON,
            scopes=(Scope.READ,),
            read=_request,
        ),
    )
}


def offered(caller: Caller) -> list[ResourceKind]:
    """Those that the token may read."""
    return [kind for kind in KINDS.values() if caller.may(*kind.scopes)]


def listed(caller: Caller) -> list[Resource]:
    """The newest threads and notes, as far as the token may read them."""
    names = {kind.name for kind in offered(caller)}
    return [*(_threads(caller) if uris.THREAD in names else ()), *(_memories(caller) if uris.MEMORY in names else ())]


def _threads(caller: Caller) -> list[Resource]:
    rows = threads.listed(caller.user).order_by("-updated_at", "-id")[:LISTED]
    return [
        Resource(
            uri=uris.thread(thread.id), name=f"thread-{thread.id}", title=thread.title or "Untitled", mime_type=TEXT
        )
        for thread in rows
    ]


def _memories(caller: Caller) -> list[Resource]:
    return [
        Resource(uri=uris.memory(note.id), name=f"memory-{note.id}", title=note.content[:TITLE_CHARS], mime_type=JSON)
        for note in services.memories_of(caller.user)[:LISTED]
    ]


def read(caller: Caller, uri: str) -> tuple[str, str]:
    """Its text and media type. Raises ``NotFound`` or ``InsufficientScope``."""
    named = uris.parts(uri)
    if named is None:
        raise ResourceNotFound
    kind, id = KINDS[named[0]], named[1]
    caller.demand(*kind.scopes)
    return kind.read(caller, id), kind.type
