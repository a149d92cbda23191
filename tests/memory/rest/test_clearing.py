"""A thread is cleared through the API: its turns are in no answer, no export and no request any more, and one can talk on."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, Message, Thread
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.factories import make_memory
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SAID = "By the way, my locker code is ZEBRA-QUOKKA."
QUESTION = "What is the code of my locker?"


async def say(api: Api, thread: str, content: str) -> dict[str, Any]:
    answer = await api.post(f"threads/{thread}/messages/", {"content": content})
    assert answer.status == 201
    body: dict[str, Any] = answer.body
    return body


async def test_nothing_of_a_cleared_thread_is_left_and_one_can_talk_on(
    user: User, api: Api, model: ModelServer
) -> None:
    model.script(*map(scripts.text, ["Noted.", "It is ZEBRA.", "I don't know.", "Nor do I."]))
    told = await say(api, "new", SAID)
    thread = told["thread"]
    await say(api, thread, QUESTION)
    await in_database(make_memory)(user, "Locker code: ZEBRA-QUOKKA", sources=[told["user_message"]["id"]])
    spent = (await api.get("limits/")).body

    seen = await api.get(f"threads/{thread}/clearing/")
    done = await api.post(f"threads/{thread}/clear/")
    assert (seen.status, done.status, seen.body) == (200, 200, done.body)
    assert done.body == {
        "thread": thread, "messages": 4, "quotes": 0, "memories": 1, "topics": 0, "titles": 1, "summaries": 0,
        "snapshots": 2, "kept_artifacts": 0, "held": "",
    }  # fmt: skip
    assert await in_database(rows_with)("ZEBRA", "QUOKKA") == []
    assert (await api.get(f"threads/{thread}/messages/")).body["results"] == []
    assert (await api.get(f"threads/{thread}/messages/?before=end")).body["results"] == []
    assert (await api.get(f"threads/{thread}/")).body["message_count"] == 0
    assert "QUOKKA" not in str((await api.get("export/")).body) + (await api.get(f"threads/{thread}/export/")).body
    assert (await api.get("memories/search/?q=locker code zebra")).body["results"] == []
    assert (await api.get("limits/")).body["tokens_used"] == spent["tokens_used"] > 0, "what was used stays used"
    before = (await api.get(f"requests/{told['request']}/")).body
    assert (before["request"], bool(before["forgotten_at"]), before["usage"]["input_tokens"] > 0) == (None, True, True)
    assert {section["name"] for section in before["sections"] if section["forgotten_at"]} == {"message"}

    again = [await say(api, thread, QUESTION), await say(api, "new", QUESTION)]
    assert "ZEBRA" not in str(model.bodies[2:])
    assert [message["content"][0]["text"] for message in model.bodies[2]["messages"]] == [QUESTION]
    positions = [turn["position"] for turn in (await api.get(f"threads/{thread}/messages/")).body["results"]]
    assert (positions, (await api.get(f"threads/{thread}/")).body["title"]) == ([5, 6], QUESTION)
    request = (await api.get(f"requests/{again[0]['request']}/")).body
    assert [(item["position"], item["reason"]) for item in request["items"]] == [(5, "newest")]
    rows = [await ContextSnapshot.objects.aget(id=one["request"]) for one in again]
    assert [await in_database(snapshots.proof)(row) for row in rows] == [True, True]


async def test_replies_of_before_have_an_end_and_can_not_be_tried_again(api: Api, model: ModelServer) -> None:
    model.script(scripts.text("Noted."))
    told = await say(api, "new", SAID)
    await api.post(f"threads/{told['thread']}/clear/")
    reply = told["reply"]["id"]
    assert (await api.post(f"replies/{reply}/retry/")).code == (409, "conflict", "cannot_retry")
    events = (await api.get(f"replies/{reply}/events/")).body
    assert "event: reply.completed" in events and "Noted" not in events and "ZEBRA" not in events
    assert (await api.get(f"messages/{told['user_message']['id']}/forgetting/")).status == 404


async def test_what_was_made_beside_it_stays_and_the_model_is_told_of_it(
    user: User, api: Api, model: ModelServer
) -> None:
    model.script(scripts.text("I change it."))
    analyst = await Assistant.objects.aget(slug="analyst")
    thread = await in_database(make_thread)(user, [SAID, "Done."], assistant=analyst)
    artifact = await in_database(make_artifact)(thread, "# Repairs", title="Repairs")
    assert (await api.post(f"threads/{thread.id}/clear/")).body["kept_artifacts"] == 1
    assert (await api.get(f"artifacts/{artifact.id}/")).body["content"] == "# Repairs"
    await say(api, str(thread.id), "Make it longer.")
    assert "“Repairs”" in str(model.bodies[0]["messages"]) and "QUOKKA" not in str(model.bodies[0])


async def test_a_running_reply_is_not_cleared_away(api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("One. ", gate, "Two."))
    sending = asyncio.create_task(say(api, "new", SAID))
    await asyncio.to_thread(gate.wait_until_reached)
    thread = (await Thread.objects.aget()).id
    assert (await api.get(f"threads/{thread}/clearing/")).status == 200
    refused = await api.post(f"threads/{thread}/clear/")
    assert refused.code == (409, "conflict", "reply_in_progress")
    gate.open()
    await sending
    assert await Message.objects.filter(thread=thread).acount() == 2
    assert (await api.post(f"threads/{thread}/clear/")).body["messages"] == 2


async def test_to_clear_twice_and_to_clear_what_is_empty_does_no_harm(user: User, api: Api) -> None:
    thread = await in_database(make_thread)(user, ["One", "Two"], title="Counting")
    answers = [(await api.post(f"threads/{thread.id}/clear/")).body for _ in range(2)]
    assert [(answer["messages"], answer["titles"]) for answer in answers] == [(2, 0), (0, 0)]
    assert (await api.get(f"threads/{thread.id}/")).body["title"] == "Counting"


async def test_another_users_thread_is_not_cleared(user: User, others_api: Api) -> None:
    thread = await in_database(make_thread)(user, ["Mine"])
    refused = [
        await others_api.get(f"threads/{thread.id}/clearing/"),
        await others_api.post(f"threads/{thread.id}/clear/"),
    ]
    assert [answer.code for answer in refused] == [(404, "not_found", "thread_not_found")] * 2
    assert await Message.objects.filter(thread=thread).acount() == 1


async def test_pages_that_a_program_keeps_are_new_after_it(user: User, api: Api) -> None:
    thread = await in_database(make_thread)(user, ["One", "Two"], title="Counting")
    paths = [f"threads/{thread.id}/", f"threads/{thread.id}/messages/"]
    tags = [(await api.get(path)).headers["etag"] for path in paths]
    await api.post(f"threads/{thread.id}/clear/")
    kept = [await api.get(path, **{"If-None-Match": tag}) for path, tag in zip(paths, tags, strict=True)]
    assert [answer.status for answer in kept] == [200, 200]


@pytest.mark.wide
async def test_senders_and_clearers_at_once_leave_no_half(user: User, api: Api, model: ModelServer) -> None:
    """Each message is answered whole or refused whole, and after each clearing the thread begins with a question."""
    thread = await in_database(make_thread)(user, ["Hello", "Hi"])

    async def send(number: int) -> ApiResponse:
        return await api.post(f"threads/{thread.id}/messages/", {"content": f"Number {number}"})

    async def clear() -> ApiResponse:
        return await api.post(f"threads/{thread.id}/clear/")

    statuses: Counter[tuple[str, int]] = Counter()
    for round in range(6):
        answers = await asyncio.gather(send(2 * round), clear(), send(2 * round + 1), clear())
        statuses.update(zip(("send", "clear", "send", "clear"), (answer.status for answer in answers), strict=True))
        after = await Thread.objects.aget(id=thread.id)
        turns = [turn async for turn in Message.objects.filter(thread=thread).order_by("position")]
        assert [turn.depth for turn in turns] == list(range(1, len(turns) + 1))
        assert (len(turns), len(turns) % 2) == (after.message_count, 0)
        assert all(turn.position > after.cleared_through for turn in turns)
        assert [turn.token_total - turn.token_count for turn in turns[:1]] == [0] * len(turns[:1])
        sent = ContextSnapshot.objects.filter(thread=thread, created_at__gt=after.cleared_at or after.created_at)
        async for request in sent:
            assert await in_database(snapshots.proof)(request)
    assert {*statuses} <= {("send", 201), ("send", 409), ("clear", 200), ("clear", 409)}
    assert statuses["send", 201] and statuses["clear", 200]
