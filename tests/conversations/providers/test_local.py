"""The model on this machine: the real engine with the real weights."""

import asyncio
import json
import os
import random
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from pytest_django import Settings

from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.context.rules.fitting import GO_ON_WORDS
from conversations.context.tokens import calibration as token_calibration
from conversations.context.tokens.estimate import TURN_OVERHEAD
from conversations.models import Assistant, ContextSnapshot, Message, Model, Reply, TokenCount
from conversations.providers import get_provider, model_catalog, model_of
from conversations.providers.base import Payload, ProviderError
from conversations.providers.local_model import SMALL_MODEL, served_model
from conversations.providers.messages_api import RequestParts
from conversations.replies import exact_counts
from conversations.replies.events import Event
from conversations.replies.journal import journal
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database, read_only
from conversations.runtime.local_engine import EngineAddress
from tests.conversations.context.corpus import corpus
from tests.conversations.rest.client import Api
from tests.local_model import engine_in, ready
from tests.memory.factories import make_memory
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

ENGINE_TOKENS = 8_192
FEW, MANY = 6, 512
"""Tokens of an answer, of which the first take a moment and the others many seconds."""
LONG_STORY = "Tell me a very long story about a river, with all its details."


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


async def answers_take(tokens: int) -> None:
    await Assistant.objects.aupdate(max_output_tokens=tokens)


async def events_of(opened: OpenedReply) -> list[Event]:
    return [event async for event in replies.follow(opened.reply.id)]


async def ended(opened: OpenedReply) -> Reply:
    await events_of(opened)
    return await Reply.objects.aget(id=opened.reply.id)


async def first_words(opened: OpenedReply) -> None:
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta":
            return


async def request_of(opened: OpenedReply) -> ContextSnapshot:
    return await ContextSnapshot.objects.aget(reply=opened.reply)


async def sent_in(request: ContextSnapshot) -> Payload:
    return await in_database(snapshots.rebuild)(request)


def is_remade(request: ContextSnapshot) -> bool:
    record = record_of(request)
    with read_only():
        return replay.remake(record, record.settings).is_exact


def texts_in(message: dict[str, Any]) -> list[str]:
    return [block["text"] for block in message["content"]]


def ask_engine(address: EngineAddress, path: str, body: Any = None, key: str = "") -> Any:
    headers = {"Content-Type": "application/json", "X-Api-Key": key or address.key}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address.url}{path}", data, headers)  # noqa: S310
    with urllib.request.urlopen(request) as response:  # noqa: S310
        return json.load(response)


async def test_a_reply_comes_piece_by_piece_and_is_recorded_as_it_was_sent(
    user: User, local_model: EngineAddress
) -> None:
    await answers_take(FEW)
    opened = await replies.start(user=user, thread_id=None, content="What is the capital of Austria?")
    deltas = [event.data["text"] for event in await events_of(opened) if event.type == "reply.delta"]
    turn, request = await Message.objects.aget(reply=opened.reply), await request_of(opened)
    assert (turn.text, turn.text != "") == ("".join(deltas), True)
    row = await Model.objects.aget(provider="local")
    assert (request.provider, request.model, row.name) == ("local", SMALL_MODEL, SMALL_MODEL)
    sent = await sent_in(request)
    assert sent == {
        "model": SMALL_MODEL,
        "max_tokens": FEW,
        "system": [{"type": "text", "text": row.system_prompt}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "What is the capital of Austria?"}]}],
        "stream": True,
    }
    usage = request.usage
    counted = ask_engine(local_model, "/v1/messages/count_tokens", sent)["input_tokens"]
    assert token_calibration.reported_input(usage) == counted
    assert 0 < usage["output_tokens"] <= FEW
    assert await in_database(snapshots.proof)(request)
    assert await in_database(is_remade)(request)
    await Model.objects.filter(provider="local").aupdate(system_prompt="Another one.")
    assert await in_database(is_remade)(request), "what was sent is recorded, whatever has become of the model's prompt"


async def test_a_stopped_reply_keeps_its_words_and_frees_the_engine(user: User, local_model: EngineAddress) -> None:
    await answers_take(MANY)
    opened = await replies.start(user=user, thread_id=None, content=LONG_STORY)
    await first_words(opened)
    await replies.stop(user=user, reply_id=opened.reply.id)
    reply = await ended(opened)
    turn = await Message.objects.aget(reply=reply)
    assert (reply.status, turn.status, turn.text != "") == ("stopped", "stopped", True)
    await asyncio.to_thread(until, lambda: not any(slot["is_processing"] for slot in ask_engine(local_model, "/slots")))


@pytest.mark.wide
async def test_an_answer_that_was_cut_short_goes_on(user: User, local_model: EngineAddress) -> None:
    await answers_take(FEW)
    first = await replies.start(user=user, thread_id=None, content=LONG_STORY)
    assert (await ended(first)).stop_reason == "max_tokens"
    begun = (await Message.objects.aget(reply=first.reply)).text
    further = await replies.go_on(user=user, reply_id=first.reply.id)
    await ended(further)
    whole = (await Message.objects.aget(reply=further.reply)).text
    assert (whole.startswith(begun), len(whole) > len(begun)) == (True, True)
    messages = (await sent_in(await request_of(further)))["messages"]
    assert [texts_in(message) for message in messages] == [[LONG_STORY], [begun], [GO_ON_WORDS]]


@pytest.mark.wide
async def test_a_fact_told_in_passing_is_in_the_request_two_turns_later(user: User, local_model: EngineAddress) -> None:
    await answers_take(FEW)
    asked = ["By the way, we're building a FastAPI app.", "How is rye bread made?", "Which framework is our app in?"]
    thread = None
    for text in asked:
        opened = await replies.start(user=user, thread_id=thread, content=text)
        assert (await ended(opened)).status == "completed"
        thread = opened.thread.id
    request = await request_of(opened)
    messages = (await sent_in(request))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [texts_in(message)[0] for message in messages[::2]] == asked
    assert request.usage["cache_read_input_tokens"] > request.usage["input_tokens"], "the engine has read most before"


@pytest.mark.wide
async def test_the_small_model_is_given_the_conversation_alone(user: User, local_model: EngineAddress) -> None:
    """Another model would be given the note, what was said in the other thread, and what the question refers to."""
    await answers_take(FEW)
    await in_database(make_memory)(user, "Has a dog named Bello.")
    for text in ("Who was Ada Lovelace?", "Tell me of my dog and of Ada Lovelace.", "who was her father?"):
        opened = await replies.start(user=user, thread_id=None, content=text)
        await ended(opened)
    opened = await replies.start(user=user, thread_id=opened.thread.id, content="and her mother?")
    await ended(opened)
    request = await request_of(opened)
    messages = (await sent_in(request))["messages"]
    assert [texts_in(message)[1:] for message in messages] == [[], [], []]
    assert [section.name for section in snapshots.sections_of(request)] == ["base"]
    assert await in_database(is_remade)(request)
    await Model.objects.filter(provider="local").aupdate(uses_memory=True)
    model_catalog.reread()
    opened = await replies.start(user=user, thread_id=opened.thread.id, content="and my dog?")
    await ended(opened)
    assert "Bello" in json.dumps(await sent_in(await request_of(opened)))
    assert await in_database(is_remade)(request), "what was sent is recorded, whatever the model is given now"


@pytest.mark.wide
async def test_two_replies_are_written_at_once(user: User, other_user: User, local_model: EngineAddress) -> None:
    await answers_take(MANY)
    both = [await replies.start(user=who, thread_id=None, content=LONG_STORY) for who in (user, other_user)]
    await asyncio.gather(*map(first_words, both))
    assert await Reply.objects.filter(status=Reply.Status.RUNNING).acount() == 2
    for who, opened in zip((user, other_user), both, strict=True):
        await replies.stop(user=who, reply_id=opened.reply.id)
        assert (await ended(opened)).status == "stopped"


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["Korean", "numbers", "Chinese", "English chat"])
@pytest.mark.parametrize("assistant", ["companion", "analyst"])
async def test_what_is_sent_fits_in_every_language(
    api: Api, local_model: EngineAddress, assistant: str, kind: str
) -> None:
    """The estimate falls short by a half where the model's tokenizer hardly knows a script."""
    text = "\n".join(corpus(0)[kind])
    long = (text * (60_000 // len(text) + 1))[:60_000]
    thread = (await api.post("threads/", {"assistant": assistant})).body["id"]
    built = (await api.post(f"threads/{thread}/context/", {"content": long})).body
    tokens = ask_engine(local_model, "/v1/messages/count_tokens", built["request"])["input_tokens"]
    assert 3_000 < tokens <= ENGINE_TOKENS - built["request"]["max_tokens"]


FAR_OFF = {
    "Korean": "안녕하세요 오늘 날씨가 좋네요 " * 8,
    "a ruled line": "-" * 1_200,
    "digits": "".join(random.Random(1).choices("0123456789", k=240)),
}
"""Twice the estimate, an eighth of it, and more than twice. The engine reads each of them in a second or two."""


@pytest.mark.wide
@pytest.mark.parametrize("kind", FAR_OFF)
async def test_a_long_turn_is_counted_exactly_and_the_window_holds_what_fits(
    user: User, api: Api, local_model: EngineAddress, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count of the engine's own tokenizer, and thereby a context whose figures are the engine's."""
    monkeypatch.setattr(exact_counts, "LONG", 40)
    await answers_take(FEW)
    text = FAR_OFF[kind]
    opened = await replies.start(user=user, thread_id=None, content=text)
    await ended(opened)
    await asyncio.gather(*journal().tasks)
    await journal().learning.done()
    count = await TokenCount.objects.aget(thread=opened.thread)
    exact = len(ask_engine(local_model, "/tokenize", {"content": text})["tokens"]) + TURN_OVERHEAD
    turn = await Message.objects.aget(thread=opened.thread, position=1)
    factor = (await request_of(opened)).token_factor
    assert (count.position, count.provider, count.model, count.tokens) == (1, "local", SMALL_MODEL, exact)
    off = exact / (turn.token_count * factor)
    assert off < 0.8 or off > 1.15, f"the estimate is {off:.2f} of the count"
    built = (await api.post(f"threads/{opened.thread.id}/context/", {"content": "And now?"})).body
    [item] = [item for item in built["items"] if item.get("position") == 1]
    assert (item["tokens"], item.get("exact"), item["reason"]) == (exact, True, "recent")
    real = ask_engine(local_model, "/v1/messages/count_tokens", built["request"])["input_tokens"]
    assert abs(real - built["total_tokens"]) <= 40, "the whole request is as long as its record says"


async def test_what_is_too_large_for_the_engine_is_refused_at_once_and_told(local_model: EngineAddress) -> None:
    provider = get_provider("local")
    messages = [{"role": "user", "content": [{"type": "text", "text": "a b " * ENGINE_TOKENS}]}]
    payload = provider.render(RequestParts(model=SMALL_MODEL, max_tokens=FEW, system=[], messages=messages))
    with pytest.raises(ProviderError) as caught:
        _ = [event async for event in provider.stream(payload, seconds=10)]
    assert (caught.value.code, caught.value.retryable, caught.value.status) == ("request_too_large", False, 400)


@pytest.mark.operate
async def test_a_killed_engine_fails_the_reply_clearly_and_comes_back(
    user: User, _sdk: None, tmp_path: Path, settings: Settings
) -> None:
    settings.LOCAL_DIR, settings.OPENBOOK_PROVIDER = tmp_path, "local"
    with engine_in(tmp_path) as child:
        before = ready(tmp_path)
        await answers_take(MANY)
        opened = await replies.start(user=user, thread_id=None, content=LONG_STORY)
        await first_words(opened)
        assert child.pid
        os.kill(child.pid, signal.SIGKILL)
        reply = await ended(opened)
        assert (reply.status, reply.error) == (
            "failed",
            {
                "type": "model",
                "code": "cut_off",
                "message": "The connection to the model broke off. Your message is saved; try again.",
                "details": {"retryable": True},
                "request_id": "",
            },
        )
        await answers_take(FEW)
        again = await replies.retry(user=user, reply_id=reply.id)  # waits until the engine is back
        assert (await ended(again)).status == "completed"
        after = ready(tmp_path)
        assert (after.key != before.key, after.url != "") == (True, True)
    answer = await Api().get("/health/")
    assert (answer.status, answer.body["checks"]["provider"]) == (
        503,
        "The model on this machine is starting. Your message is saved; try again in a moment.",
    )


async def test_health_says_that_there_is_no_model(settings: Settings, tmp_path: Path) -> None:
    settings.OPENBOOK_PROVIDER, settings.OPENBOOK_LOCAL_MODEL = "local", str(tmp_path / "no.gguf")
    answer = await Api().get("/health/")
    begins = "The model on this machine can't be read. Whoever runs this Openbook has to correct OPENBOOK_LOCAL_MODEL."
    assert (answer.status, answer.body["checks"]["provider"].startswith(begins)) == (503, True)


def test_the_engine_answers_with_its_one_model_whatever_an_assistant_names() -> None:
    assistant = Assistant(model="claude-opus-5-5")
    assert model_of(assistant, get_provider("local")) == SMALL_MODEL
    with override_settings(OPENBOOK_LOCAL_MODEL="/models/Qwen 3.5 4B (Q4_K_M).gguf"):
        assert served_model() == "qwen-3.5-4b-q4_k_m-"
