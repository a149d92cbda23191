"""How long a sign-in lasts, at every door, and what keeps it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from conversations.accounts import session_user
from conversations.accounts.session_store import BEGAN, SessionStore
from conversations.accounts.session_times import SessionTimes, first_end, renewed_end, strictest
from conversations.models import GroupSignIn
from conversations.rest import streams
from conversations.web import socket_access
from tests.conversations.factories import make_user
from tests.statements import statements

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def test_the_strictest_rule_counts() -> None:
    assert strictest([(336, 0), (None, None)]) == SessionTimes(most=336 * HOUR)
    assert strictest([(336, 60), (8, 0), (None, 15)]) == SessionTimes(most=8 * HOUR, idle=15 * MINUTE)


def test_an_end_moves_with_what_people_do_and_with_the_rules() -> None:
    times = SessionTimes(most=8 * HOUR, idle=15 * MINUTE)
    ends_at = first_end(times, NOON)
    assert ends_at == NOON + 15 * MINUTE

    def after(
        minutes: float, *, is_active: bool = True, ends_at: datetime = ends_at, times: SessionTimes = times
    ) -> datetime:
        now = NOON + timedelta(minutes=minutes)
        return renewed_end(times, began_at=NOON, ends_at=ends_at, now=now, is_active=is_active)

    assert after(10) == NOON + 25 * MINUTE
    assert after(0.9) == ends_at, "not at every request"
    assert after(10, is_active=False) == ends_at
    assert after(470, ends_at=NOON + 475 * MINUTE) == NOON + 8 * HOUR, "at most so long altogether"
    shorter = SessionTimes(most=4 * HOUR, idle=5 * MINUTE)
    assert after(1, is_active=False, times=shorter) == NOON + 6 * MINUTE, "a rule that became stricter"
    assert after(300, is_active=False, times=shorter, ends_at=NOON + 310 * MINUTE) == NOON + 4 * HOUR
    assert after(1, times=SessionTimes(most=8 * HOUR)) == ends_at


def moved(client: Client, by: timedelta) -> str:
    """As if so much time had passed since the session was looked at last. Returns its key."""
    key = client.cookies["sessionid"].value
    row = Session.objects.get(session_key=key)
    data = row.get_decoded()
    data[BEGAN] -= by.total_seconds()
    row.session_data, row.expire_date = SessionStore().encode(data), row.expire_date - by
    row.save()
    return key


def doors(client: Client) -> list[int]:
    """A page, a page of staff, a call."""
    return [client.get(path).status_code for path in ("/account/", "/admin/", "/api/v1/tags/")]


OPEN, OVER = [200, 200, 200], [302, 302, 401]


@pytest.mark.django_db
def test_a_session_ends_at_every_door(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OPENBOOK_SESSION_HOURS, settings.OPENBOOK_SESSION_IDLE_MINUTES = 8, 15
    user, client = make_user("ada", is_staff=True), Client()
    client.force_login(user)
    assert doors(client) == OPEN

    key = moved(client, 10 * MINUTE)
    idle = {"X-Openbook-Idle": "1"}
    with statements(monkeypatch) as asked:
        assert client.get("/api/v1/tags/", headers=idle).status_code == 200
        assert client.get("/api/v1/tags/", headers={"Accept": "text/event-stream"}).status_code == 200
        assert session_user.as_of_now(key)
    assert not [sql for sql in asked if sql.startswith("UPDATE")], "nobody is there"
    with statements(monkeypatch) as asked:
        answer = client.get("/api/v1/session/").json()
        assert doors(client) == OPEN
    assert len([sql for sql in asked if sql.startswith("UPDATE")]) == 1, "written once in a while"
    assert answer["idle_minutes"] == 15

    moved(client, 14 * MINUTE)
    assert client.post("/api/v1/threads/", {}, "application/json", headers=idle).status_code == 201, "an act counts"
    key = moved(client, 14 * MINUTE)
    socket_access.touch(socket_access.Identity(session_key=key))
    moved(client, 14 * MINUTE)
    assert doors(client) == OPEN
    check = streams._check_of_session(key, user.pk)
    assert check() is None
    moved(client, 16 * MINUTE)
    assert doors(client) == OVER
    assert (session_user.as_of_now(key), socket_access.session_user(key)) == (None, None)
    assert check()


@pytest.mark.django_db
def test_nobody_stays_longer_than_staff_and_groups_may(settings: Settings) -> None:
    settings.OPENBOOK_STAFF_SESSION_HOURS = 4
    ada, bob = make_user("ada", is_staff=True), make_user("bob")
    clients = {user: Client() for user in (ada, bob)}
    for user, client in clients.items():
        client.force_login(user)
        moved(client, 5 * HOUR)
    assert doors(clients[ada]) == OVER
    assert clients[bob].get("/account/").status_code == 200

    group = Group.objects.create(name="Ward")
    GroupSignIn.objects.create(group=group, session_hours=6, session_idle_minutes=10)
    bob.groups.add(group)
    key = clients[bob].cookies["sessionid"].value
    assert session_user.as_of_now(key), "no act, and yet it ends in time from now on"
    moved(clients[bob], 11 * MINUTE)
    assert clients[bob].get("/account/").status_code == 302
    clients[bob].force_login(bob)
    assert clients[bob].get("/account/").status_code == 200
    moved(clients[bob], 7 * HOUR)
    assert session_user.as_of_now(clients[bob].cookies["sessionid"].value) is None


@pytest.mark.django_db
def test_what_is_stored_in_a_session_leaves_its_end() -> None:
    client = Client()
    client.force_login(make_user("ada"))
    key = moved(client, HOUR)
    before = Session.objects.get(session_key=key).expire_date
    session = client.session
    session["words"] = "anything"
    session.save()
    assert Session.objects.get(session_key=key).expire_date == before
