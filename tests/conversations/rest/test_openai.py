"""Whole replies over REST with a server of Chat Completions as the model."""

import asyncio
import io
import json
import logging
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient
from openai import AsyncOpenAI
from pytest_django import Settings

from artifacts.models import Artifact
from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, Reply
from conversations.providers.base import WHOLE
from conversations.runtime.db import in_database
from tests.chat_server import KINDS, ChatServer
from tests.chat_server import scripts as chat
from tests.chat_server.kinds import DIALECT_OF
from tests.conversations.factories import make_user
from tests.conversations.proofs import remade_exactly
from tests.conversations.providers.odd_streams import CHAT, calls, chunk, piece, said, sse
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_chat_completions import client
from tests.conversations.rest.test_client_tools import FUNCTION
from tests.conversations.staff.conftest import open_content, page_url
from tests.html import as_read
from tests.model_scripts import Gate, Raw, ScriptedStream

__all__ = ["client"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

FACT = "We're building a FastAPI app for a bakery."
DRAFT = {"title": "Plan", "kind": "document", "content": "# Plan\n\nBake."}


def be(server: ChatServer, kind: str, settings: Settings) -> None:
    server.kind = KINDS[kind]
    settings.OPENBOOK_OPENAI_SERVER = DIALECT_OF.get(kind, kind)


def texts(body: dict[str, Any], role: str = "user") -> str:
    return "\n".join(str(message["content"]) for message in body["messages"] if message["role"] == role)


def recalling(body: dict[str, Any]) -> chat.ChatAnswer:
    """Knows what stands in the request and nothing else."""
    framework = re.search(r"building a (\w+) app", texts(body))
    return chat.answer("It is ", framework[1] if framework else "unknown", ".")


async def newest_snapshot() -> ContextSnapshot:
    newest = await ContextSnapshot.objects.order_by("created_at").alast()
    assert newest
    return newest


async def test_a_request_is_proven_in_the_dialect_that_it_was_written_in(
    api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    answer = await api.post("threads/new/messages/", {"content": FACT})
    settings.OPENAI_BASE_URL, settings.OPENBOOK_OPENAI_SERVER = "https://api.mistral.ai/v1", ""
    snapshot = await ContextSnapshot.objects.aget(id=answer.body["request"])
    assert await in_database(snapshots.proof)(snapshot)
    assert await in_database(remade_exactly)(snapshot)


@pytest.mark.once("*0*")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_round_of_tool_calls_saves_an_artifact(
    api: Api, chat_model: ChatServer, settings: Settings, kind: str
) -> None:
    be(chat_model, kind, settings)
    call = chat.Call(name="save_artifact", arguments=DRAFT, id="call_1")
    chat_model.say(chat.answer(chat.Thought("A plan."), "I write it. ", call), chat.answer("It is saved."))
    await Assistant.objects.filter(slug="analyst").aupdate(filters_artifacts=False)
    thread = (await api.post("threads/", {"assistant": "analyst"})).body["id"]
    answer = await api.post(f"threads/{thread}/messages/", {"content": "Write a plan for the bakery."})
    assert answer.status == 201, answer.body
    assert answer.body["assistant_message"]["text"].endswith("It is saved.")
    artifact = await Artifact.objects.aget()
    assert artifact.title == "Plan"
    first, second = chat_model.chats
    assert "save_artifact" in json.dumps(first["tools"])
    called, result = second["messages"][-2:]
    assert (called["role"], result["role"]) == ("assistant", "tool")
    assert json.loads(called["tool_calls"][0]["function"]["arguments"]) == DRAFT
    assert called["tool_calls"][0]["id"] == result["tool_call_id"]
    assert await in_database(snapshots.proof)(await newest_snapshot())
    # The thread goes on: what was called stands in the history of the next request.
    answer = await api.post(f"threads/{thread}/messages/", {"content": "Thanks."})
    assert answer.status == 201, answer.body
    assert [message["role"] for message in chat_model.chats[-1]["messages"]][-3:] == ["tool", "assistant", "user"]


@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_tools_that_a_program_runs_are_sent_as_the_server_takes_them(
    client: AsyncOpenAI, chat_model: ChatServer, settings: Settings, kind: str
) -> None:
    be(chat_model, kind, settings)
    await Assistant.objects.aupdate(tools=[])
    where = {"place": "Oslo"}
    call = chat.Call(name="get_weather", arguments=where, id="call_1")
    chat_model.say(chat.answer(chat.Thought("It rains there."), call), chat.answer("Rain."))
    messages: list[Any] = [{"role": "user", "content": "The weather in Oslo?"}]
    first = await client.chat.completions.create(model="x", messages=messages, tools=[FUNCTION])
    messages.append(first.choices[0].message)
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"})
    answer = await client.chat.completions.create(model="x", messages=messages, tools=[FUNCTION])
    assert answer.choices[0].message.content == "Rain."
    asked, told = chat_model.chats
    assert asked["tools"] == told["tools"] == [FUNCTION]
    called, result = told["messages"][-2:]
    (sent,) = called["tool_calls"]
    assert (called["role"], sent["id"], sent["function"]["name"]) == ("assistant", "call_1", "get_weather")
    assert json.loads(sent["function"]["arguments"]) == where
    assert (result["role"], result["tool_call_id"]) == ("tool", "call_1") and "12 degrees" in str(result["content"])
    assert await in_database(snapshots.proof)(await newest_snapshot())


async def test_the_same_thread_goes_on_with_another_provider(
    api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    chat_model.say(recalling)
    thread = (await api.post("threads/new/messages/", {"content": FACT})).body["thread"]
    settings.OPENBOOK_PROVIDER = "offline"
    offline = await api.post(f"threads/{thread}/messages/", {"content": "Hello?"})
    settings.OPENBOOK_PROVIDER = "openai"
    be(chat_model, "ollama", settings)
    answer = await api.post(f"threads/{thread}/messages/", {"content": "Which framework was it?"})
    assert (offline.status, answer.body["assistant_message"]["text"]) == (201, "It is FastAPI.")
    for snapshot in [snapshot async for snapshot in ContextSnapshot.objects.all()]:
        assert await in_database(snapshots.proof)(snapshot), snapshot.provider


async def test_thoughts_in_the_text_are_no_part_of_the_turn_and_not_sent_back(
    api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    be(chat_model, "no_parser", settings)
    await Assistant.objects.filter(slug="companion").aupdate(show_thinking="summary")
    chat_model.say(chat.answer(chat.Thought("The bakery, then."), "It is ", "FastAPI."), chat.answer("Yes."))
    answer = await api.post("threads/new/messages/", {"content": FACT})
    assert answer.body["assistant_message"]["text"] == "It is FastAPI."
    assert [block for block in answer.body["assistant_message"]["content"] if block["type"] == "thinking"] == [
        {"type": "thinking", "thinking": "The bakery, then."}
    ]
    await api.post(f"threads/{answer.body['thread']}/messages/", {"content": "Sure?"})
    assert [message["content"] for message in chat_model.chats[-1]["messages"][1:]] == [FACT, "It is FastAPI.", "Sure?"]


@pytest.mark.once("*0*")
@pytest.mark.parametrize(
    "name",
    [
        "stop with each chunk",
        "finishReason",
        "no reason, no end",
        "message at the end",
        "each delta is all so far",
        "thoughts in a field and in tags",
        "gpt-oss",
        "a byte order mark",
    ],
)
async def test_an_odd_stream_is_stored_whole_and_once(
    api: Api, chat_model: ChatServer, settings: Settings, name: str
) -> None:
    be(chat_model, "lm_studio", settings)
    odd = CHAT[name]
    await Assistant.objects.filter(slug="companion").aupdate(show_thinking="summary")
    chat_model.say(ScriptedStream(steps=(Raw(odd.body),), headers={"content-type": odd.content_type}))
    answer = await api.post("threads/new/messages/", {"content": FACT})
    reply, turn = answer.body["reply"], answer.body["assistant_message"]
    thoughts = tuple(block["thinking"] for block in turn["content"] if block["type"] == "thinking")
    status = "complete" if odd.told.end in WHOLE else "incomplete"
    assert (turn["text"], turn["status"], thoughts) == (odd.told.text, status, odd.told.thoughts)
    assert (reply["status"], (await newest_snapshot()).stop_reason) == ("completed", odd.told.end)
    await api.post(f"threads/{answer.body['thread']}/messages/", {"content": "Sure?"})
    assert [message["content"] for message in chat_model.chats[-1]["messages"][1:]] == [FACT, odd.told.text, "Sure?"]


async def test_a_call_after_the_word_that_might_be_the_end_is_made(
    api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    be(chat_model, "lm_studio", settings)
    call = piece(json.dumps(DRAFT), name="save_artifact", id="call_1", index=0)
    body = sse(said("I write it. "), chunk(reason="stop"), calls(call), chunk(reason="stop"), "[DONE]")
    chat_model.say(ScriptedStream(steps=(Raw(body),)), chat.answer("It is saved."))
    await Assistant.objects.filter(slug="analyst").aupdate(filters_artifacts=False)
    thread = (await api.post("threads/", {"assistant": "analyst"})).body["id"]
    answer = await api.post(f"threads/{thread}/messages/", {"content": "Write a plan for the bakery."})
    assert (answer.status, answer.body["assistant_message"]["text"]) == (201, "I write it. \n\nIt is saved.")
    assert (await Artifact.objects.aget()).title == "Plan"


@pytest.mark.wide
@pytest.mark.parametrize(("reason", "code"), [("length", "out_of_room"), ("stop", "empty_reply")])
async def test_a_thought_that_is_never_closed_is_no_answer(
    api: Api, chat_model: ChatServer, settings: Settings, reason: str, code: str
) -> None:
    be(chat_model, "no_parser", settings)
    chat_model.say(chat.answer(chat.Thought("And on, and on"), reason=reason))
    answer = await api.post("threads/new/messages/", {"content": FACT})
    assert answer.code == (502, "model", code)


async def test_a_reply_is_stopped_with_its_text_so_far(user: User, api: Api, chat_model: ChatServer) -> None:
    gate = Gate()
    chat_model.say(chat.answer("So far", gate, " and on"))
    sending = asyncio.create_task(api.post("threads/new/messages/", {"content": "Tell me"}))
    await asyncio.to_thread(gate.wait_until_reached)
    reply = await Reply.objects.aget()
    async for event in api.events("GET", f"replies/{reply.id}/events/"):
        if event["type"] == "reply.delta":
            break
    assert (await api.post(f"replies/{reply.id}/stop/")).status == 202
    answer = await sending
    assert answer.body["reply"]["status"] == "stopped"
    assert answer.body["assistant_message"]["text"] == "So far"
    asked = chat_model.requests[-1]
    await asyncio.to_thread(asked.wait_until_ended)
    assert asked.hung_up


async def test_a_failed_reply_is_tried_again(api: Api, chat_model: ChatServer) -> None:
    chat_model.say(*[chat.error(500)] * 3, recalling)
    failed = await api.post("threads/new/messages/", {"content": FACT})
    assert failed.code == (502, "model", "server_error")
    again = await api.post(f"replies/{failed.body['error']['details']['reply']}/retry/")
    assert again.status == 202
    ended = [event async for event in api.events("GET", f"replies/{again.body['id']}/events/")][-1]
    assert (ended["type"], ended["data"]["message"]["text"]) == ("reply.completed", "It is FastAPI.")


async def test_a_window_that_is_smaller_than_known_is_met_with_fewer_turns(api: Api, chat_model: ChatServer) -> None:
    """A self-hosted server says so with an error; the same reply asks once more, of less."""
    thread = "new"
    for number in range(3):
        text = f"Number {number}: " + "flour and water and salt " * 60
        thread = (await api.post(f"threads/{thread}/messages/", {"content": text})).body["thread"]
    before = len(chat_model.chats)
    message = "the request exceeds the available context size, try increasing it"
    chat_model.say(chat.error(400, message, code=400, error_type="exceed_context_size_error"), recalling)
    answer = await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert answer.status == 201, answer.body
    first, second = chat_model.chats[before:]
    assert len(json.dumps(second)) < len(json.dumps(first))


async def test_a_message_that_a_filter_refused_is_not_sent_again(api: Api, chat_model: ChatServer) -> None:
    chat_model.say(chat.error(400, "Filtered", code="content_filter"), recalling)
    refused = await api.post("threads/new/messages/", {"content": "Something bad"})
    assert refused.code == (502, "model", "refused")
    thread = refused.body["error"]["details"]["thread"]
    answer = await api.post(f"threads/{thread}/messages/", {"content": "Something good"})
    assert answer.status == 201
    assert "Something bad" not in texts(chat_model.chats[-1])


async def test_a_server_that_is_away_is_told_while_a_model_is_looked_for(
    api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    answer = await api.post("threads/new/messages/", {"content": "Hello"})
    assert answer.status == 502, answer.body
    assert answer.code == (502, "model", "unreachable")


async def test_health_tells_that_neither_key_nor_address_is_there(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER = "openai"
    answer = await Api().get("/health/")
    assert (answer.status, "OPENAI_API_KEY" in answer.body["checks"]["provider"]) == (503, True)


async def test_the_key_stands_in_no_log_error_snapshot_or_page(
    user: User, api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    key = settings.OPENAI_API_KEY = "sk-canary-7f3a9c51"
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        chat_model.say(
            chat.error(401, f"Incorrect API key provided: {key}", code="invalid_api_key"),
            chat.error(400, f"{key} may not do that"),
            chat.answer("So far", chat.event({"error": {"message": f"{key} is spent", "code": 400}}), ends=False),
            chat.answer("Whole"),
        )
        answers = [await api.post("threads/new/messages/", {"content": f"Message {n}"}) for n in range(4)]
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert [answer.status for answer in answers] == [502, 502, 502, 201]
    assert [answer.code[2] for answer in answers[:3]] == ["authentication", "invalid_request", "invalid_request"]
    shown = [written.getvalue(), *(json.dumps(answer.body) for answer in answers)]
    shown += [
        json.dumps((await api.get(f"requests/{snapshot.id}/")).body) async for snapshot in ContextSnapshot.objects.all()
    ]
    root_user = await in_database(make_user)(is_staff=True, is_superuser=True)
    browser: Any = AsyncClient()
    await browser.aforce_login(root_user)
    await in_database(open_content)(browser)
    pages = [page_url("contextsnapshot", snapshot.pk) async for snapshot in ContextSnapshot.objects.all()]
    for page in [*pages, "/admin/conversations/contextsnapshot/", "/admin/conversations/reply/", "/health/"]:
        response = await browser.get(page)
        assert response.status_code in (200, 503), page
        shown.append(b"".join([part async for part in response]).decode() if response.streaming else response.text)
    shown.append(await in_database(everything_stored)())
    assert [text for text in shown if key in text] == []
    assert any("local-model" in text for text in shown)


def everything_stored() -> str:
    """All rows of all tables of Openbook's."""
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if not name.startswith("pg_")]
        rows = []
        for name in names:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{name}" t')  # noqa: S608 – names from the catalogue
            rows += [row[0] for row in cursor.fetchall()]
    return "\n".join(rows)


@pytest.mark.wide
async def test_staff_see_the_request_in_the_servers_own_shape(user: User, api: Api, chat_model: ChatServer) -> None:
    chat_model.say(recalling)
    answer = await api.post("threads/new/messages/", {"content": FACT})
    second = await api.post(f"threads/{answer.body['thread']}/messages/", {"content": "Which framework was it?"})
    browser: Any = AsyncClient()
    await browser.aforce_login(await in_database(make_user)(is_staff=True, is_superuser=True))
    await in_database(open_content)(browser)
    page = (await browser.get(page_url("contextsnapshot", second.body["request"]))).text
    assert "max_completion_tokens" in page
    assert "How the provider is asked" in page
    compared = (await browser.get(page_url("contextsnapshot", second.body["request"], "compare"))).text
    assert "tokens in common from the beginning" in as_read(compared)
