"""An installation whose clock is set by two days, back or ahead: all that is stored lies in the future, or in the past."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from conversations import replies, schedule
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Reply
from conversations.replies import leases, rounds
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

TIMES = """
SELECT columns.table_name, array_agg(column_name::text)
FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'timestamp with time zone'
  AND is_generated = 'NEVER' AND columns.table_name::text NOT IN (
      SELECT relname FROM pg_class WHERE relispartition
  )
GROUP BY columns.table_name
"""


def shift(by: timedelta) -> None:
    """As if all of it had happened so much later."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # turns never change otherwise
        cursor.execute(TIMES)
        for table, columns in cursor.fetchall():
            changes = ", ".join(f'"{column}" = "{column}" + make_interval(secs => %(by)s)' for column in columns)
            cursor.execute(f'UPDATE "{table}" SET {changes}', {"by": by.total_seconds()})  # noqa: S608


@pytest.mark.wide
@pytest.mark.parametrize("by", [timedelta(days=2), timedelta(days=-2)], ids=["set back", "set ahead"])
async def test_a_conversation_goes_on_and_nothing_is_stuck(user: User, model: ModelServer, by: timedelta) -> None:
    api = await in_database(Api)(user)
    sent = await api.post("threads/new/messages/", {"content": "I moved to Porto."})
    thread = sent.body["thread"]
    await in_database(left_behind)(user)
    await in_database(shift)(by)

    for _ in range(2):
        await in_database(leases.sweep)(timedelta())
    assert not await Reply.objects.filter(status=Reply.Status.RUNNING).aexists()

    again = await api.post(f"threads/{thread}/messages/", {"content": "Where do I live?"})
    assert (again.status, again.body["reply"]["status"]) == (201, "completed")
    said = await api.get(f"threads/{thread}/messages/")
    assert [turn["position"] for turn in said.body["results"]] == [1, 2, 3, 4]
    context = (await api.get(f"requests/{again.body['request']}/")).body
    assert context["message_history_count"] == 2
    for each in [snapshot async for snapshot in ContextSnapshot.objects.all()]:
        assert await in_database(snapshots.proof)(each)
    for path in ("threads/", "memories/search/?q=Porto", "export/", "limits/", "days/", "topics/", "tokens/current/"):
        assert (await api.get(path)).status == 200, path
    later = timezone.now() + 2 * schedule.IDLE
    assert await in_database(schedule.sweep)(at=later) == 1


def left_behind(user: User) -> None:
    thread = make_thread(user, ["Hello?"])
    make_reply(thread, status="running", owner="gone", lease_until=timezone.now() + timedelta(seconds=8))


async def test_a_reply_that_runs_while_the_clock_is_set_keeps_its_process(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("Dear ", gate, "Ada"))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    await in_database(gate.wait_until_reached)()
    await in_database(shift)(timedelta(days=-2))
    await in_database(leases.sweep)()
    renewed = Reply.objects.filter(id=opened.reply.id, lease_until__gt=Now())
    await in_database(until)(lambda: renewed.all().exists())
    await in_database(leases.sweep)(timedelta())
    gate.open()
    events = [event.type async for event in replies.follow(opened.reply.id)]
    assert events[-1] == "reply.completed"


async def test_another_attempt_is_the_newest_though_the_one_before_lies_in_the_future(
    user: User, model: ModelServer
) -> None:
    api = await in_database(Api)(user)
    sent = await api.post("threads/new/messages/", {"content": "I moved to Porto."})
    await in_database(shift)(timedelta(days=2))
    again = await api.post(f"replies/{sent.body['reply']['id']}/retry/")
    assert [event.type async for event in replies.follow(again.body["id"])][-1] == "reply.completed"
    said = (await api.get(f"threads/{sent.body['thread']}/messages/")).body["results"]
    assert said[0]["reply"]["id"] == again.body["id"]


async def test_a_request_is_built_once_the_database_is_quick_enough() -> None:
    pauses = ["1", "0"]

    def build() -> str:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 20")
            cursor.execute("SELECT pg_sleep(%s)", [pauses.pop(0)])
        return "built"

    assert await rounds.once_it_answers(build) == "built"
    assert pauses == []
