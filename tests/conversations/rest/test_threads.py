"""Threads over REST: listed page by page, made, renamed, and really gone when deleted."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model

from conversations.models import (
    Assistant,
    ContextBlock,
    ContextSnapshot,
    Message,
    Reply,
    ReplyEvent,
    Thread,
)
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def make(user: User, *turns: str, **values: Any) -> Thread:
    return await in_database(make_thread)(user, turns, **values)


def titles(answer: ApiResponse) -> list[str]:
    return [thread["title"] for thread in answer.body["results"]]


async def test_a_thread_is_given_as_the_contract_says(user: User, api: Api) -> None:
    thread = await make(user, "Hi", "Hello", title="Greetings", created_at=NOON, updated_at=NOON)
    expected: dict[str, Any] = {
        "id": str(thread.id),
        "title": "Greetings",
        "assistant": "companion",
        "model": "",
        "model_note": None,
        "created_at": "2026-03-01T12:00:00Z",
        "updated_at": "2026-03-01T12:00:00Z",
        "message_count": 2,
        "running_reply": None,
        "remembers": True,
        "temporary": False,
        "project": None,
        "instructions": "",
        "uses_account_instructions": True,
        "pinned": False,
        "archived": False,
        "tags": [],
        "forked_from": None,
        "forks": [],
    }
    assert (await api.get("threads/")).body == {"next": None, "previous": None, "results": [expected]}
    one = await api.get(f"threads/{thread.id}/")
    assert (one.status, one.body) == (200, expected)


async def test_the_list_holds_the_callers_threads_and_no_others(user: User, other_user: User, api: Api) -> None:
    await make(user, title="mine")
    await make(other_user, title="not mine")
    assert titles(await api.get("threads/")) == ["mine"]


async def test_pages_lead_to_and_fro_without_a_gap_also_under_equal_times(user: User, api: Api) -> None:
    made = [await make(user, title=f"same {number}", updated_at=NOON) for number in range(5)]
    await make(user, title="newer", updated_at=NOON.replace(hour=13))
    await make(user, title="older", updated_at=NOON.replace(hour=11))
    same = [thread.title for thread in sorted(made, key=lambda thread: thread.id, reverse=True)]
    whole = ["newer", *same, "older"]

    forward = [await api.get("threads/?page_size=2")]
    while forward[-1].body["next"]:
        forward.append(await api.get(forward[-1].body["next"]))
    assert [titles(page) for page in forward] == [whole[0:2], whole[2:4], whole[4:6], whole[6:]]

    back = [forward[-1]]
    while back[-1].body["previous"]:
        back.append(await api.get(back[-1].body["previous"]))
    assert [titles(page) for page in back] == [whole[6:], whole[4:6], whole[2:4], whole[0:2]]


async def test_a_bad_cursor_is_refused(user: User, api: Api) -> None:
    cases: list[str] = ["junk", "cD1ub3doZXJl", "cD0lMDA=", "bz0tMQ==", "bz14", "cD05OTk5LTk5LTk5"]
    for cursor in cases:
        assert (await api.get(f"threads/?cursor={cursor}")).refusal == (
            400,
            {
                "type": "invalid_request",
                "code": "invalid_page",
                "message": "The cursor can't be read. Use `next` and `previous` as they are given.",
                "details": {},
            },
        ), cursor


async def test_a_bad_page_size_is_refused(user: User, api: Api) -> None:
    cases: list[str] = ["0", "-1", "ten", "", "1e3", "9999999999999999999999"]
    for size in cases:
        answer = await api.get(f"threads/?page_size={size}")
        assert (answer.code, answer.refusal[1]["message"]) == (
            (400, "invalid_request", "invalid_page"),
            "`page_size` must be a number from 1 to 200.",
        ), size


async def test_a_page_holds_two_hundred_at_most(user: User, api: Api) -> None:
    companion = await Assistant.objects.aget(slug="companion")
    values = {"user": user, "assistant": companion, "created_at": NOON, "updated_at": NOON}
    await Thread.objects.abulk_create(Thread(**values) for _ in range(201))
    page = await api.get("threads/?page_size=5000")
    assert (len(page.body["results"]), page.body["next"] is None) == (200, False)


@pytest.mark.parametrize(
    ("body", "title", "assistant"),
    [
        ({}, "", "companion"),
        ({"title": "Plans"}, "Plans", "companion"),
        ({"assistant": "analyst"}, "", "analyst"),
        (
            {"title": " two\n\tlines\x1b[31m\x85 😀‍👩 ", "assistant": "companion"},
            "two lines [31m 😀‍👩",
            "companion",
        ),
    ],
)
async def test_a_thread_is_opened_empty(user: User, api: Api, body: dict[str, Any], title: str, assistant: str) -> None:
    answer = await api.post("threads/", body)
    thread = await Thread.objects.select_related("assistant").aget()
    assert (answer.status, answer.body) == (
        201,
        {
            "id": str(thread.id),
            "title": title,
            "assistant": assistant,
            "model": "",
            "model_note": None,
            "created_at": thread.created_at.isoformat().replace("+00:00", "Z"),
            "updated_at": thread.updated_at.isoformat().replace("+00:00", "Z"),
            "message_count": 0,
            "running_reply": None,
            "remembers": True,
            "temporary": False,
            "project": None,
            "instructions": "",
            "uses_account_instructions": True,
            "pinned": False,
            "archived": False,
            "tags": [],
            "forked_from": None,
            "forks": [],
        },
    )
    assert (thread.user_id, thread.title, thread.assistant.slug) == (user.id, title, assistant)


async def test_a_thread_that_cannot_be_is_not_opened(user: User, api: Api) -> None:
    cases: list[tuple[Any, str, dict[str, Any] | None]] = [
        ({"assistant": "nobody"}, "invalid_message", {"field": "assistant"}),
        ({"assistant": "no body"}, "invalid", None),
        ({"assistant": 7.5}, "invalid", None),
        ({"assistant": None}, "invalid", {"fields": {"assistant": ["This field may not be null."]}}),
        (
            {"title": "x" * 201},
            "invalid",
            {"fields": {"title": ["Ensure this field has no more than 200 characters."]}},
        ),
        ({"title": "nul \0"}, "invalid", {"fields": {"title": ["Null characters are not allowed."]}}),
        ({"title": "\ud800"}, "invalid", None),
        ({"title": {}}, "invalid", {"fields": {"title": ["Not a valid string."]}}),
        ([], "invalid", None),
    ]
    for body, code, details in cases:
        answer = await api.post("threads/", body)
        assert answer.code == (400, "invalid_request", code), body
        assert details is None or answer.refusal[1]["details"] == details, body
        assert await Thread.objects.acount() == 0, body


async def test_a_thread_is_renamed_and_nothing_else_changes(user: User, api: Api) -> None:
    thread = await make(user, "Hi", title="Old", updated_at=NOON)
    before = (await api.get(f"threads/{thread.id}/")).body
    answer = await api.call("PATCH", f"threads/{thread.id}/", {"title": "New\nname"})
    assert (answer.status, answer.body) == (200, before | {"title": "New name"})
    assert (await api.get(f"threads/{thread.id}/")).body == answer.body


async def test_a_thread_can_get_another_assistant(user: User, api: Api) -> None:
    thread = await make(user, "Hi", title="Old")
    answer = await api.call("PATCH", f"threads/{thread.id}/", {"assistant": "analyst"})
    assert (answer.status, answer.body["assistant"], answer.body["title"]) == (200, "analyst", "Old")


@pytest.mark.parametrize("body", [{"title": "x" * 201}, {"title": "\0"}, {"title": None}, {"assistant": "nobody"}, []])
async def test_a_rename_that_is_refused_changes_nothing(user: User, api: Api, body: Any) -> None:
    thread = await make(user, title="Old")
    assert (await api.call("PATCH", f"threads/{thread.id}/", body)).code[:2] == (400, "invalid_request")
    assert (await Thread.objects.aget()).title == "Old"


BELONGINGS: list[type[Model]] = [Thread, Message, Reply, ReplyEvent, ContextSnapshot]


async def test_a_deleted_thread_is_gone_with_all_that_belongs_to_it(user: User, api: Api, model: ModelServer) -> None:
    kept = (await api.post("threads/new/messages/", {"content": "Stay"})).body["thread"]
    before = [await kind._default_manager.acount() for kind in BELONGINGS]
    texts = await ContextBlock.objects.acount()
    long = "word " * 9_000  # so long that a shortened stand-in is stored as a text of the thread
    gone = (await api.post("threads/new/messages/", {"content": long})).body["thread"]
    assert await ContextBlock.objects.filter(thread_id=gone).acount() == 1

    answer = await api.call("DELETE", f"threads/{gone}/")
    assert (answer.status, answer.body) == (204, "")
    assert (await api.get(f"threads/{gone}/")).code == (404, "not_found", "thread_not_found")
    assert [await kind._default_manager.acount() for kind in BELONGINGS] == before
    assert await ContextBlock.objects.acount() == texts
    assert [thread["id"] for thread in (await api.get("threads/")).body["results"]] == [kept]


async def test_a_thread_is_not_deleted_while_a_reply_runs(user: User, api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("wait ", gate, "done"))
    waiting = asyncio.create_task(api.post("threads/new/messages/", {"content": "Hello"}))
    await asyncio.to_thread(gate.wait_until_reached)
    thread = (await api.get("threads/")).body["results"][0]
    running = await Reply.objects.aget()
    assert thread["running_reply"] == str(running.id)

    assert (await api.call("DELETE", f"threads/{thread['id']}/")).refusal == (
        409,
        {
            "type": "conflict",
            "code": "reply_in_progress",
            "message": "A reply is still running in this thread. Stop it first, then delete.",
            "details": {},
        },
    )
    gate.open()
    assert (await waiting).status == 201
    assert (await api.call("DELETE", f"threads/{thread['id']}/")).status == 204


async def test_the_assistants_that_can_be_chosen_are_listed(user: User, api: Api) -> None:
    answer = await api.get("assistants/")
    assert [(each["slug"], each["name"]) for each in answer.body["results"]] == [
        ("companion", "Companion"),
        ("analyst", "Analyst"),
    ]
    await Assistant.objects.filter(slug="analyst").aupdate(is_active=False)
    assert [each["slug"] for each in (await api.get("assistants/")).body["results"]] == ["companion"]
