"""Programs with tools of their own: the loops of the official SDKs as they come, over a real socket."""

import json
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic, beta_async_tool
from anthropic.tools import BetaAsyncLocalFilesystemMemoryTool
from openai import AsyncOpenAI

from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, Message, Thread
from conversations.runtime.db import in_database
from memory.models import Memory
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_chat_completions import client as openai_client
from tests.conversations.rest.test_messages_api import client, made_again, said_by
from tests.model_server import ModelServer

__all__ = ["client", "openai_client"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture(autouse=True)
def without_thoughts(model: ModelServer) -> None:
    """As the API has it: what was thought before a call may come back with its result, and need not."""
    model.claude.ledger.demands_thinking = False


@beta_async_tool
async def get_weather(place: str) -> str:
    """The weather at a place.

    Args:
        place: Its name.
    """
    if place == "Atlantis":
        raise ValueError("There is no such place.")
    return f"{place}: 12 degrees, rain."


def call(name: str, values: dict[str, Any], id: str) -> scripts.ScriptedToolUse:
    return scripts.ScriptedToolUse(name=name, input=values, id=id)


async def turns() -> list[tuple[str, str, list[str]]]:
    return [
        (turn.role, turn.text, [block["type"] for block in turn.blocks])
        async for turn in Message.objects.order_by("thread", "position")
    ]


async def proven(model: ModelServer) -> None:
    """Each request was recorded before it was sent, and is rebuilt and made again byte for byte."""
    recorded = [snapshot async for snapshot in ContextSnapshot.objects.order_by("created_at")]
    assert [await in_database(snapshots.proven)(snapshot) for snapshot in recorded] == model.bodies
    assert all([(await in_database(made_again)(snapshot)).is_exact for snapshot in recorded])


async def test_the_tool_runner_of_the_sdk_runs_unchanged_in_one_thread(
    client: AsyncAnthropic, api: Api, model: ModelServer
) -> None:
    """Two calls at once, one of which fails, a call beside one of the assistant's own tools, and an answer."""
    await Assistant.objects.aupdate(tools=["save_artifact"])
    draft = {"title": "Trip", "kind": "document", "content": "Take an umbrella."}
    model.script(
        scripts.turn(
            "I look.",
            call("get_weather", {"place": "Oslo"}, "toolu_1"),
            call("get_weather", {"place": "Atlantis"}, "toolu_2"),
        ),
        scripts.turn(call("get_weather", {"place": "Bergen"}, "toolu_3"), call("save_artifact", draft, "toolu_4")),
        scripts.text("Rain in both."),
        scripts.text("You asked of Oslo."),
    )
    runner = client.beta.messages.tool_runner(
        model="companion",
        max_tokens=500,
        tools=[get_weather],
        messages=[{"role": "user", "content": "What is the weather in Oslo?"}],
        stream=True,
    )
    events, last = [], None
    async for stream in runner:
        async for event in stream:
            events.append(event.type)
        last = await stream.get_final_message()
    assert last
    assert (last.stop_reason, last.content[0].text) == ("end_turn", "Rain in both.")  # type: ignore[union-attr]
    assert events.count("input_json") >= 3
    assert await turns() == [
        ("user", "What is the weather in Oslo?", ["text"]),
        ("assistant", "I look.", ["text", "tool_use", "tool_use"]),
        ("user", "", ["tool_result", "tool_result"]),
        ("assistant", "", ["tool_use", "tool_result", "tool_use"]),
        ("user", "", ["tool_result"]),
        ("assistant", "Rain in both.", ["text"]),
    ]
    body = model.bodies[2]
    assert [tool["name"] for tool in body["tools"]] == ["save_artifact", "get_weather"]
    assert [block["type"] for message in body["messages"] for block in message["content"]][:3] == [
        "text",
        "text",
        "tool_use",
    ]
    results = [block for block in model.bodies[1]["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert [(block["tool_use_id"], block.get("is_error", False)) for block in results] == [
        ("toolu_1", False),
        ("toolu_2", True),
    ]
    await proven(model)
    thread = await Thread.objects.aget()
    snapshot = await ContextSnapshot.objects.order_by("created_at").afirst()
    assert snapshot
    sections = {part["name"]: part for part in (await api.get(f"requests/{snapshot.id}/")).body["sections"]}
    assert "get_weather" in sections["caller"]["text"]
    assert 50 < sections["caller"]["tokens"] < 200
    # What tools gave is no word of the person.
    assert not await Memory.objects.aexists()
    # The program goes on, without tools, with nothing but its newest message.
    answer = await client.messages.create(
        model="companion",
        max_tokens=9,
        messages=[{"role": "user", "content": "What did I ask?"}],
        extra_headers={"x-openbook-thread": str(thread.id)},
    )
    assert said_by(answer) == "You asked of Oslo."
    assert "get_weather" not in json.dumps(model.bodies[-1]["tools"])
    await proven(model)


async def test_a_model_that_thinks_within_a_budget_answers_a_result_without(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    """The API takes no budget where the thoughts before the call are missing."""
    await Assistant.objects.aupdate(model="claude-haiku-4-5", thinking_tokens=2_048)
    model.script(scripts.turn(call("get_weather", {"place": "Oslo"}, "toolu_1")), scripts.text("Rain."))
    message = await client.beta.messages.tool_runner(
        model="companion",
        max_tokens=500,
        tools=[get_weather],
        messages=[{"role": "user", "content": "What is the weather in Oslo?"}],
    ).until_done()
    assert message.content[0].text == "Rain."  # type: ignore[union-attr]
    assert [body.get("thinking", {}).get("type") for body in model.bodies] == ["enabled", None]
    await proven(model)


async def test_the_memory_tool_of_the_sdk_keeps_its_files_with_the_program(
    client: AsyncAnthropic, model: ModelServer, tmp_path: Path
) -> None:
    path = "/memories/tea.md"
    model.script(
        scripts.turn(call("memory", {"command": "create", "path": path, "file_text": "Oolong."}, "toolu_1")),
        scripts.turn(call("memory", {"command": "view", "path": path}, "toolu_2")),
        scripts.text("Oolong it is."),
    )
    message = await client.beta.messages.tool_runner(
        model="companion",
        max_tokens=500,
        tools=[BetaAsyncLocalFilesystemMemoryTool(base_path=str(tmp_path))],
        messages=[{"role": "user", "content": "Remember my tea."}],
    ).until_done()
    assert message.content[0].text == "Oolong it is."  # type: ignore[union-attr]
    assert (tmp_path / "memories/tea.md").read_text() == "Oolong."
    assert "Oolong." in str(model.bodies[2]["messages"][-1]["content"])
    await proven(model)


FUNCTION: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather at a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


async def test_the_function_calling_loop_of_openai_runs_unchanged_in_one_thread(
    openai_client: AsyncOpenAI, model: ModelServer
) -> None:
    await Assistant.objects.aupdate(model="claude-haiku-5-5")  # which can be told to call one
    model.script(
        scripts.turn(
            call("get_weather", {"place": "Oslo"}, "toolu_1"), call("get_weather", {"place": "Rome"}, "toolu_2")
        ),
        scripts.text("Rain and sun."),
        scripts.turn(call("get_weather", {"place": "Bonn"}, "toolu_3")),
    )
    messages: list[Any] = [{"role": "user", "content": "Oslo and Rome?"}]
    first = await openai_client.chat.completions.create(
        model="gpt-5.2", messages=messages, tools=[FUNCTION], tool_choice="required", parallel_tool_calls=True
    )
    choice = first.choices[0]
    assert choice.finish_reason == "tool_calls"
    messages.append(choice.message)
    for called in choice.message.tool_calls or ():
        assert called.type == "function"
        place = json.loads(called.function.arguments)["place"]
        messages.append({"role": "tool", "tool_call_id": called.id, "content": f"{place}: fine."})
    answer = await openai_client.chat.completions.create(model="gpt-5.2", messages=messages)
    assert answer.choices[0].message.content == "Rain and sun."
    messages += [answer.choices[0].message, {"role": "user", "content": "Bonn?"}]
    async with openai_client.chat.completions.stream(model="gpt-5.2", messages=messages, tools=[FUNCTION]) as stream:
        final = (await stream.get_final_completion()).choices[0]
    called = (final.message.tool_calls or [])[0]
    assert (final.finish_reason, called.function.name, called.function.arguments) == (
        "tool_calls",
        "get_weather",
        '{"place": "Bonn"}',
    )
    assert [(role, kinds) for role, _, kinds in await turns()] == [
        ("user", ["text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
        ("assistant", ["text"]),
        ("user", ["text"]),
        ("assistant", ["tool_use"]),
    ]
    assert model.bodies[0]["tool_choice"] == {"type": "any"}
    assert model.bodies[1]["tool_choice"] == {"type": "none"}
    await proven(model)


@pytest.mark.wide
async def test_a_loop_that_outgrows_the_context_keeps_its_calls_and_is_shortened_with_a_mark(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    budget = {"history_tokens_low": 400, "history_tokens_high": 600, "total_tokens": 2_400, "hard_cap_tokens": 3_000}
    await Assistant.objects.aupdate(**budget, tools=[])
    model.script(
        *(scripts.turn(call("get_weather", {"place": f"Place {number}"}, f"toolu_{number}")) for number in range(12)),
        scripts.text("It rains."),
    )

    @beta_async_tool(name="get_weather")
    async def get_long_report(place: str) -> str:
        """The weather at a place."""
        return f"{place}: " + "rain and wind, " * 400

    message = await client.beta.messages.tool_runner(
        model="companion",
        max_tokens=500,
        tools=[get_long_report],
        messages=[{"role": "user", "content": "The weather?"}],
    ).until_done()
    assert message.content[0].text == "It rains."  # type: ignore[union-attr]
    last = model.bodies[-1]["messages"]
    assert "Place 11" in str(last[-1]["content"])
    assert "left out" in str(last[-1]["content"])
    await proven(model)


SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


async def test_formats_stops_and_thinking_are_the_models(
    client: AsyncAnthropic, openai_client: AsyncOpenAI, model: ModelServer
) -> None:
    model.script(scripts.text('{"city": "Oslo"}', stop_reason="stop_sequence"), scripts.text('{"city": "Rome"}'))
    asked: Any = {"model": "x", "max_tokens": 50, "messages": [{"role": "user", "content": "Which city?"}]}
    wanted: Any = {"format": {"type": "json_schema", "schema": SCHEMA}}
    answer = await client.messages.create(
        **asked, output_config=wanted, stop_sequences=["\n"], thinking={"type": "disabled"}
    )
    assert (answer.stop_reason, answer.stop_sequence) == ("stop_sequence", "\n")
    await openai_client.chat.completions.create(
        model="x",
        messages=asked["messages"],
        stop="\n",
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "city", "schema": SCHEMA, "strict": True},
        },
    )
    for body in model.bodies:
        assert body["output_config"]["format"] == wanted["format"]
        assert body["stop_sequences"] == ["\n"]
    assert [body["max_tokens"] > 1_000 for body in model.bodies] == [False, True]
    await proven(model)
    await Assistant.objects.aupdate(thinking_tokens=0)
    with pytest.raises(anthropic.BadRequestError, match="this assistant does not think"):
        await client.messages.create(**asked, thinking={"type": "adaptive"})
    await Assistant.objects.aupdate(provider="offline")
    refused: dict[str, Any] = {
        "tool_choice": {"tools": [FUNCTION], "tool_choice": "required"},
        "stop": {"stop": ["\n"]},
        "response_format": {"response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": SCHEMA}}},
    }
    for name, more in refused.items():
        with pytest.raises(openai.BadRequestError) as caught:
            await openai_client.chat.completions.create(model="x", messages=asked["messages"], **more)
        assert (caught.value.param, name in caught.value.message) == (name, True)
    result: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_9", "content": "x"}]}
    tool: Any = {"name": "f", "input_schema": {"type": "object"}}
    with pytest.raises(anthropic.BadRequestError, match="names no call"):
        await client.messages.create(model="x", max_tokens=9, messages=[result], tools=[tool])
