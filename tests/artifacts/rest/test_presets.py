"""Presets over REST: what an assistant offers in a thread."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from artifacts.models import Artifact, Preset
from artifacts.sources.preset import instruction_text
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SHIPPED = ["brd", "user-stories", "meeting-summary", "decision-record", "test-plan"]


async def thread_with(user: User, assistant: str) -> Thread:
    return await in_database(make_thread)(user, ["Hi"], assistant=await Assistant.objects.aget(slug=assistant))


async def offered(api: Api, thread: Thread) -> list[dict[str, Any]]:
    body = (await api.get(f"threads/{thread.id}/presets/")).body
    assert (body["next"], body["previous"]) == (None, None)
    results: list[dict[str, Any]] = body["results"]
    return results


async def test_the_analyst_offers_what_is_shipped_and_the_companion_nothing(user: User, api: Api) -> None:
    analyst, companion = await thread_with(user, "analyst"), await thread_with(user, "companion")
    presets = await offered(api, analyst)
    assert [preset["slug"] for preset in presets] == SHIPPED
    assert presets[0] == {
        "slug": "brd",
        "name": "Business requirements",
        "description": "What is needed, why, for whom, and what is still open.",
        "kind": "document",
        "artifact": None,
    }
    assert await offered(api, companion) == []


async def test_a_preset_names_what_it_has_made_in_this_thread(user: User, api: Api) -> None:
    thread, other = await thread_with(user, "analyst"), await thread_with(user, "analyst")
    made = await in_database(make_artifact)(thread, preset="brd")
    await in_database(make_artifact)(thread, preset="test-plan", deleted_at=made.created_at)
    await in_database(make_artifact)(other, preset="user-stories")
    await Preset.objects.filter(slug="decision-record").aupdate(is_active=False)
    told = [(preset["slug"], preset["artifact"]) for preset in await offered(api, thread)]
    assert told == [("brd", str(made.id)), ("user-stories", None), ("meeting-summary", None), ("test-plan", None)]


@pytest.mark.parametrize("slug", SHIPPED)
def test_a_shipped_preset_says_how_it_works_and_how_its_result_is_saved(db: None, slug: str) -> None:
    preset = Preset.objects.get(slug=slug)
    told = instruction_text(preset)
    demands = [
        f"Title: {preset.name}: <",
        "once with the tool save_artifact, as document",
        "Assumptions",
        "Open questions",
    ]
    assert [demand for demand in [*demands, "Never invent", "language of the conversation"] if demand not in told] == []


BRD = {"title": "Business requirements: boats", "kind": "document", "content": "# Boats"}


async def test_a_preset_answers_with_what_it_made_and_once_for_one_click(
    user: User, api: Api, model: ModelServer
) -> None:
    thread = await thread_with(user, "analyst")
    model.script(scripts.tool_use("save_artifact", BRD))
    path = f"threads/{thread.id}/presets/brd/"
    made = await api.post(path, {"client_message_id": "click"})
    artifact = (await api.get(f"artifacts/{made.body['artifact']['id']}/")).body
    reply = await Reply.objects.aget()
    request = await ContextSnapshot.objects.aget()
    assert (made.status, made.body) == (
        201,
        {
            "thread": str(thread.id),
            "reply": made.body["reply"],
            "artifact": artifact,
            "request": str(request.id),
        },
    )
    expected = BRD | {"preset": "brd", "origin": "preset", "reply": str(reply.id), "message": None, "version": 1}
    assert {name: artifact[name] for name in expected} == expected
    assert [made.body["reply"][name] for name in ("id", "status", "error")] == [str(reply.id), "completed", None]
    assert (await api.post(path, {"client_message_id": "click"})).body == made.body
    assert [await Reply.objects.acount(), await Message.objects.acount()] == [1, 1]
    assert (await api.get(f"threads/{thread.id}/requests/")).body["results"][0]["purpose"] == "artifact"


async def test_a_preset_can_be_watched_while_it_works(user: User, api: Api, model: ModelServer) -> None:
    thread = await thread_with(user, "analyst")
    model.script(scripts.tool_use("save_artifact", BRD))
    events = [event async for event in api.events("POST", f"threads/{thread.id}/presets/brd/stream/", {})]
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    first, last = events[0], events[-1]
    assert (first["type"], first["data"]["preset"], last["type"]) == ("artifact.requested", "brd", "reply.completed")
    assert last["data"]["artifact"]["id"] == str((await Artifact.objects.aget()).id)


async def test_a_preset_that_fails_says_why_and_makes_nothing(user: User, api: Api, model: ModelServer) -> None:
    thread = await thread_with(user, "analyst")
    model.script(scripts.error(400, "invalid_request_error"))
    failed = await api.post(f"threads/{thread.id}/presets/brd/")
    status, error = failed.refusal
    assert (status, error["type"], error["details"]["reply"]) == (502, "model", str((await Reply.objects.aget()).id))
    assert error["details"]["thread"] == str(thread.id)
    assert await Artifact.objects.acount() == 0


@pytest.mark.parametrize("end", ["", "stream/"])
async def test_a_preset_that_can_not_run_stores_nothing(user: User, api: Api, others_api: Api, end: str) -> None:
    analyst, companion = await thread_with(user, "analyst"), await thread_with(user, "companion")
    empty = await in_database(make_thread)(user, assistant=await Assistant.objects.aget(slug="analyst"))
    codes = [
        (await each.post(f"threads/{thread}/presets/{slug}/{end}", body)).code[::2]
        for each, thread, slug, body in [
            (api, analyst.id, "unknown", {}),
            (api, companion.id, "brd", {}),
            (api, "new", "brd", {}),
            (others_api, analyst.id, "brd", {}),
            (api, empty.id, "brd", {}),
            (api, analyst.id, "brd", {"client_message_id": "x" * 101}),
        ]
    ]
    assert codes == [
        (404, "preset_not_found"),
        (404, "preset_not_found"),
        (404, "thread_not_found"),
        (404, "thread_not_found"),
        (409, "nothing_to_work_from"),
        (400, "invalid_message"),
    ]
    assert await Reply.objects.acount() == 0
