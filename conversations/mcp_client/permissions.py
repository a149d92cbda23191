"""Whether a call that may change something is made: what the person said about it, and what became of one before.

A call is stored as ``started`` before anything is sent. The same call, of the same tool with the same input, is made a second
time for one message, or after one of which nobody knows whether it was made, only once the person has said so about that one.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from conversations import audit, threads
from conversations.audit import AuditKind
from conversations.errors import CallAnswered, ToolCallNotFound
from conversations.models import McpCall, McpTool, Message, Reply, Thread
from conversations.runtime import clock
from conversations.tools.base import ToolContext

State, Answer = McpCall.State, McpCall.Answer
MADE = (State.STARTED, State.DONE, State.FAILED, State.UNKNOWN)


def calls_of(user: User) -> QuerySet[McpCall]:
    """Newest first."""
    return McpCall.objects.filter(user=user).select_related("tool__server").order_by("-created_at", "-id")


def get(user: User, call_id: str | uuid.UUID) -> McpCall:
    """Raises ``ToolCallNotFound``."""
    return threads.row_with_id(calls_of(user), call_id, ToolCallNotFound)


def state_of(call: McpCall) -> McpCall.State:
    """One that was started by a reply that has ended was cut off."""
    running = Reply.objects.filter(user=call.user_id, id=call.reply_id, status=Reply.Status.RUNNING)
    if call.state == State.STARTED and not running.exists():
        return State.UNKNOWN
    return State(call.state)


def input_of(call: McpCall) -> Mapping[str, Any] | None:
    """What the model wrote, from the turn of its reply; ``None`` where that is gone."""
    return next((block["input"] for block in _blocks(call) if block.get("id") == call.call_id), None)


def result_of(call: McpCall) -> str | None:
    """What the model was told of it, from the same turn."""
    return next((block["content"] for block in _blocks(call) if block.get("tool_use_id") == call.call_id), None)


def _blocks(call: McpCall) -> Sequence[Mapping[str, Any]]:
    turn = Message.objects.filter(user=call.user_id, reply=call.reply_id).first()
    return turn.blocks if turn else ()


@transaction.atomic
def answer(call: McpCall, choice: McpCall.Answer) -> None:
    """What the person says: it is made when the model asks for it again. Raises ``CallAnswered``. What was allowed for a thread
    or always is taken back by ``no``, whenever."""
    state = State.REFUSED if choice == Answer.NO else State.ALLOWED
    waiting = McpCall.objects.filter(id=call.id, state__in=[State.ASKED, State.ALLOWED])
    if waiting.update(state=state, answer=choice) == 0:
        standing = McpCall.objects.filter(id=call.id, answer__in=[Answer.THREAD, Answer.ALWAYS])
        if choice != Answer.NO or standing.update(answer=Answer.NO) == 0:
            raise CallAnswered
    audit.record(AuditKind.CALL_ANSWERED, target=call, details={"answer": choice.value})


@transaction.atomic
def begin(tool: McpTool, call: ToolContext, call_id: str, input: Mapping[str, Any]) -> McpCall:
    """The row of a call, ``started`` where it may be made now, else ``asked``."""
    Thread.objects.select_for_update(no_key=True).get(user=call.user_id, id=call.thread_id)
    digest = digest_of(input)
    same = McpCall.objects.filter(
        user=call.user_id, thread=call.thread_id, tool=tool, tool_digest=tool.digest, input_digest=digest
    ).order_by("-created_at", "-id")
    last = same.first()
    if last and last.state == State.ASKED:
        return last
    values = {"reply_id": call.reply_id, "call_id": call_id, "created_at": clock.now()}
    if last and last.state == State.ALLOWED:
        McpCall.objects.filter(id=last.id).update(state=State.STARTED, **values)
        last.state = State.STARTED
        return last
    may = _is_allowed(tool, call) and not (last and _needs_question(last, call))
    return McpCall.objects.create(
        user_id=call.user_id,
        thread_id=call.thread_id,
        tool=tool,
        tool_digest=tool.digest,
        input_digest=digest,
        state=State.STARTED if may else State.ASKED,
        **values,
    )


def end(call: McpCall, state: McpCall.State) -> None:
    McpCall.objects.filter(id=call.id, state=State.STARTED).update(state=state, ended_at=clock.now())


def digest_of(input: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(input, sort_keys=True).encode()).hexdigest()


def _is_allowed(tool: McpTool, call: ToolContext) -> bool:
    """For this thread, or always, of the tool as it is."""
    scope = Q(answer=Answer.ALWAYS) | Q(answer=Answer.THREAD, thread=call.thread_id)
    return McpCall.objects.filter(scope, user=call.user_id, tool=tool, tool_digest=tool.digest).exists()


def _needs_question(last: McpCall, call: ToolContext) -> bool:
    """Whether the same call might be one too many: nobody knows what became of it, or it was made for the same message."""
    if last.state not in MADE:
        return False
    if last.state in (State.STARTED, State.UNKNOWN):
        return True
    replies = Reply.objects.filter(user=call.user_id, id__in=[last.reply_id, call.reply_id])
    return len(set(replies.values_list("user_message", flat=True))) == 1
