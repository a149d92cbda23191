"""Long turns are counted by the model's provider after a reply has ended, and the next contexts go by that."""

import asyncio
import base64
import logging
import random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.context.tokens.estimate import TURN_OVERHEAD, countable_texts, turn_tokens
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread, TokenCount, text_blocks
from conversations.providers import get_provider
from conversations.replies import exact_counts
from conversations.replies.exact_counts import LONG, MOST, CountJob, keep, uncounted
from conversations.replies.journal import journal
from conversations.runtime.db import in_database, read_only
from conversations.runtime.ids import uuid7
from conversations.threads import deletion
from memory import forgetting
from tests import model_scripts as scripts
from tests.chat_server import KINDS, ChatServer
from tests.chat_server import scripts as chat
from tests.conversations.factories import chain, make_context, make_reply, make_thread, record
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SONNET = "claude-sonnet-5-5"
PASTED = base64.b64encode(random.Random(1).randbytes(4_000)).decode()
THAI = "การนับโทเค็นอย่างแม่นยำ " * 200


@pytest.fixture
def api(user: User) -> Api:
    return Api(user)


async def said(user: User, text: str, thread: Any = None) -> tuple[Thread, Reply]:
    """Said and answered, and what is long is counted."""
    opened = await replies.start(user=user, thread_id=thread, content=text)
    _ = [event async for event in replies.follow(opened.reply.id)]
    await asyncio.gather(*journal().tasks)
    await journal().learning.done()
    return opened.thread, await Reply.objects.aget(id=opened.reply.id)


async def counted() -> list[tuple[int, str, str, int]]:
    rows = TokenCount.objects.order_by("position").values_list("position", "provider", "model", "tokens")
    return [row async for row in rows]


def test_what_is_counted_is_what_is_estimated() -> None:
    blocks = [*text_blocks("Look."), {"type": "tool_use", "id": "t", "name": "save", "input": {"content": "# Boats"}}]
    texts = countable_texts(blocks)
    assert exact_counts.countable(blocks) == "\n".join(texts)
    assert "# Boats" in texts[1] and turn_tokens(text_blocks("Look.")) < turn_tokens(blocks)


async def test_a_long_turn_is_counted_once_and_the_next_requests_go_by_that(
    user: User, api: Api, model: ModelServer
) -> None:
    model.tokens_of = lambda text: 2_000 if text == PASTED else 3
    model.script(lambda body: scripts.text("I see."))
    thread, reply = await said(user, PASTED)
    assert (reply.status, await counted()) == ("completed", [(1, "anthropic", SONNET, 2_000 + TURN_OVERHEAD)])
    await said(user, "And now?", thread.id)
    assert [request.body for request in model.counts] == [
        {"model": SONNET, "messages": [{"role": "user", "content": PASTED}]}
    ]
    first, second = [row async for row in ContextSnapshot.objects.order_by("created_at")]
    assert (first.counts, second.counts) == ("", "1 2004")
    body = (await api.get(f"requests/{second.id}/")).body
    pasted, answer, *_ = body["items"]
    assert (pasted["tokens"], pasted["exact"], "exact" in answer) == (2_004, True, False)
    assert await in_database(is_remade)(second) and await in_database(snapshots.proof)(second)
    await TokenCount.objects.all().adelete()
    assert await in_database(is_remade)(second), "what was known then holds"


def is_remade(request: ContextSnapshot) -> bool:
    found = record_of(request)
    with read_only():
        made = replay.remake(found, found.settings)
    return made.is_exact and list(made.own.runs) == snapshots.runs_of(request)


@pytest.mark.parametrize(("kind", "field"), [("vllm", "prompt"), ("llama_cpp", "content")], ids=["vLLM", "llama.cpp"])
async def test_servers_of_chat_completions_count_where_they_can(
    user: User, chat_model: ChatServer, settings: Settings, kind: str, field: str
) -> None:
    chat_model.kind = KINDS[kind]
    settings.OPENBOOK_OPENAI_SERVER, settings.OPENBOOK_MODEL = kind, "local-model"
    chat_model.tokens_of = lambda text: 1_500
    chat_model.say(chat.answer("I see."))
    await said(user, THAI)
    assert await counted() == [(1, "openai", "local-model", 1_504)]
    assert [(request.path, request.body) for request in chat_model.counts] == [
        ("/tokenize", {"model": "local-model", field: THAI})
    ]


async def test_who_cannot_count_is_not_asked(user: User, chat_model: ChatServer, settings: Settings) -> None:
    await said(user, PASTED)
    assert (chat_model.counts, await counted()) == ([], [])
    can = {name: get_provider(name).token_counter() is not None for name in ("openai", "anthropic", "local", "offline")}
    assert can == {"openai": False, "anthropic": True, "local": True, "offline": False}
    assert get_provider("claude_cli").token_counter() is None


@pytest.mark.once("too often", "no object")
@pytest.mark.parametrize(
    "answer",
    [
        scripts.error(429, headers={"retry-after": "5"}),
        scripts.error(404),
        scripts.error(529),
        chat.refusal(200, {"input_tokens": "many"}),
        chat.refusal(200, []),
    ],
    ids=["too often", "not there", "overloaded", "no number", "no object"],
)
async def test_a_count_that_fails_costs_nothing_and_is_not_asked_again_soon(
    user: User, model: ModelServer, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model.count_scripts.append(answer)
    with caplog.at_level(logging.WARNING, logger="openbook.counts"):
        thread, reply = await said(user, PASTED)
    assert (reply.status, await counted(), len(model.counts)) == ("completed", [], 1)
    [told] = [each for each in caplog.records if each.name == "openbook.counts"]
    assert (told.message, vars(told)["provider"], vars(told)["rest_seconds"]) == (
        "can't count tokens exactly, the estimate holds",
        "anthropic",
        600,
    )
    _, again = await said(user, "And now?", thread.id)
    assert (again.status, len(model.counts)) == ("completed", 1)


async def test_a_turn_that_the_provider_refuses_to_count_does_not_keep_the_others_from_it(
    user: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_counts, "REST_SECONDS", 0.0)
    model.script(lambda body: scripts.text("I see."))
    model.count_scripts.append(scripts.error(400))
    thread, _ = await said(user, PASTED)
    await said(user, THAI, thread.id)
    assert [position for position, *_ in await counted()] == [3]
    await said(user, "And now?", thread.id)
    assert len(model.counts) == 2


async def test_few_requests_one_at_a_time(user: User, model: ModelServer) -> None:
    texts = [f"{number} {PASTED}" for number in range(2 * MOST + 3)]
    thread = await in_database(make_thread)(user, texts)
    model.script(lambda body: scripts.text("I see."))
    await said(user, "And now?", thread.id)
    assert [position for position, *_ in await counted()] == [*range(len(texts) - MOST + 1, len(texts) + 1)]
    assert len({request.connection for request in model.counts}) == 1


async def test_a_reply_that_is_stopped_with_its_server_leaves_no_count_behind(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.count_scripts.append(scripts.text(gate))
    opened = await replies.start(user=user, thread_id=None, content=PASTED)
    _ = [event async for event in replies.follow(opened.reply.id)]
    await replies.drain()
    assert await counted() == []


def long_thread(user: User, *texts: str) -> Thread:
    return make_thread(user, [*texts, "And now?"])


def count_of(thread: Thread, position: int, tokens: int) -> None:
    TokenCount.objects.create(thread=thread, position=position, provider="offline", model="offline", tokens=tokens)


@pytest.fixture
def companion() -> Assistant:
    """Turns are cut by their tokens alone."""
    Assistant.objects.update(history_turns_min=2, rewriting="off")
    return Assistant.objects.get(slug="companion")


def sent_positions(thread: Thread) -> list[int]:
    return [turn.position for turn in make_context(make_reply(thread, status="running")).history]


@pytest.mark.usefixtures("companion")
def test_the_window_holds_what_fits_by_the_count(user: User) -> None:
    """Of three turns of about 2,000 estimated tokens one fits beside the newest pair; by their counts, all do or none."""
    text = "The harbour lay quiet, and nobody had come. " * 200
    thread = long_thread(user, text, "Yes.", text, "Yes.", text, "Yes.", text, "Yes.")
    tokens = thread.messages.get(position=1).token_count
    assert 1_700 < tokens < 2_300
    before = make_context(reply := make_reply(thread))
    assert [turn.position for turn in before.history] == [7, 8]
    for position in (1, 3, 5, 7):
        count_of(thread, position, 400)
    with CaptureQueriesContext(connection) as queries:
        after = make_context(reply)
    assert [turn.position for turn in after.history] == [*range(1, 9)]
    assert after.turns_loaded == 8
    assert sum("conversations_tokencount" in query["sql"] for query in queries) == 1, "read with the turns, at once"
    assert after.counts == dict.fromkeys((1, 3, 5, 7), 400)
    TokenCount.objects.update(tokens=2_900)
    assert [turn.position for turn in make_context(reply).history] == [7, 8]


@pytest.mark.usefixtures("companion")
def test_what_is_shortened_is_cut_by_the_count(user: User) -> None:
    """The estimate is a third of what the model counts: what is kept takes as many tokens for each estimated one."""
    Assistant.objects.filter(slug="companion").update(
        total_tokens=3_000, hard_cap_tokens=3_000, history_tokens_high=2_000
    )
    thread = long_thread(user, PASTED, "I see.")
    tokens = thread.messages.get(position=1).token_count
    count_of(thread, 1, tokens * 3)
    reply = make_reply(thread)
    context = make_context(reply)
    [run] = [run for run in context.runs if run.sha256]
    kept = turn_tokens(text_blocks(context.history[0].shortened))
    assert run.first == 1 and abs(run.tokens - 3 * kept) <= 3
    assert context.model_tokens <= 3_000
    snapshot = record(context, reply)
    assert is_remade(ContextSnapshot.objects.get(id=snapshot.id))


def test_each_model_goes_by_its_own_counts(user: User) -> None:
    thread = long_thread(user, PASTED, "I see.")
    TokenCount.objects.create(thread=thread, position=1, provider="anthropic", model="offline", tokens=7)
    TokenCount.objects.create(thread=thread, position=1, provider="offline", model="other", tokens=7)
    assert make_context(make_reply(thread)).counts == {}


def test_counts_go_with_the_turn_that_is_forgotten_and_with_the_thread(user: User) -> None:
    thread = long_thread(user, PASTED, "I see.", THAI, "Yes.")
    for position in (1, 3):
        count_of(thread, position, 2_000)
    forgetting.forget_turn(user, thread.messages.get(position=1).id)
    assert list(TokenCount.objects.values_list("position", flat=True)) == [3]
    deletion.clear_thread(thread)
    assert not TokenCount.objects.exists()
    other = long_thread(user, PASTED)
    count_of(other, 1, 2_000)
    deletion.delete_thread(other)
    assert not TokenCount.objects.exists()


def test_a_turn_that_was_forgotten_meanwhile_gets_no_count(user: User) -> None:
    thread = long_thread(user, PASTED, "I see.")
    job = CountJob(user=thread.user_id, thread=thread.id, provider="offline", model="offline")
    assert [turn.position for turn in uncounted(job)] == [1]
    forgetting.forget_turn(user, thread.messages.get(position=1).id)
    keep(job, 1, 2_000)
    keep(CountJob(user=0, thread=uuid7(), provider="offline", model="offline"), 1, 2_000)
    assert (uncounted(job), TokenCount.objects.exists()) == ([], False)


def test_the_first_count_holds(user: User) -> None:
    thread = long_thread(user, PASTED)
    job = CountJob(user=thread.user_id, thread=thread.id, provider="offline", model="offline")
    keep(job, 1, 2_000)
    keep(job, 1, 3_000)
    assert [row.tokens for row in TokenCount.objects.all()] == [2_000]


def test_short_turns_and_words_of_no_model_are_not_counted(user: User) -> None:
    thread = make_thread(user)
    messages = chain(thread, ["word " * 700, "I see.", PASTED, PASTED])
    messages[3].offline = True
    Message.objects.bulk_create(messages)
    assert LONG - 250 < messages[0].token_count < LONG
    job = CountJob(user=thread.user_id, thread=thread.id, provider="anthropic", model=SONNET)
    assert [turn.position for turn in uncounted(job)] == [3]
