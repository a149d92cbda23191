"""Answers that cite parts of files: the marks stay in the text, and what they point to is told beside it."""

import asyncio
import json

import pytest
from django.contrib.auth.models import User

from conversations.models import File, Message, Reply, ReplyEvent
from conversations.replies.closing import interrupt
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_messages_with_files import make_report, pages, send
from tests.model_server import ModelServer
from tests.statements import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def cited(file: File, text: str, part: int | None, *, given: bool = True) -> dict[str, object]:
    return {"text": text, "file": str(file.id), "name": file.name, "part": part, "given": given}


async def test_an_answer_tells_which_parts_it_cites_wherever_it_is_told(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, pages(60, p41="The greenhouse keeps 300 orchids. "))
    words = "300 [report.pdf, section 41], not 20 [report.pdf, section 9] or [report.pdf, p. 77]. [else.pdf, p. 1]"
    model.script(scripts.text(words), scripts.text("No."))
    answer = await send(api, "How many orchids are in the greenhouse?", file)
    expected = [
        cited(file, "[report.pdf, section 41]", 41),
        cited(file, "[report.pdf, section 9]", 9, given=False),
        cited(file, "[report.pdf, p. 77]", None, given=False),
    ]
    assert answer.body["assistant_message"]["citations"] == expected
    assert answer.body["assistant_message"]["text"] == words
    assert answer.body["user_message"]["citations"] == []
    events = [event async for event in api.events("GET", f"replies/{answer.body['reply']['id']}/events/")]
    assert events[-1]["data"]["message"]["citations"] == expected
    (told,) = (await api.get(f"requests/{answer.body['request']}/")).body["files"]
    assert [(row["text"], row["part"], row["warning"]) for row in told["cited"]] == [
        ("[report.pdf, section 41]", 41, None),
        ("[report.pdf, section 9]", 9, "The model was not given this part in this reply."),
        ("[report.pdf, p. 77]", None, "There is no such part."),
    ]
    thread = answer.body["thread"]
    turns = (await api.get(f"threads/{thread}/messages/")).body["results"]
    assert [turn["citations"] for turn in turns] == [[], expected]

    second = await send(api, "Are you sure?", thread=thread)
    assert '"citations"' not in json.dumps(model.bodies[-1]["messages"][1])
    assert second.body["assistant_message"]["citations"] == []


async def test_a_reply_whose_process_died_cites_what_its_requests_held(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, ["The costs were 12 euros."])
    words, gate = "It was 12 [report.pdf, section 1]. ", scripts.Gate()
    model.script(scripts.text(words, gate, "And then"))
    sending = asyncio.create_task(send(api, "What were the costs?", file))
    await asyncio.to_thread(gate.wait_until_reached)
    async with asyncio.timeout(20):
        while not await ReplyEvent.objects.filter(type="reply.delta").aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    reply = await Reply.objects.aget()
    await Reply.objects.filter(id=reply.id).aupdate(owner="a process that died", lease_until=reply.created_at)
    await in_database(interrupt)(reply.id, user_id=reply.user_id)
    gate.open()
    await sending
    turn = await Message.objects.aget(reply=reply)
    assert turn.status == "interrupted"
    assert turn.citations == [cited(file, "[report.pdf, section 1]", 1)]


async def test_a_thread_without_files_asks_for_nothing_more(
    user: User, api: Api, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.script(scripts.text("Hello."), scripts.text("Well [report.pdf, p. 4]."))
    first = await send(api, "Hello")
    with statements(monkeypatch) as asked:
        second = await send(api, "How are you?", thread=first.body["thread"])
    assert second.body["assistant_message"]["citations"] == []
    assert asked
    assert not [each for each in asked if "conversations_filepart" in each or '"files" IS NOT NULL' in each]


async def test_what_was_forgotten_cites_nothing(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, ["The costs were 12 euros."])
    model.script(scripts.text("It was 12 [report.pdf, section 1]."))
    answer = await send(api, "What were the costs?", file)
    turn = answer.body["assistant_message"]["id"]
    assert (await Message.objects.aget(id=turn)).citations
    forgotten = await api.post(f"messages/{turn}/forget/")
    assert forgotten.status == 200, forgotten.body
    assert (await Message.objects.aget(id=turn)).citations is None
