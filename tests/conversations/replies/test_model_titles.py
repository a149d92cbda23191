"""A small model titles a thread after its first exchange; its request is in the book, and a person's title stands."""

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations import replies
from conversations.models import ContextSnapshot, Thread, TokenReservation
from conversations.providers.anthropic import AnthropicProvider
from conversations.replies.journal import journal
from conversations.replies.model_titles import judge
from conversations.runtime.db import in_database
from conversations.threads.deletion import clear_thread
from conversations.upkeep.hourly_figures import cost_of
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

ASKED = "What was the harbour like in winter, and who worked there?"


@pytest.fixture(autouse=True)
def _titles(settings: Settings) -> None:
    settings.OPENBOOK_TITLE_MODEL = ""


@pytest.fixture
async def api(user: User) -> Api:
    return await in_database(Api)(user)


async def talk(user: User, content: str = ASKED, thread: Thread | None = None) -> Thread:
    opened = await replies.start(user=user, thread_id=thread.id if thread else None, content=content)
    async for _ in replies.follow(opened.reply.id):
        pass
    for task in list(journal().tasks):
        await task
    await journal().titles.done()
    return await Thread.objects.aget(id=opened.thread.id)


async def test_a_thread_is_titled_once_by_a_recorded_request_that_counts(
    user: User, model: ModelServer, api: Api, settings: Settings
) -> None:
    model.script(scripts.text("Cold and busy."), scripts.text("“Harbour in winter.”"), scripts.text("Ice everywhere."))
    thread = await talk(user)
    assert (thread.title, thread.title_through) == ("Harbour in winter", 2)
    await talk(user, "And the ice?", thread)
    title = await ContextSnapshot.objects.aget(purpose="title")
    assert (title.status, title.reply_id, title.message_history_count, title.model) == (
        "completed",
        None,
        2,
        model.bodies[1]["model"],
    )
    assert "claude-haiku" in title.model
    assert ASKED in str(model.bodies[1]["messages"])
    reservation = await TokenReservation.objects.aget(purpose="title")
    assert reservation.spent
    assert len(model.bodies) == 3
    settings.OPENBOOK_SHOW_COSTS = True
    costs = [cost_of(each) async for each in ContextSnapshot.objects.filter(thread=thread)]
    assert (await api.get(f"threads/{thread.id}/")).body["cost"] == f"{sum(filter(None, costs)):.4f}"
    recorded = (await api.get(f"requests/{title.id}/")).body
    assert (recorded["digest"], recorded["request"]["messages"]) == (
        bytes(title.digest).hex(),
        model.bodies[1]["messages"],
    )


@pytest.mark.parametrize(
    ("proposed", "title", "problem"),
    [
        ("Harbour in winter", "Harbour in winter", None),
        ("Harbour of Reykjavik", ASKED[:20], "The title by rules stands. It names what was not said."),
    ],
)
async def test_a_small_models_title_stands_only_where_it_is_no_worse_than_the_rules(
    user: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch, proposed: str, title: str, problem: str | None
) -> None:
    monkeypatch.setattr(AnthropicProvider, "proposes", True)
    model.script(scripts.text("Cold and busy."), scripts.text(proposed))
    assert (await talk(user)).title[:20] == title[:20]
    request = await ContextSnapshot.objects.aget(purpose="title")
    assert (request.error or {}).get("message") == problem


async def test_a_persons_title_stands_and_failure_leaves_the_rules(user: User, model: ModelServer, api: Api) -> None:
    model.script(scripts.text("Cold."), scripts.error(400, message="no"))
    thread = await talk(user)
    assert (thread.title_through, thread.title[:20]) == (None, ASKED[:20])
    assert (await ContextSnapshot.objects.aget(purpose="title")).status == "failed"
    model.script(scripts.text("Cold."), scripts.text("Another title"))
    named = await talk(user)
    await api.call("PATCH", f"threads/{named.id}/", {"title": "Mine"})
    await named.arefresh_from_db()
    assert (named.title, named.title_through) == ("Mine", None)


async def test_no_title_comes_of_an_artifact_or_where_it_is_switched_off(
    user: User, model: ModelServer, settings: Settings
) -> None:
    made = {"title": "Notes", "kind": "document", "content": "# Notes"}
    model.script(scripts.tool_use("save_artifact", made), scripts.text("Saved."))
    opened = await replies.start(user=user, thread_id=None, content="Write notes.", assistant="analyst")
    async for _ in replies.follow(opened.reply.id):
        pass
    await journal().titles.done()
    settings.OPENBOOK_TITLE_MODEL = "off"
    await talk(user)
    assert not await ContextSnapshot.objects.filter(purpose="title").aexists()


async def test_a_title_by_a_model_goes_with_what_it_was_made_of(user: User, model: ModelServer, api: Api) -> None:
    model.script(scripts.text("Cold."), scripts.text("Harbour in winter"))
    thread = await talk(user)
    turn = (await api.get(f"threads/{thread.id}/messages/")).body["results"][0]["id"]
    assert (await api.call("POST", f"messages/{turn}/forget/")).status == 200
    await thread.arefresh_from_db()
    assert thread.title == "[forgotten]"
    model.script(scripts.text("Cold."), scripts.text("Harbour again"))
    other = await talk(user)
    await in_database(clear_thread)(other)
    await other.arefresh_from_db()
    assert (other.title, other.title_through) == ("", None)


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ('"Boats in ice."', "Boats in ice"),
        ("Title: **Boats**", "Boats"),
        ("# Boats", "Boats"),
        ("I can't help with that", ""),
        ("One\ntwo", ""),
        ("", ""),
        ("word " * 40, ""),
        ("Was ist C++?", "Was ist C++?"),
    ],
)
def test_an_answer_is_a_title_or_none(answer: str, title: str) -> None:
    assert judge(answer) == title
