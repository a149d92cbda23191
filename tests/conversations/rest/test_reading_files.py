"""The tool that reads parts of files which were not given."""

import base64
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.context.files.excerpts import read_ranges
from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, File, FilePart, Message, Model, TurnFile
from conversations.providers import model_catalog
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.chat_server import ChatServer
from tests.chat_server import scripts as chat
from tests.conversations.rest.client import Api, ApiResponse
from tests.conversations.rest.test_messages_with_files import make_report, pages, png, send
from tests.memory.forgetting.test_forgetting import rows_with
from tests.model_server import ModelServer
from tests.model_server.prompts import unmarked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def read_file(parts: str, *, file: str = "report.pdf", id: str = "toolu_1") -> scripts.Script:
    return scripts.tool_use("read_file", {"file": file, "parts": parts}, tool_id=id)


def tool_names(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in body.get("tools", ())]


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    said = [block for message in body["messages"] if message["role"] == "user" for block in message["content"]]
    return [block for block in said if block["type"] == "tool_result"]


def result_text(body: dict[str, Any], place: int = -1) -> str:
    content = results(body)[place]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def requests_of(answer: ApiResponse) -> list[ContextSnapshot]:
    """In order; each must rebuild byte for byte, and account for each part of each file once."""
    found = [each async for each in ContextSnapshot.objects.filter(reply=answer.body["reply"]["id"]).order_by("round")]
    for snapshot in found:
        assert await in_database(snapshots.proof)(snapshot)
        assert snapshot.files
        rows = [row for turn in snapshot.files["turns"].values() for row in turn]
        rows += [*snapshot.files["read"], *snapshot.files["left_out"]]
        named = [(row[0], number) for row in rows for number in read_ranges(row[1])]
        assert len(named) == len(set(named)) == await FilePart.objects.acount()
    return found


async def test_the_model_reads_a_page_that_it_was_not_given_and_keeps_it(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, pages(60, p41="The greenhouse keeps 300 orchids. ", p9="Ann paid. "))
    model.script(read_file("9-10"), scripts.text("Ann [report.pdf, section 9]."), scripts.text("As I said."))
    first = await send(api, "How many orchids are in the greenhouse?", file)
    assert first.status == 201, first.body
    before, after = model.bodies
    assert "read_file" in tool_names(before)
    assert "Read other parts with read_file" in json.dumps(before["messages"])
    assert before["messages"] == after["messages"][: len(before["messages"])]
    assert "Ann paid." in result_text(after)
    assert 'part number="10"' in result_text(after)
    opening, closing = await requests_of(first)
    assert opening.files and closing.files
    assert opening.files["read"] == []
    ((id, ranges, tokens),) = closing.files["read"]
    assert (id, ranges) == (str(file.id), "9-10")
    assert closing.files["tokens"] == opening.files["tokens"] + tokens
    told = (await api.get(f"requests/{closing.id}/")).body
    assert [(row["parts"], row["tokens"]) for row in told["files"][0]["read"]] == [("9-10", tokens)]
    assert [fate["parts"] for fate in told["fates"] if fate["reason"] == "read"] == ["9-10"]
    assert "Ann paid." in next(section["text"] for section in told["sections"] if section["name"] == "files")
    assert first.body["assistant_message"]["citations"][0]["given"]

    turn = await Message.objects.aget(id=first.body["assistant_message"]["id"])
    assert turn.content
    assert turn.content[1]["content"] == [{"type": "file", "file": str(file.id), "name": "report.pdf", "parts": "9-10"}]
    second = await send(api, "Are you sure that Ann paid?", thread=first.body["thread"])
    assert "Ann paid." in result_text(model.bodies[-1])
    said, *_, result = unmarked(after["messages"])
    assert unmarked(model.bodies[-1]["messages"])[0] == said
    assert unmarked(model.bodies[-1]["messages"])[2] == result
    (request,) = await requests_of(second)
    assert request.files
    assert [(row[0], row[1]) for row in request.files["turns"]["2"]] == [(str(file.id), "9-10")]


@pytest.mark.wide
async def test_what_is_there_already_or_not_at_all_or_too_much_is_said(
    user: User, api: Api, model: ModelServer
) -> None:
    await Assistant.objects.aupdate(file_tokens=50_000)
    file = await in_database(make_report)(user, pages(120, p41="The greenhouse keeps 300 orchids. "))
    model.script(
        read_file("41, 7", id="toolu_1"),
        read_file("190", id="toolu_2"),
        read_file("1", file="raport.pdf", id="toolu_3"),
        read_file("p. 4, the end", id="toolu_4"),
        read_file("section 60", id="toolu_5"),
        read_file("2-120", id="toolu_6"),
        scripts.text("Well."),
    )
    answer = await send(api, "How many orchids are in the greenhouse?", file)
    assert answer.status == 201, answer.body
    *_, last = model.bodies
    told = [result_text(last, place) for place in range(6)]
    assert told[0].startswith("Given above already: part 41.")
    assert 'part number="7"' in told[0]
    assert 'part number="41"' not in told[0]
    assert told[1].startswith("“report.pdf” has no part “190”. It has parts 1 to 120: section 1 to section 120.")
    assert told[2] == "There is no file “raport.pdf” in this conversation. There are: “report.pdf”."
    assert told[3].startswith("“report.pdf” has no part “p. 4, the end”.")
    assert "Not given here, as one call gives no more: parts " in told[5]
    assert 'part number="60"' in told[4]
    assert [block.get("is_error", False) for block in results(last)] == [False, True, True, True, False, False]
    await requests_of(answer)


async def test_a_reply_reads_no_more_than_there_is_room_for(user: User, api: Api, model: ModelServer) -> None:
    await Assistant.objects.aupdate(file_tokens=6_000)
    file = await in_database(make_report)(user, pages(60, p41="The greenhouse keeps 300 orchids. "))
    model.script(read_file("1-60"), read_file("50-60", id="toolu_2"), scripts.text("Enough."))
    answer = await send(api, "How many orchids are in the greenhouse?", file)
    assert "as there is no room for more in this reply" in result_text(model.bodies[-1])
    *_, last = await requests_of(answer)
    assert last.files
    assert sum(row[2] for row in last.files["read"]) <= 3_000 * last.token_factor + 10


async def test_a_server_of_chat_completions_is_given_the_picture_in_the_next_message(
    user: User, api: Api, chat_model: ChatServer, settings: Settings
) -> None:
    report, picture = pages(60, p41="The greenhouse keeps 300 orchids. "), png(640, 480)
    file = await in_database(make_report)(user, ["", *report[1:]], picture=picture)
    await FilePart.objects.filter(file=file, number=1).aupdate(width=640, height=480, token_count=0)
    await Assistant.objects.aupdate(file_tokens=3_000)
    await Model.objects.acreate(
        provider="openai", name="chat", label="Chat", context_window=100_000, max_output=10_000, takes_images=True
    )
    settings.OPENBOOK_MODEL = "chat"
    model_catalog.reread()
    call = chat.Call(name="read_file", arguments={"file": "report.pdf", "parts": "1, 9"}, id="call_1")
    chat_model.say(chat.answer(call), chat.answer("A cover."), chat.answer("Yes."))
    answer = await send(api, "How many orchids are in the greenhouse? What is on the cover?", file)
    assert answer.status == 201, answer.body
    *_, result, shown = chat_model.chats[-1]["messages"]
    assert (result["role"], shown["role"]) == ("tool", "user")
    assert "[The picture comes in the next message.]" in result["content"]
    assert 'part number="9"' in result["content"]
    ((kind, url),) = ((part["type"], part["image_url"]["url"]) for part in shown["content"])
    assert (kind, url) == ("image_url", f"data:image/png;base64,{base64.b64encode(picture).decode()}")
    await requests_of(answer)
    second = await send(api, "Sure?", thread=answer.body["thread"])
    assert second.status == 201, second.body
    before, now = (body["messages"] for body in chat_model.chats[-2:])
    assert now[-5:-2] == before[-3:]
    await requests_of(second)


async def test_the_tool_is_there_from_the_first_file_on(user: User, api: Api, model: ModelServer) -> None:
    model.script(*(scripts.text(f"{n}.") for n in range(4)))
    first = await send(api, "Hello")
    file = await in_database(make_report)(user, ["The costs were 12 euros."])
    thread = first.body["thread"]
    await send(api, "Look", file, thread=thread)
    await send(api, "And now?", thread=thread)
    without, *with_file = model.bodies
    assert "read_file" not in tool_names(without)
    assert "[report.pdf, p. 4]" not in json.dumps(without["system"])
    assert all("read_file" in tool_names(body) for body in with_file)
    assert with_file[0]["tools"] == with_file[1]["tools"]
    assert with_file[0]["system"][1]["text"] == with_file[1]["system"][1]["text"]
    assert "[report.pdf, p. 4]" in json.dumps(with_file[0]["system"])


async def test_a_page_without_text_comes_as_a_picture(user: User, api: Api, model: ModelServer) -> None:
    picture = png(640, 480)
    report = pages(60, p41="The greenhouse keeps 300 orchids. ")
    file = await in_database(make_report)(user, ["", *report[1:]], picture=picture)
    await FilePart.objects.filter(file=file, number=1).aupdate(width=640, height=480, token_count=0)
    await Assistant.objects.aupdate(file_tokens=3_000)
    model.script(read_file("1"), scripts.text("A cover."), scripts.text("Yes."))
    answer = await send(api, "How many orchids are in the greenhouse? What is on the cover?", file)
    parts = results(model.bodies[-1])[0]["content"]
    (image,) = [part for part in parts if part["type"] == "image"]
    assert base64.b64decode(image["source"]["data"]) == picture
    await requests_of(answer)
    await Model.objects.filter(provider="anthropic").aupdate(takes_images=False)
    model_catalog.reread()
    second = await send(api, "Sure?", thread=answer.body["thread"])
    assert "640×480 pixels, which this model can’t see" in result_text(model.bodies[-1])
    await requests_of(second)


async def test_a_deleted_file_leaves_nothing_of_what_was_read(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, pages(60, p9="The canary sings. ", p3="Orchids grow here. "))
    model.script(read_file("9"), scripts.text("It is read."), scripts.text("It is gone."))
    first = await send(api, "Where do orchids grow?", file)
    *_, snapshot = await requests_of(first)
    await File.objects.filter(id=file.id).adelete()
    assert not await TurnFile.objects.aexists()
    second = await send(api, "And now?", thread=first.body["thread"])
    assert second.status == 201, second.body
    assert "canary" not in json.dumps(model.bodies[-1])
    assert await in_database(rows_with)("canary sings") == []
    assert result_text(model.bodies[-1]) == "[File: report.pdf]"
    with pytest.raises(snapshots.NotRebuildable, match="A file of this request"):
        await in_database(snapshots.rebuild)(snapshot)
