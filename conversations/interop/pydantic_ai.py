"""A thread as the history of PydanticAI agents, and their runs as turns of the thread.

::

    given = await prepare(user=user, thread_id=thread, prompt=prompt)
    result = await agent.run(prompt, message_history=given.history, instructions=given.instructions)
    thread = await keep(user=user, thread_id=thread, messages=result.new_messages())
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from conversations import threads
from conversations.context.render.rendering import api_messages
from conversations.interop.messages import model_messages, turns_of
from conversations.replies import append, model_requests
from conversations.replies.user_content import NewMessage, user_blocks
from conversations.runtime.db import in_database


@dataclass(frozen=True, kw_only=True)
class AgentInput:
    """What an agent is given before a prompt: ``history`` is ``None`` for the first message of a session, ``instructions`` tell
    what is remembered and are empty where nothing is."""

    history: list[ModelMessage] | None
    instructions: str


async def prepare(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    prompt: str,
    assistant: str | None = None,
    across_sessions: bool = False,
) -> AgentInput:
    """The history and the memories that Openbook would send with this prompt: filtered, within the assistant's budget.

    ``None`` or ``new`` is a thread to come. After 30 minutes without activity a new session begins, and the first message of
    one goes out without history: what is remembered takes its place (W7). ``across_sessions`` sends the history then, too.
    Writes nothing. Raises ``ThreadNotFound``, ``InvalidMessage``.
    """
    return await in_database(_prepare)(user, _place(thread_id), prompt, assistant, across_sessions)


async def keep(
    *, user: User, thread_id: uuid.UUID | str | None, messages: Sequence[ModelMessage], assistant: str | None = None
) -> uuid.UUID:
    """Store a run's ``new_messages()`` at the end of the thread; ``None`` or ``new`` opens one. Returns the thread's id.

    What was asked is one turn, what was answered is one, with its tool calls and their results. Stored as a whole or not at
    all. Raises ``ThreadNotFound``, ``ReplyInProgress``, ``InvalidMessage``.
    """
    turns = turns_of(ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"))
    return await in_database(append.append)(user=user, thread_id=_place(thread_id), turns=turns, assistant=assistant)


def _prepare(
    user: User, thread_id: uuid.UUID | str | None, prompt: str, assistant: str | None, across_sessions: bool
) -> AgentInput:
    message = NewMessage(user=user, thread_id=thread_id, assistant=assistant, blocks=user_blocks(prompt))
    upcoming = model_requests.upcoming(message, for_another_model=True)
    context = upcoming.context
    beside = [addition.text for addition in context.parts.additions]
    texts = [tier.text for tier in context.parts.tiers if tier.text]
    history: list[ModelMessage] | None = None
    if context.history and (across_sessions or not upcoming.begins_session):
        history = ModelMessagesTypeAdapter.validate_python(model_messages(api_messages(context.history)))
    return AgentInput(history=history, instructions="\n\n".join([*texts, *beside]))


def _place(thread_id: uuid.UUID | str | None) -> uuid.UUID | str | None:
    return None if thread_id == threads.NEW else thread_id
