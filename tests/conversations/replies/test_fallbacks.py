"""Where a model can't be asked, the next of the assistant's list answers in the same reply, and everybody can see why."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from artifacts.models import Preset
from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.models import Assistant, ContextSnapshot, Fallback, Message, Reply, Thread
from conversations.providers import get_provider
from conversations.providers.circuit_breaker import FAILURES
from conversations.runtime.db import in_database, read_only
from conversations.upkeep import hourly_figures
from tests import model_scripts as scripts
from tests.chat_server import ChatServer
from tests.chat_server import scripts as chat
from tests.conversations.connections import make_connection
from tests.model_scripts import Stall
from tests.model_server import ModelServer
from tests.services import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

OWN, OTHER = "claude-sonnet-5-5", "local-model"
WORDS = {"server_error": "had an error", "overloaded": "was overloaded", "timeout": "took too long"}


@pytest.fixture
async def other(model: ModelServer, chat_model: ChatServer, settings: Settings) -> ChatServer:
    """The second of two providers, which every assistant falls back on."""
    settings.OPENBOOK_PROVIDER = "anthropic"
    settings.OPENBOOK_FIRST_TOKEN_SECONDS = 20.0
    chat_model.say(lambda body: chat.answer("I am ", "here."))
    async for assistant in Assistant.objects.all():
        await Fallback.objects.acreate(assistant=assistant, provider="openai", model=OTHER)
    return chat_model


async def asked(user: User, thread: Any = None) -> tuple[Reply, list[Any]]:
    opened = await replies.start(user=user, thread_id=thread, content="Tell me")
    events = [event async for event in replies.follow(opened.reply.id)]
    return await Reply.objects.aget(id=opened.reply.id), events


async def requests_of(reply: Reply) -> list[tuple[str, str, str, str, str]]:
    rows = ContextSnapshot.objects.filter(reply=reply).order_by("round")
    return [
        (row.model, row.fallback_for, row.fallback_cause, row.status, row.error["code"] if row.error else "")
        async for row in rows
    ]


def is_remade(request: ContextSnapshot) -> bool:
    with read_only():
        record = record_of(request)
        return replay.remake(record, record.settings).is_exact


def make(model: ModelServer, settings: Settings, cause: str) -> None:
    """Have the first provider fail so."""
    match cause:
        case "unreachable":
            settings.ANTHROPIC_BASE_URL = f"http://127.0.0.1:{free_port()}"
        case "timeout":
            settings.OPENBOOK_FIRST_TOKEN_SECONDS = 0.5
            model.script(scripts.stream(Stall()))
        case "rate_limited":
            model.script(scripts.error(429, headers={"retry-after": "120"}))
        case "authentication":
            model.script(scripts.error(401))
        case "overloaded":
            model.script(*[scripts.error(529)] * 3)
        case "server_error":
            model.script(*[scripts.error(500)] * 3)


@pytest.mark.once("unreachable", "overloaded")
@pytest.mark.parametrize(
    "cause", ["unreachable", "timeout", "rate_limited", "authentication", "overloaded", "server_error"]
)
async def test_the_next_of_the_list_answers_in_the_same_reply(
    user: User, model: ModelServer, other: ChatServer, settings: Settings, cause: str
) -> None:
    make(model, settings, cause)
    reply, events = await asked(user)
    assert await requests_of(reply) == [
        (OWN, "", "", "failed", cause),
        (OTHER, OWN, cause, "completed", ""),
    ]
    started = [event.data for event in events if event.type == "reply.started"]
    assert [(data["provider"], data["fallback_for"], data["fallback_cause"]) for data in started] == [
        ("anthropic", None, None),
        ("openai", OWN, cause),
    ]
    told = events[-1].data["reply"]
    assert (told["status"], told["model"], told["fallback_for"], told["fallback_cause"]) == (
        "completed",
        OTHER,
        OWN,
        cause,
    )
    words = WORDS.get(cause)
    assert words is None or told["fallback_text"] == f"Asked of {OTHER}: {OWN} {words}."
    answer = await Message.objects.aget(reply=reply)
    assert (answer.text, answer.status) == ("I am here.", "complete")
    assert other.chats[0]["messages"][-1]["content"] == "Tell me"
    for row in [row async for row in ContextSnapshot.objects.filter(reply=reply)]:
        assert await in_database(snapshots.proof)(row)
        assert await in_database(is_remade)(row)
    assert await in_database(counted)() == 1


def counted() -> int:
    now = timezone.now()
    start = now.replace(minute=0, second=0, microsecond=0)
    rows = hourly_figures.hours(start - timedelta(hours=1), now + timedelta(hours=1))
    return sum(hour.figures["fallback"] for hour in rows)


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([scripts.error(400)], "failed"),
        ([scripts.error(413)], "failed"),
        ([scripts.stream(*scripts.opening_steps(), scripts.text_delta("So"), scripts.BrokenStream())], "failed"),
        ([scripts.refusal()], "failed"),
    ],
    ids=["a request that is wrong", "one that is too large", "an answer that breaks off", "a model that declines"],
)
async def test_nobody_else_is_asked_where_it_would_not_help_or_words_were_shown(
    user: User, model: ModelServer, other: ChatServer, answers: list[scripts.Script], status: str
) -> None:
    model.script(*answers, *answers)
    reply, _ = await asked(user)
    assert (reply.status, other.chats) == (status, [])
    assert {row[1] for row in await requests_of(reply)} == {""}


async def test_a_model_that_declines_is_replaced_only_where_staff_say_so(
    user: User, model: ModelServer, other: ChatServer
) -> None:
    await Assistant.objects.aupdate(fallback_automatic=True)
    model.script(replace_thinking(scripts.refusal()))
    reply, _ = await asked(user)
    assert await requests_of(reply) == [
        (OWN, "", "", "failed", "refused"),
        (OTHER, OWN, "refused", "completed", ""),
    ]


def replace_thinking(script: scripts.ScriptedStream) -> scripts.ScriptedStream:
    return scripts.ScriptedStream(steps=script.steps, headers=script.headers, thinks=False)


@pytest.mark.wide
async def test_a_dead_provider_costs_no_more_replies_its_time_out(
    user: User, model: ModelServer, other: ChatServer, settings: Settings
) -> None:
    settings.OPENBOOK_FIRST_TOKEN_SECONDS = 1.0
    model.script(lambda body: scripts.stream(Stall()))
    for _ in range(FAILURES):
        reply, _events = await asked(user)
        assert reply.status == "completed"
    assert get_provider("anthropic").wait() > 0
    began = time.monotonic()
    reply, events = await asked(user)
    assert await requests_of(reply) == [
        (OWN, "", "", "failed", "circuit_open"),
        (OTHER, OWN, "circuit_open", "completed", ""),
    ]
    assert time.monotonic() - began < settings.OPENBOOK_FIRST_TOKEN_SECONDS
    assert len(model.requests) == FAILURES
    assert events[-1].data["reply"]["fallback_text"] == f"Asked of {OTHER}: {OWN} could not be reached."


async def test_where_all_of_them_fail_the_last_error_is_told_and_each_is_asked_once(
    user: User, model: ModelServer, other: ChatServer
) -> None:
    model.script(*[scripts.error(500)] * 3)
    other.say(lambda body: chat.error(401))
    async for assistant in Assistant.objects.all():
        await Fallback.objects.acreate(assistant=assistant, order=1, provider="anthropic", model=OWN)
        await Fallback.objects.acreate(assistant=assistant, order=2, provider="not-known", model="any")
    reply, _ = await asked(user)
    assert reply.error
    assert (reply.status, reply.error["code"]) == ("failed", "authentication")
    assert await requests_of(reply) == [
        (OWN, "", "", "failed", "server_error"),
        (OTHER, OWN, "server_error", "failed", "authentication"),
    ]


async def test_the_next_attempt_asks_the_first_one_again(user: User, model: ModelServer, other: ChatServer) -> None:
    model.script(*[scripts.error(500)] * 3, scripts.text("Back."))
    reply, _ = await asked(user)
    opened = await replies.retry(user=user, reply_id=reply.id)
    async for _event in replies.follow(opened.reply.id):
        pass
    assert await requests_of(opened.reply) == [(OWN, "", "", "completed", "")]


WHY = {
    "a connection that is gone": ("team", "misconfigured", "The provider “team” is not known."),
    "a connection without a model": ("team", "misconfigured", "The connection “Team” has no model."),
    "a list that does not come": ("openai", "timeout", "The model took too long to answer."),
    "no model in the list": ("openai", "misconfigured", "The model's service names no model."),
}


@pytest.mark.once("no model*")
@pytest.mark.parametrize("why", WHY)
async def test_where_no_request_can_be_made_for_a_model_the_next_of_the_list_answers(
    user: User, model: ModelServer, other: ChatServer, settings: Settings, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, cause, problem = WHY[why]
    monkeypatch.setattr("conversations.providers.openai.LIST_SECONDS", 0.2)
    match why:
        case "a connection without a model":
            await in_database(make_connection)(model.url)
        case "a list that does not come":
            other.listing = scripts.stream(Stall())
        case "no model in the list":
            other.models = []
    await Assistant.objects.aupdate(provider=name)
    await Fallback.objects.all().aupdate(provider="anthropic", model=OWN)
    reply, events = await asked(user)
    assert await requests_of(reply) == [(OWN, name, cause, "completed", "")]
    told = events[-1].data["reply"]
    assert (told["status"], told["fallback_for"], told["fallback_cause"]) == ("completed", name, cause)
    assert told["fallback_text"] == f"Asked of {OWN}: {name} {WORDS.get(cause, 'could not be asked')}."
    request = await ContextSnapshot.objects.aget(reply=reply)
    assert [(each["source"], each["message"].startswith(problem)) for each in request.problems or ()] == [
        ("provider", True)
    ]
    assert await in_database(snapshots.proof)(request) and await in_database(is_remade)(request)
    assert await in_database(counted)() == 1


async def test_without_another_model_the_reply_says_why_no_request_could_be_made(user: User) -> None:
    await Assistant.objects.aupdate(provider="team")
    reply, _ = await asked(user)
    assert reply.error
    assert (reply.status, reply.error["code"]) == ("failed", "misconfigured")
    assert reply.error["message"].startswith("The provider “team” is not known.")
    assert await requests_of(reply) == []
    opened = await replies.retry(user=user, reply_id=reply.id)
    again = [event async for event in replies.follow(opened.reply.id)][-1].data["reply"]
    assert (again["status"], again["error"]["code"]) == ("failed", "misconfigured")


async def test_a_local_model_that_is_not_there_is_replaced(
    user: User, model: ModelServer, other: ChatServer, settings: Settings, tmp_path: Path
) -> None:
    settings.LOCAL_DIR, settings.OPENBOOK_LOCAL_MODEL = tmp_path, str(tmp_path / "none.gguf")
    await Assistant.objects.aupdate(provider="local")
    reply, _ = await asked(user)
    assert [(row[0], row[2], row[3]) for row in await requests_of(reply)] == [
        ("none", "", "failed"),
        (OTHER, "local_model_unreadable", "completed"),
    ]


async def test_a_fallback_whose_model_its_server_names_is_asked_for_its_list_first(
    user: User, model: ModelServer, other: ChatServer
) -> None:
    await Fallback.objects.all().aupdate(model="")
    model.script(scripts.error(401))
    reply, _ = await asked(user)
    assert await requests_of(reply) == [
        (OWN, "", "", "failed", "authentication"),
        (OTHER, OWN, "authentication", "completed", ""),
    ]
    assert other.listings == 1


async def test_a_preset_falls_over_as_well(user: User, model: ModelServer, other: ChatServer) -> None:
    reply, _ = await asked(user)
    await Assistant.objects.aupdate(provider="team")
    thread = await Thread.objects.aget(id=reply.thread_id)
    preset = await Preset.objects.filter(is_active=True).afirst()
    assert preset
    await preset.assistants.aadd(thread.assistant_id)
    other.say(lambda body: chat.answer("# A list"))
    opened = await replies.start_preset(user=user, thread_id=thread.id, preset=preset.slug)
    told = [event async for event in replies.follow(opened.reply.id)][-1].data["reply"]
    assert (told["status"], told["fallback_for"], told["fallback_cause"]) == ("completed", "team", "misconfigured")
