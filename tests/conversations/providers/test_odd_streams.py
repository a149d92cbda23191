"""Streams of servers that don't keep to their protocols, cut anywhere: nothing that was read is thrown away, or said twice."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from conversations.providers.anthropic import AnthropicProvider
from conversations.providers.base import Provider, ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.chat_calls import PiecedCalls
from conversations.providers.chat_stream import THOUGHT_TAGS, ChatAccumulator
from conversations.providers.claude_cli_output import Output
from conversations.providers.errors import StreamError
from conversations.providers.event_stream import EventReader
from conversations.providers.inline_thoughts import InlineThoughts
from conversations.providers.message_stream import Heard, MessageAccumulator, Progress, ToolCalls
from conversations.providers.openai import OpenAIProvider
from conversations.providers.stream_reading import Reading
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
    payload = provider.render(model="m", max_tokens=64, system=[], messages=QUESTION)
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
        return MessageAccumulator()
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
