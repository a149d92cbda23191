"""Which thread a program goes on with that sends its whole history each time, and names no thread.

It is the one that ends with what the program says went before. So a plain chat loop keeps one thread, a program that sends
only the newest part of its history does too, and one that changes what was said gets a thread of its own.
"""

import enum
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, Func, JSONField, OuterRef, Q, QuerySet, Subquery, TextField, Value

from conversations import threads
from conversations.context.files.thread_files import named_files
from conversations.models import Assistant, File, Message, Reply, Thread
from conversations.runtime import clock

LOOKED_AT = 100
"""Threads, the one that was active last first, among which the one to go on with is looked for."""
LOST = timedelta(minutes=2)
"""For so long after its end a reply is taken for one that never arrived, when it is asked for again."""
WHITESPACE = " \t\r\n"

FILES_OF_TURN = Func(
    F("content"),
    template="""jsonb_path_query_array(%(expressions)s, '$[*] ? (@.type == "file").file')""",
    output_field=JSONField(),
)
"""The ids of the files that a turn brings; NULL where it is nothing but text."""

HALVES = {"tool_use": "id", "tool_result": "tool_use_id"}
HALF = {Message.Role.ASSISTANT.value: "tool_use", Message.Role.USER.value: "tool_result"}
CALLS_OF_TURN = Func(
    F("content"),
    template="""(jsonb_path_query_array(%(expressions)s, '$[*] ? (@.type == "tool_use").id')
        || jsonb_path_query_array(%(expressions)s, '$[*] ? (@.type == "tool_result").tool_use_id'))""",
    output_field=JSONField(),
)
"""The ids of its tool calls and of those that its results belong to; NULL where it is nothing but text."""

type Digests = Sequence[bytes | None]
"""SHA-256 of files, in their order; None for one that is gone, which may have been any."""


class PathTurn(NamedTuple):
    role: str
    text: str
    files: Digests = ()
    calls: frozenset[str] = frozenset()
    """Ids of calls that are answered elsewhere, or of those that are answered here."""


@dataclass(frozen=True, kw_only=True)
class IncomingMessage:
    """What a program sent. ``calls`` are those whose results it brings. ``retried``: it says that it tries the same once more.
    ``key`` is its own id of this message."""

    text: str
    files: Digests = ()
    calls: frozenset[str] = frozenset()
    earlier: Sequence[PathTurn] = ()
    retried: bool = False
    key: str | None = None


class MessageAction(enum.Enum):
    """What is to be done with a message."""

    SAY = "store it as the next turn"
    FOLLOW = "answer with the reply that it has already"
    RETRY = "let the model answer it once more"


@dataclass(frozen=True, kw_only=True)
class ThreadMatch:
    """``reply`` is the one to follow or to retry; ``thread`` is ``None`` for a new one."""

    thread: Thread | None = None
    step: MessageAction = MessageAction.SAY
    reply: uuid.UUID | None = None


def step_for(incoming: IncomingMessage, reply: Reply | None, now: datetime, files: Digests = ()) -> MessageAction:
    """In a thread where this is the newest reply to its newest question, which brought these files. Pure."""
    question = reply.user_message if reply else None
    if not reply or not question or not asks_the_same(incoming, question, files):
        return MessageAction.SAY
    if reply.status in (Reply.Status.FAILED, Reply.Status.INTERRUPTED):
        return MessageAction.RETRY
    if incoming.key is not None:
        return MessageAction.FOLLOW if incoming.key == question.client_message_id else MessageAction.SAY
    is_lost = reply.ended_at is None or now - reply.ended_at < LOST
    return MessageAction.FOLLOW if incoming.retried and is_lost else MessageAction.SAY


def goes_on(path: Sequence[PathTurn], earlier: Sequence[PathTurn]) -> bool:
    """Whether the path, or its end as far as there is one, is what the program says went before. Programs that save on what
    they send leave the files of earlier turns out, and of a history from elsewhere not all of them could be taken. Pure."""
    ending = path[-len(earlier) :] if earlier else path
    return len(ending) == len(earlier) and all(
        mine.role == theirs.role
        and same(mine.text, theirs.text)
        and (not theirs.files or are_among(mine.files, theirs.files))
        and (not theirs.calls or mine.calls == theirs.calls)
        for mine, theirs in zip(ending, earlier, strict=True)
    )


def asks_the_same(incoming: IncomingMessage, question: Message, files: Digests) -> bool:
    is_same = same(question.text, incoming.text) and same_files(files, incoming.files)
    return is_same and open_calls(question.blocks) == incoming.calls


def open_calls(blocks: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The calls of a turn of the assistant that are answered elsewhere, or those that a turn of the user answers."""
    return _once([block.get(HALVES[block["type"]]) for block in blocks if block["type"] in HALVES])


def same_files(one: Digests, other: Digests) -> bool:
    return len(one) == len(other) and are_among(one, other)


def are_among(some: Digests, others: Digests) -> bool:
    """Whether these are the others in their order, or a part of them."""
    left = iter(others)
    return all(any(one is None or other is None or one == other for other in left) for one in some)


def same(one: str, other: str) -> bool:
    """Programs often trim what they were told."""
    return one.strip(WHITESPACE) == other.strip(WHITESPACE)


def place_of(user: User, incoming: IncomingMessage, *, named: str | None, assistant: Assistant | None) -> ThreadMatch:
    """Where a message goes and what is to be done with it. Raises ``ThreadNotFound``.

    ``assistant``: only threads of this one are gone on with, unless one is ``named``.
    """
    if named == threads.NEW:
        return ThreadMatch()
    if named is not None:
        thread = threads.get(user, named)
        reply = _newest_reply(thread, incoming.text)
        return _match(thread, reply, step_for(incoming, reply, clock.now(), _files_of(reply)))
    return next(_fitting(user, incoming, assistant), ThreadMatch())


def _fitting(user: User, incoming: IncomingMessage, assistant: Assistant | None) -> Iterator[ThreadMatch]:
    for thread in _candidates(user, incoming, assistant):
        if incoming.earlier and goes_on(_path(thread, len(incoming.earlier)), incoming.earlier):
            yield ThreadMatch(thread=thread)
        reply = _newest_reply(thread)
        question = reply.user_message if reply else None
        if question and goes_on(_path(thread, len(incoming.earlier), before=question.position), incoming.earlier):
            files = _files_of(reply)
            step = step_for(incoming, reply, clock.now(), files)
            if (
                step is MessageAction.SAY
                and incoming.earlier
                and incoming.key is None
                and asks_the_same(incoming, question, files)
            ):
                step = MessageAction.RETRY  # another answer is wanted to what was said last
            if step is not MessageAction.SAY:
                yield _match(thread, reply, step)


def _candidates(user: User, incoming: IncomingMessage, assistant: Assistant | None) -> QuerySet[Thread]:
    """Threads that end with the last of what went before, or whose newest question is the same."""
    recent = threads.of(user).filter(message_count__gte=len(incoming.earlier))
    if assistant:
        recent = recent.filter(assistant=assistant)
    ids = list(recent.order_by("-updated_at", "-id").values_list("id", flat=True)[:LOOKED_AT])
    turns = Message.objects.filter(user=user, thread=OuterRef("id"), is_active=True).order_by("-position")
    fits = Q(question=incoming.text.strip(WHITESPACE)) & _holds("question", "tool_result", incoming.calls)
    if incoming.earlier:
        last = incoming.earlier[-1]
        fits |= Q(tip=last.text.strip(WHITESPACE)) & _holds("tip", HALF[last.role], last.calls)
    said = turns.filter(role=Message.Role.USER)
    contents = {"tip_content": turns.values("content")[:1], "question_content": said.values("content")[:1]}
    return (
        threads.of(user)
        .filter(id__in=ids)
        .annotate(tip=_trimmed(turns), question=_trimmed(said))
        .annotate(**{name: Subquery(rows) for name, rows in contents.items() if has_calls(incoming)})
        .filter(fits)
        .select_related("assistant")
        .order_by("-updated_at", "-id")
    )


def has_calls(incoming: IncomingMessage) -> bool:
    return bool(incoming.calls or (incoming.earlier and incoming.earlier[-1].calls))


def _holds(turn: str, type: str, calls: frozenset[str]) -> Q:
    """Whether the content of a turn has halves of these calls."""
    halves = [{"type": type, HALVES[type]: id} for id in sorted(calls)]
    return Q(**{f"{turn}_content__contains": halves}) if halves else Q()


def _trimmed(turns: QuerySet[Message]) -> Func:
    return Func(Subquery(turns.values("text")[:1]), Value(WHITESPACE), function="btrim", output_field=TextField())


def _path(thread: Thread, turns: int, *, before: int | None = None) -> list[PathTurn]:
    """The last so many turns of the path, oldest first; one more where none is wanted, to know whether there is any."""
    path = threads.messages_of(thread).order_by("-position")
    if before is not None:
        path = path.filter(position__lt=before)
    known = path.annotate(files=FILES_OF_TURN, calls=CALLS_OF_TURN).values_list("role", "text", "files", "calls")
    rows = list(known[: turns or 1])[::-1]
    digests = digests_of(thread.user_id, (id for _, _, ids, _ in rows for id in ids or ()))
    return [
        PathTurn(role, text, [digests.get(id) for id in ids or ()], _once(calls)) for role, text, ids, calls in rows
    ]


def last_calls(thread: Thread) -> frozenset[str]:
    """Those that the newest turn of the thread waits for."""
    turn = threads.messages_of(thread).order_by("-position").first()
    return open_calls(turn.blocks) if turn and turn.role == Message.Role.ASSISTANT else frozenset()


def _once(ids: Sequence[Any] | None) -> frozenset[str]:
    return frozenset([id for id in ids if isinstance(id, str) and ids.count(id) == 1]) if ids else frozenset()


def _files_of(reply: Reply | None) -> Digests:
    """Those that the question brought which a reply answers."""
    question = reply.user_message if reply else None
    ids = named_files(question.blocks) if question else []
    digests = digests_of(question.user_id, ids) if question and ids else {}
    return [digests.get(id) for id in ids]


def digests_of(user_id: int, ids: Iterable[str]) -> Mapping[str, bytes]:
    """Of those of these files that there are, by id."""
    wanted = {uuid.UUID(id) for id in ids}
    found = File.objects.filter(user=user_id, id__in=wanted).values_list("id", "sha256") if wanted else ()
    return {str(id): bytes(digest) for id, digest in found}


def _newest_reply(thread: Thread, text: str | None = None) -> Reply | None:
    """To the newest question of the thread; of one of another text than this, if any is named, none."""
    question = threads.messages_of(thread).filter(role=Message.Role.USER).order_by("-position").first()
    if question and text is not None and not same(question.text, text):
        return None
    of_thread = Reply.objects.filter(user=thread.user_id, thread=thread, user_message__user=thread.user_id)
    to_it = of_thread.filter(user_message=question).select_related("user_message")
    return to_it.order_by("-created_at").first() if question else None


def _match(thread: Thread, reply: Reply | None, step: MessageAction) -> ThreadMatch:
    return ThreadMatch(thread=thread, step=step, reply=reply.id if reply and step is not MessageAction.SAY else None)
