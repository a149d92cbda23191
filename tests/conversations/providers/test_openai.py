"""The provider for Chat Completions, over real HTTP, against a server that is each of the kinds that people run."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from pytest_django import Settings

from conversations.models import Model
from conversations.providers import learn_list_and_wait, model_catalog
from conversations.providers.base import (
    Finished,
    ProviderError,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
    UsageSoFar,
)
from conversations.providers.dialects import DIALECTS, dialect_at
from conversations.providers.messages_api import RequestParts
from conversations.providers.openai import OpenAIProvider
from conversations.providers.request_parts import in_messages_api
from conversations.providers.thinking import ThinkingPlan
from conversations.runtime.db import in_database
from tests.chat_server import KINDS, ChatServer
from tests.chat_server import scripts as chat
from tests.chat_server.kinds import DIALECT_OF
from tests.conversations.providers.events import without_usage
from tests.model_scripts import BrokenStream, Delay, Gate, Raw, ScriptedRefusal, ScriptedStream, Stall

KEY = "sk-local-never-shown"
USAGE = Usage(input_tokens=15, output_tokens=7, cache_read_input_tokens=5, thinking_tokens=2)
WHO: dict[str, Any] = {"request_id": "req_local", "message_id": "chatcmpl-local", "model": "local-model"}
END = Finished(stop_reason="end_turn", usage=USAGE, **WHO)
CALLED = Finished(stop_reason="tool_use", usage=USAGE, **WHO)
SAVE = {"name": "save", "description": "Saves.", "input_schema": {"type": "object", "properties": {}}}
TOLD = {"type": "text", "text": "Grüß dich, 世界 👋"}
ROUND: list[dict[str, Any]] = [
    {"role": "user", "content": [TOLD]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I save it."},
            {"type": "text", "text": "Saving."},
            {"type": "tool_use", "id": "toolu_1", "name": "save", "input": {"title": "Größe"}},
            {"type": "tool_use", "id": "toolu_2", "name": "save", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "Saved."}]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "Saved, too.", "is_error": True},
            {"type": "text", "text": "Thanks!"},
        ],
    },
]


@pytest.fixture(autouse=True)
def configured(chat_model: ChatServer, settings: Settings) -> None:
    settings.OPENAI_API_KEY = KEY
    settings.OPENBOOK_FIRST_TOKEN_SECONDS = settings.OPENBOOK_STALL_SECONDS = 20.0


@pytest.fixture
async def provider() -> AsyncIterator[OpenAIProvider]:
    provider = OpenAIProvider()
    yield provider
    await provider.aclose()


def be(server: ChatServer, kind: str, settings: Settings) -> None:
    server.kind = KINDS[kind]
    settings.OPENBOOK_OPENAI_SERVER = DIALECT_OF.get(kind, kind)


def payload(**changed: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "model": "local-model",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [TOLD]}],
    }
    return OpenAIProvider().render(RequestParts(**values | changed))


async def events_of(provider: OpenAIProvider, **changed: Any) -> list[ProviderEvent]:
    return [event async for event in without_usage(provider.stream(payload(**changed)))]


async def failure_of(provider: OpenAIProvider, seconds: float = 60) -> tuple[list[ProviderEvent], ProviderError]:
    events: list[ProviderEvent] = []
    with pytest.raises(ProviderError) as raised:
        async for event in without_usage(provider.stream(payload(), seconds=seconds)):
            events.append(event)
    return events, raised.value


async def test_the_payload_is_exactly_what_goes_over_the_wire(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    assert (await events_of(provider))[-1] == END
    assert chat_model.bodies == [payload()]
    assert chat_model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert payload() == {
        "model": "local-model",
        "max_completion_tokens": 64,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TOLD["text"]}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_server_is_understood(
    provider: OpenAIProvider, chat_model: ChatServer, settings: Settings, kind: str
) -> None:
    """What it thinks, says and calls, from a request with calls and results that it does not object to."""
    be(chat_model, kind, settings)
    first = chat.Call(name="save", arguments={"title": "A"}, id="call_a")
    second = chat.Call(name="save", arguments={"title": "B", "n": 2}, id="call_b")
    chat_model.say(chat.answer(chat.Thought("Let me "), chat.Thought("see."), "So ", "far", first, second))
    events = await events_of(provider, messages=ROUND, tools=[SAVE])
    thought = [
        ThinkingStarted(),
        *(ThinkingDelta(text=text) for text in (("Let me", " see.") if chat_model.kind.tags else ("Let me ", "see."))),
        ThinkingDone(block={"type": "thinking", "thinking": "Let me see."}),
    ]
    said = [event for event in events if not isinstance(event, ToolStarted | ToolDelta | ToolCalled)]
    end = Finished(stop_reason="tool_use", usage=Usage() if chat_model.kind.usage == "never" else USAGE, **WHO)
    assert said == [
        *(thought if chat_model.kind.tells_thoughts else []),
        TextDelta(text="So "),
        TextDelta(text="far"),
        end,
    ]
    called = [event for event in events if isinstance(event, ToolCalled)]
    assert [(call.name, call.input) for call in called] == [
        ("save", {"title": "A"}),
        ("save", {"title": "B", "n": 2}),
    ]
    ids = ["call_a", "call_b"] if chat_model.kind.call_ids else ["call_chatcmpl-local_0", "call_chatcmpl-local_1"]
    assert [call.id for call in called] == ids
    for call in called:
        written = "".join(event.json for event in events if isinstance(event, ToolDelta) and event.id == call.id)
        assert json.loads(written) == call.input


def test_a_round_of_tool_calls_is_written_as_messages_of_its_own() -> None:
    body = payload(messages=ROUND, tools=[SAVE], tool_choice="none")
    assert body["messages"][1:] == [
        {"role": "user", "content": TOLD["text"]},
        {
            "role": "assistant",
            "content": "Saving.",
            "tool_calls": [
                {"id": "toolu_1", "type": "function", "function": {"name": "save", "arguments": '{"title":"Größe"}'}},
                {"id": "toolu_2", "type": "function", "function": {"name": "save", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "toolu_1", "content": "Saved."},
        {"role": "tool", "tool_call_id": "toolu_2", "content": "Saved, too."},
        {"role": "user", "content": "Thanks!"},
    ]
    parameters = {"type": "object", "properties": {}}
    function = {"name": "save", "description": "Saves.", "parameters": parameters}
    assert (body["tools"], body["tool_choice"]) == ([{"type": "function", "function": function}], "none")


def test_what_looks_into_requests_sees_the_same_in_either_shape() -> None:
    seen = in_messages_api(payload(messages=ROUND, tools=[SAVE]))
    assert seen["system"] == [{"type": "text", "text": "Be brief."}]
    assert seen["tools"] == [SAVE]
    assert [message["role"] for message in seen["messages"]] == ["user", "assistant", "user"]
    assert seen["messages"][1]["content"] == ROUND[1]["content"][1:]
    assert seen["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Saved."},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "Saved, too."},
        {"type": "text", "text": "Thanks!"},
    ]


@pytest.mark.parametrize(
    ("server", "plan", "added"),
    [
        ("openai", ThinkingPlan(effort="max"), {"reasoning_effort": "xhigh"}),
        ("openai", ThinkingPlan(mode="disabled"), {"reasoning_effort": "none"}),
        ("plain", ThinkingPlan(mode="adaptive", effort="low"), {"reasoning_effort": "low"}),
        ("plain", ThinkingPlan(mode="disabled"), {}),
        ("openrouter", ThinkingPlan(mode="enabled", room=2_048), {"reasoning": {"max_tokens": 2_048}}),
        ("deepseek", ThinkingPlan(mode="disabled"), {"thinking": {"type": "disabled"}}),
    ],
)
def test_thinking_is_asked_for_in_the_words_of_the_server(
    settings: Settings, server: str, plan: ThinkingPlan, added: dict[str, Any]
) -> None:
    settings.OPENBOOK_OPENAI_SERVER = server
    with_plan, without = payload(thinking=plan), payload()
    assert {name: value for name, value in with_plan.items() if name not in without} == added


def test_what_the_model_thought_goes_back_only_to_servers_that_want_it(settings: Settings) -> None:
    told = {}
    for server in DIALECTS:
        settings.OPENBOOK_OPENAI_SERVER = server
        message = next(m for m in payload(messages=ROUND)["messages"] if "tool_calls" in m)
        told[server] = {name: message[name] for name in message if name.startswith("reasoning")}
    assert {server: field for server, field in told.items() if field} == {
        "openrouter": {"reasoning": "I save it."},
        "deepseek": {"reasoning_content": "I save it."},
    }


def test_a_request_is_rendered_in_the_dialect_that_it_was_recorded_with(settings: Settings) -> None:
    recorded, sent = OpenAIProvider().program(), payload(messages=ROUND, tools=[SAVE])
    settings.OPENAI_BASE_URL, settings.OPENBOOK_OPENAI_SERVER = "https://api.mistral.ai/v1", ""
    assert payload(messages=ROUND, tools=[SAVE]) != sent
    again = json.loads(json.dumps(recorded))
    assert payload(messages=ROUND, tools=[SAVE], program=again) == sent
    del again["dialect"]["budget"]  # as if recorded before there was such a column
    assert payload(messages=ROUND, tools=[SAVE], program=again) == sent


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://mine.openai.azure.com/openai/v1/", "azure"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://api.deepseek.com", "deepseek"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://gpu.lan:8000/v1", "plain"),
        ("https://api.openai.com.example/v1", "plain"),
        ("https://notapi.openai.com:99999/v1", "plain"),
        ("", "plain"),
    ],
)
def test_the_kind_of_a_server_is_known_by_its_address(url: str, name: str) -> None:
    assert dialect_at(url).name == name
    assert dialect_at(url, "groq").name == "groq"


async def test_thoughts_in_the_text_stay_there_where_the_server_is_known_to_tell_them_apart(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    chat_model.say(chat.answer("<think>", "quoted</think>"))
    assert [event.text for event in await events_of(provider) if isinstance(event, TextDelta)] == [
        "<think>",
        "quoted</think>",
    ]


def chunk(delta: dict[str, Any] | None, reason: str | None = None) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("model_length", "model_context_window_exceeded"),
        ("a_new_one", "a_new_one"),
        (None, "unknown"),
    ],
)
async def test_stop_reasons_are_told_in_the_words_of_the_messages_api(
    provider: OpenAIProvider, chat_model: ChatServer, reason: str | None, expected: str
) -> None:
    chat_model.say(chat.answer("So far", reason=reason))
    assert await events_of(provider) == [
        TextDelta(text="So far"),
        Finished(stop_reason=expected, usage=USAGE, **WHO),
    ]


async def test_a_model_that_declines_says_so(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    chat_model.say(chat.answer(refusal="I can't help with that."), chat.answer("Some ", reason="content_filter"))
    details = {"type": "refusal", "category": None, "explanation": "I can't help with that."}
    assert await events_of(provider) == [Finished(stop_reason="refusal", usage=USAGE, stop_details=details, **WHO)]
    assert (await events_of(provider))[-1] == Finished(
        stop_reason="refusal", usage=USAGE, stop_details=details | {"explanation": None}, **WHO
    )


@pytest.mark.parametrize(
    "script",
    [
        chat.error(400, "The response was filtered", code="content_filter"),
        chat.refusal(403, {"error": {"code": 403, "message": "Flagged", "metadata": {"flagged_input": "…"}}}),
    ],
)
async def test_a_filter_before_the_model_is_a_refusal(
    provider: OpenAIProvider, chat_model: ChatServer, script: chat.ChatScript
) -> None:
    chat_model.say(script)
    (end,) = await events_of(provider)
    assert isinstance(end, Finished)
    assert (end.stop_reason, end.stop_details and end.stop_details["type"]) == ("refusal", "refusal")
    assert len(chat_model.requests) == 1


CONTEXT = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."


@pytest.mark.parametrize(
    ("script", "code", "retryable"),
    [
        (chat.error(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key"), "authentication", False),
        (chat.error(429, "You exceeded your current quota", code="insufficient_quota"), "spending_limit", False),
        (chat.error(404, "No such model", code="model_not_found"), "model_not_found", False),
        (chat.error(400, CONTEXT, code="context_length_exceeded"), "request_too_large", False),
        (chat.refusal(400, {"object": "error", "message": CONTEXT, "code": 400}), "request_too_large", False),
        (chat.error(400, "the request exceeds the available context size", code=400), "request_too_large", False),
        (chat.error(400, "Bad", error_type="exceed_context_size_error"), "request_too_large", False),
        (chat.error(400, "gemma does not support tools"), "no_tools", False),
        (chat.error(400, "Odd"), "invalid_request", False),
        (chat.refusal(422, {"message": {"detail": []}}), "invalid_request", False),
        (chat.refusal(402, {"error": {"code": 402, "message": "Insufficient credits"}}), "spending_limit", False),
        (chat.error(403, "Not allowed"), "permission", False),
        (chat.error(302, headers={"location": "http://127.0.0.1:9/elsewhere"}), "redirected", False),
        (chat.error(307, headers={"location": "http://127.0.0.1:9/elsewhere"}), "redirected", False),
    ],
)
async def test_errors_are_told_in_openbooks_words(
    provider: OpenAIProvider, chat_model: ChatServer, script: chat.ChatScript, code: str, retryable: bool
) -> None:
    chat_model.say(script)
    events, error = await failure_of(provider)
    assert (events, error.code, error.retryable) == ([], code, retryable)
    assert KEY not in error.message
    assert len(chat_model.requests) == 1


async def test_the_key_to_check_is_named(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    chat_model.say(chat.error(401, "No", code="invalid_api_key"))
    _, error = await failure_of(provider)
    assert error.message.endswith("Whoever runs this Openbook has to check OPENAI_API_KEY.")


IN_STREAM = [
    ({"error": {"code": 502, "message": "Provider disconnected"}, "choices": []}, "server_error"),
    ({"error": {"code": 429, "message": "Slow down"}}, "rate_limited"),
    ({"object": "error", "message": "EngineDeadError", "code": 500}, "server_error"),
    ({"error": "it went wrong"}, "server_error"),
    ({"error": {"message": "?", "type": "overloaded_error"}}, "overloaded"),
]


@pytest.mark.parametrize(("event", "code"), IN_STREAM)
async def test_an_error_in_mid_stream_keeps_the_text_and_is_not_tried_again(
    provider: OpenAIProvider, chat_model: ChatServer, event: dict[str, Any], code: str
) -> None:
    chat_model.say(chat.answer("So far", chat.event(event), ends=False))
    events, error = await failure_of(provider)
    assert (events, error.code) == ([TextDelta(text="So far")], code)
    assert len(chat_model.requests) == 1


async def test_an_error_before_any_content_is_tried_again(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    chat_model.say(
        chat.answer(Raw(b'error: {"code": 503, "message": "Loading model"}\n\n'), ends=False), chat.answer("There")
    )
    assert await events_of(provider) == [TextDelta(text="There"), END]


@pytest.mark.parametrize(
    "garbage",
    [b"data: {half\n\n", b"data: \xff\xfe\n\n", b"data: [1, 2]\n\n", b"data: null\n\n", b"data: " + b"[" * 99_999],
)
async def test_what_cannot_be_read_ends_the_call(
    provider: OpenAIProvider, chat_model: ChatServer, garbage: bytes
) -> None:
    chat_model.say(chat.answer("So far", Raw(garbage), ends=False))
    events, error = await failure_of(provider)
    assert (events, error.code) == ([TextDelta(text="So far")], "bad_stream")


async def test_an_end_without_its_last_line_is_an_end(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    last = chat.event(chunk({}, "stop")).data.rstrip(b"\n")
    chat_model.say(ScriptedStream(steps=(chat.event(chunk({"content": "Hello"})), Raw(last))))
    assert [type(event) for event in await events_of(provider)] == [TextDelta, Finished]


async def test_an_answer_that_is_whole_survives_what_comes_after_it(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    for after in (BrokenStream(), Raw(b"data: {half\n\n")):
        chat_model.say(chat.answer("Whole", chat.event(chunk({}, "stop")), after, ends=False))
        assert [type(event) for event in await events_of(provider)] == [TextDelta, Finished]


async def test_a_server_that_does_not_stream_is_understood(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    whole = {"id": "c", "model": "m", "choices": [{"message": {"content": "All at once"}, "finish_reason": "stop"}]}
    headers = {"content-type": "application/json"}
    busy = chat.refusal(200, {"error": {"code": 429}}, headers)
    chat_model.say(chat.refusal(200, whole, headers), busy, chat.answer("Later"))
    assert (await events_of(provider))[0] == TextDelta(text="All at once")
    assert (await events_of(provider))[0] == TextDelta(text="Later")


@pytest.mark.long
async def test_comments_are_a_sign_of_life_until_all_the_time_is_up(
    provider: OpenAIProvider, chat_model: ChatServer, settings: Settings
) -> None:
    await events_of(provider)  # sets the client up
    be(chat_model, "openrouter", settings)
    chat_model.say(chat.answer(Stall(0.02), ends=False))
    with override_settings(OPENBOOK_FIRST_TOKEN_SECONDS=0.7):
        began = asyncio.get_running_loop().time()
        assert (await failure_of(provider, seconds=2))[1].code == "timeout"
        assert asyncio.get_running_loop().time() - began >= 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("ollama", ["One moment."], [chat.Call(name="save", arguments={"title": "A"})]),
        (
            "openai",
            [chat.event(chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "save"}}]}))],
            [
                chat.event(
                    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"title": "A"}'}}]}, "tool_calls")
                )
            ],
        ),
    ],
)
async def test_a_call_may_be_written_in_silence(
    provider: OpenAIProvider, chat_model: ChatServer, settings: Settings, kind: str, before: Any, after: Any
) -> None:
    be(chat_model, kind, settings)
    await events_of(provider)  # sets the client up
    chat_model.say(chat.answer(*before, Delay(0.5), Raw(b": alive\n\n"), Delay(0.5), *after))
    with override_settings(OPENBOOK_STALL_SECONDS=0.4):
        events = await events_of(provider, tools=[SAVE])
    assert [event.input for event in events if isinstance(event, ToolCalled)] == [{"title": "A"}]


async def test_an_answer_is_over_where_a_server_keeps_the_stream_open_after_its_reason(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    figures = chat.event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    for after, seconds in (((figures, Stall(0.02)), 20.0), ((Stall(0.02),), 0.3)):
        chat_model.say(chat.answer("Whole", chat.event(chunk({}, "stop")), *after, ends=False))
        with override_settings(OPENBOOK_STALL_SECONDS=seconds):
            assert [type(event) for event in await events_of(provider)] == [TextDelta, Finished]


async def test_a_web_page_is_told_as_one_and_not_asked_for_again(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    page = b"<!doctype html><title>Sign in</title>"
    chat_model.say(ScriptedRefusal(status=200, body=page, headers={"content-type": "text/html"}))
    events, error = await failure_of(provider)
    assert (events, error.code, error.retryable, len(chat_model.requests)) == ([], "web_page", False, 1)
    assert "there is a web page" in error.message


async def test_deltas_arrive_as_they_are_sent(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    gate = Gate()
    chat_model.say(chat.answer("now", gate, "later"))
    events = without_usage(provider.stream(payload()))
    assert await anext(events) == TextDelta(text="now")
    await asyncio.to_thread(gate.wait_until_reached)
    gate.open()
    assert [event async for event in events] == [TextDelta(text="later"), END]


async def test_closing_the_stream_hangs_up_at_once(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    chat_model.say(chat.answer("So far", Gate()))
    events = without_usage(provider.stream(payload()))
    assert await anext(events) == TextDelta(text="So far")
    await events.aclose()
    await asyncio.to_thread(chat_model.requests[0].wait_until_ended)
    assert chat_model.requests[0].hung_up


async def test_the_connection_is_used_again(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    for _ in range(3):
        await events_of(provider)
    assert [request.connection for request in chat_model.requests] == [1, 1, 1]


async def test_what_a_call_uses_is_told_as_soon_as_it_is_known(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    early = chat.event(chunk({"content": "So far"}) | {"usage": {"prompt_tokens": 3, "completion_tokens": 1}})
    chat_model.say(chat.answer(early, BrokenStream(), ends=False))
    told = []
    with pytest.raises(ProviderError):
        async for event in provider.stream(payload()):
            told.append(event)
    usage = Usage(input_tokens=3, output_tokens=1)
    assert told[0] == UsageSoFar(usage=usage, request_id="req_local", message_id="c")


async def test_a_server_of_ones_own_needs_no_key(
    provider: OpenAIProvider, chat_model: ChatServer, settings: Settings
) -> None:
    be(chat_model, "ollama", settings)
    settings.OPENAI_API_KEY = ""
    assert provider.obstacle() is None
    assert (await events_of(provider))[-1] == END
    assert chat_model.requests[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(("key", "url"), [("", ""), ("ключ", "http://127.0.0.1:9/v1"), ("two words", "")])
async def test_a_key_that_cannot_be_one_is_refused_before_any_call(
    provider: OpenAIProvider, settings: Settings, key: str, url: str
) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = key, url
    events, error = await failure_of(provider)
    obstacle = provider.obstacle()
    assert (events, error.code, obstacle and obstacle.code) == ([], "authentication", "authentication")


async def test_a_key_is_not_taken_along_to_another_host(
    provider: OpenAIProvider, chat_model: ChatServer, settings: Settings
) -> None:
    with ChatServer() as other:
        chat_model.say(chat.error(307, headers={"location": f"{other.base_url}/chat/completions"}))
        assert (await failure_of(provider))[1].code == "redirected"
        assert other.requests == []


@pytest.mark.django_db
def test_the_default_model_is_the_setting_the_first_offered_or_the_first_that_the_server_names(
    chat_model: ChatServer, settings: Settings
) -> None:
    provider = OpenAIProvider()
    assert provider.lacks_list()
    learn_list_and_wait(provider)
    assert (provider.default_model(), provider.default_model()) == ("local-model", "local-model")
    assert [request.path for request in chat_model.requests] == ["/v1/models"]
    row = Model.objects.create(provider="openai", name="of-staff", context_window=8_000, max_output=1_000)
    model_catalog.reread()
    assert provider.default_model() == "of-staff"
    settings.OPENBOOK_MODEL = "of-the-server"
    assert provider.default_model() == "of-the-server"
    assert (row.thinking, len(chat_model.requests)) == ("none", 1)


@pytest.mark.parametrize(
    ("models", "url", "code"), [([], "", "misconfigured"), (["m"], "http://127.0.0.1:9/v1", "unreachable")]
)
@pytest.mark.django_db
def test_a_server_that_names_no_model_is_a_clear_error(
    chat_model: ChatServer, settings: Settings, models: list[str], url: str, code: str
) -> None:
    chat_model.models = models
    settings.OPENAI_BASE_URL = url or chat_model.base_url
    assert default_of(OpenAIProvider()) == code


def default_of(provider: OpenAIProvider) -> str:
    """The default model, or the code of why there is none, after its service was asked where it had to be."""
    learn_list_and_wait(provider)
    try:
        return provider.default_model()
    except ProviderError as error:
        return error.code


@pytest.mark.django_db
def test_a_server_that_could_not_tell_its_models_is_not_asked_by_everybody(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = OpenAIProvider()
    chat_model.listing = chat.error(500)
    assert [default_of(provider) for _ in range(3)] == ["server_error"] * 3
    assert chat_model.listings == 1
    monkeypatch.setattr("conversations.providers.listed_models.AGAIN_SECONDS", 0.0)
    provider = OpenAIProvider()
    assert default_of(provider) == "server_error"
    chat_model.listing, chat_model.models = None, ["pulled-since"]
    assert default_of(provider) == "pulled-since"


@pytest.mark.django_db
def test_what_a_server_told_before_holds_while_it_cannot_tell(
    chat_model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.providers.listed_models.FRESH_SECONDS", 0.0)
    provider = OpenAIProvider()
    chat_model.told = {"local-model": {"max_model_len": 24_576}}
    assert (default_of(provider), provider.describe("local-model").context_window) == ("local-model", 24_576)
    chat_model.listing = chat.error(500)
    assert (default_of(provider), provider.describe("local-model").context_window) == ("local-model", 24_576)
    assert chat_model.listings == 2


@pytest.mark.django_db(transaction=True)
async def test_many_who_need_the_list_at_once_ask_for_it_once(provider: OpenAIProvider, chat_model: ChatServer) -> None:
    await asyncio.gather(*(provider.learn_list() for _ in range(8)))
    assert (chat_model.listings, await in_database(provider.default_model)()) == (1, "local-model")


@pytest.mark.django_db(transaction=True)
async def test_the_server_is_asked_for_a_model_again_once_the_one_it_named_is_gone(
    provider: OpenAIProvider, chat_model: ChatServer
) -> None:
    assert await asyncio.to_thread(default_of_in_database, provider) == "local-model"
    chat_model.models = ["another"]
    assert await asyncio.to_thread(default_of_in_database, provider) == "local-model"
    chat_model.say(chat.error(404, "No such model", code="model_not_found"))
    assert (await failure_of(provider))[1].code == "model_not_found"
    assert await asyncio.to_thread(default_of_in_database, provider) == "another"


def default_of_in_database(provider: OpenAIProvider) -> str:
    try:
        return default_of(provider)
    finally:
        connection.close()


TELLING = [
    ("", {"max_model_len": 24_576}, 24_576),
    ("openrouter", {"context_length": 131_072, "top_provider": {"max_completion_tokens": 8_000}}, 131_072),
    ("", {"meta": {"n_ctx_train": 32_768}}, 32_768),
    ("", {"meta": {"n_ctx": 8_192, "n_ctx_train": 131_072}}, 8_192),
    ("mistral", {"max_context_length": 40_000}, 40_000),
    ("groq", {"context_window": 16_000}, 16_000),
]


@pytest.mark.parametrize(("server", "told", "window"), TELLING)
@pytest.mark.django_db
def test_the_window_of_a_model_without_a_row_is_the_one_that_its_server_tells(
    chat_model: ChatServer, settings: Settings, server: str, told: dict[str, Any], window: int
) -> None:
    settings.OPENBOOK_OPENAI_SERVER = server
    chat_model.told = {"local-model": told}
    provider = OpenAIProvider()
    learn_list_and_wait(provider, "local-model")
    assert (provider.sizes("local-model").source, provider.describe("local-model").context_window) == ("told", window)
    assert provider.describe("local-model").max_output == told.get("top_provider", {}).get(
        "max_completion_tokens", window // 4
    )


@pytest.mark.parametrize(
    ("server", "url", "name", "sizes"),
    [
        ("", "", "any", (4_096, 1_024, "assumed")),
        ("ollama", "", "any", (4_096, 1_024, "assumed")),
        ("openai", "", "any", (200_000, 32_000, "assumed")),
        ("", "https://api.openai.com/v1", "gpt-4o", (128_000, 32_000, "known")),
    ],
)
@pytest.mark.django_db
def test_a_model_of_which_nothing_is_told_is_small_where_it_is_not_known_to_be_large(
    chat_model: ChatServer, settings: Settings, server: str, url: str, name: str, sizes: tuple[int, int, str]
) -> None:
    settings.OPENBOOK_OPENAI_SERVER, settings.OPENAI_BASE_URL = server, url or chat_model.base_url
    provider = OpenAIProvider()
    if not url:
        learn_list_and_wait(provider, name)
    found = provider.sizes(name)
    assert (found.context_window, found.max_output, found.source) == sizes
    assert not provider.lacks_list(name)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500])
async def test_the_key_is_never_shown(
    provider: OpenAIProvider, chat_model: ChatServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    chat_model.say(*[chat.error(status, f"the key {KEY} was refused")] * 3)
    with caplog.at_level(logging.DEBUG):
        _, error = await failure_of(provider)
        logging.getLogger("openbook.tests").error("failed", exc_info=error)
    assert KEY not in caplog.text
    assert KEY not in error.message
    assert KEY not in repr(provider._endpoint())
