"""Who may open a socket: only pages of ours and programs with a token, only the thread's owner, and only for as long."""

import asyncio
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import AsyncClient
from django.utils import timezone

from conversations.accounts import tokens
from conversations.models import ApiToken, Message, Thread, UserLimits
from conversations.runtime.db import in_database
from conversations.threads import ThreadState, deletion
from conversations.web import access_checks
from conversations.web.socket_access import Identity, Visitor
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.web.sockets import Socket, connected
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

REFUSED = (False, 4403)


async def test_a_page_of_ours_may_open_a_socket(session: str) -> None:
    cases: list[tuple[str, str, str]] = [
        ("http://testserver", "testserver", "ws"),
        ("http://TestServer", "testserver", "ws"),
        ("https://testserver", "testserver", "wss"),
        ("http://testserver:8000", "testserver:8000", "ws"),
    ]
    for origin, host, scheme in cases:
        async with connected(session=session, origin=origin, host=host, scheme=scheme):
            pass


async def test_a_page_from_elsewhere_may_not(session: str) -> None:
    cases: list[tuple[str | None, str, str]] = [
        ("http://evil.example", "testserver", "ws"),
        ("http://testserver.evil.example", "testserver", "ws"),
        ("http://sub.testserver", "testserver", "ws"),
        ("http://testserver:8001", "testserver:8000", "ws"),
        ("http://testserver", "testserver:8000", "ws"),
        ("https://testserver", "testserver", "ws"),
        ("http://testserver", "testserver", "wss"),
        ("null", "testserver", "ws"),
        ("http://", "testserver", "ws"),
        ("", "testserver", "ws"),
        (None, "testserver", "ws"),
        ("http://rebound.example:8000", "rebound.example:8000", "ws"),
        ("http://", "", "ws"),
    ]
    for origin, host, scheme in cases:
        assert await Socket(session=session, origin=origin, host=host, scheme=scheme).connect() == REFUSED, origin


async def test_a_page_from_a_trusted_origin_may(session: str, settings: Any) -> None:
    cases: list[tuple[str, tuple[bool, Any]]] = [
        ("https://chat.example", (True, None)),
        ("https://a.wide.example", (True, None)),
        ("https://a.b.wide.example", (True, None)),
        ("http://chat.example", REFUSED),
        ("https://chat.example:8443", REFUSED),
        ("https://a.chat.example", REFUSED),
        ("http://a.wide.example", REFUSED),
        ("https://notwide.example", REFUSED),
    ]
    for origin, answer in cases:
        settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example", "https://*.wide.example"]
        socket = Socket(session=session, origin=origin, host="inner:8000")
        assert await socket.connect() == answer, origin
        await socket.leave()


async def test_a_program_with_a_token_needs_no_origin(token: str) -> None:
    async with connected(token=token, origin=None):
        pass


async def test_a_page_from_elsewhere_may_not_even_with_a_token(token: str) -> None:
    assert await Socket(token=token, origin="http://evil.example").connect() == REFUSED


def lacks(scope: str, *granted: str) -> dict[str, Any]:
    return {
        "type": "permission",
        "code": "insufficient_scope",
        "message": f"This needs a token with the scope `{scope}`; this one has {' and '.join(granted)}. "
        "Make one on the page /account/tokens/.",
        "details": {"scope": scope, "scopes": list(granted)},
    }


async def test_a_token_to_read_may_watch_and_send_nothing(user: User, token: str) -> None:
    thread = await in_database(make_thread)(user)
    narrow = await in_database(tokens.issue)(user=user, name="watcher", scopes=["read"])
    async with connected(thread.id, token=narrow) as watcher, connected(thread.id, token=token) as writer:
        for kind in ("message.send", "preset.run", "reply.stop", "reply.retry", "reply.continue"):
            await watcher.send(kind, content="Hello", preset="brd", reply="x")
            assert await receive_error(watcher) == lacks("write", "read")
        await writer.send("message.send", content="Hello", client_message_id="a")
        assert (await watcher.reply())[-1]["type"] == "reply.completed"
        assert await Message.objects.filter(role="user").acount() == 1


async def test_a_token_that_may_not_read_is_let_go(user: User) -> None:
    token = await in_database(tokens.issue)(user=user, name="blind", scopes=["write", "export"])
    socket = Socket(token=token)
    assert (await socket.connect())[0]
    assert (await receive_error(socket), await socket.close_code()) == (lacks("read", "write", "export"), 4403)


async def test_sockets_that_are_refused_are_in_the_log_by_ids(user: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="openbook.access")
    blind = await in_database(tokens.issue)(user=user, name="blind", scopes=["write"])
    watching = await in_database(tokens.issue)(user=user, name="watch", scopes=["read"])
    assert await Socket(token=blind, origin="http://evil.example").connect() == REFUSED
    for socket in (Socket(), Socket(token=blind)):
        await socket.connect()
        await socket.receive()
        await socket.close_code()
    async with connected(token=watching) as socket:
        await socket.send("message.send", content="Hello.")
        await socket.receive()
    lines = [vars(line) for line in caplog.records if line.name == "openbook.access"]
    assert {(line["msg"], line["method"], line["route"]) for line in lines} == {
        ("access refused", "WEBSOCKET", "ws/threads/<thread_id>/")
    }
    assert [(line["status"], line["user_id"]) for line in lines] == [
        (403, None),
        (401, None),
        (403, user.pk),
        (403, user.pk),
    ]
    assert blind not in caplog.text and watching not in caplog.text


async def test_a_message_beyond_the_limits_comes_back_with_its_own_id(user: User, session: str) -> None:
    await UserLimits.objects.acreate(user=user, running_replies=0, tokens_day=10)
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", client_message_id="mine")
        error = await receive_error(socket)
    assert (error["code"], error["details"]["limit"], error["details"]["client_message_id"]) == (
        "rate_limited",
        "tokens_day",
        "mine",
    )


@pytest.mark.parametrize("bad", ["no json", "[1]", '{"type": 7}', '{"type": "reply.stop"}'])
async def test_every_frame_counts_whatever_it_holds(user: User, session: str, bad: str) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=2)
    with time_machine.travel(datetime(2026, 11, 20, 12, 0, 15, tzinfo=UTC), tick=False):
        async with connected(session=session) as socket:
            codes = []
            for _ in range(3):
                await socket.send_raw(text=bad)
                codes.append((await receive_error(socket))["code"])
    assert (codes[0], codes[1:]) == (codes[1], [codes[0], "rate_limited"])


async def test_pages_and_calls_count_together_and_the_way_out_is_free(user: User, session: str) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=2)
    client = AsyncClient()
    client.cookies["sessionid"] = session
    with time_machine.travel(datetime(2026, 11, 20, 12, 0, 15, tzinfo=UTC), tick=False):
        statuses = [(await client.get(path)).status_code for path in ("/memory/", "/api/v1/threads/", "/", "/health/")]
        refused: Any = await client.get("/memory/")
        left = await client.post("/accounts/logout/")
    assert statuses == [200, 200, 429, 200]
    assert (refused.status_code, refused["Retry-After"]) == (429, "45")
    assert "Too many requests: 2 a minute are allowed. Go on in 45 s." in refused.text
    assert left.status_code == 302


def sign_in_needed() -> dict[str, Any]:
    return {
        "type": "authentication",
        "code": "not_authenticated",
        "message": "Sign in, or offer a valid token, then connect again.",
        "details": {},
    }


async def receive_error(socket: Socket, *, before: tuple[str, ...] = ()) -> dict[str, Any]:
    """The error that comes before a close, without the id of its request. ``before``: events that may come first."""
    frame = await socket.receive()
    while frame["type"] in before:
        frame = await socket.receive()
    assert set(frame) == {"type", "reply", "seq", "at", "data"}
    assert (frame["type"], frame["reply"], frame["seq"]) == ("error", None, 0)
    error: dict[str, Any] = frame["data"]
    assert error.pop("request_id")
    return error


async def test_whoever_is_unknown_is_told_so_and_let_go() -> None:
    cases: list[dict[str, str]] = [{}, {"session": "made-up"}, {"token": "ob_made-up"}, {"token": "tökén"}]
    for how in cases:
        socket = Socket(**how)
        assert (await socket.connect())[0], how
        assert (await receive_error(socket), await socket.close_code()) == (sign_in_needed(), 4401), how


def sign_out(user: User) -> None:
    Session.objects.all().delete()


def deactivate(user: User) -> None:
    User.objects.filter(id=user.id).update(is_active=False)


def change_password(user: User) -> None:
    user.set_password("something else")
    user.save()


def revoke(user: User) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())


@pytest.mark.parametrize(
    ("door", "loss"),
    [
        ("session", sign_out),
        ("session", deactivate),
        ("session", change_password),
        ("token", revoke),
        ("token", deactivate),
    ],
)
async def test_access_that_is_lost_later_closes_the_socket(
    user: User,
    session: str,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
    door: str,
    loss: Callable[[User], None],
) -> None:
    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.05)
    how = {"session": session} if door == "session" else {"token": token}
    thread = await in_database(make_thread)(user, ["Hello"])
    async with connected(thread.id, **how) as socket:
        assert await socket.silent()
        await in_database(loss)(user)
        assert (await receive_error(socket), await socket.close_code()) == (sign_in_needed(), 4401)


NO_THREAD = {
    "type": "not_found",
    "code": "thread_not_found",
    "message": "There is no such thread, or it isn't yours. Check the id; the literal id `new` opens a thread.",
    "details": {},
}


async def test_an_unknown_thread_closes_the_socket(session: str) -> None:
    cases: list[object] = [uuid.UUID(int=7), "nonsense", "NEW", "0"]
    for thread in cases:
        socket = Socket(thread, session=session)
        assert (await socket.connect())[0], thread
        assert (await receive_error(socket), await socket.close_code()) == (NO_THREAD, 4404), thread
        assert await Thread.objects.acount() == 0, thread


async def test_another_users_thread_is_an_unknown_one(user: User, others_session: str) -> None:
    thread = await in_database(make_thread)(user, ["Mine"])
    socket = Socket(thread.id, session=others_session)
    assert (await socket.connect())[0]
    assert (await receive_error(socket), await socket.close_code()) == (NO_THREAD, 4404)


async def test_a_thread_that_is_deleted_later_closes_the_socket(
    user: User, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.05)
    thread = await in_database(make_thread)(user, ["Hello"])
    async with connected(thread.id, session=session) as socket:
        assert await socket.silent()
        await in_database(deletion.delete_thread)(thread)
        assert (await receive_error(socket), await socket.close_code()) == (NO_THREAD, 4404)


async def test_a_thread_that_is_cleared_later_is_told_once(
    user: User, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.05)
    thread = await in_database(make_thread)(user, ["Hello"])
    async with connected(thread.id, session=session) as socket:
        assert await socket.silent()
        await in_database(deletion.clear_thread)(thread)
        told = await socket.receive()
        assert (told["type"], told["reply"], told["data"]) == ("thread.cleared", None, {"thread": str(thread.id)})
        assert await socket.silent()
    async with connected(thread.id, session=session) as later:
        assert await later.silent()


async def test_whoever_lost_access_hears_no_more_of_a_running_reply(
    user: User, session: str, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.05)
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", client_message_id="a")
        await socket.until("reply.delta")
        await in_database(deactivate)(user)
        ended = await receive_error(socket, before=("reply.stopped",))  # the reply ends with the account, too
        assert (ended, await socket.close_code()) == (sign_in_needed(), 4401)
        gate.open()
        assert await socket.silent(0.5)


async def test_many_sockets_of_one_session_are_checked_by_one_look_at_a_time(
    user: User, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[set[uuid.UUID]] = []
    look, looked = access_checks._look, asyncio.Event()
    loop = asyncio.get_running_loop()

    def counted(identity: Identity, thread_ids: set[uuid.UUID]) -> tuple[Visitor | None, dict[uuid.UUID, ThreadState]]:
        looks.append(thread_ids)
        if thread_ids == ids:
            loop.call_soon_threadsafe(looked.set)
        return look(identity, thread_ids)

    monkeypatch.setattr(access_checks, "CHECK_ACCESS_SECONDS", 0.5)
    monkeypatch.setattr(access_checks, "_look", counted)
    first, second = [await in_database(make_thread)(user, ["Hello"]) for _ in range(2)]
    ids = {first.id, second.id}
    async with (
        connected(first.id, session=session) as one,
        connected(second.id, session=session) as other,
        connected(session=session) as fresh,
    ):
        await asyncio.wait_for(looked.wait(), 60)
        assert {*map(frozenset, looks[looks.index(ids) :])} == {frozenset(ids)}  # since all are open, of all at once
        await in_database(deletion.delete_thread)(second)
        assert (await receive_error(other), await other.close_code()) == (NO_THREAD, 4404)
        assert await one.silent()
        await in_database(sign_out)(user)
        for socket in (one, fresh):
            assert (await receive_error(socket), await socket.close_code()) == (sign_in_needed(), 4401)
