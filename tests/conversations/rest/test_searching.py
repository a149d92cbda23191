"""Threads found by the words of their titles and turns, and lists narrowed down."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from conversations.models import File, Message, Thread
from conversations.runtime.db import in_database
from conversations.threads import search
from memory import forgetting
from memory.index.index_turns import catch_up
from tests.conversations.factories import chain, make_file, make_snapshot, make_thread, make_thread_with_file
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.factories import make_memory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def make(user: User, *turns: str, indexed: bool = True, **values: Any) -> Thread:
    thread = await in_database(make_thread)(user, turns, **values)
    if indexed:
        await in_database(catch_up)(user.pk)
    return thread


def titles(answer: ApiResponse) -> list[str]:
    return [thread["title"] for thread in answer.body["results"]]


@pytest.mark.parametrize("indexed", [True, False])
async def test_a_thread_is_found_by_what_was_said_in_it_and_where(user: User, api: Api, indexed: bool) -> None:
    said = [
        "We saw two boats.",
        "Nice.",
        f"{'Long before. ' * 30}Then the old boat sank near the islands. {'Later. ' * 30}",
    ]
    thread = await make(user, *said, title="Holidays", indexed=indexed)
    await make(user, "An island.", title="Without the other word", indexed=indexed)
    turn = await Message.objects.aget(thread=thread, position=3)
    [found] = (await api.get("threads/?q=boats,+the+island")).body["results"]
    match = found.pop("match")
    assert found.pop("file_match") is None
    assert found == (await api.get(f"threads/{thread.id}/")).body
    assert "Then the old boat sank near the islands." in match.pop("excerpt")
    assert match == {
        "message": str(turn.id),
        "position": 3,
        "role": "user",
        "created_at": turn.created_at.isoformat().replace("+00:00", "Z"),
        "words": ["boat", "islands"],
    }


async def test_titles_are_found_by_parts_of_words_and_have_no_place(user: User, api: Api) -> None:
    await make(user, title="Sailing in Greece")
    await make(user, title="Cooking")
    [found] = (await api.get("threads/?q=greec+SAIL")).body["results"]
    assert (found["title"], found["match"]) == ("Sailing in Greece", None)
    assert titles(await api.get("threads/?q=%25")) == []


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Ich mag alte Häuser.", "haus"),
        ("Où sont mes clés ?", "clé"),
        ("我昨天在北京吃饭。", "北京"),
        ("Где мои книги?", "книга"),
    ],
)
async def test_words_are_found_in_any_language(user: User, api: Api, said: str, asked: str) -> None:
    await make(user, said, title="found")
    await make(user, "Nothing of the kind.", title="other")
    [found] = (await api.get(f"threads/?q={asked}")).body["results"]
    assert (found["title"], found["match"]["excerpt"]) == ("found", said)


async def test_nobody_elses_and_nothing_forgotten_or_tried_again_is_found(
    user: User, other_user: User, api: Api
) -> None:
    mine = await make(user, "The password is xyzzy.", "Noted.", "And plugh.", title="mine")
    await make(other_user, "xyzzy", title="theirs")
    assert titles(await api.get("threads/?q=xyzzy")) == ["mine"]
    turn = await Message.objects.aget(thread=mine, position=1)
    await in_database(forgetting.forget_turn)(user, turn.id)
    await Message.objects.filter(thread=mine, position=3).aupdate(is_active=False)
    assert [titles(await api.get(f"threads/?q={words}")) for words in ("xyzzy", "plugh", "forgotten")] == [[], [], []]
    assert titles(await api.get("threads/?q=noted")) == ["mine"]


async def test_pages_of_a_search_hold_each_thread_once_newest_first(user: User, api: Api) -> None:
    for number in range(5):
        at = NOON + timedelta(hours=number // 2)
        await make(user, "A boat.", title=str(number), updated_at=at, indexed=False)
    await in_database(catch_up)(user.pk)
    first = await api.get("threads/?q=boat&page_size=2")
    second = await api.get(first.body["next"])
    third = await api.get(second.body["next"])
    pages = [titles(first), titles(second), titles(third)]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert sorted(title for page in pages for title in page) == ["0", "1", "2", "3", "4"]
    assert (pages[0][0], third.body["next"], titles(await api.get(second.body["previous"]))) == ("4", None, pages[0])


async def test_lists_are_narrowed_down(user: User, api: Api) -> None:
    old = await make(user, "Hello?", title="old", updated_at=NOON)
    await in_database(make_snapshot)(old)
    await api.post("threads/", {"title": "new", "assistant": "analyst"})
    for kind in ("document", "code"):
        await api.post(f"threads/{old.id}/artifacts/", {"title": kind, "kind": kind, "content": "x"})
    await in_database(make_memory)(user, "Tea", tags=["food", f"user:{user.pk}"])
    await in_database(make_memory)(user, "Boat")

    async def many(path: str) -> int:
        return len((await api.get(path)).body["results"])

    assert titles(await api.get("threads/?assistant=analyst")) == ["new"]
    assert titles(await api.get("threads/?updated_since=2026-03-01T13:00:00%2B01:00")) == ["new", "old"]
    assert titles(await api.get("threads/?updated_since=2026-03-01T12:00:01")) == ["new"]
    assert titles(await api.get(f"threads/{old.id}/artifacts/?kind=code")) == ["code"]
    assert [await many(f"threads/{old.id}/requests/?status={each}") for each in ("completed", "failed")] == [1, 0]
    assert [await many(f"memories/?tag={tag}") for tag in ("food", "foo", f"user:{user.pk}")] == [1, 0, 2]


async def make_with_file(user: User, *parts: str, **values: Any) -> tuple[Thread, File]:
    return await in_database(make_thread_with_file)(user, parts, **values)


async def test_a_thread_is_found_by_what_stands_in_its_files_and_where(user: User, other_user: User, api: Api) -> None:
    values = {"name": "lease.pdf", "title": "Flat"}
    thread, file = await make_with_file(user, "The rent.", f"{'Other terms. ' * 30}Notices of two boats.", **values)
    await make_with_file(other_user, "Notices of two boats.")
    await make_with_file(user, "A notice.", "A boat.", title="Never both in one part")
    turn = await Message.objects.aget(thread=thread, position=1)
    [found] = (await api.get("threads/?q=boat,+the+notice")).body["results"]
    match = found.pop("file_match")
    assert match.pop("excerpt").endswith("Notices of two boats.")
    assert match == {
        "file": str(file.id),
        "name": "lease.pdf",
        "part": 2,
        "label": "section 2",
        "page": None,
        "message": str(turn.id),
        "position": 1,
        "created_at": file.created_at.isoformat().replace("+00:00", "Z"),
        "words": ["Notices", "boats"],
    }
    assert found.pop("match") is None
    assert found == (await api.get(f"threads/{thread.id}/")).body


@pytest.mark.parametrize(
    ("written", "asked"),
    [("Die alten Häuser am Fluss.", "haus"), ("我昨天在北京吃饭。", "北京"), ("Мои книги.", "книга")],
)
async def test_words_of_files_are_found_in_any_language(user: User, api: Api, written: str, asked: str) -> None:
    await make_with_file(user, written, title="found")
    await make_with_file(user, "Nothing of the kind.", title="other")
    [found] = (await api.get(f"threads/?q={asked}")).body["results"]
    assert (found["title"], found["file_match"]["excerpt"]) == ("found", written)


async def test_a_file_is_found_by_parts_of_its_name_and_a_thread_by_a_turn_and_a_file(user: User, api: Api) -> None:
    turns = ["What does the lease say?", "That boats are forbidden."]
    await make_with_file(user, "No boats.", name="Lease 2026.pdf", turns=turns)
    [named] = (await api.get("threads/?q=2026+leas")).body["results"]
    assert (named["match"], named["file_match"]["part"]) == (None, None)
    assert (named["file_match"]["excerpt"], named["file_match"]["position"]) == ("Lease 2026.pdf", 1)
    [both] = (await api.get("threads/?q=boat")).body["results"]
    assert (both["match"]["position"], both["file_match"]["label"]) == (2, "section 1")


async def test_files_that_are_in_no_message_or_gone_are_not_found(user: User, api: Api) -> None:
    await in_database(make_file)(user, parts=["A xyzzy."], name="xyzzy.txt")
    assert titles(await api.get("threads/?q=xyzzy")) == []
    (forgotten, _), (_, deleted), (cleared, _) = [
        await make_with_file(user, "A plugh.", title=title) for title in ("forgotten", "deleted", "cleared")
    ]
    assert sorted(titles(await api.get("threads/?q=plugh"))) == ["cleared", "deleted", "forgotten"]
    turn = await Message.objects.aget(thread=forgotten, position=1)
    assert (await api.post(f"messages/{turn.id}/forget/")).status == 200
    assert (await api.call("DELETE", f"files/{deleted.id}/")).status == 204
    assert (await api.post(f"threads/{cleared.id}/clear/")).status == 200
    assert titles(await api.get("threads/?q=plugh")) == []


def plan_of(user: User, text: str, *tables: str) -> str:
    """How the threads with these words are looked for, once the planner knows the tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {', '.join(tables)}")
        cursor.execute("SET enable_seqscan = off")  # which is right for so few rows
    try:
        return search.threads_with(search.search_of(user, text)).explain()
    finally:
        connection.close()


def test_a_search_reads_no_parts_but_those_that_it_finds(user: User) -> None:
    make_thread_with_file(user, [f"Page {n}, {uuid.uuid4().hex}." for n in range(1_500)])
    plan = plan_of(user, "page 700", "conversations_filepart", "conversations_file")
    assert "Bitmap Index Scan on file_part_terms" in plan


def test_a_search_reads_no_turns_but_those_that_it_finds(user: User) -> None:
    thread = make_thread(user, updated_at=timezone.now())
    Message.objects.bulk_create(chain(thread, [f"Turn {n}, {uuid.uuid4().hex}." for n in range(1_500)]))
    catch_up(user.pk)
    plan = plan_of(user, "turn 700", "memory_indexedpassage", "conversations_message", "conversations_thread")
    assert "Bitmap Index Scan on indexed_passage_terms" in plan
    assert "Index Scan using message_position_once" in plan
    assert "Seq Scan" not in plan
