"""Messages that bring files: what the model is given of them, that it stays where it was, and that it can be proven."""

import asyncio
import base64
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from PIL import Image

from conversations.context.files.excerpts import read_ranges, text_in
from conversations.context.record import snapshots
from conversations.models import (
    Assistant,
    BytesToRemove,
    ContextSnapshot,
    File,
    FilePart,
    Message,
    Model,
    Reply,
    TurnFile,
)
from conversations.providers import model_catalog
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_file
from tests.conversations.rest.client import Api, ApiResponse
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

FILLER = "Nothing else of any interest happened that quarter, as everybody could tell from the figures. " * 30


def make_report(user: User, texts: Sequence[str], **values: Any) -> File:
    """A file that has been read."""
    known = {"name": "report.pdf", "kind": "pdf", "media_type": "application/pdf", "state": File.State.READY}
    return make_file(user, parts=texts, **known | values)


def pages(count: int, **told: str) -> list[str]:
    """Long pages; ``p7="…"`` is what the seventh tells."""
    return [told.get(f"p{number}", "") + FILLER for number in range(1, count + 1)]


def sent_text(request: dict[str, Any], place: int = -1) -> str:
    return "".join(texts(request["messages"][place]))


async def proven(answer: ApiResponse) -> ContextSnapshot:
    """The newest request of an exchange, which must rebuild byte for byte."""
    assert answer.status == 201, answer.body
    snapshot = await ContextSnapshot.objects.aget(id=answer.body["request"])
    assert await in_database(snapshots.proof)(snapshot)
    return snapshot


async def send(api: Api, content: str, *files: File, thread: str = "new") -> ApiResponse:
    return await api.post(
        f"threads/{thread}/messages/", {"content": content, "files": [str(file.id) for file in files]}
    )


async def test_a_small_file_goes_in_whole_and_stays_in_its_turn(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, ["The costs were 12 euros.", "The end."])
    first = await send(api, "What were the costs?", file)
    text = sent_text(model.bodies[-1])
    assert text.index("<file ") < text.index("12 euros") < text.index("The end.") < text.index("What were the costs?")
    assert first.body["user_message"]["content"][0] == {"type": "file", "file": str(file.id), "name": "report.pdf"}
    assert first.body["user_message"]["text"] == "What were the costs?"
    await proven(first)
    thread = first.body["thread"]
    assert str((await File.objects.aget(id=file.id)).thread_id) == thread

    second = await send(api, "Thank you. Anything else?", thread=thread)
    before, now = (body["messages"] for body in model.bodies[-2:])
    assert texts(now[0]) == texts(before[0])
    assert sent_text(model.bodies[-1]).startswith("Thank you")
    await proven(second)


async def test_of_a_large_file_the_parts_that_bear_are_given_and_more_later_beside_what_stands(
    user: User, api: Api, model: ModelServer
) -> None:
    report = pages(60, p41="The greenhouse keeps 300 orchids. ", p17="The director’s bicycle is green. ")
    file = await in_database(make_report)(user, report)
    first = await send(api, "How many orchids are in the greenhouse?", file)
    text = sent_text(model.bodies[-1])
    assert "300 orchids" in text
    assert "bicycle" not in text
    assert 'parts="60"' in text
    snapshot = await proven(first)
    accounted(snapshot, {str(file.id): 60})
    (told,) = (await api.get(f"requests/{snapshot.id}/")).body["files"]
    assert (told["id"], told["name"], told["parts"]) == (str(file.id), "report.pdf", 60)
    (given,) = told["given"]
    assert (given["position"], given["whole"], given["outlined"]) == (1, False, True)
    assert 41 in read_ranges(given["parts"])
    assert {row["reason"] for row in told["left_out"]} <= {"unrelated", "over_budget"}
    sections = {section["name"]: section for section in (await api.get(f"requests/{snapshot.id}/")).body["sections"]}
    assert "300 orchids" in sections["files"]["text"]
    assert sections["files"]["tokens"] == given["tokens"]

    second = await send(api, "And what colour is the bicycle of the director?", thread=first.body["thread"])
    before, now = (body["messages"] for body in model.bodies[-2:])
    assert texts(now[0]) == texts(before[0])
    text = sent_text(model.bodies[-1])
    assert "bicycle is green" in text
    assert "300 orchids" not in text
    accounted(await proven(second), {str(file.id): 60})
    assert await TurnFile.objects.acount() == 2

    retried = await api.post(f"replies/{second.body['reply']['id']}/retry/")
    assert retried.status == 202
    [event async for event in api.events("GET", f"replies/{retried.body['id']}/events/")]
    assert model.bodies[-1]["messages"] == model.bodies[-2]["messages"]


async def test_a_picture_goes_to_a_model_that_sees_and_is_told_of_to_one_that_does_not(
    user: User, api: Api, model: ModelServer
) -> None:
    picture = png(640, 480)
    values = {"name": "cat.png", "kind": "image", "media_type": "image/png", "picture": picture}
    file = await in_database(make_report)(user, [""], **values)
    await FilePart.objects.filter(file=file).aupdate(width=640, height=480)
    first = await send(api, "What is in it?", file)
    image = next(block for block in model.bodies[-1]["messages"][-1]["content"] if block["type"] == "image")
    assert base64.b64decode(image["source"]["data"]) == picture
    assert image["source"]["media_type"] == "image/png"
    snapshot = await proven(first)
    assert snapshot.files
    assert 23 * 18 <= snapshot.files["tokens"] <= 23 * 18 + 100

    await Model.objects.filter(provider="anthropic").aupdate(takes_images=False)
    model_catalog.reread()
    second = await send(api, "And now?", thread=first.body["thread"])
    assert "640×480 pixels, which this model can’t see" in sent_text(model.bodies[-1], 0)
    await proven(second)
    assert await in_database(snapshots.proof)(snapshot)


def png(width: int, height: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(stream, "PNG")
    return stream.getvalue()


async def test_what_cannot_be_sent_is_refused_and_nothing_is_stored(
    user: User, other_user: User, api: Api, model: ModelServer
) -> None:
    theirs = await in_database(make_report)(other_user, ["Secret"])
    failed = await in_database(make_report)(user, [], state=File.State.FAILED)
    elsewhere = await in_database(make_report)(user, ["Text"])
    await send(api, "Hello", elsewhere)
    count = await Message.objects.acount()
    refused = {
        (404, "not_found", "file_not_found"): [str(theirs.id)],
        (409, "conflict", "file_unreadable"): [str(failed.id)],
        (409, "conflict", "file_elsewhere"): [str(elsewhere.id)],
        (400, "invalid_request", "invalid_message"): ["nonsense"],
    }
    for code, ids in refused.items():
        answer = await api.post("threads/new/messages/", {"content": "Look", "files": ids})
        assert answer.code == code
    assert (await api.post("threads/new/messages/", {"content": ""})).code[2] == "invalid_message"
    assert await Message.objects.acount() == count


async def test_a_file_alone_is_a_message_and_names_its_thread(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, ["Alone"], name="minutes.md")
    answer = await send(api, "", file)
    thread = await api.get(f"threads/{answer.body['thread']}/")
    assert thread.body["title"] == "minutes.md"
    assert "Alone" in sent_text(model.bodies[-1])
    await proven(answer)


async def test_a_message_waits_for_its_files_to_be_read(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, ["Read at last"], state=File.State.READING)
    sending = asyncio.create_task(send(api, "What does it say?", file))
    async with asyncio.timeout(20):
        while not await Reply.objects.filter(status="running").aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert model.bodies == []
    await File.objects.filter(id=file.id).aupdate(state=File.State.READY)
    await proven(await sending)
    assert "Read at last" in sent_text(model.bodies[-1])


async def test_a_deleted_file_is_in_no_later_request_and_earlier_ones_say_that_it_is_gone(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, ["The canary sings."])
    model.script(scripts.text("It does."), scripts.text("It is gone."))
    first = await send(api, "What does the canary do?", file)
    snapshot = await proven(first)
    await File.objects.filter(id=file.id).adelete()
    second = await send(api, "And now?", thread=first.body["thread"])
    assert "canary sings" not in json.dumps(model.bodies[-1])
    assert "[File: report.pdf]" in sent_text(model.bodies[-1], 0)
    await proven(second)
    with pytest.raises(snapshots.NotRebuildable, match="A file of this request"):
        await in_database(snapshots.rebuild)(snapshot)


@pytest.mark.parametrize("how", ["the turn is forgotten", "the thread is cleared", "the thread is deleted"])
async def test_what_takes_the_turn_takes_its_files(user: User, api: Api, model: ModelServer, how: str) -> None:
    model.script(scripts.text("It does."))
    file = await in_database(make_report)(user, ["The canary sings.", "It sings on."])
    first = await send(api, "What does the canary do?", file)
    thread, turn = first.body["thread"], first.body["user_message"]["id"]
    if how == "the turn is forgotten":
        answer = await api.post(f"messages/{turn}/forget/")
    elif how == "the thread is cleared":
        answer = await api.post(f"threads/{thread}/clear/")
    else:
        answer = await api.call("DELETE", f"threads/{thread}/")
    assert answer.status in (200, 204), answer.body
    assert not await File.objects.aexists()
    assert not await FilePart.objects.aexists()
    assert not await TurnFile.objects.aexists()
    assert await BytesToRemove.objects.filter(place=file.place).aexists()


def accounted(snapshot: ContextSnapshot, parts: dict[str, int]) -> None:
    """Each part of each file stands in the record once."""
    assert snapshot.files
    given = [(id, ranges) for rows in snapshot.files["turns"].values() for id, ranges, *_ in rows]
    named = [(id, number) for id, ranges in given for number in read_ranges(ranges)]
    named += [(id, number) for id, ranges, _ in snapshot.files["left_out"] for number in read_ranges(ranges)]
    assert sorted(named) == sorted((id, number) for id, count in parts.items() for number in range(1, count + 1))


def texts(message: dict[str, Any]) -> list[str]:
    return [text_in([block]) for block in message["content"]]


async def test_a_model_with_a_small_window_is_given_no_more_than_it_can_take(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, pages(30, p3="The greenhouse keeps 300 orchids. "))
    first = await send(api, "Sum this up. How many orchids are in it?", file)
    await Model.objects.filter(provider="anthropic").aupdate(context_window=24_000)
    model_catalog.reread()
    second = await send(api, "How many orchids again?", thread=first.body["thread"])
    snapshot = await proven(second)
    assert snapshot.total_tokens + snapshot.max_tokens <= 24_000
    assert "300 orchids" in json.dumps(model.bodies[-1])
    accounted(snapshot, {str(file.id): 30})
    retried = await api.post(f"replies/{second.body['reply']['id']}/retry/")
    [event async for event in api.events("GET", f"replies/{retried.body['id']}/events/")]
    assert model.bodies[-1]["messages"] == model.bodies[-2]["messages"]


async def test_what_was_chosen_for_a_turn_stays_also_where_there_would_be_room_for_more_now(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, pages(60, p41="The greenhouse keeps 300 orchids. "))
    first = await send(api, "How many orchids are in the greenhouse?", file)
    await Assistant.objects.aupdate(file_tokens=60_000)
    retried = await api.post(f"replies/{first.body['reply']['id']}/retry/")
    [event async for event in api.events("GET", f"replies/{retried.body['id']}/events/")]
    assert model.bodies[-1]["messages"] == model.bodies[-2]["messages"]
