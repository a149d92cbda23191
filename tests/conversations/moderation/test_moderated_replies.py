"""Checks of what people send and models answer, from the message to the record."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.utils import translation
from pytest_django import Settings

from artifacts.models import Artifact
from conversations import replies
from conversations.accounts import tokens
from conversations.context.record import snapshot_api
from conversations.context.tokens.estimate import estimate_tokens
from conversations.errors import RefusedByModeration, describe
from conversations.models import (
    ApiToken,
    Assistant,
    AuditEvent,
    ContextSnapshot,
    Message,
    ModerationFinding,
    Moderator,
    Reply,
    Stage,
    Thread,
    TokenReservation,
)
from conversations.moderation import moderators
from conversations.moderation.checks import Examined
from conversations.moderation.verdicts import REFUSED_WORDS, UNAVAILABLE
from conversations.providers.signatures import signature_headers
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database
from conversations.runtime.wording import translated
from tests import model_scripts as scripts
from tests.conversations.connections import LOOPBACK, make_connection
from tests.conversations.factories import make_file, make_moderator, make_thread, make_user
from tests.conversations.web.sockets import Socket
from tests.model_server import ModelServer
from tests.other_services import elsewhere

FLAGGED = {"results": [{"flagged": True, "categories": {"violence": True, "hate": False}}]}
CLEAN = {"results": [{"flagged": False, "categories": {"violence": False}}]}

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SECRET = "falcon"


@pytest.fixture
def superuser_client() -> Client:
    client = Client()
    client.force_login(make_user(is_staff=True, is_superuser=True))
    return client


def of_replies(**values: Any) -> Moderator:
    return make_moderator(examines_messages=False, examines_replies=True, **values)


async def exchange(user: User, content: str, thread: Thread | None = None) -> tuple[OpenedReply, list[tuple[str, Any]]]:
    opened = await replies.start(user=user, thread_id=thread.id if thread else None, content=content)
    return opened, [(event.type, event.data) async for event in replies.follow(opened.reply.id)]


async def findings(opened: OpenedReply) -> list[tuple[str, str, str, list[str]]]:
    rows = ModerationFinding.objects.filter(reply=opened.reply).order_by("id")
    return [(row.moderator, row.stage, row.result, row.labels) async for row in rows]


async def turns(thread: Thread) -> list[tuple[str, str, str]]:
    rows = Message.objects.filter(thread=thread, is_active=True).order_by("position")
    return [(row.role, row.text, row.status) async for row in rows]


def shown(events: list[tuple[str, Any]]) -> str:
    return "".join(data["text"] for kind, data in events if kind == "reply.delta")


async def test_a_refused_message_reaches_no_model_and_no_later_context(user: User, model: ModelServer) -> None:
    await in_database(make_moderator)(words="Project names stay inside.")
    opened, events = await exchange(user, "Tell me of Falcon")
    assert model.bodies == []
    kind, ending = events[-1]
    assert (kind, ending["error"]["code"], ending["error"]["message"]) == (
        "reply.failed",
        "refused_by_moderation",
        "Project names stay inside.",
    )
    assert ending["error"]["details"] == {"stage": "message", "moderator": "Projects", "retryable": False}
    assert await turns(opened.thread) == [("user", "Tell me of Falcon", "refused")]
    assert await findings(opened) == [("Projects", "message", "refused", ["line 1"])]
    request = await ContextSnapshot.objects.aget(reply=opened.reply)
    assert (request.status, request.error and request.error["code"]) == ("failed", "refused_by_moderation")
    [told] = (await in_database(snapshot_api.body)(request))["moderation"]
    assert (told["moderator"], told["stage"], told["result"], told["labels"]) == (
        "Projects", "message", "refused", ["line 1"],
    )  # fmt: skip

    model.script(scripts.text("It is a bird."))
    opened, events = await exchange(user, "And an osprey?", opened.thread)
    assert shown(events) == "It is a bird."
    assert SECRET not in json.dumps(model.bodies).lower()
    assert await findings(opened) == [("Projects", "message", "allowed", [])]


async def test_a_frame_that_is_refused_is_in_the_audit_record_by_whoever_sent_it(
    user: User, model: ModelServer
) -> None:
    await in_database(make_moderator)()
    token = await in_database(tokens.issue)(user=user, name="own")
    session = AsyncClient()
    await session.aforce_login(user)
    for socket in (Socket(token=token), Socket(session=session.cookies["sessionid"].value)):
        await socket.connect()
        await socket.send("message.send", content="Tell me of Falcon")
        frames = await socket.reply()
        assert frames[-1]["data"]["error"]["code"] == "refused_by_moderation"
        await socket.leave()
    events = [event async for event in AuditEvent.objects.filter(kind="moderation_refused").order_by("id")]
    row = await ApiToken.objects.aget(user=user)
    assert [(event.actor_kind, event.actor_id, event.outcome) for event in events] == [
        ("token", user.pk, "denied"),
        ("person", user.pk, "denied"),
    ]
    replied = [str(id) async for id in Reply.objects.order_by("id").values_list("id", flat=True)]
    assert [(event.target_kind, event.target_id) for event in events] == [("conversations.Reply", id) for id in replied]
    assert [event.details.get("token") for event in events] == [row.pk, None]
    assert {(event.details["moderator"], event.details["stage"]) for event in events} == {("Projects", "message")}
    assert SECRET not in json.dumps([event.details for event in events]).lower()


async def test_what_is_marked_goes_on(user: User, model: ModelServer) -> None:
    await in_database(make_moderator)(action="mark", examines_replies=True)
    model.script(scripts.text("A falcon", " is a bird."))
    opened, events = await exchange(user, "What is a falcon?")
    assert shown(events) == "A falcon is a bird."
    assert "reply.checking" not in dict(events)
    assert await findings(opened) == [
        ("Projects", "message", "marked", ["line 1"]),
        ("Projects", "reply", "marked", ["line 1"]),
    ]


async def test_a_refused_reply_is_neither_shown_nor_kept(user: User, model: ModelServer) -> None:
    await in_database(of_replies)()
    model.script(scripts.text("A fal", "con is a bird."), scripts.text("A bird."))
    opened, events = await exchange(user, "What is it?")
    assert shown(events) == ""
    assert [kind for kind, _ in events if kind == "reply.checking"] == ["reply.checking"]
    kind, ending = events[-1]
    assert (kind, ending["error"]["code"], ending["message"]) == ("reply.failed", "refused_by_moderation", None)
    assert await turns(opened.thread) == [("user", "What is it?", "refused")]
    assert (await Reply.objects.aget(id=opened.reply.id)).usage["output_tokens"]  # what it took counts

    _, events = await exchange(user, "Then say it another way", opened.thread)
    assert shown(events) == "A bird."


async def test_an_artifact_is_checked_before_it_is_saved(user: User, model: ModelServer) -> None:
    await in_database(of_replies)()
    thread = await in_database(make_thread)(user, assistant=await Assistant.objects.aget(slug="analyst"))
    content = {"title": "Birds", "kind": "document", "content": "# The falcon"}
    model.script(scripts.tool_use("save_artifact", content, tool_id="toolu_1", before="I write it down."))
    _, events = await exchange(user, "Write a document", thread)
    assert events[-1][1]["error"]["code"] == "refused_by_moderation"
    assert {kind for kind, _ in events}.isdisjoint({"tool.started", "tool.delta", "tool.finished", "reply.delta"})
    assert not await Artifact.objects.aexists()


async def test_what_nobody_has_checked_is_not_kept_where_it_is_stopped(user: User, model: ModelServer) -> None:
    await in_database(of_replies)()
    gate = scripts.Gate()
    model.script(scripts.text("A falcon", gate, " is a bird."))
    opened = await replies.start(user=user, thread_id=None, content="What is it?")
    events = []
    async for event in replies.follow(opened.reply.id):
        events.append((event.type, event.data))
        if event.type == "reply.checking":
            await replies.stop(user=user, reply_id=opened.reply.id)
    gate.open()
    assert (events[-1][0], events[-1][1]["message"], shown(events)) == ("reply.stopped", None, "")


async def test_a_service_of_ones_own_is_asked(user: User, model: ModelServer, settings: Settings) -> None:
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    settings.OPENBOOK_MODERATION_SECRET = "shared"
    answers: dict[str, tuple[int, dict[str, str], str]] = {
        "/no": (200, {}, '{"action": "refuse", "labels": ["private"], "message": "This is private."}'),
        "*": (500, {}, "{}"),
    }
    with elsewhere(answers) as service:
        await in_database(make_moderator)(
            name="Broken", kind="webhook", url=f"{service.url}/broken", action="mark", order=1
        )
        await in_database(make_moderator)(name="Own", kind="webhook", url=f"{service.url}/no", order=2)
        opened, events = await exchange(user, "My secret")
    assert events[-1][1]["error"]["message"] == "This is private."
    assert await findings(opened) == [
        ("Broken", "message", "failed", []),
        ("Own", "message", "refused", ["private"]),
    ]
    assert model.bodies == []
    asked = service.requests[-1]
    assert json.loads(asked.raw_body) == {
        "stage": "message",
        "text": "My secret",
        "user": user.pk,
        "thread": str(opened.thread.id),
        "reply": str(opened.reply.id),
        "assistant": "companion",
    }
    headers = {name.lower(): value for name, value in asked.headers.items()}
    at = headers["x-openbook-time"]
    assert (
        headers["x-openbook-signature"]
        == signature_headers(asked.raw_body, "shared", now=int(at))["X-Openbook-Signature"]
    )


async def test_a_check_that_must_be_made_and_cant_stops_the_message_and_can_be_tried_again(
    user: User, model: ModelServer, settings: Settings
) -> None:
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    closed = await in_database(make_moderator)(
        kind="webhook", url="http://127.0.0.1:1/check", when_failing="closed", action="mark"
    )
    opened, events = await exchange(user, "Hello")
    error = events[-1][1]["error"]
    assert (error["code"], error["details"]["retryable"]) == ("moderation_unavailable", True)
    assert "Your message is saved; try again." in error["message"]
    assert await turns(opened.thread) == [("user", "Hello", "complete")]
    assert model.bodies == []

    await Moderator.objects.filter(id=closed.pk).aupdate(when_failing="open")
    moderators.reread()
    model.script(scripts.text("Hello to you."))
    again = await replies.retry(user=user, reply_id=opened.reply.id)
    assert [event.type async for event in replies.follow(again.reply.id)][-1] == "reply.completed"


async def test_a_moderation_model_is_asked_by_a_connection(user: User, model: ModelServer, settings: Settings) -> None:
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    flagged = {"results": [{"flagged": True, "categories": {"violence": True, "hate": False}}]}
    with elsewhere({"/v1/moderations": (200, {}, json.dumps(flagged)), "*": (404, {}, "{}")}) as service:
        await in_database(make_connection)(f"{service.url}/v1", kind="openai")
        await in_database(make_moderator)(kind="model", provider="team", model="omni-moderation-latest")
        opened, events = await exchange(user, "Something violent")
    assert json.loads(service.requests[0].raw_body) == {"input": "Something violent", "model": "omni-moderation-latest"}
    assert events[-1][1]["error"]["code"] == "refused_by_moderation"
    assert await findings(opened) == [("Projects", "message", "refused", ["violence"])]
    assert model.bodies == []


async def with_file(user: User, content: bytes = b"words", **values: Any) -> tuple[OpenedReply, list[tuple[str, Any]]]:
    file = await in_database(make_file)(user, content, state="ready", **values)
    opened = await replies.start(user=user, thread_id=None, content="Read this", files=[str(file.id)])
    return opened, [(event.type, event.data) async for event in replies.follow(opened.reply.id)]


async def test_what_files_say_is_examined_before_a_model_is_given_it(user: User, model: ModelServer) -> None:
    await in_database(make_moderator)()
    opened, events = await with_file(user, parts=["Of birds", "The falcon flies"], name="birds.txt")
    assert model.bodies == []
    kind, ending = events[-1]
    assert (kind, ending["error"]["code"], ending["error"]["details"]["stage"]) == (
        "reply.failed", "refused_by_moderation", "files",
    )  # fmt: skip
    assert ending["error"]["message"].startswith("This message was not answered: what its files say")
    assert await findings(opened) == [
        ("Projects", "message", "allowed", []),
        ("Projects", "files", "refused", ["line 1"]),
    ]
    model.script(scripts.text("Birds."), scripts.text("More birds."))
    opened, events = await with_file(user, parts=["Of birds"], name="others.txt")
    assert shown(events) == "Birds."
    assert (await findings(opened))[1:] == [("Projects", "files", "allowed", [])]
    _, events = await with_file(user, parts=["Of birds"], name="falcon.txt")
    assert events[-1][1]["error"]["code"] == "refused_by_moderation", "its name goes to the model, too"


async def test_pictures_are_shown_to_a_model_that_sees_them(user: User, model: ModelServer, settings: Settings) -> None:
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    picture: dict[str, Any] = {"kind": "image", "name": "a.png", "parts": ["A photo"], "picture": b"\x89PNG picture"}
    with elsewhere({"/v1/moderations": (200, {}, json.dumps(CLEAN)), "*": (404, {}, "{}")}) as service:
        await in_database(make_connection)(f"{service.url}/v1", kind="openai")
        row = await in_database(make_moderator)(kind="model", provider="team", model="omni", sees_pictures=True)
        model.script(scripts.text("A bird."), scripts.text("A bird."))
        await with_file(user, **picture)
        bodies = [json.loads(request.raw_body)["input"] for request in service.requests]
        assert bodies[0] == "Read this"
        assert "A photo" in bodies[1]
        [shown_picture] = bodies[2]
        assert shown_picture["image_url"]["url"].startswith("data:image/png;base64,iVBORyBwaWN0dXJl")
        await Moderator.objects.filter(pk=row.pk).aupdate(sees_pictures=False)
        moderators.reread()
        await with_file(user, **picture)
        assert [type(json.loads(request.raw_body)["input"]) for request in service.requests[3:]] == [str, str]


async def test_a_check_that_only_marks_sees_a_reply_that_was_stopped(user: User, model: ModelServer) -> None:
    await in_database(of_replies)(action="mark")
    gate = scripts.Gate()
    model.script(scripts.text("A falcon", gate, " is a bird."))
    opened = await replies.start(user=user, thread_id=None, content="What is it?")
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta":
            await replies.stop(user=user, reply_id=opened.reply.id)
    gate.open()
    async with asyncio.timeout(60):
        while not await findings(opened):  # noqa: ASYNC110  # after the end, for which nobody waits
            await asyncio.sleep(0.01)
    assert await findings(opened) == [("Projects", "reply", "marked", ["line 1"])]
    assert [text for role, text, _ in await turns(opened.thread) if role == "assistant"] == ["A falcon"]


async def test_what_a_moderation_model_takes_is_set_aside_and_counted(
    user: User, model: ModelServer, settings: Settings
) -> None:
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    answers: dict[str, Any] = {"/v1/moderations": (200, {}, json.dumps(CLEAN)), "*": (404, {}, "{}")}
    with elsewhere(answers) as service:
        await in_database(make_connection)(f"{service.url}/v1", kind="openai")
        await in_database(make_moderator)(kind="model", provider="team", model="omni")
        model.script(scripts.text("Yes."))
        await exchange(user, "Hello there")
        [row] = [row async for row in TokenReservation.objects.filter(user=user, purpose="moderation")]
        assert (row.reserved, row.spent) == (row.spent, estimate_tokens("Hello there"))
        answers["/v1/moderations"] = (500, {}, "{}")
        model.script(scripts.text("Yes."))
        await exchange(user, "Hello again")
        spent = [
            row.spent async for row in TokenReservation.objects.filter(user=user, purpose="moderation").order_by("id")
        ]
        assert spent[1:] == [0], "what was not answered costs nothing"
        asked = len(service.requests)
        await TokenReservation.objects.all().adelete()
        settings.OPENBOOK_LIMIT_TOKENS_DAY = 1
        opened = Examined(
            stage=Stage.MESSAGE, text="Too much of it", user_id=user.pk, thread_id="", reply_id="", assistant=""
        )
        [verdict] = await moderators.examine([await Moderator.objects.aget()], opened)
        assert (verdict.result, "rate_limited" in verdict.problem or "limit" in verdict.problem) == ("failed", True)
        assert len(service.requests) == asked, "no room, no call"


def test_a_check_is_tried_before_it_is_switched_on(settings: Settings, superuser_client: Client) -> None:
    row = make_moderator(is_active=False)
    address = f"/admin/conversations/moderator/{row.pk}/"
    assert f"{address}try/" in superuser_client.get(f"{address}change/").content.decode()
    page = superuser_client.post(f"{address}try/", {"stage": "message", "text": "Of a Falcon"}).content.decode()
    for words in (
        "Refused",
        "line 1",
        "ms",
        "it goes no further",
        "This message was not sent to a model",
        "Of a Falcon",
    ):
        assert words in page
    page = superuser_client.post(f"{address}try/", {"stage": "reply", "text": "Of birds"}).content.decode()
    assert "Allowed" in page
    assert "This field is required" in superuser_client.post(f"{address}try/", {"stage": "reply"}).content.decode()
    Moderator.objects.update(kind="webhook", url="http://127.0.0.1:1/", when_failing="closed", action="mark")
    page = superuser_client.post(f"{address}try/", {"stage": "message", "text": "Of birds"}).content.decode()
    assert ("Failed" in page, "It can’t be reached" in page or "It can&#x27;t be reached" in page) == (True, True)
    assert not ModerationFinding.objects.exists()
    assert superuser_client.get("/admin/conversations/moderator/0/try/").status_code == 404


def test_what_a_person_reads_is_in_their_language() -> None:
    with translation.override("de"):
        for words in (*REFUSED_WORDS.values(), UNAVAILABLE):
            assert translated(words) not in (words, "")
    error = describe(RefusedByModeration(REFUSED_WORDS[Stage.MESSAGE]))
    assert error["wording"]["sentences"] == [*REFUSED_WORDS[Stage.MESSAGE].sentences]
