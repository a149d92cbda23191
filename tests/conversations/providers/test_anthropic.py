import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from django.test import override_settings

from conversations.providers import get_provider
from conversations.providers.anthropic import AnthropicProvider
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
from conversations.providers.messages_api import RequestParts
from tests import model_scripts as scripts
from tests.conversations.providers.events import without_usage
from tests.model_scripts import BrokenStream, Gate, Raw, ScriptedRefusal, ScriptedStream, Stall
from tests.model_server import ModelServer

KEY = "sk-local-never-shown"
USAGE = Usage(input_tokens=12, output_tokens=7, cache_read_input_tokens=5, cache_creation_input_tokens=3)
END = Finished(stop_reason="end_turn", usage=USAGE, request_id="req_local", message_id="msg_local", model="local")
SAVED = "Your message is saved; try again"


@pytest.fixture(autouse=True)
def configured(model_server: ModelServer) -> Iterator[None]:
    model_server.claude.verbatim = True  # what is read is what the scripts say, to the figure
    changed = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model_server.url,
        "OPENBOOK_FIRST_TOKEN_SECONDS": 20.0,
        "OPENBOOK_STALL_SECONDS": 20.0,
    }
    with override_settings(**changed):
        yield


@pytest.fixture
async def provider() -> AsyncIterator[AnthropicProvider]:
    provider = AnthropicProvider()
    yield provider
    await provider.aclose()


def payload(**changed: Any) -> dict[str, Any]:
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    messages = [{"role": "user", "content": [{"type": "text", "text": "Grüß dich, 世界 👋"}]}]
    return (
        AnthropicProvider().render(RequestParts(model="claude-local", max_tokens=64, system=system, messages=messages))
        | changed
    )


async def events_of(provider: AnthropicProvider) -> list[ProviderEvent]:
    return [event async for event in without_usage(provider.stream(payload()))]


async def failure_of(
    provider: AnthropicProvider, seconds: float = 60
) -> tuple[list[ProviderEvent], tuple[str, bool, int | None, str]]:
    """What was streamed before the call failed, and how it failed."""
    events: list[ProviderEvent] = []
    with pytest.raises(ProviderError) as raised:
        async for event in without_usage(provider.stream(payload(), seconds=seconds)):
            events.append(event)
    error = raised.value
    return events, (error.code, error.retryable, error.status, error.message)


async def test_a_reply_streams_in_and_ends_with_its_usage(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    model_server.script(scripts.text("Hello ", "wor", "ld"))
    assert await events_of(provider) == [TextDelta(text="Hello "), TextDelta(text="wor"), TextDelta(text="ld"), END]


async def test_the_payload_is_exactly_what_goes_over_the_wire(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    await events_of(provider)
    assert model_server.bodies == [payload()]
    assert model_server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_deltas_arrive_as_they_are_sent(provider: AnthropicProvider, model_server: ModelServer) -> None:
    gate = Gate()
    model_server.script(scripts.text("now", gate, "later"))
    events = without_usage(provider.stream(payload()))
    assert await anext(events) == TextDelta(text="now")
    await asyncio.to_thread(gate.wait_until_reached)
    gate.open()
    assert [event async for event in events] == [TextDelta(text="later"), END]


@pytest.mark.parametrize(
    "reason",
    [
        "end_turn",
        "max_tokens",
        "stop_sequence",
        "tool_use",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
        "new",
    ],
)
async def test_every_stop_reason_is_passed_through(
    provider: AnthropicProvider, model_server: ModelServer, reason: str
) -> None:
    model_server.script(scripts.text("So far", stop_reason=reason))
    expected = [
        TextDelta(text="So far"),
        Finished(stop_reason=reason, usage=USAGE, request_id="req_local", message_id="msg_local", model="local"),
    ]
    assert await events_of(provider) == expected


async def test_what_is_not_known_is_passed_over(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(
        scripts.stream(
            scripts.message_start(),
            {"type": "an_event_of_the_future", "index": 0},
            scripts.block_start(1, {"type": "block_of_the_future", "data": "x"}),
            scripts.block_stop(1),
            scripts.block_start(3, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}),
            scripts.json_delta('{"q": 1}', 3),
            scripts.block_stop(3),
            scripts.block_start(2),
            scripts.text_delta("", 2),
            Raw(b": a comment\n\n"),
            scripts.text_delta("Yes", 2),
            scripts.block_delta(2, {"type": "delta_of_the_future", "data": "x"}),
            *scripts.closing_steps("end_turn", 2),
        )
    )
    assert await events_of(provider) == [TextDelta(text="Yes"), END]


async def test_thinking_comes_whole_and_with_its_signature(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    silent, shown = scripts.Thought(signature="c2lsZW50"), scripts.Thought(pieces=("Let me \ud83d", "\udc4b see", ""))
    redacted = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    hidden = scripts.stream(scripts.block_start(3, redacted), scripts.block_stop(3)).steps
    steps = [*silent.steps(0), *scripts.ScriptedToolUse(name="search", input={}).steps(1), *shown.steps(2), *hidden]
    model_server.script(scripts.stream(scripts.message_start(), *steps, *scripts.closing_steps(index=4)))
    assert await events_of(provider) == [
        ThinkingStarted(),
        ThinkingDone(block=silent.block),
        *call_events(scripts.ScriptedToolUse(name="search", input={})),
        ThinkingStarted(),
        ThinkingDelta(text="Let me \ud83d"),
        ThinkingDelta(text="\udc4b see"),
        ThinkingDone(block=shown.block | {"thinking": "Let me 👋 see"}),
        ThinkingStarted(),
        ThinkingDone(block=redacted),
        CALLED,
    ]


CALLED = replace(END, stop_reason="tool_use")
BRD = {"title": "Grüße 👋", "kind": "document", "content": 'a "quoted"\n\tline \\u00e9'}


def call_events(use: scripts.ScriptedToolUse, *, tool_id: str = "") -> list[ProviderEvent]:
    """As they must come for a call that was streamed by this script."""
    call_id = tool_id or use.id
    pieces = [step["delta"]["partial_json"] for step in use.steps(0)[1:-1] if isinstance(step, dict)]
    assert isinstance(use.input, dict)
    return [
        ToolStarted(id=call_id, name=use.name),
        *(ToolDelta(id=call_id, json=piece) for piece in pieces if piece),
        ToolCalled(id=call_id, name=use.name, input=use.input),
    ]


@pytest.mark.parametrize("piece_chars", [1, 5, 1000])
async def test_texts_and_tool_calls_come_in_the_order_of_the_model(
    provider: AnthropicProvider, model_server: ModelServer, piece_chars: int
) -> None:
    save = scripts.ScriptedToolUse(name="save_artifact", input=BRD, id="toolu_1", piece_chars=piece_chars)
    search = scripts.ScriptedToolUse(name="search", input={}, id="toolu_2")
    model_server.script(scripts.turn("One moment. ", save, search, "Then"))
    assert await events_of(provider) == [
        TextDelta(text="One "),
        TextDelta(text="moment. "),
        *call_events(save),
        *call_events(search),
        TextDelta(text="Then"),
        CALLED,
    ]


async def test_a_call_is_seen_while_it_is_written(provider: AnthropicProvider, model_server: ModelServer) -> None:
    gate = Gate()
    use = scripts.ScriptedToolUse(name="save_artifact", input=BRD, halfway=(gate,))
    model_server.script(scripts.turn(use))
    events = without_usage(provider.stream(payload()))
    seen = [await anext(events), await anext(events)]
    await asyncio.to_thread(gate.wait_until_reached)
    gate.open()
    assert [*seen, *[event async for event in events]] == [*call_events(use), CALLED]


async def test_an_id_that_was_used_before_is_made_another(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    use = scripts.ScriptedToolUse(name="search", input={"q": "x"}, id="t1")
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "Find x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]},
    ]
    tools = [{"name": "search", "input_schema": {"type": "object"}}]
    model_server.script(scripts.turn(use))
    events = [event async for event in without_usage(provider.stream(payload(messages=history, tools=tools)))]
    assert events == [*call_events(use, tool_id="call_msg_local_0"), CALLED]


CUT_OFF = ("cut_off", True, None, f"The connection to the model broke off. {SAVED}.")


@pytest.mark.parametrize(
    "steps",
    [
        [BrokenStream()],
        [],
        [scripts.message_delta("tool_use"), scripts.message_stop()],  # a block that never ended
    ],
)
async def test_a_call_that_is_cut_off_is_never_made_and_not_tried_again(
    provider: AnthropicProvider, model_server: ModelServer, steps: list[Any]
) -> None:
    use = scripts.ScriptedToolUse(name="search", input={"q": "cello"})
    model_server.script(scripts.stream(scripts.message_start(), *use.steps(0)[:3], *steps))
    assert await failure_of(provider) == (call_events(use)[:2], CUT_OFF)
    assert len(model_server.requests) == 1


async def test_an_empty_reply_is_a_reply(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(scripts.text(""))
    assert await events_of(provider) == [END]


async def test_odd_characters_are_passed_on(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(scripts.text("a\x00b", "\ud83d", "\u2028 end"))
    texts = [TextDelta(text="a\x00b"), TextDelta(text="\ud83d"), TextDelta(text="\u2028 end")]
    assert await events_of(provider) == [*texts, END]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"cache_miss_reason": {"type": "system_changed"}}, {"cache_miss_reason": {"type": "system_changed"}}),
        ({"note": "a\x00b \ud83d"}, {"note": "a\ufffdb \ufffd"}),
        ({"note": "x" * 5_000}, None),
        ({}, None),
        (None, None),
    ],
)
async def test_what_the_provider_says_about_its_cache_is_kept(
    provider: AnthropicProvider, model_server: ModelServer, said: dict[str, Any] | None, kept: dict[str, Any] | None
) -> None:
    steps = [scripts.message_start(diagnostics=said), scripts.block_start(), scripts.text_delta("Hi")]
    model_server.script(scripts.stream(*steps, *scripts.closing_steps()))
    assert (await events_of(provider))[-1] == replace(END, diagnostics=kept)


async def test_the_latest_usage_counts(provider: AnthropicProvider, model_server: ModelServer) -> None:
    final = scripts.message_delta() | {
        "usage": {"input_tokens": 40, "output_tokens": 9, "cache_read_input_tokens": None}
    }
    model_server.script(scripts.stream(scripts.message_start(), final, scripts.message_stop()))
    usage = Usage(input_tokens=40, output_tokens=9, cache_read_input_tokens=5, cache_creation_input_tokens=3)
    assert await events_of(provider) == [
        Finished(stop_reason="end_turn", usage=usage, request_id="req_local", message_id="msg_local", model="local")
    ]


REFUSALS = [
    (400, "invalid_request", "The model could not take this request. Change your message or begin a new conversation."),
    (
        401,
        "authentication",
        "The model did not accept the API key. Whoever runs this Openbook has to check ANTHROPIC_API_KEY.",
    ),
    (
        402,
        "permission",
        "The API key may not use this model. Whoever runs this Openbook has to check its permissions and billing.",
    ),
    (
        403,
        "permission",
        "The API key may not use this model. Whoever runs this Openbook has to check its permissions and billing.",
    ),
    (
        404,
        "model_not_found",
        "The model does not exist or is not open to this API key. Whoever runs this Openbook has to choose another.",
    ),
    (
        413,
        "request_too_large",
        "The conversation is too large for the model, also without its older turns. Shorten your message.",
    ),
]


@pytest.mark.parametrize(("status", "code", "sentence"), REFUSALS)
async def test_an_error_that_stays_is_told_at_once(
    provider: AnthropicProvider, model_server: ModelServer, status: int, code: str, sentence: str
) -> None:
    model_server.script(scripts.error(status, f"{KEY} is no good"))
    detail = "" if code == "authentication" else " It says: “… is no good”"
    assert await failure_of(provider) == ([], (code, False, status, sentence + detail))
    assert len(model_server.requests) == 1


PASSING = [
    (scripts.error(429), ("rate_limited", True, 429, f"The model's rate limit is reached. {SAVED} a little later.")),
    (scripts.error(500), ("server_error", True, 500, f"The model's service had an error. {SAVED} in a moment.")),
    (scripts.error(504), ("timeout", True, 504, f"The model took too long to answer. {SAVED}.")),
    (scripts.error(529), ("overloaded", True, 529, f"The model is overloaded. {SAVED} in a moment.")),
    (
        ScriptedRefusal(status=502, body=b"<html>Bad gateway</html>"),
        ("server_error", True, 502, f"The model's service had an error. {SAVED} in a moment."),
    ),
    (
        scripts.stream(scripts.error_body("overloaded_error", "Overloaded")),
        ("overloaded", True, None, f"The model is overloaded. {SAVED} in a moment."),
    ),
    (
        scripts.stream(),
        ("bad_stream", True, None, f"The model's service sent something unreadable. {SAVED}."),
    ),
    (
        scripts.stream(*scripts.opening_steps(), BrokenStream()),
        ("cut_off", True, None, f"The connection to the model broke off. {SAVED}."),
    ),
]


@pytest.mark.parametrize(("script", "failure"), PASSING)
async def test_an_error_that_passes_is_tried_three_times_before_the_first_token(
    provider: AnthropicProvider,
    model_server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    script: ScriptedRefusal | ScriptedStream,
    failure: tuple[str, bool, int | None, str],
) -> None:
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    model_server.script(script, script, script)
    assert await failure_of(provider) == ([], failure)
    assert model_server.bodies == [payload()] * 3


async def test_a_later_attempt_answers(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(scripts.error(529), scripts.text("There"))
    assert await events_of(provider) == [TextDelta(text="There"), END]


@pytest.mark.long
async def test_a_short_retry_after_is_obeyed(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(scripts.error(429, headers={"retry-after": "2"}), scripts.text("There"))
    started = time.monotonic()
    assert await events_of(provider) == [TextDelta(text="There"), END]
    assert time.monotonic() - started >= 2


@pytest.mark.parametrize("retry_after", ["11", "120"])
async def test_a_long_retry_after_ends_the_call(
    provider: AnthropicProvider, model_server: ModelServer, retry_after: str
) -> None:
    model_server.script(scripts.error(429, headers={"retry-after": retry_after}))
    failure = ("rate_limited", True, 429, f"The model's rate limit is reached. {SAVED} a little later.")
    assert await failure_of(provider) == ([], failure)
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("retry_after", ["soon", "-1", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT"])
async def test_a_strange_retry_after_is_ignored(
    provider: AnthropicProvider, model_server: ModelServer, retry_after: str
) -> None:
    model_server.script(scripts.error(429, headers={"retry-after": retry_after}), scripts.text("There"))
    assert await events_of(provider) == [TextDelta(text="There"), END]


async def test_an_attempt_that_could_not_begin_in_time_is_not_waited_for(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    model_server.script(scripts.error(429, headers={"retry-after": "9"}))
    failure = ("rate_limited", True, 429, f"The model's rate limit is reached. {SAVED} a little later.")
    with override_settings(OPENBOOK_FIRST_TOKEN_SECONDS=5.0):
        assert await failure_of(provider) == ([], failure)


MID_STREAM = [
    (
        [scripts.error_body("overloaded_error", "Overloaded")],
        ("overloaded", True, None, f"The model is overloaded. {SAVED} in a moment."),
    ),
    (
        [scripts.error_body("api_error", "Internal server error")],
        ("server_error", True, None, f"The model's service had an error. {SAVED} in a moment."),
    ),
    (
        [scripts.error_body("error_of_the_future", "?")],
        ("server_error", True, None, f"The model's service had an error. {SAVED} in a moment."),
    ),
    ([{"type": "error"}], ("server_error", True, None, f"The model's service had an error. {SAVED} in a moment.")),
    (
        [scripts.error_body("invalid_request_error", f"{KEY}: no")],
        (
            "invalid_request",
            False,
            None,
            "The model could not take this request. Change your message or begin a new conversation. It says: “…: no”",
        ),
    ),
    ([BrokenStream()], ("cut_off", True, None, f"The connection to the model broke off. {SAVED}.")),
    ([], ("cut_off", True, None, f"The connection to the model broke off. {SAVED}.")),
    (
        [scripts.block_stop(), scripts.message_delta(None)],
        ("cut_off", True, None, f"The connection to the model broke off. {SAVED}."),
    ),
    *[
        ([Raw(garbage)], ("bad_stream", True, None, f"The model's service sent something unreadable. {SAVED}."))
        for garbage in (
            b"event: content_block_delta\ndata: {half\n\n",
            b"event: content_block_delta\ndata: \xff\xfe\n\n",
            b"event: content_block_delta\ndata: [1, 2]\n\n",
            b"event: content_block_delta\ndata: null\n\n",
        )
    ],
]


@pytest.mark.parametrize(("steps", "failure"), MID_STREAM)
async def test_a_failure_in_mid_reply_keeps_the_text_and_is_not_tried_again(
    provider: AnthropicProvider, model_server: ModelServer, steps: list[Any], failure: tuple[Any, ...]
) -> None:
    model_server.script(scripts.stream(*scripts.opening_steps(), scripts.text_delta("So far"), *steps))
    assert await failure_of(provider) == ([TextDelta(text="So far")], failure)
    assert len(model_server.requests) == 1


TIMEOUT = ("timeout", True, None, f"The model took too long to answer. {SAVED}.")


@pytest.mark.parametrize("before", [[], [scripts.message_start()], scripts.opening_steps()])
async def test_a_model_that_gives_no_sign_of_life_ends_the_call(
    provider: AnthropicProvider, model_server: ModelServer, before: list[Any]
) -> None:
    await events_of(provider)  # the first call sets the client up, which takes longer than the deadline
    model_server.script(scripts.stream(*before, Stall()))
    with override_settings(OPENBOOK_FIRST_TOKEN_SECONDS=0.3):
        assert await failure_of(provider) == ([], TIMEOUT)
    for request in model_server.requests[1:]:  # none, where this machine took the time before the model could
        await asyncio.to_thread(request.wait_until_ended)
        assert request.hung_up


@pytest.mark.long
async def test_pings_are_a_sign_of_life_until_all_the_time_is_up(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    await events_of(provider)  # sets the client up
    model_server.script(scripts.stream(*scripts.opening_steps(), Stall(0.02)))
    began = time.monotonic()
    with override_settings(OPENBOOK_FIRST_TOKEN_SECONDS=0.7):
        assert await failure_of(provider, seconds=2) == ([], TIMEOUT)
    assert time.monotonic() - began >= 2


async def test_pings_are_not_progress_of_what_is_written(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    model_server.script(scripts.stream(*scripts.opening_steps(), scripts.text_delta("So far"), Stall(0.02)))
    with override_settings(OPENBOOK_STALL_SECONDS=0.3):
        failure = ("stalled", True, None, "The model stopped in mid-reply. The text so far is kept; try again.")
        assert await failure_of(provider) == ([TextDelta(text="So far")], failure)


TOOL = {"name": "save", "input_schema": {"type": "object"}}


@pytest.mark.long
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_call_may_be_written_in_silence(
    provider: AnthropicProvider, model_server: ModelServer, is_open: bool
) -> None:
    """Where the call has begun, and where a server that is no more than compatible has been given tools."""
    await events_of(provider)  # sets the client up
    silence = (scripts.Delay(0.5), scripts.ping(), scripts.Delay(0.5))
    use = scripts.ScriptedToolUse(name="save", input={"q": "x" * 40}, id="t1", halfway=silence if is_open else ())
    steps = [*scripts.opening_steps(), scripts.text_delta("One moment."), scripts.block_stop()]
    calling = [*(() if is_open else silence), *use.steps(1)]
    model_server.script(scripts.stream(*steps, *calling, scripts.message_delta("tool_use"), scripts.message_stop()))
    with override_settings(OPENBOOK_STALL_SECONDS=0.4):
        offered = payload() if is_open else payload(tools=[TOOL])
        events = [event async for event in without_usage(provider.stream(offered))]
    assert events[-2:] == [ToolCalled(id="t1", name="save", input={"q": "x" * 40}), CALLED]


async def test_an_answer_is_over_where_a_server_keeps_the_stream_open_after_its_reason(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    steps = [*scripts.opening_steps(), scripts.text_delta("Whole"), *scripts.closing_steps()[:-1]]
    model_server.script(scripts.stream(*steps, Stall(0.02)))
    assert await events_of(provider) == [TextDelta(text="Whole"), END]


@pytest.mark.long
async def test_a_model_may_think_in_silence(provider: AnthropicProvider, model_server: ModelServer) -> None:
    await events_of(provider)  # sets the client up
    thoughts = [scripts.Thought(halfway=(scripts.Delay(1.5),)), scripts.Thought(halfway=(scripts.Delay(1.5),))]
    model_server.script(scripts.turn(thoughts[0], "One.", thoughts[1], "Two."))
    with override_settings(OPENBOOK_FIRST_TOKEN_SECONDS=1.0, OPENBOOK_STALL_SECONDS=1.0):
        events = await events_of(provider)
    thinking = [ThinkingStarted(), ThinkingDone(block=thoughts[0].block)]
    assert events == [*thinking, TextDelta(text="One."), *thinking, TextDelta(text="Two."), END]


@pytest.mark.long
async def test_a_model_that_thinks_without_end_is_ended(provider: AnthropicProvider, model_server: ModelServer) -> None:
    await events_of(provider)  # sets the client up
    endless = scripts.Thought(halfway=(Stall(0.02),))
    model_server.script(scripts.turn(endless, "Never"))
    assert await failure_of(provider, seconds=1) == ([ThinkingStarted()], TIMEOUT)
    assert len(model_server.requests) == 2  # what has been thought is paid for: not once more


async def test_a_reply_without_end_is_ended(provider: AnthropicProvider, model_server: ModelServer) -> None:
    await events_of(provider)  # sets the client up
    model_server.script(scripts.text(*["more "] * 200, delay=0.02))
    events, failure = await failure_of(provider, seconds=0.5)
    assert failure == TIMEOUT
    assert set(events) <= {TextDelta(text="more ")}  # none, where this machine took the time


@pytest.mark.long
async def test_a_slow_reader_is_not_the_models_stall(provider: AnthropicProvider, model_server: ModelServer) -> None:
    model_server.script(
        scripts.stream(
            *scripts.opening_steps(), scripts.text_delta("one "), scripts.Delay(1.2), *scripts.closing_steps()
        )
    )
    with override_settings(OPENBOOK_STALL_SECONDS=0.8):
        events = without_usage(provider.stream(payload()))
        first = await anext(events)
        await asyncio.sleep(1)  # longer than the model may pause
        assert [first, *[event async for event in events]] == [TextDelta(text="one "), END]


async def test_a_service_that_is_down_is_unreachable(
    provider: AnthropicProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    unreachable = ("unreachable", True, None, f"The model's service cannot be reached. {SAVED} in a moment.")
    words = f"The model's service cannot be found by its name. {SAVED} in a moment."
    broken = ("name_not_found", True, None, words)
    for url, failure in (
        (f"http://127.0.0.1:{port}", unreachable),
        ("no-scheme", unreachable),
        ("http://[broken", broken),
    ):
        with override_settings(ANTHROPIC_BASE_URL=url):
            assert await failure_of(provider) == ([], failure)


@pytest.mark.parametrize("key", ["", "ключ", "two words", "line\nbreak"])
async def test_a_key_that_cannot_be_one_is_refused_before_any_call(
    provider: AnthropicProvider, model_server: ModelServer, key: str
) -> None:
    sentence = "The model did not accept the API key. Whoever runs this Openbook has to check ANTHROPIC_API_KEY."
    with override_settings(ANTHROPIC_API_KEY=key):
        assert await failure_of(provider) == ([], ("authentication", False, None, sentence))
    assert model_server.requests == []


async def test_a_request_that_cannot_be_encoded_is_refused(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    broken = payload(messages=[{"role": "user", "content": "\ud83d"}])
    with pytest.raises(ProviderError) as raised:
        await anext(without_usage(provider.stream(broken)))
    assert (raised.value.code, raised.value.retryable) == ("invalid_request", False)
    assert model_server.requests == []


async def test_closing_the_stream_hangs_up_at_once(provider: AnthropicProvider, model_server: ModelServer) -> None:
    gate = Gate()
    model_server.script(scripts.text("So far", gate))
    events = without_usage(provider.stream(payload()))
    assert await anext(events) == TextDelta(text="So far")
    await events.aclose()
    await asyncio.to_thread(model_server.requests[0].wait_until_ended)
    assert model_server.requests[0].hung_up


@pytest.mark.parametrize(
    "before", [[], [scripts.message_start()], [*scripts.opening_steps(), scripts.text_delta("So far")]]
)
async def test_cancelling_the_reader_hangs_up_at_once(
    provider: AnthropicProvider, model_server: ModelServer, before: list[Any]
) -> None:
    gate = Gate()
    model_server.script(scripts.stream(*before, gate))
    task = asyncio.create_task(events_of(provider))
    await asyncio.to_thread(gate.wait_until_reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(model_server.requests[0].wait_until_ended)
    assert [request.hung_up for request in model_server.requests] == [True]


async def test_cancelling_the_wait_for_a_retry_ends_the_call(
    provider: AnthropicProvider, model_server: ModelServer
) -> None:
    model_server.script(scripts.error(429, headers={"retry-after": "10"}))
    task = asyncio.create_task(events_of(provider))
    await asyncio.to_thread(model_server.wait_for_requests, 1)
    await asyncio.to_thread(model_server.requests[0].wait_until_ended)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model_server.requests) == 1


async def test_the_connection_is_used_again(provider: AnthropicProvider, model_server: ModelServer) -> None:
    for _ in range(3):
        await events_of(provider)
    assert [request.connection for request in model_server.requests] == [1, 1, 1]


def test_one_provider_serves_several_event_loops(model_server: ModelServer) -> None:
    provider = get_provider("anthropic")
    assert isinstance(provider, AnthropicProvider)
    model_server.script(scripts.text("one"), scripts.text("two"))
    assert asyncio.run(events_of(provider)) == [TextDelta(text="one"), END]
    assert asyncio.run(events_of(provider)) == [TextDelta(text="two"), END]
    assert [request.connection for request in model_server.requests] == [1, 2]


async def test_many_replies_run_side_by_side(provider: AnthropicProvider, model_server: ModelServer) -> None:
    gate = Gate()
    model_server.script(*[scripts.text(f"{n} ", gate, "end") for n in range(20)])
    replies = [asyncio.create_task(events_of(provider)) for _ in range(20)]
    await asyncio.to_thread(model_server.wait_for_requests, 20)
    gate.open()
    ended = await asyncio.gather(*replies)
    assert sorted(ended, key=repr) == sorted(
        ([TextDelta(text=f"{n} "), TextDelta(text="end"), END] for n in range(20)), key=repr
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
async def test_the_key_is_never_shown(
    provider: AnthropicProvider, model_server: ModelServer, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    model_server.script(scripts.error(status, f"the key {KEY} was refused"))
    with caplog.at_level(logging.DEBUG), pytest.raises(ProviderError) as raised:
        await anext(without_usage(provider.stream(payload())))
    logging.getLogger("openbook.tests").error("failed", exc_info=raised.value)
    assert KEY not in caplog.text
    assert KEY not in str(raised.value)
    assert [record.__dict__["code"] for record in caplog.records if record.message == "model_request_failed"] == [
        raised.value.code
    ]


INPUT = Usage(input_tokens=12, output_tokens=1, cache_read_input_tokens=5, cache_creation_input_tokens=3)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (scripts.text("Hello"), [INPUT, USAGE]),
        (scripts.stream(*scripts.opening_steps(), scripts.text_delta("Half"), scripts.BrokenStream()), [INPUT]),
        pytest.param(
            scripts.stream(scripts.message_start(), Raw(b"data: {broken\n\n")), [INPUT] * 3, marks=pytest.mark.long
        ),
        (scripts.error(401), []),
    ],
)
async def test_what_a_call_uses_is_told_as_soon_as_it_is_known(
    provider: AnthropicProvider, model_server: ModelServer, script: scripts.Script, told: list[Usage]
) -> None:
    """Then it is known also where the call fails; a call that is tried again is told of anew."""
    model_server.script(lambda body: script)
    usages: list[Usage] = []
    with suppress(ProviderError):
        async for event in provider.stream(payload()):
            if isinstance(event, UsageSoFar):
                assert (event.message_id, event.request_id) == ("msg_local", "req_local")
                usages.append(event.usage)
    assert usages == told
