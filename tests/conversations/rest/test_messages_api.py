"""The official SDK of the Messages API as the client, over a real socket, with a local model behind the application."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import groupby
from typing import Any

import anthropic
import pytest
import time_machine
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import MessageParam
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application

from conversations.accounts import tokens
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.context.replay import ReplayedContexts, remake
from conversations.models import ApiToken, Assistant, ContextSnapshot, Message, Reply, Thread, UserLimits
from conversations.providers.http_client import trusted
from conversations.rest import streams
from conversations.runtime.db import in_database, read_only
from memory.index.index_turns import catch_up_if_possible
from tests import model_scripts as scripts
from tests.asgi_server import serving
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

OVERLOADED = [scripts.error(529)] * 3
"""As often as the model is asked before a reply fails."""


@pytest.fixture
async def client(user: User, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncAnthropic]:
    """The SDK as it comes, but for the pauses between its retries."""
    monkeypatch.setattr(AsyncAnthropic, "_calculate_retry_timeout", lambda *_, **__: 0.01)
    key = await in_database(tokens.issue)(user=user, name="tests")
    http = DefaultAsyncHttpxClient(verify=trusted())
    async with (
        serving(get_asgi_application()) as url,
        AsyncAnthropic(api_key=key, base_url=url, http_client=http) as client,
    ):
        yield client


def asking(*said: str, **more: Any) -> dict[str, Any]:
    """A call whose messages are the user's and the assistant's in turn, beginning with the user's."""
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    return {"model": "some-model", "max_tokens": 500, "messages": messages, **more}


def said_by(message: anthropic.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def made_again(snapshot: ContextSnapshot) -> ReplayedContexts:
    record = record_of(snapshot)
    with read_only():
        return remake(record, record.settings)


async def stored_turns() -> list[tuple[int, str, str]]:
    return [(turn.position, turn.role, turn.text) async for turn in Message.objects.order_by("thread", "position")]


async def test_a_plain_chat_loop_keeps_one_thread(client: AsyncAnthropic, model: ModelServer) -> None:
    """It resends all that was said each time, names no thread, and trims what it was told."""
    model.script(scripts.text("He was a president. \n"), scripts.text("Five."), scripts.text("Yes."))
    messages: list[MessageParam] = []
    for question in ("Who is Donald Trump?", "who are his children", "really?"):
        messages.append({"role": "user", "content": question})
        answer = await client.messages.create(model="some-model", max_tokens=500, messages=messages)
        messages.append({"role": "assistant", "content": said_by(answer).strip()})
    assert await stored_turns() == [
        (1, "user", "Who is Donald Trump?"),
        (2, "assistant", "He was a president. \n"),
        (3, "user", "who are his children"),
        (4, "assistant", "Five."),
        (5, "user", "really?"),
        (6, "assistant", "Yes."),
    ]
    assert [(sent["role"], sent["content"][0]["text"]) for sent in model.bodies[1]["messages"]] == [
        ("user", "Who is Donald Trump?"),
        ("assistant", "He was a president. \n"),
        ("user", "who are his children"),
    ]


async def test_an_answer_has_the_shape_of_the_api_and_names_what_it_came_of(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.claude.verbatim = True  # for its figures
    model.script(scripts.text("Good ", "evening"))
    raw = await client.messages.with_raw_response.create(**asking("Hello"))
    thread, reply, snapshot = (
        await Thread.objects.aget(),
        await Reply.objects.aget(),
        await ContextSnapshot.objects.aget(),
    )
    names = ("x-openbook-thread", "x-openbook-reply", "x-openbook-request", "request-id")
    assert [raw.headers[name] for name in names] == [str(thread.id), str(reply.id), str(snapshot.id), reply.request_id]
    assert (await raw.parse()).model_dump(exclude_none=True) == {
        "id": f"msg_{reply.id.hex}",
        "type": "message",
        "role": "assistant",
        "model": "companion",
        "content": [{"type": "text", "text": "Good evening"}],
        "stop_reason": "end_turn",
        "usage": reply.usage
        | {
            "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 0},
            "output_tokens_details": {"thinking_tokens": 0},
        },
    }


async def test_a_stream_has_the_events_of_the_api_and_is_the_stored_turn_byte_for_byte(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.claude.verbatim = True  # for its figures
    model.script(scripts.text("Straße ", "👩‍🚀", "\n\n| a |", "  "))
    async with client.messages.stream(**asking("Hello")) as stream:
        kinds = [event.type async for event in stream if event.type not in ("text", "content_block_delta")]
        final = await stream.get_final_message()
    turn, reply = await Message.objects.aget(role="assistant"), await Reply.objects.aget()
    assert kinds == ["message_start", "content_block_start", "content_block_stop", "message_delta", "message_stop"]
    assert (said_by(final), final.id, final.stop_reason) == (turn.text, f"msg_{reply.id.hex}", "end_turn")
    assert final.usage.model_dump(include={*reply.usage}) == reply.usage


async def test_the_instructions_of_a_program_stand_after_the_assistants_and_are_recorded(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    await client.messages.create(
        **asking("Hello", system=[{"type": "text", "text": "Talk like a pirate."}], max_tokens=7)
    )
    body, snapshot = model.bodies[0], await ContextSnapshot.objects.aget()
    assert (body["system"][1]["text"], body["max_tokens"]) == ("Talk like a pirate.", 7 + 8_192)
    assert [part.name for part in snapshots.sections_of(snapshot)] == ["base", "instructions"]
    assert await in_database(snapshots.proven)(snapshot) == body
    assert (await in_database(made_again)(snapshot)).is_exact


async def test_the_instructions_reach_the_model_also_after_another_was_asked_for_a_query(
    user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    await Assistant.objects.filter(slug="companion").aupdate(rewriting=Assistant.Rewriting.MODEL)
    thread = await in_database(make_thread)(user, ["Who is Donald Trump?", "He was a president."])
    await client.messages.create(
        **asking("who are his children", system="Be brief.", metadata={"thread": str(thread.id)}, max_tokens=7)
    )
    assert len(model.bodies) == 2
    assert (model.bodies[1]["system"][1]["text"], model.bodies[1]["max_tokens"]) == ("Be brief.", 7 + 8_192)


async def test_what_was_said_in_another_thread_reaches_the_model(
    user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    await in_database(make_thread)(user, ["My dachshund is called Waldemar.", "A fine name."])
    await in_database(catch_up_if_possible)(user.pk)
    await client.messages.create(**asking("What is my dachshund called?"))
    assert "Waldemar" in str(model.bodies[0]["messages"][-1])


async def test_a_new_thread_gets_the_history_that_it_had_elsewhere(client: AsyncAnthropic, model: ModelServer) -> None:
    await client.messages.create(**asking("I like tea", "Noted.", "What do I like?", model="analyst"))
    thread = await Thread.objects.select_related("assistant").aget()
    assert (thread.assistant.slug, thread.title, thread.message_count) == ("analyst", "I like tea", 4)
    assert [message["content"][0]["text"] for message in model.bodies[0]["messages"]] == [
        "I like tea",
        "Noted.",
        "What do I like?",
    ]


async def test_in_a_thread_that_is_named_its_own_history_wins(
    user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    thread = await in_database(make_thread)(user, ["I like tea", "Noted."])
    by_header, by_metadata = (
        {"extra_headers": {"x-openbook-thread": str(thread.id)}},
        {"metadata": {"thread": str(thread.id)}},
    )
    for named in (by_header, by_metadata):  # the same words twice are two turns
        await client.messages.create(**asking("I like gin", "Cheers.", "really?", **named))
    told = [(role, text) for _, role, text in await stored_turns()]
    assert [told[0], told[1], told[2], told[4]] == [
        ("user", "I like tea"),
        ("assistant", "Noted."),
        ("user", "really?"),
        ("user", "really?"),
    ]
    assert (len(told), "gin" in str(model.bodies)) == (6, False)


async def test_a_history_that_was_changed_gets_a_thread_of_its_own(client: AsyncAnthropic, model: ModelServer) -> None:
    model.script(scripts.text("Noted."), scripts.text("Tea."), scripts.text("Coffee."))
    await client.messages.create(**asking("I like tea"))
    await client.messages.create(**asking("I like tea", "Noted.", "What do I like?"))
    await client.messages.create(**asking("I like coffee", "Noted.", "What do I like?"))
    assert [text for *_, text in await stored_turns()] == [
        *("I like tea", "Noted.", "What do I like?", "Tea."),
        *("I like coffee", "Noted.", "What do I like?", "Coffee."),
    ]


async def test_another_answer_to_what_was_said_last_takes_the_place_of_the_first(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.script(scripts.text("Noted."), scripts.text("Tea."), scripts.text("Tea, I think."))
    await client.messages.create(**asking("I like tea"))
    for _ in range(2):
        await client.messages.create(**asking("I like tea", "Noted.", "What do I like?"))
    turns = [turn async for turn in Message.objects.filter(is_active=True).order_by("position")]
    assert [turn.text for turn in turns] == ["I like tea", "Noted.", "What do I like?", "Tea, I think."]


async def test_the_same_first_words_open_two_threads(client: AsyncAnthropic, model: ModelServer) -> None:
    await asyncio.gather(*(client.messages.create(**asking("Hello")) for _ in range(2)))
    assert (await Thread.objects.acount(), await Message.objects.acount()) == (2, 4)


async def test_an_overloaded_model_is_asked_again_by_the_sdk_for_the_same_turn(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    model.script(*OVERLOADED, scripts.text("Good evening"))
    async with client.messages.stream(**asking("Hello", system="Be brief.")) as stream:
        assert await stream.get_final_text() == "Good evening"
    assert [body["system"][-1]["text"] for body in model.bodies] == ["Be brief."] * 4
    assert await stored_turns() == [(1, "user", "Hello"), (2, "assistant", "Good evening")]
    assert [reply.status async for reply in Reply.objects.order_by("created_at")] == ["failed", "completed"]


async def test_a_program_that_leaves_stops_nothing_and_its_retry_gets_the_same_reply(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with client.messages.stream(**asking("Hello")) as stream:
        assert await anext(stream.text_stream) == "before "
    again = {"extra_headers": {"x-stainless-retry-count": "1"}}  # as the SDK says it
    while_it_runs = asyncio.create_task(client.messages.create(**asking("Hello", **again)))
    gate.open()
    answers = [await while_it_runs, await client.messages.create(**asking("Hello", **again))]
    reply = await Reply.objects.aget()
    assert [(answer.id, said_by(answer)) for answer in answers] == [(f"msg_{reply.id.hex}", "before after")] * 2
    assert (await stored_turns(), len(model.requests)) == ([(1, "user", "Hello"), (2, "assistant", "before after")], 1)


async def test_a_key_of_its_own_makes_a_message_count_once(client: AsyncAnthropic, model: ModelServer) -> None:
    keyed = {"extra_headers": {"Idempotency-Key": "one"}}
    answers = [await client.messages.create(**asking("Hello", **keyed)) for _ in range(2)]
    assert (answers[0].id, await Message.objects.acount(), len(model.requests)) == (answers[1].id, 2, 1)


def waiting(gate: scripts.Gate) -> scripts.ScriptedStream:
    return scripts.stream(*scripts.opening_steps(), gate, scripts.text_delta("at last"), *scripts.closing_steps())


def thinking(gate: scripts.Gate) -> scripts.ScriptedStream:
    return scripts.turn(scripts.Thought(pieces=("Hm. ", "So."), halfway=(gate,)), "at last")


@pytest.mark.parametrize("silent", [waiting, thinking])
async def test_a_silent_model_is_waited_for_with_pings(
    client: AsyncAnthropic,
    model: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    silent: Callable[[scripts.Gate], scripts.ScriptedStream],
) -> None:
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.05)
    gate = scripts.Gate()
    model.script(silent(gate))
    call = asking("Hello", stream=True)
    async with client.messages.with_streaming_response.create(**call) as response:
        lines: list[str] = []
        async for line in response.iter_lines():
            lines.append(line)
            if lines.count("event: ping") == 3:
                gate.open()
    assert "Hm." not in "".join(lines)
    kinds = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert [kind for kind, _ in groupby(kind for kind in kinds if kind != "ping")] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


async def test_a_failure_in_mid_stream_is_an_error_event(client: AsyncAnthropic, model: ModelServer) -> None:
    model.script(
        scripts.stream(*scripts.opening_steps(), scripts.text_delta("So far"), scripts.error_body("api_error", ""))
    )
    streamed: list[str] = []
    with pytest.raises(anthropic.APIStatusError) as caught:
        async with client.messages.stream(**asking("Hello")) as stream:
            streamed.extend([text async for text in stream.text_stream])
    reply = await Reply.objects.aget()
    assert caught.value.body == {
        "type": "error",
        "error": {
            "type": "api_error",
            "message": reply.error["message"],  # type: ignore[index]
            "param": None,
            "code": "server_error",
            "details": {"retryable": True, "code": "server_error"},
        },
        "request_id": reply.request_id,
    }
    assert [text for *_, text in await stored_turns()] == ["Hello", "So far"]


async def test_what_is_not_supported_is_refused_by_name_and_leaves_nothing(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    for name, value in (
        ("thinking", {"type": "between_tools"}),
        ("tool_choice", {"type": "any"}),
        ("tools", [{"name": "f", "input_schema": {"type": "object"}}] * 2),
        ("service_tier", "standard_only"),
        ("output_config", {"effort": "low"}),
        ("extra_body", {"temperature": 0.2}),
        ("extra_body", {"frequency_penalty": 0}),
    ):
        with pytest.raises(anthropic.BadRequestError) as caught:
            await client.messages.create(**asking("Hello", **{name: value}))
        body: Any = caught.value.body
        named = next(iter(value)) if name == "extra_body" else name
        assert (body["error"]["param"], body["error"]["type"]) == (named, "invalid_request_error")
        assert f"`{named}`" in body["error"]["message"]
    assert (await Thread.objects.acount(), model.requests) == (0, [])


async def test_errors_arrive_as_the_exceptions_of_the_sdk(
    user: User, other_user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    others = await in_database(make_thread)(other_user, ["Mine"])
    once = client.with_options(max_retries=0)
    found: list[tuple[type[BaseException], str]] = []

    async def refused(client: AsyncAnthropic, call: dict[str, Any]) -> None:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await client.messages.create(**call)
        body: Any = caught.value.body
        assert body["request_id"] == caught.value.response.headers["request-id"] != ""
        found.append((caught.type, body["error"]["type"]))

    await refused(once.with_options(api_key="ob_wrong"), asking("Hello"))
    await refused(once, asking("Hello", tools=[{"name": "f", "input_schema": {"type": "array"}}]))
    await refused(once, asking("Hello", metadata={"thread": str(others.id)}))
    await refused(once, asking("x" * 100_001))
    await refused(once, asking("Hello", system="All that is known. " * 2_000))
    model.script(*OVERLOADED)
    await refused(once, asking("Hello"))
    model.script(*[scripts.error(429)] * 3)
    await refused(once, asking("Good evening"))
    model.script(scripts.error(401))
    await refused(client, asking("Good night"))  # is told not to try again
    without_key = await Api().post("/v1/messages", asking("Hello"))
    assert (without_key.status, without_key.body["error"]["type"]) == (401, "authentication_error")
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("no\0body")
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.batches.list()
    assert found == [
        (anthropic.AuthenticationError, "authentication_error"),
        (anthropic.BadRequestError, "invalid_request_error"),
        (anthropic.NotFoundError, "not_found_error"),
        (anthropic.RequestTooLargeError, "request_too_large"),
        (anthropic.BadRequestError, "invalid_request_error"),
        (anthropic.OverloadedError, "overloaded_error"),
        (anthropic.RateLimitError, "rate_limit_error"),
        (anthropic.InternalServerError, "api_error"),
    ]
    assert (await Message.objects.filter(thread__user=user).acount(), len(model.requests)) == (3, 7)


@pytest.mark.wide
@pytest.mark.parametrize("whose", ["user", "token"])
async def test_a_call_beyond_the_limits_is_told_when_to_come_again_and_leaves_nothing(
    user: User, client: AsyncAnthropic, model: ModelServer, whose: str
) -> None:
    rows = UserLimits.objects if whose == "user" else ApiToken.objects
    await UserLimits.objects.acreate(user=user)
    await rows.filter(user=user).aupdate(tokens_day=10)
    once = client.with_options(max_retries=0)
    for call in (asking("Hello"), asking("I like tea", "Noted.", "What do I like?")):
        for stream in (False, True):
            with pytest.raises(anthropic.RateLimitError) as caught:
                await once.messages.create(**call, stream=stream)
            body, headers = caught.value.body, caught.value.response.headers
            assert isinstance(body, dict)
            details = body["error"]["details"]
            assert (body["type"], body["error"]["type"]) == ("error", "rate_limit_error")
            assert (details["limit"], details["whose"], details["code"]) == ("tokens_day", whose, "rate_limited")
            assert headers["retry-after"] == str(details["retry_after"])
    assert (await Thread.objects.acount(), await Message.objects.acount(), model.requests) == (0, 0, [])


async def test_a_minutes_requests_are_the_same_at_this_door(user: User, client: AsyncAnthropic) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=1)
    once = client.with_options(max_retries=0)
    with time_machine.travel(1_795_262_400, tick=False):
        raw = await once.models.with_raw_response.list()
        assert raw.headers["ratelimit"] == '"requests_minute";r=0;t=60'
        with pytest.raises(anthropic.RateLimitError) as caught:
            await once.models.list()
    assert caught.value.response.headers["retry-after"] == "60"


async def test_what_a_token_was_not_made_for_is_refused_and_leaves_nothing(
    user: User, client: AsyncAnthropic, model: ModelServer
) -> None:
    reader = client.with_options(api_key=await in_database(tokens.issue)(user=user, name="reader", scopes=["read"]))
    with pytest.raises(anthropic.PermissionDeniedError) as caught:
        await reader.messages.create(**asking("I like tea", "Noted.", "What do I like?"))
    body = caught.value.body
    assert isinstance(body, dict)
    assert (body["error"]["type"], body["error"]["details"]) == (
        "permission_error",
        {"scope": "write", "scopes": ["read"], "code": "insufficient_scope"},
    )
    assert (await Thread.objects.acount(), model.requests) == (0, [])
    assert (await reader.messages.count_tokens(model="companion", messages=asking("Hello")["messages"])).input_tokens


async def test_tokens_are_counted_as_they_would_be_sent_and_nothing_is_stored(
    client: AsyncAnthropic, model: ModelServer
) -> None:
    call = {name: value for name, value in asking("Hello", system="Be brief.").items() if name != "max_tokens"}
    counted = await client.messages.count_tokens(**call)
    assert (await Thread.objects.acount(), model.requests) == (0, [])
    await client.messages.create(**call, max_tokens=9)
    assert counted.input_tokens == (await ContextSnapshot.objects.aget()).total_tokens


async def test_the_models_are_the_assistants_and_a_bearer_token_does_too(client: AsyncAnthropic) -> None:
    bearer = AsyncAnthropic(auth_token=client.api_key, base_url=client.base_url)
    async with bearer:
        assert [(model.id, model.display_name) async for model in bearer.models.list()] == [
            ("companion", "Companion"),
            ("analyst", "Analyst"),
        ]
        assert (await bearer.models.retrieve("analyst")).max_input_tokens == 180_000
