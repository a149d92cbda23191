"""Threads are pinned, archived and tagged, one or several at once, and asked for by it."""

import pytest
from django.contrib.auth.models import User

from conversations.runtime.db import in_database
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def titles(api: Api, query: str) -> list[str]:
    return sorted(thread["title"] for thread in (await api.get(f"threads/{query}")).body["results"])


async def test_threads_are_labelled_and_asked_for_by_it(user: User, api: Api) -> None:
    ids = {name: (await in_database(make_thread)(user, title=name)).id for name in "abc"}
    await api.call("PATCH", f"threads/{ids['a']}/", {"pinned": True, "tags": ["Work", " work ", "two\nlines", "x"]})
    changed = await api.call(
        "PATCH", "threads/", {"ids": [str(ids["b"]), str(ids["c"])], "archived": True, "add_tags": ["Tide", "x"]}
    )
    assert [(each["archived"], each["tags"]) for each in changed.body["results"]] == [(True, ["Tide", "x"])] * 2
    await api.call("PATCH", "threads/", {"ids": [str(ids["c"])], "remove_tags": ["TIDE"]})
    assert (await api.get(f"threads/{ids['a']}/")).body["tags"] == ["Work", "two lines", "x"]
    made = await api.post("projects/", {"name": "Boats"})
    moved = await api.call("PATCH", "threads/", {"ids": [str(ids["a"]), str(ids["b"])], "project": made.body["id"]})
    assert {each["project"] for each in moved.body["results"]} == {made.body["id"]}
    assert await titles(api, "?project=none") == ["c"]
    queries = ("", "?pinned=true", "?pinned=false", "?archived=true", "?archived=false", "?tag=x", "?tag=Tide")
    assert [await titles(api, query) for query in queries] == [
        ["a", "b", "c"],
        ["a"],
        ["b", "c"],
        ["b", "c"],
        ["a"],
        ["a", "b", "c"],
        ["b"],
    ]
    assert (await api.get("tags/")).body == {
        "results": [
            {"tag": "Tide", "threads": 1},
            {"tag": "two lines", "threads": 1},
            {"tag": "Work", "threads": 1},
            {"tag": "x", "threads": 3},
        ]
    }


async def test_several_threads_are_changed_or_none(user: User, other_user: User, api: Api) -> None:
    mine, other = await in_database(make_thread)(user), await in_database(make_thread)(other_user)
    full = await in_database(make_thread)(user, tags=[str(number) for number in range(20)])
    for ids, status in (([mine.id, other.id], 404), ([mine.id, full.id], 400), ([], 400)):
        answer = await api.call(
            "PATCH",
            "threads/",
            {"ids": [str(id) for id in ids], "pinned": True, "archived": True, "add_tags": ["more"]},
        )
        assert answer.status == status
    await mine.arefresh_from_db()
    await other.arefresh_from_db()
    assert (mine.pinned, mine.archived, mine.tags, other.pinned) == (False, False, [], False)
    too_many = await api.call("PATCH", f"threads/{mine.id}/", {"tags": ["x" * 41]})
    assert too_many.status == 400
