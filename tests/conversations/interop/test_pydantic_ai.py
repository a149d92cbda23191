"""Threads as the history of PydanticAI agents, with its own test models."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from conversations import replies
from conversations.context.render.rendering import api_messages
from conversations.context.turns.turn import Turn
from conversations.errors import InvalidMessage, ReplyInProgress, ThreadNotFound
from conversations.interop.messages import model_messages
from conversations.interop.pydantic_ai import keep, prepare
from conversations.models import Message
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.model_scripts import Gate
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

CALL = ToolCallPart("population", {"city": "Oslo"}, tool_call_id="call-1")


def counting(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Calls its tool once, then says how many messages it was given."""
    if any(isinstance(part, ToolCallPart) for message in messages for part in message.parts):
        return ModelResponse(parts=[TextPart(f"{len(messages)} messages")])
    return ModelResponse(parts=[TextPart("Let me look."), CALL])


async def rows(thread: Any) -> list[tuple[Any, ...]]:
    found = Message.objects.filter(thread_id=thread, is_active=True).order_by("position")
    return [(turn.position, turn.depth, turn.role, turn.blocks) async for turn in found]


async def test_a_run_becomes_a_turn_each_with_its_calls_paired(user: User) -> None:
    agent: Agent[None, str] = Agent(FunctionModel(counting))

    @agent.tool_plain
    def population(city: str) -> dict[str, int]:
        return {city: 717_710}

    first = await agent.run("How many live in Oslo?")
    thread = await keep(user=user, thread_id="new", messages=first.new_messages())
    assert await rows(thread) == [
        (1, 1, "user", [{"type": "text", "text": "How many live in Oslo?"}]),
        (2, 2, "assistant", [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "call-1", "name": "population", "input": {"city": "Oslo"}},
            {"type": "tool_result", "tool_use_id": "call-1", "content": '{"Oslo": 717710}'},
            {"type": "text", "text": "3 messages"},
        ]),
    ]  # fmt: skip
    given = await prepare(user=user, thread_id=thread, prompt="And in Bergen?")
    assert given.history is not None
    kinds = [[part.part_kind for part in message.parts] for message in given.history]
    assert kinds == [["user-prompt"], ["text", "tool-call"], ["tool-return"], ["text"]]
    second = await agent.run("And in Bergen?", message_history=given.history)
    assert second.output == "5 messages"
    assert await keep(user=user, thread_id=thread, messages=second.new_messages()) == thread
    assert [(position, depth, role) for position, depth, role, _ in await rows(thread)] == [
        (1, 1, "user"), (2, 2, "assistant"), (3, 3, "user"), (4, 4, "assistant"),
    ]  # fmt: skip


async def test_the_first_message_of_a_session_has_no_history_but_what_is_remembered(user: User) -> None:
    agent = Agent(TestModel(custom_output_text="Noted."))
    assert (await prepare(user=user, thread_id="new", prompt="Hello")).history is None
    run = await agent.run("My dog is called Biscuit")
    thread = await keep(user=user, thread_id=None, messages=run.new_messages())
    soon, later = timedelta(minutes=29), timedelta(minutes=31)
    said_at = (await Message.objects.aget(thread_id=thread, position=2)).created_at
    found = {}
    for name, pause, across in (("soon", soon, False), ("later", later, False), ("across", later, True)):
        with time_machine.travel(said_at + pause, tick=False):
            asked = await prepare(user=user, thread_id=thread, prompt="What is my dog called?", across_sessions=across)
        found[name] = (len(asked.history or []), asked.history is None)
    assert found == {"soon": (2, False), "later": (0, True), "across": (2, False)}
    other = await prepare(user=user, thread_id="new", prompt="What is my dog called?")
    assert "Biscuit" in other.instructions


async def test_what_cannot_be_kept_leaves_nothing(user: User, other_user: User, model: ModelServer) -> None:
    agent = Agent(TestModel(custom_output_text="Yes"))
    messages = (await agent.run("Is it?")).new_messages()
    theirs = await Message.objects.acount()
    gate = Gate()
    model.script(scripts.text("So", gate, " far"))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    with pytest.raises(ReplyInProgress):
        await keep(user=user, thread_id=opened.thread.id, messages=messages)
    gate.open()
    async for _ in replies.follow(opened.reply.id):
        pass
    with pytest.raises(ThreadNotFound):
        await keep(user=other_user, thread_id=opened.thread.id, messages=messages)
    with pytest.raises(InvalidMessage):
        await keep(user=user, thread_id=opened.thread.id, messages=[])
    assert await Message.objects.acount() == theirs + 2


def test_threads_of_any_kind_are_a_history(user: User) -> None:
    thread = make_thread(user, ["Hello?", "Yes", "Still there?"])
    turns = [Turn.of(message) for message in thread.messages.order_by("position")]
    adapted = ModelMessagesTypeAdapter.validate_python(model_messages(api_messages(turns[1:])))
    assert [message.kind for message in adapted] == ["request", "response", "request"]


async def test_an_agent_is_not_given_words_of_the_offline_responder(user: User, settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"
    opened = await replies.start(user=user, thread_id=None, content="My boat is called Marigold.")
    async for _ in replies.follow(opened.reply.id):
        pass
    assert await Message.objects.filter(thread=opened.thread, offline=True).acount() == 1
    given = await prepare(user=user, thread_id=opened.thread.id, prompt="What is my boat called?")
    assert given.history is not None
    parts = [part for message in given.history for part in message.parts]
    assert [part.content for part in parts if hasattr(part, "content")] == ["My boat is called Marigold."]
