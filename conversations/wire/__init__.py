"""The objects that REST, SSE and WebSocket share. Names are those of the contract."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from django.db.models import F, Q, QuerySet

from conversations.context.files.citations import Citation
from conversations.context.turns.sources import WebSourceAnswer, sources_of
from conversations.errors import ErrorObject, OpenbookError, describe
from conversations.files.search import FileMatch
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.providers import refusals
from conversations.providers.errors import words_instead
from conversations.runtime.ids import ids_near
from conversations.runtime.shapes import Id, Slug, Time, fill
from conversations.threads import paths
from conversations.threads.forks import NONE as NO_FORKS
from conversations.threads.forks import Forks
from conversations.threads.model_choices import ThreadModel
from conversations.wire import endings
from conversations.wire.feedback import FeedbackAnswer, feedback_on

REQUEST_FIELDS = (
    "id",
    "reply_id",
    "message_history_count",
    "total_tokens",
    "provider",
    "model",
    "fallback_for",
    "fallback_cause",
    "stop_details",
)
"""Of a snapshot, for ``reply_object``."""


Role = Literal["user", "assistant"]


class RefusalAnswer(TypedDict):
    """Why the model declined."""

    category: Annotated[
        str | None,
        "The provider's word: `cyber`, `bio`, `frontier_llm`, `reasoning_extraction`, `general_harms` or a newer one; "
        "null: it gave none.",
    ]
    message: Annotated[str, "For people: why, and what to do."]


class ReplyAnswer(TypedDict):
    id: Annotated[Id, "Id of the reply."]
    status: Annotated[str, "running, completed, stopped, interrupted or failed."]
    error: Annotated[ErrorObject | None, "Of a reply that failed or was interrupted; else null."]
    stop_reason: Annotated[str, "Why the model stopped, in its provider's word; empty: it didn't say."]
    refusal: Annotated[RefusalAnswer | None, "Of a reply that the model declined to give, or to go on with."]
    ways: Annotated[
        list[Annotated[str, endings.NextStep]],
        "What can be done now, the most promising first, while it answers the newest message: `retry` it, `continue` it, "
        "`rephrase` the message, or let `fallback_model` retry it (`fallback`).",
    ]
    fallback_model: Annotated[str | None, "The model that may be asked in place of the one that declined."]
    model: Annotated[str | None, "The model that was asked; null: not known yet."]
    provider: Annotated[str | None, "Who was asked for it; null: not known yet."]
    fallback_for: Annotated[str | None, "The model that did not answer, where this one was asked in its place."]
    fallback_cause: Annotated[
        str | None, "The code of why it did not: `refused`, `unreachable`, `overloaded` and others."
    ]
    fallback_text: Annotated[str | None, "For people: who answered in whose place, and why."]
    continues: Annotated[
        Id | None, "The reply that was cut short and that this one goes on with: its text comes first."
    ]
    ended_at: Annotated[Time | None, "When it ended; null: it is running."]
    request: Annotated[Id | None, "The newest model request of the reply."]
    message_history_count: Annotated[int | None, "Earlier turns that it was given."]
    total_tokens: Annotated[int | None, "Estimated tokens that it was given."]


class MessageAnswer(TypedDict):
    id: Annotated[Id, "Id of the turn."]
    position: Annotated[int, "Order within the thread, from 1."]
    role: Annotated[Role, "Whose turn it is."]
    content: Annotated[list[dict[str, Any]], "Content blocks of the Messages API."]
    text: Annotated[str, "The text of the blocks."]
    citations: Annotated[list[Citation], "Where an answer cites parts of files, in the order of its text."]
    sources: Annotated[
        list[WebSourceAnswer], "Of the assistant: pages of the web that it read, then those that its searches found."
    ]
    status: Annotated[
        str,
        "`complete`, or else `incomplete`, `refused`, `stopped`, `interrupted`, `failed`, `forgotten`. A turn of the user"
        " is `refused` while the newest reply to it was: later contexts leave it out.",
    ]
    created_at: Annotated[Time, "When it was said."]
    token_count: Annotated[int, "Estimated tokens."]
    model: Annotated[
        str | None,
        "Of the assistant: the model that wrote it, of an imported turn as its document names it; null: not known.",
    ]
    client_message_id: Annotated[str | None, "The sender's own id of it, if there was one."]
    parent: Annotated[Id | None, "The turn that it follows; null: it is a first one."]
    versions: Annotated[
        list[Id],
        "Ids of what follows the same turn, oldest first: versions of a message, or answers to it. Of many the "
        f"{paths.NEAR_VERSIONS} before it, itself, and the {paths.NEAR_VERSIONS} after it.",
    ]
    version: Annotated[int, "Which of all of these it is, from 1."]
    version_count: Annotated[int, "How many of them there are."]
    reply: Annotated[
        ReplyAnswer | None,
        "Of the user: the newest reply to it. Of the assistant: the reply that wrote it. Null: imported.",
    ]
    feedback: NotRequired[
        Annotated[FeedbackAnswer, "Of the assistant, where the caller gave some: what they said of it."]
    ]


class MatchAnswer(TypedDict):
    """The newest turn of a thread that holds all of the words."""

    message: Annotated[Id, "Id of the turn."]
    position: Annotated[int, "Its place in the thread; `/threads/{id}/#turn-{position}` shows it."]
    role: Annotated[Role, "Whose turn it is."]
    created_at: Annotated[Time, "When it was said."]
    excerpt: Annotated[str, "About 160 characters of it around the first of the words, on one line."]
    words: Annotated[list[str], "The words as they stand in the excerpt."]


class FileMatchAnswer(TypedDict):
    """The first part with all of the words, of the newest file of a thread that has one; else a file with such a name."""

    file: Annotated[Id, "Id of the file."]
    name: Annotated[str, "Of the file."]
    part: Annotated[int | None, "Number of the part; null: its name holds the words."]
    label: Annotated[str | None, "Of the part, such as `page 3`."]
    page: Annotated[int | None, "The page, slide or sheet that the part is of, where it is of one."]
    message: Annotated[Id | None, "Id of the turn that brought the file; null: there is none any more."]
    position: Annotated[int | None, "Place of that turn in the thread; `/threads/{id}/#turn-{position}` shows it."]
    created_at: Annotated[Time, "When the file was uploaded."]
    excerpt: Annotated[
        str, "About 160 characters of the part around the first of the words, on one line; else the name."
    ]
    words: Annotated[list[str], "The words as they stand in the excerpt."]


class ForkedFrom(TypedDict):
    thread: Annotated[Id, "Id of the thread."]
    message: Annotated[Id | None, "Id of its turn up to which it was copied."]


class ThreadAnswer(TypedDict):
    id: Annotated[Id, "Id of the thread."]
    title: Annotated[str, "Empty until the first message."]
    assistant: Annotated[Slug, "Slug of the assistant that answers in it."]
    model: Annotated[str, "The id of the model chosen for it, as in `GET models/`; empty: the assistant's own."]
    model_note: Annotated[
        str | None, "For people: that this model is offered no longer, and which one answers instead; else null."
    ]
    created_at: Annotated[Time, "When it was opened."]
    updated_at: Annotated[Time, "Time of its last turn."]
    message_count: Annotated[int, "Turns on the path that the chat shows."]
    running_reply: Annotated[Id | None, "Id of the reply that is being written; null: none is."]
    remembers: Annotated[bool, "Whether it takes part in memory; of a temporary one whether it is given any."]
    temporary: Annotated[bool, "`true`: it goes when it is closed, an hour after its last turn at the latest."]
    project: Annotated[Id | None, "Id of the project that it is in; null: in none."]
    instructions: Annotated[str, "What its person wants of every answer in it; may be empty."]
    uses_account_instructions: Annotated[bool, "Whether it is given the person's own instructions."]
    pinned: Annotated[bool, "Whether it stands above the others in the list."]
    archived: Annotated[bool, "Whether it is put away."]
    tags: Annotated[list[str], "The person's own words for it."]
    cost: NotRequired[
        Annotated[
            str | None,
            "Of one thread, where the operator shows costs: USD by what services reported of its requests that are kept; "
            "null: nothing is known.",
        ]
    ]
    forked_from: Annotated[
        ForkedFrom | None, "The thread that it is a copy of up to a turn; null: of none that is there."
    ]
    forks: Annotated[list[Id], "Ids of the threads that were forked from it and are there, oldest first."]
    match: NotRequired[Annotated[MatchAnswer | None, "With `?q=` only: the turn where the words stand; null: in none."]]
    file_match: NotRequired[
        Annotated[FileMatchAnswer | None, "With `?q=` only: the file where the words stand; null: in none."]
    ]


class ExchangeAnswer(TypedDict):
    thread: Annotated[Id, "Id of the thread."]
    user_message: Annotated[MessageAnswer, "The turn that was sent."]
    reply: Annotated[ReplyAnswer, "The attempt that answered it."]
    assistant_message: Annotated[MessageAnswer | None, "The answer; null where it was stopped before its first word."]
    request: Annotated[Id | None, "The model request; read it at requests/{id}/."]


def frame(envelope: Mapping[str, Any]) -> str:
    """The JSON of one event, the same whether it comes from memory or from PostgreSQL, which orders keys its own way."""
    return json.dumps(envelope, sort_keys=True)


def error_event(error: OpenbookError) -> bytes:
    """The last event of a stream that ends early."""
    return f"event: error\ndata: {frame(describe(error))}\n\n".encode()


def thread_object(thread: Thread, running: Reply | None, model: ThreadModel, forks: Forks = NO_FORKS) -> ThreadAnswer:
    return fill(
        ThreadAnswer,
        thread,
        assistant=thread.assistant.slug,
        model=model.id,
        model_note=model.note or None,
        running_reply=running and running.id,
        project=thread.project_id,
        forked_from=forked_from(forks),
        forks=list(forks.forks),
    )


def forked_from(forks: Forks) -> ForkedFrom | None:
    if forks.source is None:
        return None
    thread, message = forks.source
    return {"thread": str(thread), "message": str(message) if message else None}


def match_object(turn: Message, excerpt: str, words: Sequence[str]) -> MatchAnswer:
    return fill(MatchAnswer, turn, message=turn.id, excerpt=excerpt, words=list(words))


def file_match_object(match: FileMatch) -> FileMatchAnswer:
    part, turn = match.part, match.turn
    return fill(
        FileMatchAnswer,
        match.file,
        file=match.file.id,
        part=part and part.number,
        label=part and part.label,
        page=part and part.page,
        message=turn and turn.id,
        position=turn and turn.position,
        excerpt=match.excerpt,
        words=list(match.words),
    )


def message_object(
    message: Message,
    reply: ReplyAnswer | None = None,
    versions: paths.Versions | None = None,
    feedback: FeedbackAnswer | None = None,
) -> MessageAnswer:
    """``reply``: on a user turn its newest reply, on an assistant turn the reply that wrote it. ``versions`` are those that
    there are beside it."""
    wrote = reply if message.role == Message.Role.ASSISTANT else None
    return fill(
        MessageAnswer,
        message,
        content=message.blocks,
        citations=message.citations or [],
        sources=sources_of(message.blocks) if message.role == Message.Role.ASSISTANT else [],
        model=message.model or (wrote and wrote["model"]) or None,
        parent=message.parent_id,
        versions=versions.ids if versions else [message.id],
        version=versions.number if versions else 1,
        version_count=versions.count if versions else 1,
        reply=reply,
        **({"feedback": feedback} if feedback else {}),
    )


def reply_object(reply: Reply, request: ContextSnapshot | None = None, *, fallback_model: str = "") -> ReplyAnswer:
    """``fallback_model`` is the assistant's, which can be asked where another one declined."""
    refused = reply.stop_reason == refusals.STOP_REASON
    other = fallback_model if refused and request and request.model != fallback_model else ""
    ways = endings.ways(
        status=str(reply.status),
        stop_reason=reply.stop_reason,
        error_code=reply.error["code"] if reply.error else "",
        silent=reply.user_message_id is None,
        fallback=bool(other),
    )
    return fill(
        ReplyAnswer,
        reply,
        refusal=_refusal(reply, request) if refused else None,
        ways=[way.value for way in ways],
        fallback_model=other or None,
        model=(request.model if request else reply.model) or None,
        provider=request.provider if request else None,
        fallback_for=(request.fallback_for if request else "") or None,
        fallback_cause=(request.fallback_cause if request else "") or None,
        fallback_text=_fallback_text(request) if request and request.fallback_for else None,
        continues=reply.continues_id,
        request=request and request.id,
        message_history_count=request and request.message_history_count,
        total_tokens=request and request.total_tokens,
    )


def newest_request(reply: Reply) -> ContextSnapshot | None:
    return _answering([reply.id]).filter(user=reply.user_id, reply=reply).order_by("-round").first()


def messages_with_replies(messages: Sequence[Message]) -> list[MessageAnswer]:
    """Message objects of one thread with their replies, versions and feedback, in four statements however many there are."""
    turns = [message.id for message in messages if message.role == Message.Role.USER]
    wrote = [message.reply_id for message in messages if message.reply_id]
    users = {message.user_id for message in messages}
    asked = Q(thread__in={message.thread_id for message in messages}, user_message__in=turns)
    # The thread's person once more: what is said of the reply's own narrows its table alone.
    of_them = Reply.objects.filter(asked | Q(id__in=wrote), user__in=users, thread__user__in=users)
    fallback = F("thread__assistant__fallback_model")
    replies = list(of_them.annotate(fallback=fallback).order_by("created_at"))
    answering = _answering([reply.id for reply in replies]).filter(user__in=users, reply__in=replies).order_by("round")
    requests = {snapshot.reply_id: snapshot for snapshot in answering}
    newest = {reply.user_message_id: reply for reply in replies}
    by_id = {reply.id: reply for reply in replies}

    def reply_of(message: Message) -> ReplyAnswer | None:
        reply = by_id.get(message.reply_id) if message.reply_id else newest.get(message.id)
        return reply_object(reply, requests.get(reply.id), fallback_model=reply.fallback) if reply else None

    versions, feedback = paths.versions(messages), feedback_on(messages)
    return [
        message_object(message, reply_of(message), versions[message.id], feedback.get(message.id))
        for message in messages
    ]


def models_of(turns: Sequence[Message]) -> dict[uuid.UUID | None, str]:
    """Which model wrote these turns of one person, by the reply that each has."""
    replies = [turn.reply_id for turn in turns if turn.reply_id]
    if not replies:
        return {}
    requests = _answering(replies).filter(user=turns[0].user_id, reply__in=replies).order_by("round")
    return dict(requests.values_list("reply_id", "model"))


def _refusal(reply: Reply, request: ContextSnapshot | None) -> RefusalAnswer:
    """Why the model declined; in words that do for whoever reads them, as its error has them where nothing had been written."""
    details = request.stop_details if request else None
    words = reply.error["message"] if reply.error else refusals.sentence(details, begun=True)
    return {"category": refusals.category_of(details), "message": words}


def _fallback_text(request: ContextSnapshot) -> str:
    """Who was asked in whose place, and why."""
    return f"Asked of {request.model}: {request.fallback_for} {words_instead(request.fallback_cause)}."


def _answering(ids: Sequence[uuid.UUID]) -> QuerySet[ContextSnapshot]:
    """The requests of that time that these replies are made of; a reply may also have asked a model for a contextualised
    query."""
    near = (
        ContextSnapshot.objects.filter(id__range=ids_near(min(ids), max(ids)))
        if ids
        else ContextSnapshot.objects.none()
    )
    return near.exclude(purpose=ContextSnapshot.Purpose.REWRITE).only(*REQUEST_FIELDS)
