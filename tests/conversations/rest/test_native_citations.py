"""Citations that Anthropic's API makes by itself: asked for, checked, and told as marks like those of any other model."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.models import FilePart, Message
from conversations.models.deletion_guard import allow_deletion
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.conversations.rest.test_messages_with_files import make_report, png, proven, send
from tests.model_scripts import Cited
from tests.model_server import ModelServer
from tests.model_server.rules import complaint, documents

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

PAGES = ["The costs were 12 euros.", "The director cycles.", "The end."]


async def test_what_the_api_cites_becomes_marks_of_the_text(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, PAGES, name="R&D.pdf")
    await FilePart.objects.filter(file=file, number=2).aupdate(label="page 2")
    model.script(
        scripts.citing(
            "Well: ", Cited(text="they were 12 euros", first=0), ", and ", Cited(text="she cycles.", first=1, end=3)
        ),
        scripts.text("Yes."),
    )
    answer = await send(api, "What were the costs, and how does she travel?", file)
    assert answer.status == 201, answer.body
    (document,) = documents(model.bodies[-1])
    assert document["citations"] == {"enabled": True}
    assert (document["title"], len(document["source"]["content"])) == ("R&D.pdf", 3)
    text = "Well: they were 12 euros [R&D.pdf, section 1], and she cycles. [R&D.pdf, p. 2] [R&D.pdf, section 3]"
    turn = answer.body["assistant_message"]
    assert turn["text"] == text
    assert [(each["text"], each["part"], each["given"]) for each in turn["citations"]] == [
        ("[R&D.pdf, section 1]", 1, True),
        ("[R&D.pdf, p. 2]", 2, True),
        ("[R&D.pdf, section 3]", 3, True),
    ]
    events = [event async for event in api.events("GET", f"replies/{answer.body['reply']['id']}/events/")]
    assert "".join(event["data"]["text"] for event in events if event["type"] == "reply.delta") == text
    assert await in_database(remade_exactly)(await proven(answer))

    second = await send(api, "Sure?", thread=answer.body["thread"])
    first_sent, again = (body["messages"][0]["content"][0] for body in model.bodies[-2:])
    assert first_sent == again
    assert model.bodies[-1]["messages"][1]["content"] == [{"type": "text", "text": text}]
    await proven(second)


async def test_what_is_cited_before_a_tool_is_called_goes_back_with_its_mark(
    user: User, api: Api, model: ModelServer
) -> None:
    file = await in_database(make_report)(user, PAGES)
    cited = scripts.citing(Cited(text="12 euros.", first=0)).steps[:-2]
    call = scripts.ScriptedToolUse(name="read_file", input={"file": "report.pdf", "parts": "3"})
    model.script(
        scripts.stream(*cited, *call.steps(1), scripts.message_delta("tool_use"), scripts.message_stop()),
        scripts.citing(Cited(text="It ends.", first=2)),
    )
    answer = await send(api, "What were the costs?", file)
    assert answer.status == 201, answer.body
    text = "12 euros. [report.pdf, section 1]\n\nIt ends. [report.pdf, section 3]"
    assert answer.body["assistant_message"]["text"] == text
    said = next(block for block in model.bodies[-1]["messages"][1]["content"] if block["type"] == "text")
    assert said["text"] == "12 euros. [report.pdf, section 1]"
    await proven(answer)


@pytest.mark.parametrize(
    "untrue",
    [
        {"first": 0, "cited": "The costs were 99 euros."},
        {"first": 7, "cited": "The costs"},
        {"first": 2, "end": 1, "cited": ""},
        {"first": 0, "document": 4, "cited": "The costs were 12 euros."},
    ],
)
async def test_a_citation_that_is_not_true_is_no_mark(
    user: User, api: Api, model: ModelServer, untrue: dict[str, Any]
) -> None:
    file = await in_database(make_report)(user, PAGES)
    model.script(scripts.citing(Cited(text="It was a lot.", **untrue)))
    answer = await send(api, "What were the costs?", file)
    assert answer.status == 201, answer.body
    assert answer.body["assistant_message"]["text"] == "It was a lot."
    assert answer.body["assistant_message"]["citations"] == []


async def test_a_mark_that_the_model_wrote_itself_is_not_said_twice(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, PAGES)
    model.script(scripts.citing(Cited(text="12 euros [report.pdf, section 1].", first=0)))
    answer = await send(api, "What were the costs?", file)
    assert answer.body["assistant_message"]["text"] == "12 euros [report.pdf, section 1]."


async def test_a_picture_stands_in_the_document_behind_its_words(user: User, api: Api, model: ModelServer) -> None:
    file = await in_database(make_report)(user, ["", "The end."], picture=png(640, 480))
    await FilePart.objects.filter(file=file, number=1).aupdate(width=640, height=480)
    model.script(scripts.citing(Cited(text="Teal.", first=0)))
    answer = await send(api, "What is on the first page?", file)
    (document,) = documents(model.bodies[-1])
    assert [part["type"] for part in document["source"]["content"]] == ["text", "image", "text"]
    assert answer.body["assistant_message"]["text"] == "Teal. [report.pdf, section 1]"
    await proven(answer)


async def test_a_thread_that_goes_on_with_another_kind_of_model_says_the_same_in_words(
    user: User, api: Api, model: ModelServer, settings: Settings
) -> None:
    file = await in_database(make_report)(user, PAGES)
    model.script(scripts.citing(Cited(text="12 euros", first=0)), scripts.text("Yes."), scripts.text("Still."))
    first = await send(api, "What were the costs?", file)
    settings.OPENBOOK_MODEL = "other-model"
    second = await send(api, "Sure?", thread=first.body["thread"])
    assert second.status == 201, second.body
    assert documents(model.bodies[-1]) == []
    said = json.dumps(model.bodies[-1])
    assert "The costs were 12 euros." in said
    assert "12 euros [report.pdf, section 1]" in said
    assert "Cite what you take from a file" in said
    await proven(second)
    settings.OPENBOOK_MODEL = "claude-opus-5"
    third = await send(api, "Really?", thread=first.body["thread"])
    assert len(documents(model.bodies[-1])) == 1
    await proven(third)
    assert await in_database(remade_exactly)(await proven(first))


async def test_documents_of_an_import_are_cited_too_where_others_are(user: User, api: Api, model: ModelServer) -> None:
    """The API takes them all or none."""
    file = await in_database(make_report)(user, PAGES)
    model.script(scripts.text("Yes."), scripts.text("Well."))
    first = await send(api, "Hello", file)
    source = {"type": "text", "media_type": "text/plain", "data": "Grass is green."}
    block = {"type": "document", "source": source, "title": "grass"}
    await in_database(_with_document)(block)
    second = await send(api, "And now?", thread=first.body["thread"])
    assert second.status == 201, second.body
    assert [document["citations"] for document in documents(model.bodies[-1])] == [{"enabled": True}] * 2
    await proven(second)


def _with_document(block: dict[str, Any]) -> None:
    """As an import leaves one in a turn of the person's."""
    turn = Message.objects.get(position=1)
    with allow_deletion():
        Message.objects.filter(id=turn.id).update(content=[block, *turn.blocks])


def test_the_local_api_refuses_what_the_api_refuses() -> None:
    def asking(*cited: bool, **more: Any) -> dict[str, Any]:
        source = {"type": "content", "content": [{"type": "text", "text": "Grass is green."}]}
        content = [{"type": "document", "source": source, "citations": {"enabled": each}} for each in cited]
        return {
            "model": "claude-opus-5",
            "max_tokens": 100,
            "stream": True,
            "messages": [{"role": "user", "content": [*content, {"type": "text", "text": "What is green?"}]}],
            **more,
        }

    assert complaint(asking(True, True)) is None
    assert "all or none" in (complaint(asking(True, False)) or "")
    schema = {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}}
    assert "structured outputs" in (complaint(asking(True, output_config={"format": schema})) or "")
