"""What quotes a turn is known by the turn's id, however few words it has; without that, by how a quote is written."""

import asyncio
import json
import threading
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.errors import ReplyInProgress
from conversations.models import Message, Quotation, Reply, Thread
from conversations.runtime.db import in_database
from conversations.threads import deletion
from conversations.tools import running
from conversations.tools.base import ToolContext
from memory import forgetting
from memory.index.index_turns import catch_up
from memory.tools import search_messages
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

PIN = "garage PIN: 4711"


async def searched_for(user: User, api: Api, model: ModelServer, query: str, *, told: str = PIN) -> tuple[str, str]:
    """The ids of a turn that tells it, and of another thread in which a model searched for it and heard it."""
    model.script(scripts.text("Noted."))
    first = (await api.post("threads/new/messages/", {"content": told})).body
    await in_database(catch_up)(user.pk)
    model.script(scripts.tool_use("search_messages", {"query": query}), scripts.text("I know it now."))
    body = {"content": "How do I get in?", "assistant": "analyst"}
    other = (await api.post("threads/new/messages/", body)).body
    assert told in json.dumps(model.bodies[2], ensure_ascii=False), "its model has read it"
    return first["user_message"]["id"], other["thread"]


@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize("told", [PIN, "Quillhaven"])
async def test_a_short_turn_goes_from_where_it_was_quoted(
    user: User, api: Api, model: ModelServer, told: str, is_noted: bool
) -> None:
    turn, other = await searched_for(user, api, model, told.split()[0], told=told)
    assert await Quotation.objects.filter(source=turn).acount() == 1
    if not is_noted:  # as those stored before it was
        await Quotation.objects.all().adelete()
    assert len(await in_database(rows_with)(told)) > 2
    assert (await api.post(f"messages/{turn}/forget/")).status == 200
    assert await in_database(rows_with)(told) == []
    model.script(scripts.text("I can't see it any more."))
    await api.post(f"threads/{other}/messages/", {"content": "And now?"})
    assert told not in json.dumps(model.bodies[-1], ensure_ascii=False)
    assert told not in json.dumps((await api.get("export/")).body)


async def test_what_quotes_a_quote_goes_too(user: User, api: Api, model: ModelServer) -> None:
    turn, other = await searched_for(user, api, model, "garage")
    quoting = await Message.objects.aget(thread_id=other, role="assistant")
    await in_database(catch_up)(user.pk)
    model.script(scripts.tool_use("search_messages", {"query": "know it now"}), scripts.text("The third says so."))
    third = (await api.post("threads/new/messages/", {"content": "Who knows?", "assistant": "analyst"})).body
    assert await Quotation.objects.filter(source=quoting.id, reply=third["reply"]["id"]).aexists()
    done = await in_database(forgetting.forget_turn)(user, uuid.UUID(turn))
    assert {str(turn.thread) for turn in done.turns} >= {other, third["thread"]}
    assert (await Message.objects.aget(thread_id=third["thread"], role="assistant")).text == "[forgotten]"


@pytest.fixture
def asking(user: User) -> Any:
    """A reply that runs in one thread, and may search for a turn of another."""
    told = make_thread(user, [PIN, "Noted."])
    catch_up(user.pk)
    reply = make_reply(make_thread(user, ["How do I get in?"]), status="running")
    call = ToolContext(user_id=user.pk, thread_id=reply.thread_id, reply_id=reply.id, last_position=1)
    return told, call


def search(call: ToolContext) -> str:
    done = asyncio.run(running.run("search_messages", {"query": "garage PIN"}, call, offered={"search_messages"}))
    return done.result.text


def test_a_thread_that_a_running_reply_quotes_is_not_deleted(user: User, asking: tuple[Thread, ToolContext]) -> None:
    """Its next request is not recorded yet, so that only the note of the quote tells."""
    told, call = asking
    assert PIN in search(call)
    with pytest.raises(ReplyInProgress):
        deletion.delete_thread(told)
    Reply.objects.filter(id=call.reply_id).update(status="failed", ended_at=told.created_at)
    deletion.delete_thread(told)
    assert rows_with("4711") == []


def test_what_is_deleted_while_a_tool_looks_is_quoted_to_nobody(
    user: User, asking: tuple[Thread, ToolContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has read the turn, and not noted it yet: it looks again."""
    told, call = asking
    found: list[int] = []
    look = search_messages.search_turns

    def look_and_lose(*args: Any) -> Any:
        candidates = look(*args)
        if not found:
            deleting = threading.Thread(target=deletion.delete_thread, args=[told])
            deleting.start()
            deleting.join()
        found.append(len(candidates))
        return candidates

    monkeypatch.setattr(search_messages, "search_turns", look_and_lose)
    assert PIN not in search(call)
    assert len(found) == 2
    assert found[0] > found[1]
    assert rows_with("4711") == []
