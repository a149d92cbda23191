"""The document that an import takes and an export gives, for the schema, and what an import answers.

``conversations.import_export`` reads and writes it.
"""

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from artifacts.models import ArtifactVersion, Kind
from conversations.models import Feedback, Message, Project
from conversations.models.prompts import NAME_CHARS, TEXT_CHARS
from conversations.models.threads import TAG_CHARS
from conversations.runtime.shapes import Id, Slug, Time
from conversations.wire import Role
from memory.models import Memory

IMPORTED_STATUSES = [status for status in Message.Status.values if status != Message.Status.FORGOTTEN]
KeptId = Annotated[Id, "Kept; a new one without it."]
Origin = Annotated[str, ArtifactVersion.Origin, {"default": ArtifactVersion.Origin.PROGRAM}, "Who made it."]
Maker = Annotated[Any, "The assistant's message that made it: its id, or its place in the list from 1 on."]


class GivenFile(TypedDict, total=False):
    """What of a file a message holds, so that a model is given the same again."""

    file: Required[Annotated[Id, "One of the `files` of the thread."]]
    parts: Annotated[str, "Numbers of its parts, as in `1-3, 7`; may be empty."]
    outlined: Annotated[bool, {"default": False}, "With a list of all parts."]


class ImportedFile(TypedDict, total=False):
    """What kind it is, is told by its bytes; its parts are read anew."""

    id: KeptId
    name: Annotated[str, {"max_length": 200}, "In one line."]
    kind: Annotated[str, "What it was."]
    media_type: Annotated[str, "What it was."]
    bytes: Annotated[int, "Its size."]
    sha256: Annotated[str, "Of its bytes, in hexadecimal digits; others are refused."]
    created_at: Annotated[Time, "Without it: the time of the import."]
    path: Annotated[
        str | None,
        "Where its bytes lie in the ZIP file, from the document's folder on; null: they are not there, as in an export that "
        "is no ZIP file.",
    ]


class ImportedFeedback(TypedDict, total=False):
    """What the person said of an answer. Whether support was shown the conversation does not come along."""

    value: Required[Annotated[int, [1, -1], "1: good, -1: bad."]]
    reason: Annotated[str, Feedback.Reason, {"default": "", "allow_blank": True}, "Why."]
    text: Annotated[str, "Cut after 2,000 characters."]
    created_at: Annotated[Time, "Without it: that of the message."]
    updated_at: Annotated[Time, "Without it: as `created_at`."]


class ImportedMessage(TypedDict, total=False):
    """Of the active path. The order of the list is the order of the turns."""

    id: KeptId
    role: Required[Annotated[Role, "Whose turn it is."]]
    content: Required[Annotated[Any, "A text, or a list of content blocks of the Messages API."]]
    created_at: Annotated[Time, "Without it: as the message before; without a time zone: UTC."]
    status: Annotated[
        str,
        IMPORTED_STATUSES,
        {"default": "complete"},
        "How it ended; of a user's message `complete`, or `refused` where a model declined to answer it.",
    ]
    model: Annotated[str, "Of the assistant's message: the model that wrote it. Cut after 200 characters."]
    offline: Annotated[bool, "`true`: words of the offline responder, which no model is given."]
    files: Annotated[
        list[GivenFile], "Of a user's message; without it: pictures whole, of others what parts there are."
    ]
    feedback: Annotated[ImportedFeedback, "Of the assistant's message: what the person said of it."]


class ImportedBranchMessage(ImportedMessage, total=False):
    """One that is not on the active path. They stand in the order in which they were said, each behind its parent."""

    parent: Annotated[
        Id | None,
        "The message that it follows, of `messages` or before it in `branches`; null: it is another first message. Those with "
        "the same parent are versions of one another.",
    ]
    after_position: Annotated[
        int,
        {"min_value": 0},
        "Place of the newest of `messages` that was there before it. Without it: as early as its parent and the one before "
        "allow.",
    ]


class ImportedVersion(TypedDict, total=False):
    content: Required[Annotated[str, "1 to 500,000 characters, unless the operator set another limit."]]
    created_at: Annotated[Time, "Without it: as the version before."]
    origin: Origin
    message: Maker


class ImportedArtifact(TypedDict, total=False):
    """With `versions`, what `message` and `origin` beside them say does not count."""

    id: KeptId
    title: Required[Annotated[str, {"max_length": 200}, "1 to 200 characters."]]
    kind: Annotated[str, Kind, {"default": Kind.DOCUMENT}, "What it is."]
    language: Annotated[str, {"allow_blank": True, "max_length": 40}, "Of code: python, sql …"]
    preset: Annotated[str, {"allow_blank": True}, "The preset that made it; else empty."]
    after_position: Annotated[int, {"min_value": 0}, "Place of the newest message when it was made, from 1 on."]
    after: Annotated[Id, "The newest message when it was made, where that is one of `branches`."]
    content: Annotated[str, "The only version, or once more the last of `versions`."]
    versions: Annotated[list[ImportedVersion], "The newest last."]
    created_at: Annotated[Time, "Without it: that of its first version, or of the thread."]
    origin: Origin
    message: Maker


class ImportedSummary(TypedDict, total=False):
    """Of a part of a thread. The days that `GET days/` lists are made of them."""

    id: KeptId
    first: Required[Annotated[int, {"min_value": 1}, "Place of its first message in the list, from 1 on."]]
    last: Required[Annotated[int, {"min_value": 1}, "Place of its last message."]]
    text: Required[Annotated[str, {"max_length": 10_000, "allow_blank": True}, "What was talked of."]]
    key_moments: Annotated[list[str], "What mattered most, a sentence each."]
    sources: Annotated[list[Id], "The messages that it rests on."]
    started_at: Annotated[Time, "Without it: that of its first message."]
    ended_at: Annotated[Time, "Without it: that of its last message."]
    made_by: Annotated[str, {"max_length": 80}, "The model that wrote it, or `rules`."]
    made_at: Annotated[Time, "Without it: the time of the import."]
    stale_since: Annotated[Time | None, "Since when it waits to be made anew."]


class ImportedSource(TypedDict, total=False):
    thread: Required[Annotated[Id, "The thread."]]
    message: Annotated[Id | None, "The message up to which it was copied."]


class ImportedThread(TypedDict, total=False):
    id: KeptId
    title: Annotated[str, {"max_length": 200, "allow_blank": True}, "Without it: from the first message of the user."]
    title_through: Annotated[
        int, {"min_value": 0}, "A model made the title of so many of its first messages, of all branches together."
    ]
    forked_from: Annotated[
        ImportedSource, "What it was forked from; kept where that stands before it in the document, or is here."
    ]
    pinned: Annotated[bool, "`true`: it stands above the others."]
    archived: Annotated[bool, "`true`: it is put away."]
    tags: Annotated[list[Annotated[str, {"max_length": TAG_CHARS}]], "The person's own words for it, at most 20."]
    assistant: Annotated[Slug, "Without it: the default one."]
    created_at: Annotated[Time, "Without it: that of the first message."]
    messages: Annotated[list[ImportedMessage], "The active path, the oldest first."]
    branches: Annotated[list[ImportedBranchMessage], "All other messages: what was edited, or answered again."]
    artifacts: Annotated[list[ImportedArtifact], "What was made in it."]
    remembers: Annotated[bool, "`false`: nothing of it is remembered."]
    model: Annotated[
        str,
        {"max_length": 121, "allow_blank": True},
        "Its model, as `provider/name`; where that is not offered here the assistant's own answers. Without it: that one.",
    ]
    summaries: Annotated[list[ImportedSummary], "Without them they are made after a while."]
    files: Annotated[list[ImportedFile], "Those that messages name by blocks of the type `file`."]
    project: Annotated[Id | None, "The project of the document that it is in."]
    instructions: Annotated[str, {"max_length": 1_500, "allow_blank": True}, "What every answer in it is given."]
    uses_account_instructions: Annotated[bool, "`false`: it is not given the person's own instructions."]


class ImportedInstructions(TypedDict, total=False):
    """They count where the caller has written none yet."""

    about: Annotated[str, {"max_length": 1_500, "allow_blank": True}, "About the person."]
    style: Annotated[str, {"max_length": 1_500, "allow_blank": True}, "How they want to be answered."]


class ImportedProject(TypedDict, total=False):
    id: KeptId
    name: Required[Annotated[str, {"max_length": 100}, "1 to 100 characters."]]
    colour: Annotated[str, Project.Colour, {"default": Project.Colour.GREY}, "That it is marked with."]
    instructions: Annotated[str, {"max_length": 1_500, "allow_blank": True}, "What every answer in it is given."]
    assistant: Annotated[Slug | None, "That new threads have; one that is not here is left out."]
    model: Annotated[str, {"max_length": 121, "allow_blank": True}, "That new threads have, as `provider/name`."]
    presets: Annotated[list[str], "Slugs of presets that its threads offer too."]
    uses_outside_memory: Annotated[bool, "`true`: its threads are given what is remembered outside of it."]
    shares_memory: Annotated[bool, "`true`: what is remembered in it is given outside of it."]
    created_at: Annotated[Time, "Without it: the time of the import."]
    files: Annotated[list[ImportedFile], "That were uploaded to it."]


class ImportedMemory(TypedDict, total=False):
    id: KeptId
    content: Required[Annotated[str, {"max_length": 10_000}, "1 to 10,000 characters."]]
    tags: Annotated[
        list[Annotated[str, {"max_length": 100}]],
        "`user:…` becomes the caller's own; `thread:…` and `project:…` stay where what they name is in the document.",
    ]
    source: Annotated[Id | None, "The message of the document that it comes from: the first of `sources`."]
    sources: Annotated[list[Id], "The messages of the document that it comes from."]
    origin: Annotated[str, Memory.Origin, "`program` unless it is told."]
    created_at: Annotated[Time, "Without it: the time of the import."]
    said_at: Annotated[Time, "When it was said last. Without it: since when it holds, else `created_at`."]
    valid_from: Annotated[Time | None, "Since when it holds."]
    valid_until: Annotated[Time | None, "No session that begins then or later is given it."]
    ended_at: Annotated[Time | None, "When it was replaced or called untrue."]
    settled_at: Annotated[Time | None, "When the person last decided by hand whether it holds."]


class ImportedTopic(TypedDict, total=False):
    id: KeptId
    title: Required[Annotated[str, {"max_length": 200}, "At most 200 characters."]]
    thread: Annotated[Id | None, "The thread of the document in which it was begun."]
    sources: Annotated[list[Id], "The messages that opened it."]
    opened_at: Annotated[Time, "Without it: the time of the import."]
    resolved_at: Annotated[Time | None, "Without it: it is still open."]


class ImportedPreferences(TypedDict, total=False):
    """They count where the caller has not chosen yet."""

    time_zone: Annotated[str, "As in `Europe/Lisbon`."]
    remembers: Annotated[bool, "`false`: nothing is remembered."]
    language: Annotated[str, {"allow_blank": True}, "Of the pages, as in `de`; empty: as the browser asks."]


class ImportedPrompt(TypedDict, total=False):
    id: KeptId
    name: Required[Annotated[str, {"max_length": NAME_CHARS}, "In one line."]]
    text: Required[Annotated[str, {"max_length": TEXT_CHARS}, "A text to write messages with."]]
    created_at: Annotated[Time, "Without it: the time of the import."]


class Book(TypedDict, total=False):
    """A document of the format `openbook/1`. What it holds beyond these fields is ignored."""

    format: Required[Annotated[Literal["openbook/1"], "Name and version of the format."]]
    threads: Annotated[list[ImportedThread], "Conversations, with their artifacts."]
    memories: Annotated[list[ImportedMemory], "What is remembered of the person."]
    topics: Annotated[list[ImportedTopic], "What was talked of, across conversations."]
    preferences: Annotated[ImportedPreferences, "Those of the person; they count where there are none."]
    instructions: Annotated[ImportedInstructions, "Those of the person; they count where there are none."]
    prompts: Annotated[list[ImportedPrompt], "Texts to write messages with."]
    projects: Annotated[list[ImportedProject], "Folders that threads are in, with a memory of their own."]


class ImportedThreadAnswer(TypedDict):
    id: Annotated[Id, "Id of the thread."]
    message_count: Annotated[int, "Turns that it has."]


class RefusedFileAnswer(TypedDict):
    name: Annotated[str, "As the import names it."]
    place: Annotated[str, "Where it stands in the document."]
    code: Annotated[str, "`missing`, or as an upload of it is refused: `unknown_type`, `encrypted`, `files_full` …"]
    message: Annotated[str, "What is wrong with it."]


class LongerThreadAnswer(ImportedThreadAnswer):
    added: Annotated[int, "How many of them are new."]


class NotTakenAnswer(TypedDict):
    place: Annotated[str, "Where it stands in the document."]
    what: Annotated[str, "What it is: a block of a type that is not known, a message too long …"]
    count: Annotated[int, "How many of it."]


class ImportAnswer(TypedDict):
    threads: Annotated[list[ImportedThreadAnswer], "The new ones, in the order of the document."]
    memories: Annotated[int, "How many were stored."]
    branches: NotRequired[Annotated[int, "How many ends came beside active paths, if any."]]
    longer: NotRequired[Annotated[list[LongerThreadAnswer], "Those that were here and got more turns, if any."]]
    known: NotRequired[
        Annotated[
            dict[str, int], "How many `threads`, `memories` and `topics` were here already, and stay as they are."
        ]
    ]
    not_taken: NotRequired[Annotated[list[NotTakenAnswer], "What was left out, if anything: the first 200."]]
    not_taken_count: NotRequired[Annotated[int, "How much that is in all."]]
    left_out: NotRequired[
        Annotated[int, "Conversations of another product's export in which nothing was said, if any."]
    ]
    files: NotRequired[Annotated[int, "How many were stored, if any. They are read from now on."]]
    files_left_out: NotRequired[Annotated[int, "How many could not be taken, if any."]]
    files_refused: NotRequired[Annotated[list[RefusedFileAnswer], "The first 200 of those."]]
