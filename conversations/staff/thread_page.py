"""What the page of one thread shows: its newest turns, or those before a given one, with replies and model requests."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Value
from django.db.models.functions import Left, Length

from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Message, Reply, Thread

TURNS_SHOWN = 50
EXCERPT_CHARS = 2_000
FOLD_CHARS = 400
POSITION_MAX = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class ReplyAttempt:
    reply: Reply
    requests: list[ContextSnapshot]

    @property
    def rounds(self) -> int:
        return max((request.round for request in self.requests), default=0)


@dataclass(frozen=True, kw_only=True)
class TurnRow:
    message: Message
    excerpt: str
    length: int
    attempts: list[ReplyAttempt] = field(default_factory=list)
    notes: list[ContextSnapshot] = field(default_factory=list)

    @property
    def is_long(self) -> bool:
        return self.length > FOLD_CHARS

    @property
    def is_cut(self) -> bool:
        return self.length > EXCERPT_CHARS


@dataclass(frozen=True, kw_only=True)
class ThreadPage:
    turns: list[TurnRow]
    older: int | None
    is_newest: bool


def thread_page(thread: Thread, *, before: str, shown: bool) -> ThreadPage:
    """Without ``shown``, what was said stays in the database."""
    end = position(before)
    messages = newest(thread, end, shown=shown)
    turns = messages[:TURNS_SHOWN][::-1]
    tried = attempts(thread, [turn.message.id for turn in turns])
    noted = notes(thread, since=turns[0].message.created_at) if turns else {}
    return ThreadPage(
        turns=[
            replace(turn, attempts=tried[turn.message.id], notes=noted.get(turn.message.position, [])) for turn in turns
        ],
        older=turns[0].message.position if len(messages) > TURNS_SHOWN else None,
        is_newest=end is None,
    )


def position(text: str) -> int | None:
    """A position that PostgreSQL can hold, or ``None``."""
    return min(int(text), POSITION_MAX) if text.isascii() and text.isdecimal() and len(text) < 20 else None


def newest(thread: Thread, before: int | None, *, shown: bool) -> list[TurnRow]:
    """One more than is shown, so that the page knows whether there are older ones."""
    messages = Message.objects.filter(thread=thread)
    if before is not None:
        messages = messages.filter(position__lt=before)
    cut = messages.defer("content", "text").annotate(
        excerpt=Left("text", EXCERPT_CHARS) if shown else Value(""), length=Length("text")
    )
    newest_first = cut.order_by("-position")[: TURNS_SHOWN + 1]
    return [TurnRow(message=message, excerpt=message.excerpt, length=message.length) for message in newest_first]


def attempts(thread: Thread, message_ids: Sequence[UUID]) -> defaultdict[UUID | None, list[ReplyAttempt]]:
    """The replies to these turns with their model requests, oldest first."""
    replies = list(Reply.objects.filter(thread=thread, user_message__in=message_ids).order_by("id"))
    requests = defaultdict(list)
    recorded = ContextSnapshot.objects.filter(reply__in=replies).defer("sections", "runs")
    for request in recorded.order_by("reply", "id"):
        requests[request.reply_id].append(request)
    grouped = defaultdict(list)
    for reply in replies:
        grouped[reply.user_message_id].append(ReplyAttempt(reply=reply, requests=requests[reply.id]))
    return grouped


def notes(thread: Thread, *, since: datetime) -> defaultdict[int, list[ContextSnapshot]]:
    """The model requests about parts of the thread, oldest first, by the last turn of the part."""
    requests = ContextSnapshot.objects.filter(
        thread=thread, purpose=ContextSnapshot.Purpose.CONSOLIDATION, created_at__gte=since
    )
    grouped = defaultdict(list)
    for request in requests.only("id", "purpose", "round", "status", "runs").order_by("id"):
        last = max(run.last for run in snapshots.runs_of(request) if run.included)
        grouped[last].append(request)
    return grouped
