"""Presets over REST: what an assistant offers in a thread."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from artifacts.models import Preset
from conversations.db import in_database
from conversations.models import Assistant, Thread
from tests.artifacts.factories import make_artifact
from tests.conversations.api.client import Api
from tests.conversations.factories import make_thread

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
def test_a_shipped_preset_says_how_its_result_is_saved(db: None, slug: str) -> None:
    preset = Preset.objects.get(slug=slug)
    demands = [f'"{preset.name}: "', "save_artifact exactly once", 'kind "document"', "Assumptions", "Open questions"]
    assert [
        demand for demand in [*demands, "Never invent", "language of the conversation"] if demand not in preset.prompt
    ] == []
