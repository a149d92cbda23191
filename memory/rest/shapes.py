"""What the calls about memory take and answer."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from django.conf import settings
from rest_framework.serializers import ValidationError

from conversations.context.record.snapshot_shapes import NamedProject
from conversations.runtime.shapes import Clean, Day, Id, Time
from conversations.wire import Role
from memory.models import Memory
from memory.services import zone_names


def is_zone(name: str) -> None:
    if name not in zone_names():
        raise ValidationError("There is no such time zone. Take an IANA name, such as Europe/Lisbon.")


def is_language(name: str) -> None:
    if name and name not in dict(settings.LANGUAGES):
        known = ", ".join(dict(settings.LANGUAGES))
        raise ValidationError(f"The pages have no such language. Take one of {known}, or none: as the browser asks.")


def is_meant(everything: bool) -> None:
    if not everything:
        raise ValidationError('Send {"all": true} to forget everything; else forget one memory by its id.')


Content = Annotated[Clean, {"max_length": 10_000}, "1 to 10,000 characters."]


Tags = Annotated[
    list[Annotated[Clean, {"max_length": 100}]],
    {"max_length": 20},
    "`user:{id}`: holds outside of projects. `project:{id}`: in that project. `thread:{id}` alone: in that thread. Else what "
    "you like.",
]
ValidUntil = Annotated[datetime | None, "No session that begins then or later is given it."]


class NewMemory(TypedDict):
    content: Content
    tags: NotRequired[Tags]
    valid_until: NotRequired[ValidUntil]


class MemoryChange(TypedDict, total=False):
    content: Content
    tags: Tags
    valid_until: ValidUntil


class TopicChange(TypedDict):
    resolved: Annotated[bool, "`true`: it is done; `false`: it is open again."]


class PreferencesChange(TypedDict, total=False):
    remembers: Annotated[bool, "`false`: nothing remembered is given to any request, and nothing new is remembered."]
    time_zone: Annotated[str, {"validators": [is_zone]}, "IANA name, such as `Europe/Lisbon`."]
    language: Annotated[
        str, {"allow_blank": True, "validators": [is_language]}, "`en`, `de`, `fr`, `es`, `ar`, or empty."
    ]


class Everything(TypedDict):
    all: Annotated[bool, {"validators": [is_meant]}, "`true`, so that nobody forgets everything by mistake."]


class SourceAnswer(TypedDict):
    """A turn that something rests on."""

    message: Annotated[Id, "Id of the turn."]
    thread: Annotated[Id, "Id of its thread."]
    position: Annotated[int, "Its place in the thread; `/threads/{thread}/#turn-{position}` shows it."]
    created_at: Annotated[Time, "When it was said."]


class MemoryAnswer(TypedDict):
    id: Annotated[Id, "Id of the memory."]
    content: Annotated[str, "What is remembered."]
    tags: Annotated[list[str], "`user:{id}`, `thread:{id}`, or the person's own."]
    project: Annotated[NamedProject | None, "The project that it is remembered in; null: it is outside of all of them."]
    origin: Annotated[str, Memory.Origin, "Found in a conversation, written by the person, or by a program."]
    source: Annotated[SourceAnswer | None, "The first turn that it rests on and that is still there."]
    sources: Annotated[list[SourceAnswer], "All of them."]
    created_at: Annotated[Time, "When it was noted."]
    said_at: Annotated[Time, "When it was said, or written down, last; what was said later ends what was said before."]
    valid_from: Annotated[Time | None, "Since when it holds; null: not known."]
    valid_until: Annotated[Time | None, "No session that begins then or later is given it; null: it lasts."]
    ended_at: Annotated[Time | None, "When it was replaced or called untrue."]
    superseded_by: Annotated[Id | None, "The memory that holds instead, or that says that it ended."]
    supersedes: Annotated[list[Id], "Ids of the memories that it replaced or ended, what began last first."]


class UsesAnswer(TypedDict):
    """Which requests of the caller held a memory, as far as they are still recorded."""

    requests: Annotated[int, "Model requests that held it."]
    replies: Annotated[int, "Replies that these were made for."]
    tokens: Annotated[int, "What it took in all these requests together."]
    last: Annotated[Time | None, "When the newest of them was made; null: none was."]


class TitledThread(TypedDict):
    id: Annotated[Id, "Id of the thread."]
    title: Annotated[str, "Its title."]


class TopicAnswer(TypedDict):
    """Something that was begun in a conversation."""

    id: Annotated[Id, "Id of the topic."]
    title: Annotated[str, "In a few words."]
    thread: Annotated[TitledThread | None, "Where it was begun; null once that is deleted."]
    source: Annotated[SourceAnswer | None, "The first turn that opened it and that is still there."]
    opened_at: Annotated[Time, "When it was begun."]
    resolved_at: Annotated[Time | None, "When it was done; null: it is open."]


class DayAnswer(TypedDict):
    """A day in the user's own time zone."""

    day: Annotated[Day, "The date."]
    text: Annotated[str, "The summary."]
    key_moments: Annotated[list[str], "Short sentences, in order."]
    threads: Annotated[list[TitledThread], "Where it was talked about."]
    updated_at: Annotated[Time, "When the summary was made."]


class PreferencesAnswer(TypedDict):
    remembers: Annotated[bool, "Whether anything is remembered, and given to requests."]
    time_zone: Annotated[str, "IANA name: what “today” means; `UTC` until it is chosen."]
    language: Annotated[str, "Of the pages, such as `de`; empty: as the browser asks."]


class ForgottenTurnAnswer(TypedDict):
    message: Annotated[Id, "Id of the turn."]
    thread: Annotated[Id, "Id of its thread."]
    position: Annotated[int, "Its place in the thread, from 1."]
    role: Annotated[Role, "Whose turn it is."]
    text: Annotated[str, "As it stood before."]
    why: Annotated[Literal["source", "mention"], "It was said here, or is repeated here."]


HELD = "What a legal hold keeps a copy of until it ends, in words for the person; empty: nothing."


class ForgettingAnswer(TypedDict):
    """What goes."""

    memories: Annotated[list[Id], "Ids of the memories that go."]
    turns: Annotated[list[ForgottenTurnAnswer], "Their place stays, as “[forgotten]”."]
    artifacts: Annotated[int, "Versions of artifacts whose content goes."]
    topics: Annotated[int, "Topics that go."]
    titles: Annotated[int, "Threads that get another title, or lose their tags."]
    projects: Annotated[int, "Projects whose name goes: they are called “[forgotten]”."]
    instructions: Annotated[int, "Texts of instructions that go: the caller's two, those of projects and of threads."]
    prompts: Annotated[int, "The caller's own prompts that go."]
    schedules: Annotated[int, "Messages that are sent at a time and that go."]
    feedback: Annotated[int, "Replies that lose what was said of them."]
    summaries: Annotated[int, "Summaries that are made anew."]
    snapshots: Annotated[int, "Recorded requests of which texts are blanked."]
    held: Annotated[str, HELD]


class ClearingAnswer(TypedDict):
    """What goes when a thread is cleared."""

    thread: Annotated[Id, "Id of the thread, which stays."]
    messages: Annotated[int, "Turns that go, attempts that were replaced among them."]
    quotes: Annotated[
        int,
        "Replies in other threads that go, as “[forgotten]”: they hold words of a turn or a file, because their model "
        "searched for them.",
    ]
    memories: Annotated[int, "Memories that go, as they rest on nothing else."]
    topics: Annotated[int, "Topics that go, as they rest on nothing else."]
    titles: Annotated[
        int, "1 where the title goes, as it is the first words of a turn; the next message gives another."
    ]
    summaries: Annotated[int, "Summaries that go, of its parts and of days; those of days are made anew."]
    snapshots: Annotated[int, "Recorded requests of which texts are blanked."]
    kept_artifacts: Annotated[int, "Artifacts of the thread, which stay."]
    held: Annotated[str, HELD]


class FoundSource(TypedDict):
    kind: Annotated[Literal["message", "memory"], "A turn, or something remembered."]
    id: Annotated[Id, "Id of the turn or the memory."]
    thread: Annotated[Id | None, "Id of the turn's thread; null for a memory."]
    position: Annotated[int | None, "The turn's place in its thread, from 1; null for a memory."]
    role: Annotated[str | None, "`user` or `assistant`; null for a memory."]
    project: Annotated[NamedProject | None, "The project that the thread is in, or the memory; null: in none."]


class FoundPassage(TypedDict):
    start: Annotated[int, "The first character of the turn's text that `content` holds, from 0."]
    end: Annotated[int, "The character after the last."]


class FoundAnswer(TypedDict):
    content: Annotated[str, "The passage of the turn that bears on the query – all of a short turn –, or the fact."]
    score: Annotated[float, "How much it bears on the query; comparable within one answer only."]
    source: Annotated[FoundSource, "Where it stands."]
    passage: Annotated[FoundPassage | None, "Which part of the turn it is; null: all of it, or a fact."]
    created_at: Annotated[Time, "When it was said or remembered."]
    replaced_by: Annotated[
        Id | None, "The note that holds instead of what was noted from the turn; it stands before it."
    ]


class FoundListAnswer(TypedDict):
    results: Annotated[list[FoundAnswer], "Best first, at most 100."]
