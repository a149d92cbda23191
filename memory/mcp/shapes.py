"""What the tools take and answer, beyond the shapes that REST has too."""

from typing import Annotated, NotRequired, TypedDict

from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.runtime.shapes import Clean, Id, Time
from conversations.wire import Role
from memory.rest.search import LONGEST
from memory.rest.shapes import MemoryAnswer, NewMemory

MOST = 100

ProjectOrNone = Annotated[str, "Only of this project: its id; `none`: only what is in no project. Left out: of all."]


class SearchArguments(TypedDict):
    query: Annotated[Clean, {"min_length": 1, "max_length": LONGEST}, "A question, or a few words of it."]
    project: NotRequired[ProjectOrNone]
    limit: Annotated[int, {"default": 10, "min_value": 1, "max_value": MOST}, "Most results."]


class RecallArguments(TypedDict):
    words: Annotated[Clean, {"default": ""}, "Only notes that hold all of these words."]
    project: NotRequired[ProjectOrNone]
    thread: NotRequired[Annotated[Id, "Only notes that come from this thread, or belong to it."]]
    ended: Annotated[bool, {"default": False}, "`true`: also notes that were replaced or ended."]
    limit: Annotated[int, {"default": 20, "min_value": 1, "max_value": MOST}, "Most notes."]
    offset: Annotated[int, {"default": 0, "min_value": 0}, "How many of the newest to leave out."]


class RecallAnswer(TypedDict):
    memories: Annotated[list[MemoryAnswer], "Newest first."]
    more: Annotated[bool, "Whether there are more: ask again with a greater `offset`."]


class RememberArguments(NewMemory):
    pass


class ForgetArguments(TypedDict):
    memory: Annotated[Id, "Id of the note, as `search_memory` and `recall` give it."]
    preview: Annotated[bool, {"default": False}, "`true`: only say what would go, and change nothing."]


class ThreadArguments(TypedDict):
    thread: Annotated[Id, "Id of the thread."]
    before: NotRequired[
        Annotated[
            int, {"min_value": 1}, "Only turns before this position, as `earlier` gives it. Left out: the newest."
        ]
    ]
    limit: Annotated[int, {"default": 20, "min_value": 1, "max_value": MOST}, "Most turns."]


class TurnAnswer(TypedDict):
    id: Annotated[Id, "Id of the turn."]
    position: Annotated[int, "Its place in the thread, from 1."]
    role: Annotated[Role, "Whose turn it is."]
    text: Annotated[str, "What was said; `[forgotten]` where that was forgotten."]
    status: Annotated[str, "`complete`, or how it ended else."]
    created_at: Annotated[Time, "When it was said."]


class HistoryAnswer(TypedDict):
    thread: Annotated[Id, "Id of the thread."]
    title: Annotated[str, "Its title."]
    project: Annotated[Id | None, "Id of the project that it is in; null: in none."]
    turns: Annotated[list[TurnAnswer], "Oldest first."]
    earlier: Annotated[int | None, "The `before` of the turns before these; null: there are none."]


class ExplainArguments(TypedDict):
    """One of the two."""

    message: NotRequired[Annotated[Id, "Id of a turn: of an answer, or of the message that was answered."]]
    request: NotRequired[Annotated[Id, "Id of a model request."]]


class ContextAnswer(TypedDict):
    context: Annotated[
        SnapshotAnswer, "The newest request; what was sent word for word is the resource `uri`, not here."
    ]
    uri: Annotated[str, "The resource that holds it whole."]
