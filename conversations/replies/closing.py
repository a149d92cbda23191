"""How replies and their requests end: the answer, the events that are left, the snapshot and the reply, all or nothing.

Rows are locked in one order: the thread's, then the reply's.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from html import unescape
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError

from artifacts import services
from conversations import threads
from conversations.accounts import budgets
from conversations.accounts.spending import NOTHING_SPENT, Spent, used_by, used_last
from conversations.context.files import account as file_account
from conversations.context.files.citations import NO_CITABLE_FILES, CitableFiles, find_citations
from conversations.context.files.thread_files import NO_PICTURES
from conversations.context.gather.files import read_outlines
from conversations.context.record.usage import estimated_usage
from conversations.mcp_client import permissions
from conversations.models import ContextSnapshot, McpCall, Message, Reply, WebhookEvent
from conversations.providers.base import NO_USAGE, Usage
from conversations.providers.prices import UNKNOWN, Rates
from conversations.replies import events as eventlog
from conversations.replies.cursor import turn_of
from conversations.replies.events import LONGEST_LEASE, Event
from conversations.replies.outcomes import Outcome, interruption, nonzero
from conversations.replies.rows import as_json, columns, fetch
from conversations.replies.transcript import ReplyTranscript, cut_off_blocks, saved_blocks
from conversations.runtime import clock
from conversations.runtime.ids import ids_near
from conversations.runtime.sql_files import read_statements
from memory.consolidation import invalidation

log = logging.getLogger("openbook.replies")

FAILED = (Reply.Status.FAILED, Reply.Status.INTERRUPTED)
CLOSE = read_statements(__file__, budgets.PARTS)["close"]


def end_request(snapshot: ContextSnapshot, outcome: Outcome) -> None:
    """Store how a request ended whose reply goes on, or that is of no reply."""
    ContextSnapshot.objects.filter(user=snapshot.user_id, id=snapshot.id, status=ContextSnapshot.Status.PENDING).update(
        status=outcome.status.value,
        ended_at=clock.now(),
        **outcome.response,
    )


def interrupt(reply_id: uuid.UUID, *, user_id: int) -> list[Event]:
    """End a reply whose process is gone. The text so far is kept and a retry is offered."""
    return close(reply_id=reply_id, user_id=user_id, owner=None, outcome=interruption())


def request_stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Ask whichever process runs the reply to stop it. A reply that has ended stays as it is."""
    reply = threads.reply_of(user, reply_id)
    Reply.objects.filter(user=user, id=reply.id, status=Reply.Status.RUNNING).update(stop_requested_at=clock.now())
    return reply


@dataclass(frozen=True, kw_only=True)
class ReplyProgress:
    """What the process that runs a reply knows of it: what it said, the ``files`` that this can cite, what its earlier calls
    took (``None``: as its row has it), what its last call costs by its ``rates``, and the events that are not stored yet."""

    transcript: ReplyTranscript
    files: CitableFiles = NO_CITABLE_FILES
    spent: Spent | None = None
    rates: Rates = UNKNOWN
    events: Sequence[Event] = ()


def close(
    *,
    reply_id: uuid.UUID,
    user_id: int,
    owner: str | None,
    outcome: Outcome,
    progress: ReplyProgress | None = None,
) -> list[Event]:
    """End a reply: its last events, the assistant turn, the snapshot and the reply itself, all or nothing.

    ``owner`` is the process that runs it, or ``None`` for whoever finds it left behind; where no ``progress`` is known, what it
    said is read from the event log, and the files that it can cite from its requests. Returns the events that were appended,
    the ending last; none when the reply had ended already or belongs to somebody else.
    """
    now = clock.now()
    spent = progress.spent if progress else None
    reply = Reply(
        id=reply_id,
        user_id=user_id,
        status=outcome.status.value,
        stop_reason=outcome.stop_reason,
        usage=_usage_of(outcome, spent or NOTHING_SPENT),
        error=outcome.error,
        ended_at=now,
    )
    answer = _answer_of(reply, progress, outcome, now)
    events = progress.events if progress else ()
    row = _store_end(owner, reply, answer, outcome, progress)
    if row is None:
        return []
    reply.thread_id, reply.user_message_id = row["thread_id"], row["user_message_id"]
    if answer and row["position"]:
        answer.thread_id, answer.user_id, answer.parent_id = reply.thread_id, user_id, reply.user_message_id
        answer.position, answer.depth = row["position"], row["depth"] + 1
    if row["replaced_id"]:
        _leave_behind(reply, row)
    question = outcome.question_status or row["question_status"]
    if reply.user_message_id and (question != row["question_status"] or (answer and _has_called(answer))):
        _amend(reply.user_id, reply.thread_id, reply.user_message_id)
    names = ("id", "message_history_count", "total_tokens", "provider", "model", "fallback_for", "fallback_cause")
    known = {name: row[name] for name in names}
    ending = eventlog.ending(
        reply,
        answer,
        ContextSnapshot(**known, stop_details=outcome.stop_details) if row["id"] else None,
        seq=row["seq"],
        question_status=question,
        fallback_model=row["fallback_model"],
    )
    return [*events, ending]


def _answer_of(reply: Reply, progress: ReplyProgress | None, outcome: Outcome, now: datetime) -> Message | None:
    """The assistant turn that a reply leaves, without its place."""
    blocks, going_on = _blocks_of(reply.user_id, reply.id, progress.transcript if progress else None, outcome)
    if not blocks:
        return None
    answer = turn_of(Message.Role.ASSISTANT, blocks, now)
    files = progress.files if progress else _citable(reply.user_id, reply.id)
    answer.citations = find_citations(answer.text, _whole(reply.user_id, files, answer.text)) or None
    answer.reply, answer.status = reply, (going_on or outcome.message_status).value
    return answer


def _whole(user_id: int, files: CitableFiles, text: str) -> CitableFiles:
    """With all parts of those that the text may name: of a project's files a request knows those alone that it looked at."""
    named = [file.id for file in files.outlines.values() if file.is_partial and file.name in unescape(text)]
    return files.with_request(read_outlines(user_id, named, NO_PICTURES), ()) if named else files


def _store_end(
    owner: str | None,
    reply: Reply,
    answer: Message | None,
    outcome: Outcome,
    progress: ReplyProgress | None,
) -> dict[str, Any] | None:
    """What the database knows of a reply that is ended by this, of its newest request, and of its turn's place, if it left
    one. ``None`` where the reply doesn't run or is not the owner's."""
    earliest, latest = ids_near(reply.id)
    spent, events = (progress.spent, progress.events) if progress else (None, ())
    usage, stop_reason = outcome.estimate or outcome.usage, reply.stop_reason
    last: Usage | None = NO_USAGE
    if not outcome.is_free:
        last = used_last(reply.status, usage, stop_reason=stop_reason, written=outcome.written)
    values = {
        "user": reply.user_id,
        "reply": reply.id,
        "earliest": earliest,
        "latest": latest,
        "owner": owner,
        "longest_lease": LONGEST_LEASE,
        "status": reply.status,
        "stop_reason": reply.stop_reason,
        "usage": as_json(reply.usage),
        "error": as_json(reply.error) if reply.error else None,
        "response": as_json(outcome.response),
        "question_status": outcome.question_status,
        "now": reply.ended_at,
        "webhook_event": (WebhookEvent.REPLY_FAILED if reply.status in FAILED else WebhookEvent.REPLY_FINISHED).value,
        "answer": as_json(columns(answer)) if answer else None,
        "events": as_json(
            [{"seq": event.seq, "type": event.type, "data": event.data, "at": event.at} for event in events]
        ),
        "last_seq": events[-1].seq if events else 0,
        "spent_before": spent.tokens if spent else None,
        "money_before": spent.money if spent else None,
        "spent": used_by(asdict(last)) if last else None,
        "money": (progress.rates if progress else UNKNOWN).cost(asdict(last)) if last else None,
    }
    while (row := fetch(CLOSE, values)) and not row["has_ended"]:
        pass  # its lease was renewed meanwhile, or a request recorded
    return row


def _usage_of(outcome: Outcome, spent: Spent) -> dict[str, int]:
    """Unknown, and estimated, where a service told nothing of one of its calls."""
    if spent.is_whole and outcome.estimate is None:
        return nonzero(outcome.usage + spent.told)
    return estimated_usage(spent.counted + (outcome.estimate or outcome.usage))


def _citable(user_id: int, reply_id: uuid.UUID) -> CitableFiles:
    """By the requests of the reply."""
    requests = ContextSnapshot.objects.filter(
        user=user_id, reply=reply_id, id__range=ids_near(reply_id), files__isnull=False
    )
    packed = [files for files in requests.values_list("files", flat=True) if files]
    if not packed:
        return NO_CITABLE_FILES
    outlines = read_outlines(user_id, set().union(*map(file_account.all_files, packed)), NO_PICTURES)
    return NO_CITABLE_FILES.with_request(outlines, set().union(*map(file_account.given_parts, packed)))


def _has_called(answer: Message) -> bool:
    return any(block["type"] == "tool_use" for block in answer.blocks)


def _leave_behind(reply: Reply, row: Mapping[str, Any]) -> None:
    """What is known of the answer that another one took the place of. The reply has ended, whatever becomes of this."""
    try:
        invalidation.answer_replaced(
            reply.user_id,
            row["thread_id"],
            answer=row["replaced_id"],
            position=row["replaced_position"],
            depth=row["depth"],
        )
    except DatabaseError:
        log.exception("can't leave an answer behind", extra={"thread_id": str(row["thread_id"])})


def _amend(user_id: int, thread_id: uuid.UUID, question_id: uuid.UUID) -> None:
    """What was noted of the turn while it had another answer, or none. The reply has ended, whatever becomes of this."""
    try:
        invalidation.answered_anew(user_id, thread_id, question_id)
    except DatabaseError:
        log.exception("can't amend the notes", extra={"thread_id": str(thread_id)})


def _blocks_of(
    user_id: int, reply_id: uuid.UUID, transcript: ReplyTranscript | None, outcome: Outcome
) -> tuple[list[dict[str, Any]], Message.Status | None]:
    """The content of the assistant turn that a reply leaves, nothing where it said and did nothing, or was silent. With its
    status, where it adds nothing to what it was to go on with: then that is as cut short as it was.

    What it saved is told by the turn whatever happened in between: else it would be asked for and made again (F4).
    """
    if transcript is not None and outcome.status is Reply.Status.COMPLETED and not transcript.artifacts:
        return transcript.content, None
    reply = Reply.objects.get(user=user_id, id=reply_id)
    if reply.preset:
        return [], None
    if transcript is None:
        before = Message.objects.filter(user=user_id, reply=reply.continues_id).first() if reply.continues_id else None
        text = eventlog.text_of(user_id, reply_id)
        transcript = (
            ReplyTranscript.of(text.removeprefix(before.text), before=before.blocks)
            if before
            else ReplyTranscript.of(text)
        )
    known_versions = {(artifact["id"], artifact["version"]) for artifact in transcript.artifacts}
    versions = services.made_by(reply)
    lost = (version for version in versions if (str(version.artifact_id), version.number) not in known_versions)
    answered = [block["id"] for block in transcript.content if block["type"] == "tool_use"]
    cut_off = McpCall.objects.filter(user=user_id, reply=reply_id, state__in=permissions.MADE).exclude(
        call_id__in=answered
    )
    calls = cut_off.select_related("tool__server").order_by("created_at", "id")
    blocks = [*transcript.content, *saved_blocks(lost), *cut_off_blocks(calls)]
    adds_nothing = reply.continues_id is not None and not transcript.is_new and blocks == transcript.before
    return blocks, Message.Status.INCOMPLETE if adds_nothing else None
