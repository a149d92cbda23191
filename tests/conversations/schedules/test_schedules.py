"""Messages that are sent at a time, by the loop of a worker; one is killed between a message and the note that it is sent."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from config.worker.due_senders import schedule_sender
from conversations.errors import TooManySchedules
from conversations.models import Lease, Message, Reply, Schedule, UserLimits
from conversations.runtime.db import in_database
from conversations.schedules import schedules, sending
from conversations.schedules.schedules import Times
from conversations.schedules.times import next_after
from conversations.threads import deletion
from memory import forgetting
from memory.models import Preferences
from tests.config.worker.test_worker import lose_connections
from tests.conversations.factories import make_schedule, make_thread
from tests.conversations.rest.client import Api
from tests.processes import database_url, started
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

WEEKDAYS = [1, 2, 3, 4, 5]
EIGHT = Times(days=WEEKDAYS, time_of_day=time(8))
LISBON = ZoneInfo("Europe/Lisbon")


async def send_due() -> int:
    """What is due, each to the end of its reply. Returns how many."""
    due = await in_database(sending.due)([], most=16)
    for each in due:
        await sending.send(each)
    return len(due)


def is_due(schedule: Schedule, **ago: float) -> Schedule:
    Schedule.objects.filter(id=schedule.id).update(next_at=timezone.now() - timedelta(**ago), rests_until=None)
    schedule.refresh_from_db()
    return schedule


@pytest.mark.parametrize(
    ("after", "days", "at", "due"),
    [
        ("2026-03-27T08:30", WEEKDAYS, "08:00", "2026-03-30T07:00"),  # the clocks went on at the weekend
        ("2026-10-23T12:00", WEEKDAYS, "08:00", "2026-10-26T08:00"),  # and back
        ("2026-03-28T12:00", [7], "01:30", "2026-03-29T01:30"),  # which no clock shows: as long after midnight as ever
        ("2026-10-24T12:00", [7], "01:30", "2026-10-25T00:30"),  # shown twice
        ("2026-10-25T00:30", [7], "01:30", "2026-11-01T01:30"),  # and sent once
        ("2026-11-02T08:00", [1], "08:00", "2026-11-09T08:00"),
    ],
)
def test_a_time_of_day_is_that_of_the_persons_clocks(after: str, days: list[int], at: str, due: str) -> None:
    found = next_after(
        datetime.fromisoformat(after).replace(tzinfo=UTC), days=days, at=time.fromisoformat(at), zone=LISBON
    )
    assert f"{found:%Y-%m-%dT%H:%M}" == due


async def test_a_program_has_messages_sent_and_sees_what_came_of_them(user: User, other_user: User) -> None:
    api, others = await in_database(Api)(user), await in_database(Api)(other_user)
    await Preferences.objects.acreate(user=user, time_zone="Europe/Lisbon")
    rule = {"days": ["wed", "mon"], "time": "08:00"}
    made = (await api.post("schedules/", {"content": "What changed?", "rule": rule})).body
    assert made["rule"] == {"days": ["mon", "wed"], "time": "08:00"} and made["time_zone"] == "Europe/Lisbon"
    assert made["next_at"] > timezone.now().isoformat() and made["thread"] is None
    path = f"schedules/{made['id']}/"
    in_a_minute = (timezone.now() + timedelta(minutes=1)).isoformat()
    changed = (await api.call("PATCH", path, {"at": in_a_minute, "content": "What changed since?"})).body
    assert changed["rule"] is None and changed["next_at"] == changed["at"]
    schedule = await Schedule.objects.aget()
    await in_database(is_due)(schedule, hours=2)
    assert await send_due() == 1 and await send_due() == 0
    told = (await api.get(path)).body
    assert (told["next_at"], told["late"], told["last_status"], told["last_error"]) == (None, True, "completed", "")
    turns = (await api.get(f"threads/{told['thread']}/messages/")).body["results"]
    assert (turns[0]["role"], turns[0]["text"], len(turns)) == ("user", "What changed since?", 2)
    assert (await others.get(path)).code == (404, "not_found", "schedule_not_found")
    theirs = {"content": "x", "rule": rule, "thread": told["thread"]}
    assert (await others.post("schedules/", theirs)).code == (404, "not_found", "thread_not_found")
    assert (await api.call("DELETE", path)).status == 204 and (await api.get("schedules/")).body["results"] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"content": "x"}, "invalid_schedule"),
        ({"content": " ", "at": "2100-01-01T00:00Z"}, "invalid_message"),
        ({"content": "x", "at": "2020-01-01T00:00Z"}, "invalid_schedule"),
        ({"content": "x", "at": "2100-01-01T00:00Z", "rule": {"days": ["mon"], "time": "08:00"}}, "invalid_schedule"),
        ({"content": "x", "rule": {"days": ["mon"], "time": "8"}}, "invalid"),
        ({"content": "x", "at": "2100-01-01T00:00Z", "time_zone": "Mars/Base"}, "invalid_schedule"),
        ({"content": "x", "at": "2100-01-01T00:00Z", "assistant": "nobody"}, "invalid_message"),
    ],
)
async def test_what_can_not_be_sent_is_refused_when_it_is_made(user: User, body: dict[str, Any], code: str) -> None:
    api = await in_database(Api)(user)
    status, error = (await api.post("schedules/", body)).refusal
    assert (status, error["code"]) == (400, code)
    assert not await Schedule.objects.aexists()


async def test_one_that_meets_a_limit_waits_and_one_that_is_refused_is_paused(user: User) -> None:
    schedule = await in_database(make_schedule)(user, when=EIGHT)
    await in_database(is_due)(schedule, days=3)
    await UserLimits.objects.acreate(user=user, tokens_day=1)
    assert await send_due() == 1 and await send_due() == 0
    await schedule.arefresh_from_db()
    assert (schedule.last_error, schedule.paused, schedule.last_sent_at) == ("rate_limited", False, None)
    assert schedule.next_at and schedule.rests_until and schedule.next_at < timezone.now() < schedule.rests_until
    await UserLimits.objects.all().adelete()
    await Schedule.objects.aupdate(rests_until=None)
    assert await send_due() == 1  # three mornings are one message
    await schedule.arefresh_from_db()
    assert (
        schedule.late and schedule.next_at > timezone.now() and await Message.objects.filter(role="user").acount() == 1
    )
    await Schedule.objects.aupdate(thread=None, assistant="gone", next_at=timezone.now())
    assert await send_due() == 1 and await send_due() == 0
    await schedule.arefresh_from_db()
    assert schedule.paused and schedule.last_error == "invalid_message"


async def test_nothing_is_sent_while_it_is_paused_or_off_or_its_person_is_away(user: User, settings: Any) -> None:
    schedule = await in_database(make_schedule)(user, when=EIGHT)
    await in_database(schedules.change)(schedule, paused=True)
    await in_database(is_due)(schedule, days=1)
    assert await send_due() == 0
    await in_database(schedules.change)(schedule, paused=False)  # what was missed is not sent later
    await schedule.arefresh_from_db()
    assert schedule.next_at and schedule.next_at > timezone.now()
    await in_database(is_due)(schedule, days=1)
    await User.objects.filter(pk=user.pk).aupdate(is_active=False)
    assert await send_due() == 0
    await User.objects.filter(pk=user.pk).aupdate(is_active=True)
    settings.OPENBOOK_SCHEDULES = 0
    assert await send_due() == 0
    with pytest.raises(TooManySchedules):
        await in_database(make_schedule)(user)


def test_a_worker_that_is_killed_between_a_message_and_its_note_sends_it_once(user: User) -> None:
    schedule = is_due(make_schedule(user), minutes=1)
    with transaction.atomic():
        Schedule.objects.select_for_update().get(id=schedule.id)  # so that nothing can be noted
        with started("work", "--skip-checks", DATABASE_URL=database_url(), OPENBOOK_PROVIDER="offline") as victim:
            until(Message.objects.filter(role="user").exists)
            victim.kill()
    lose_connections()
    Lease.objects.update(lease_until=timezone.now())  # as seconds later
    with schedule_sender():
        until(Schedule.objects.filter(next_at=None, last_error="").exists)
    schedule.refresh_from_db()
    assert Message.objects.filter(role="user").count() == 1 and Reply.objects.count() == 1
    assert schedule.last_reply == Reply.objects.get().id and schedule.thread_id == Reply.objects.get().thread_id


def test_it_goes_with_its_thread_with_what_is_forgotten_and_with_its_account(user: User) -> None:
    thread = make_thread(user, ["Feed the cat Mimi", "Yes"])
    make_schedule(user, thread=thread)
    telling = make_schedule(user, content="Feed the cat Mimi")
    other = make_schedule(user, content="What is new?")
    assert forgetting.forget_turn(user, thread.messages.get(position=1).id).schedules == 1
    assert not Schedule.objects.filter(id=telling.id).exists()
    deletion.clear_thread(thread)
    assert list(Schedule.objects.all()) == [other]
    make_schedule(user, thread=thread)
    deletion.delete_thread(thread)
    assert list(Schedule.objects.all()) == [other]
    deletion.delete_user(user)
    assert not Schedule.objects.exists()


async def test_it_is_exported_and_comes_back_paused(user: User, other_user: User) -> None:
    thread = await in_database(make_thread)(user, ["Hello", "Yes"])
    await in_database(make_schedule)(user, thread=thread, when=EIGHT)
    api, others = await in_database(Api)(user), await in_database(Api)(other_user)
    document = (await api.get("export/")).body
    assert document["schedules"][0]["rule"] == {"days": ["mon", "tue", "wed", "thu", "fri"], "time": "08:00"}
    assert (await others.post("import/", document)).status == 201
    came = await Schedule.objects.aget(user=other_user)
    assert (came.content, came.paused, came.days) == ("What is new?", True, WEEKDAYS)
    assert came.thread_id and came.thread_id != thread.id


def test_a_person_makes_changes_pauses_and_deletes_one_on_their_page(user: User, other_user: User) -> None:
    Preferences.objects.create(user=user, time_zone="Asia/Tokyo")
    thread = make_thread(user, ["Hello", "Yes"], title="Boats")
    client, other = Client(), Client()
    client.force_login(user)
    other.force_login(other_user)
    assert "None yet" in client.get("/schedules/").content.decode()
    assert other.get(f"/schedules/?thread={thread.id}").status_code == 404
    form = {"content": "What changed?", "how": "once", "at": "2100-01-02T08:00"}
    assert "Boats" in client.post(f"/schedules/?thread={thread.id}", form, follow=True).content.decode()
    schedule = Schedule.objects.get()
    assert schedule.thread_id == thread.id and schedule.at == datetime(2100, 1, 1, 23, tzinfo=UTC)
    path = f"/schedules/{schedule.id}/"
    assert other.get(path).status_code == 404 and other.post(f"{path}pause/").status_code == 404
    assert "2100-01-02T08:00" in client.get(path).content.decode()
    assert "Choose days" in client.post(path, {"content": "x", "how": "again", "time": "08:00"}).content.decode()
    client.post(path, {"content": "New?", "how": "again", "days": [1, 2, 3, 4, 5], "time": "08:00"})
    page = client.get("/schedules/").content.decode()
    assert "Monday to Friday" in page and "New?" in page
    client.post(f"{path}pause/")
    assert "Resume" in client.get("/schedules/").content.decode()
    assert "stays in its conversation" in client.get(f"{path}delete/").content.decode()
    client.post(f"{path}delete/")
    assert not Schedule.objects.exists()
