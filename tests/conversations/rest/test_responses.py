"""``/v1/responses``, by the official SDK as it comes, over a real socket."""

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from conversations.models import Assistant, Thread
from tests import model_scripts as scripts
from tests.conversations.rest.test_chat_completions import client, stored_turns
from tests.conversations.rest.test_client_tools import call, proven, turns
from tests.model_server import ModelServer

__all__ = ["client"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
}


async def test_answers_go_on_by_their_ids_in_one_thread(client: AsyncOpenAI, model: ModelServer) -> None:
    model.script(scripts.text("A fine name."), scripts.text("Waldemar."), scripts.text("Twelve."))
    first = await client.responses.create(
        model="companion", input="My dachshund is called Waldemar.", instructions="Be short.", max_output_tokens=50
    )
    assert (first.output_text, first.status, first.max_output_tokens) == ("A fine name.", "completed", 50)
    assert first.usage and first.usage.input_tokens > 0
    async with client.responses.stream(
        model="companion", input=[{"role": "user", "content": "What is he called?"}], previous_response_id=first.id
    ) as stream:
        pieces = [event.delta async for event in stream if event.type == "response.output_text.delta"]
        second = await stream.get_final_response()
    assert ("".join(pieces), second.output_text, second.previous_response_id) == ("Waldemar.", "Waldemar.", first.id)
    said = [
        ("user", "My dachshund is called Waldemar."),
        ("assistant", "A fine name."),
        ("user", "What is he called?"),
        ("assistant", "Waldemar."),
    ]
    assert await stored_turns() == said
    with pytest.raises(openai.BadRequestError, match="not the newest answer") as refused:
        await client.responses.create(model="companion", input="And his age?", previous_response_id=first.id)
    assert refused.value.param == "previous_response_id"
    for unknown in ("resp_" + "0" * 32, "resp_x"):
        with pytest.raises((openai.NotFoundError, openai.BadRequestError)):
            await client.responses.create(model="companion", input="Hello", previous_response_id=unknown)
    history: Any = [{"role": role, "content": text} for role, text in said]
    await client.responses.create(model="companion", input=[*history, {"role": "user", "content": "How old is he?"}])
    assert (await Thread.objects.acount(), len(await stored_turns())) == (1, 6)


async def test_functions_are_called_and_their_results_are_turns(client: AsyncOpenAI, model: ModelServer) -> None:
    model.claude.ledger.demands_thinking = False
    await Assistant.objects.aupdate(model="claude-haiku-5-5")  # which can be told to call one
    model.script(scripts.turn(call("get_weather", {"place": "Oslo"}, "toolu_1")), scripts.text("Rain."))
    asked = await client.responses.create(model="companion", input="Oslo?", tools=[WEATHER], tool_choice="required")
    called = asked.output[0]
    assert called.type == "function_call"
    assert (called.name, called.arguments) == ("get_weather", '{"place": "Oslo"}')
    answer = await client.responses.create(
        model="companion",
        input=[{"type": "function_call_output", "call_id": called.call_id, "output": "12 degrees, rain."}],
        previous_response_id=asked.id,
        tools=[WEATHER],
    )
    assert answer.output_text == "Rain."
    assert [(role, kinds) for role, _, kinds in await turns()] == [
        ("user", ["text"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("assistant", ["text"]),
    ]
    await proven(model)


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"store": False}, "store"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"reasoning": {"effort": "high"}}, "reasoning"),
        ({"text": {"format": {"type": "json_object"}}}, "text"),
        ({"text": "x"}, "text"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input"),
        ({"input": []}, "input"),
    ],
)
async def test_what_cannot_be_honoured_is_refused_by_its_name(
    client: AsyncOpenAI, model: ModelServer, more: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        await client.responses.create(**{"model": "companion", "input": "Hello", **more})
    assert (refused.value.param, model.bodies, await Thread.objects.aexists()) == (param, [], False)
