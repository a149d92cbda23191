"""Streams of servers that don't keep to their protocols, cut anywhere: nothing that was read is thrown away, or said twice."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from conversations.providers import event_stream
from conversations.providers.anthropic import AnthropicProvider
from conversations.providers.base import Provider, ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.chat_calls import PiecedCalls
from conversations.providers.chat_stream import ChatAccumulator, usage_of
from conversations.providers.claude_cli_output import Output
from conversations.providers.errors import StreamError
from conversations.providers.event_stream import EVENTS_AT_ONCE, LIFE, LONGEST, EventReader, StreamEvent, events_in
from conversations.providers.inline_thoughts import THOUGHT_TAGS, InlineThoughts
from conversations.providers.message_stream import Heard, MessageAccumulator, Progress
from conversations.providers.messages_api import RequestParts
from conversations.providers.openai import OpenAIProvider
from conversations.providers.stream_reading import Reading
from conversations.providers.tool_calls import MOST_CALLS, ToolCalls
from tests.bytes_server import BytesServer
from tests.conversations.providers.odd_streams import CHAT, CLI, MESSAGES, OddStream, Told, told_by

QUESTION = [{"role": "user", "content": "Hello?"}]
STREAMS = [("chat", name) for name in CHAT] + [("messages", name) for name in MESSAGES]
PAGES = "web_page"


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    ends = [0, *sorted({place % (len(body) + 1) for place in places}), len(body)]
    return [body[start:end] for start, end in pairwise(ends) if start < end]


@pytest.fixture
def chat_provider(bytes_server: BytesServer, settings: Settings) -> Provider:
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-local", f"{bytes_server.url}/v1"
    return OpenAIProvider()


@pytest.fixture
def messages_provider(bytes_server: BytesServer, settings: Settings) -> Provider:
    settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL = "sk-local", bytes_server.url
    return AnthropicProvider()


async def told_over_http(provider: Provider, server: BytesServer, stream: OddStream, pieces: Sequence[bytes]) -> Told:
    server.play(pieces, stream.content_type)
    payload = provider.render(RequestParts(model="m", max_tokens=64, system=[], messages=QUESTION))
    events: list[ProviderEvent] = []
    try:
        async for event in provider.stream(payload):
            if not isinstance(event, UsageSoFar):
                events.append(event)
    except ProviderError as error:
        return told_by(events, error.code)
    return told_by(events)


async def differences(provider: Provider, server: BytesServer, streams: dict[str, OddStream]) -> Iterator[object]:
    """By stream, of those that are not understood, cut or whole: what is made of it, and what should be."""
    at = random.Random(7)
    found = []
    for name, stream in streams.items():
        for pieces in ([stream.body], cut(stream.body, (at.randrange(len(stream.body)) for _ in range(6)))):
            told = await told_over_http(provider, server, stream, pieces)
            if told != stream.told:
                found.append((name, told, stream.told))
    await provider.aclose()  # type: ignore[attr-defined]
    return iter(found)


@pytest.mark.usefixtures("settings")
async def test_odd_streams_of_chat_completions(
    chat_provider: Provider, bytes_server: BytesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", ())
    assert list(await differences(chat_provider, bytes_server, CHAT)) == []


async def test_odd_streams_of_the_messages_api(
    messages_provider: Provider, bytes_server: BytesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", ())
    assert list(await differences(messages_provider, bytes_server, MESSAGES)) == []


def reading_of(protocol: str) -> Reading:
    if protocol == "messages":
        return MessageAccumulator(inline=InlineThoughts(THOUGHT_TAGS))
    return ChatAccumulator(calls=PiecedCalls(ToolCalls()), inline=InlineThoughts(THOUGHT_TAGS))


def told_of(reading: Reading, pieces: Sequence[bytes]) -> Told:
    """As ``read_stream`` does, without waiting for anything."""
    reader, events = EventReader(), list[Heard]()
    try:
        try:
            for piece in pieces:
                for event in reader.feed(piece):
                    if not reading.is_over:
                        events += reading.take(event)
            for event in reader.end():
                if not reading.is_over:
                    events += reading.take(event)
        except (ValueError, StreamError):
            if not reading.may_be_over:
                raise
        events += reading.end("")
    except StreamError as error:
        return told_by(shown(events), error.code)
    return told_by(shown(events))


def shown(events: Iterable[Heard]) -> list[ProviderEvent]:
    return [event for event in events if not isinstance(event, Progress | UsageSoFar)]


@given(stream=st.sampled_from(STREAMS), places=st.lists(st.integers(min_value=0, max_value=4_000), max_size=40))
def test_how_the_bytes_are_cut_makes_no_difference(stream: tuple[str, str], places: list[int]) -> None:
    protocol, name = stream
    odd = (CHAT if protocol == "chat" else MESSAGES)[name]
    if odd.content_type == "text/plain":
        return  # known by its header alone
    assert told_of(reading_of(protocol), cut(odd.body, places)) == odd.told


@pytest.mark.parametrize("name", CLI)
def test_odd_lines_of_the_claude_cli(name: str) -> None:
    output, events = Output(), list[Heard]()
    for line in CLI[name].body.splitlines():
        events += output.take(line)
    try:
        events += output.end()
    except StreamError as error:
        assert told_by(shown(events), error.code) == CLI[name].told
        return
    assert told_by(shown(events)) == CLI[name].told


@pytest.mark.long
@pytest.mark.parametrize(
    ("begin", "piece", "refused"),
    [
        (b"", b"\n" * 65_536, False),
        (b"", b" " * 65_536, False),
        (b"", b"x" * 65_536, True),
        (b'{"a": "', b"x" * 65_536, True),
        (b"data: ", b"x" * 65_536, True),
        (b"data: x\n", b"data: x\n" * 8_192, True),
        (b"", b": ping\n" * 8_192, False),
    ],
)
def test_what_never_ends_is_refused_or_dropped_and_costs_what_it_is(begin: bytes, piece: bytes, refused: bool) -> None:
    """Each byte is looked at a few times at most, and no more is kept than the longest event has."""
    reader, most = EventReader(), 0
    pieces = 4 * LONGEST // len(piece)
    try:
        for number, part in enumerate([begin, *[piece] * pieces]):
            most = max(most, number * len(piece))
            assert all(event == LIFE for event in reader.feed(part))
    except ValueError:
        assert refused and most <= 2 * LONGEST
    else:
        assert not refused and len(b"".join(reader.__dict__["_parts"])) < 2 * len(piece)


@pytest.mark.parametrize(
    "value", ["[" + "{}," * 100_000 + "{}]", "[" * 100_000 + "]" * 100_000, "[" + "9" * 100_000 + "]"]
)
def test_an_event_of_very_many_values_is_refused_before_they_are_made(value: str) -> None:
    with pytest.raises(ValueError):
        StreamEvent(f'{{"choices": [], "x": {value}}}').parse()


@pytest.mark.parametrize("figure", [-1, 100_000_001, 2**63, 10**30, True, "7", 1.5, None, [], {}])
def test_figures_that_no_request_can_have_count_as_not_told(figure: object) -> None:
    names = ["input_tokens", "output_tokens", "cache_read_input_tokens", "prompt_tokens", "completion_tokens"]
    usage = dict.fromkeys(names, figure)
    accumulator = MessageAccumulator()
    accumulator.note_usage(usage | {"cache_creation": {"ephemeral_1h_input_tokens": figure}})
    assert not accumulator.so_far().usage.is_told
    assert not usage_of(usage).is_told


async def test_others_have_their_turn_while_a_service_floods(bytes_server: BytesServer) -> None:
    bytes_server.play([b"data: {}\n\n" * 20_000])
    events, before, longest = 0, 0, 0

    async def others() -> None:
        nonlocal before, longest
        while True:
            longest, before = max(longest, events - before), events
            await asyncio.sleep(0)

    watching = asyncio.ensure_future(others())
    async with httpx2.AsyncClient() as client, client.stream("POST", f"{bytes_server.url}/v1/messages") as response:
        async for _ in events_in(response):
            events += 1
    watching.cancel()
    assert events == 20_000 and longest <= EVENTS_AT_ONCE


async def test_an_answer_without_end_is_ended(bytes_server: BytesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MOST_EVENTS", 1_000)
    bytes_server.play([b"data: {}\n\n" * 20_000])
    async with httpx2.AsyncClient() as client, client.stream("POST", f"{bytes_server.url}/v1/messages") as response:
        with pytest.raises(ValueError, match="without end"):
            assert not [event async for event in events_in(response) if event.data != "{}"]


def test_an_answer_makes_no_thousands_of_calls() -> None:
    calls = ToolCalls()
    with pytest.raises(StreamError):
        for index in range(1_000):
            calls.start(index, {"id": f"c{index}", "name": "x"}, "m")
    assert len(calls.open) == MOST_CALLS


def test_blanks_before_an_object_do_not_end_its_first_line() -> None:
    reader = EventReader()
    pieces = [b'\n\n{"a": ', b'1}\n{"a"', b": 2}\n"]
    events = [event.data for piece in pieces for event in reader.feed(piece)]
    assert events == ['{"a": 1}', '{"a": 2}']


def test_a_field_is_named_again_as_often_as_proxies_do() -> None:
    line = "data: " + "data:data: " * 100_000 + "{}"
    assert [event.data for event in EventReader().feed(f"{line}\n\n".encode())] == ["{}"]
