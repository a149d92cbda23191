"""Forgetting and deleting that end in the middle: all of it or nothing, what is answered is true, and it can be done again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from conversations.models import Message, Thread
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up
from memory.models import Memory
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.factories import make_memory
from tests.memory.forgetting.test_forgetting import dump, rows_with
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BLOCKED = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
SAID = "By the way, my locker code is ZEBRA-QUOKKA."
CHANGES = {
    "a turn": ("POST", "messages/{turn}/forget/", None),
    "a memory": ("POST", "memories/{memory}/forget/", None),
    "everything": ("POST", "memories/forget/", {"all": True}),
    "a thread's turns": ("POST", "threads/{thread}/clear/", None),
    "a thread": ("DELETE", "threads/{thread}/", None),
}

Ending = Callable[["asyncio.Task[ApiResponse]", psycopg.Connection[Any]], Awaitable[None]]


@pytest.fixture(autouse=True)
def _own_places(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Those of a process of its own, which may be told to end."""
    places = long_work._Places()
    monkeypatch.setattr(long_work, "_places", places)
    yield
    until(lambda: not places.running)


@contextmanager
def hold_rows(statement: str, *parameters: Any) -> Iterator[psycopg.Connection[Any]]:
    """Somebody else's transaction, which has locked what the statement names."""
    with psycopg.connect(settings.DATABASE_URL, dbname=connection.settings_dict["NAME"]) as other:
        other.execute(statement, parameters)
        yield other
        other.rollback()


def blocked(other: psycopg.Connection[Any]) -> list[int]:
    return [pid for (pid,) in other.execute(BLOCKED).fetchall()]


async def leave(task: "asyncio.Task[ApiResponse]", other: psycopg.Connection[Any]) -> None:
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def stop_the_server(task: "asyncio.Task[ApiResponse]", other: psycopg.Connection[Any]) -> None:
    await long_work.drain()
    answer = await task
    assert answer.code == (503, "unavailable", "ending")
    assert "Nothing was done" in answer.refusal[1]["message"]
    long_work._places.ending = False


async def kill_the_connection(task: "asyncio.Task[ApiResponse]", other: psycopg.Connection[Any]) -> None:
    """As PostgreSQL sees a process that was killed."""
    for pid in blocked(other):
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert (await task).code == (503, "unavailable", "unavailable")


def make_told(user: User) -> dict[str, str]:
    thread = make_thread(user, [SAID, "Noted."], title="Lockers")
    turn = Message.objects.get(thread=thread, position=1)
    catch_up(user.pk)
    memory = make_memory(user, "Locker code: ZEBRA-QUOKKA", sources=[turn.id])
    return {"thread": str(thread.id), "turn": str(turn.id), "memory": str(memory.id)}


def stored_titles() -> list[str]:
    """All rows, but for when the token was last used."""
    return [row for row in dump().splitlines() if not row.startswith("conversations_apitoken")]


@pytest.mark.once("a turn-kill_the_connection")
@pytest.mark.parametrize("end", [leave, stop_the_server, kill_the_connection], ids=lambda end: end.__name__)
@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_that_ends_in_the_middle_changed_nothing_and_can_be_done_again(
    user: User, api: Api, change: str, end: Ending
) -> None:
    ids = await in_database(make_told)(user)
    method, path, body = CHANGES[change]
    path = path.format(**ids)
    before = await in_database(stored_titles)()
    with hold_rows("SELECT FROM memory_memory WHERE id = %s FOR UPDATE", ids["memory"]) as other:
        task = asyncio.ensure_future(api.call(method, path, body))
        await asyncio.to_thread(until, lambda: blocked(other))  # by then the turns are blank in its transaction
        assert (await api.get(f"threads/{ids['thread']}/messages/")).body["results"][0]["text"] == SAID
        await end(task, other)
    await asyncio.to_thread(until, lambda: not long_work._places.running)
    assert await in_database(stored_titles)() == before
    shown = (await api.get(f"threads/{ids['thread']}/messages/")).body["results"]
    assert [(turn["text"], turn["status"]) for turn in shown] == [(SAID, "complete"), ("Noted.", "complete")]

    assert (await api.call(method, path, body)).status in {200, 204}
    assert await in_database(rows_with)("QUOKKA") == []
    assert await Memory.objects.acount() == 0


async def test_what_was_stored_is_never_said_to_be_not(user: User, api: Api) -> None:
    """The server ends while PostgreSQL's planner is told of an import that has been stored."""
    turns = [{"role": ("user", "assistant")[number % 2], "content": "x"} for number in range(1_000)]
    with hold_rows("LOCK TABLE conversations_message IN SHARE UPDATE EXCLUSIVE MODE") as other:
        task = asyncio.ensure_future(api.post("import/", {"format": "openbook/1", "threads": [{"messages": turns}]}))
        await asyncio.to_thread(until, lambda: blocked(other))
        await long_work.drain()
        answer = await task
    assert (answer.status, await Thread.objects.acount()) == (201, 1), answer.body
