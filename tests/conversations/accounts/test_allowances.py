"""What a user may use at once and in a day: decided by one row, across processes, and right whatever happens in between."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations import replies
from conversations.accounts import allowances, budgets, tokens
from conversations.accounts.allowances import AllowanceUse
from conversations.accounts.limits import Limits, tighter
from conversations.errors import RateLimited
from conversations.models import Allowance, ApiToken, Assistant, Message, Reply, Thread, UserLimits
from conversations.providers.base import Usage
from conversations.replies import closing, model_requests, opening, outcomes
from conversations.replies.events import OWNER
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import in_database
from conversations.threads import deletion
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.model_server import ModelServer
from tests.processes import ROOT, database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SENDERS = int(os.environ.get("OPENBOOK_TEST_SENDERS", "40"))
ROOM = 10


def open_reply(user: User, token: ApiToken | None = None, text: str = "Hello") -> model_requests.OpenedReply:
    return opening.open_turn(
        NewMessage(user=user, thread_id=None, blocks=[{"type": "text", "text": text}]), token=token
    )


def issued(user: User, **limits: Any) -> ApiToken:
    tokens.issue(user=user, name="a program", **limits)
    return ApiToken.objects.latest("id")


def end(turn: model_requests.OpenedReply, status: Reply.Status = Reply.Status.COMPLETED, **usage: int) -> None:
    outcome = outcomes.Outcome(status=status, usage=Usage(**usage))
    assert closing.close(
        reply_id=turn.reply.id,
        user_id=turn.reply.user_id,
        owner=OWNER,
        outcome=outcome,
        progress=closing.ReplyProgress(transcript=ReplyTranscript.of("Hi")),
    )


def use(user: User, token: ApiToken | None = None) -> AllowanceUse:
    return allowances.use_of(user.pk, token.pk if token else None)


def stop_remembering() -> None:
    """Each message is then given as much as every other."""
    Assistant.objects.update(uses_memory=False, rewriting="off")


@pytest.mark.wide
@pytest.mark.parametrize(("limit", "whose"), [("running_replies", "token"), ("tokens_day", "user")])
async def test_of_many_at_once_as_many_reach_the_model_as_there_is_room_for(
    user: User, other_user: User, model: ModelServer, settings: Any, limit: str, whose: str
) -> None:
    await in_database(stop_remembering)()
    reserved = (await in_database(open_reply)(other_user)).reply.reserved
    settings.OPENBOOK_LIMIT_RUNNING_REPLIES = 0
    most = {"running_replies": ROOM, "tokens_day": ROOM * reserved + reserved // 2}[limit]
    token = None
    if whose == "token":
        token = await in_database(issued)(user, **{limit: most})
    else:
        await UserLimits.objects.acreate(user=user, **{limit: most})
    gate = scripts.Gate()
    model.script(lambda body: scripts.text(gate, "Hi"))

    sent = [replies.start(user=user, thread_id=None, content="Hello", token=token) for _ in range(SENDERS)]
    answers = await asyncio.gather(*sent, return_exceptions=True)
    refused = (answer.details for answer in answers if isinstance(answer, RateLimited))
    refusals = Counter((details["limit"], details["whose"]) for details in refused)
    begun = [answer for answer in answers if isinstance(answer, model_requests.OpenedReply)]
    assert (len(begun), refusals) == (ROOM, {(limit, whose): SENDERS - ROOM})
    gate.open()
    for each in begun:
        async for _ in replies.follow(each.reply.id):
            pass
    assert len(model.requests) == ROOM
    assert await Message.objects.filter(thread__user=user, role="user").acount() == ROOM
    for which in (None, token):
        counted = await in_database(allowances.recounted)(user.pk, which.pk if which else None)
        assert await in_database(use)(user, which) == counted


@contextmanager
def senders(user: User, token: ApiToken, count: int) -> Iterator[subprocess.Popen[str]]:
    """A process that is about to open so many replies, and does when it is sent a line."""
    arguments = [str(value) for value in (user.pk, token.pk, count)]
    environment = {**os.environ, "DATABASE_URL": database_url(), "OPENBOOK_LIMIT_RUNNING_REPLIES": "0"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.conversations.replies.senders", *arguments],
        cwd=ROOT,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.wide
def test_processes_that_know_nothing_of_each_other_share_what_room_there_is(user: User) -> None:
    stop_remembering()
    reserved = open_reply(user).reply.reserved
    token = issued(user, tokens_day=ROOM * reserved + reserved // 2)
    outcomes: Counter[str] = Counter()
    with ExitStack() as stack:
        processes = [stack.enter_context(senders(user, token, 2 * ROOM)) for _ in range(2)]
        for process in processes:
            assert process.stdout and process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin and process.stdin.write("go\n")
            process.stdin.flush()
        for process in processes:
            for line in process.communicate()[0].splitlines():
                times, outcome = line.split(" ", 1)
                outcomes[outcome] += int(times)
    assert outcomes == {"stored": ROOM, "token's tokens_day": 3 * ROOM}
    assert use(user, token) == AllowanceUse(running=ROOM, spent=0, reserved=ROOM * reserved)
    assert use(user) == AllowanceUse(running=ROOM + 1, spent=0, reserved=(ROOM + 1) * reserved)


def test_what_a_token_uses_counts_for_it_and_for_its_user(user: User) -> None:
    token, other = issued(user, running_replies=1), issued(user, running_replies=1)
    first = open_reply(user, token)
    with pytest.raises(RateLimited) as refused:
        open_reply(user, token)
    assert refused.value.details == {
        "limit": "running_replies",
        "whose": "token",
        "most": 1,
        "used": 1,
        "retry_after": budgets.SOON_SECONDS,
    }
    open_reply(user, other)
    end(first, input_tokens=100)
    assert (use(user, token), use(user).running, use(user).spent) == (
        AllowanceUse(running=0, spent=100, reserved=0),
        1,
        100,
    )
    again = open_reply(user, token)
    Allowance.objects.all().delete()
    end(again, input_tokens=10)
    assert allowances.recounted(user.pk, token.pk) == AllowanceUse(running=0, spent=110, reserved=0)
    assert allowances.recounted(user.pk).spent == 110


def test_a_tokens_limit_is_no_more_than_a_part_of_its_users(user: User) -> None:
    UserLimits.objects.create(user=user, running_replies=1)
    token = issued(user, running_replies=5)
    open_reply(user)
    with pytest.raises(RateLimited) as refused:
        open_reply(user, token)
    assert (refused.value.details["whose"], refused.value.details["most"]) == ("user", 1)
    assert use(user, token) == AllowanceUse(running=0, spent=0, reserved=0)


def test_a_token_without_limits_of_its_own_takes_no_row(user: User) -> None:
    end(open_reply(user, issued(user, requests_minute=5)), input_tokens=100)
    assert [row.token_id for row in Allowance.objects.all()] == [None]
    assert use(user) == AllowanceUse(running=0, spent=100, reserved=0)


def test_what_was_set_aside_gives_way_to_what_was_used(user: User) -> None:
    turn = open_reply(user)
    assert use(user) == AllowanceUse(running=1, spent=0, reserved=turn.reply.reserved)
    end(
        turn,
        input_tokens=100,
        output_tokens=20,
        cache_read_input_tokens=3,
        cache_creation_input_tokens=4,
        cache_creation_1h_input_tokens=2,
        thinking_tokens=10,
    )
    assert use(user) == AllowanceUse(running=0, spent=127, reserved=0)


def test_a_failed_reply_gives_back_what_was_set_aside(user: User) -> None:
    end(open_reply(user), Reply.Status.FAILED)
    assert use(user) == AllowanceUse(running=0, spent=0, reserved=0)


def test_a_stopped_reply_that_was_told_no_usage_keeps_what_was_set_aside(user: User) -> None:
    turn = open_reply(user)
    end(turn, Reply.Status.STOPPED)
    assert use(user) == AllowanceUse(running=0, spent=turn.reply.reserved, reserved=0)
    assert allowances.recounted(user.pk) == use(user)


def test_a_reply_that_a_dead_process_left_behind_gives_its_share_back(user: User, settings: Any) -> None:
    settings.OPENBOOK_LIMIT_RUNNING_REPLIES = 1
    dead = open_reply(user)
    with pytest.raises(RateLimited):
        open_reply(user)
    Reply.objects.filter(id=dead.reply.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert closing.interrupt(dead.reply.id, user_id=dead.reply.user_id)
    assert use(user) == AllowanceUse(running=0, spent=0, reserved=0)
    open_reply(user)


def test_what_the_row_has_wrong_is_put_right_before_anybody_is_refused(user: User, settings: Any) -> None:
    settings.OPENBOOK_LIMIT_RUNNING_REPLIES = 2
    end(open_reply(user), input_tokens=100)
    Allowance.objects.update(running=2, reserved=5_000)
    open_reply(user)
    assert (use(user).running, use(user).spent) == (1, 100)


def test_a_row_that_is_lost_is_made_anew_from_the_replies(user: User, settings: Any) -> None:
    """The table is unlogged: after a crash of PostgreSQL it is empty."""
    settings.OPENBOOK_LIMIT_RUNNING_REPLIES = 2
    end(open_reply(user), input_tokens=100)
    running = open_reply(user)
    Allowance.objects.all().delete()
    again = open_reply(user)
    assert use(user) == AllowanceUse(running=2, spent=100, reserved=running.reply.reserved + again.reply.reserved)
    with pytest.raises(RateLimited):
        open_reply(user)


def test_deleting_a_thread_does_not_give_its_tokens_back(user: User) -> None:
    turn = open_reply(user)
    end(turn, input_tokens=100)
    deletion.delete_thread(turn.thread)
    assert allowances.recounted(user.pk) == AllowanceUse(running=0, spent=100, reserved=0)


def test_a_new_day_begins_with_nothing_used(user: User) -> None:
    end(open_reply(user), input_tokens=100)
    Allowance.objects.update(day=timezone.now().date() - timedelta(days=1))
    assert use(user).spent == 0
    turn = open_reply(user)
    assert use(user) == AllowanceUse(running=1, spent=0, reserved=turn.reply.reserved)


def test_what_was_begun_yesterday_is_not_counted_today(user: User) -> None:
    turn = open_reply(user)
    Reply.objects.update(created_at=timezone.now() - timedelta(days=1))
    end(turn, input_tokens=100)
    assert use(user) == AllowanceUse(running=0, spent=0, reserved=0)


def test_a_refused_message_leaves_nothing(user: User) -> None:
    UserLimits.objects.create(user=user, tokens_day=10)
    with pytest.raises(RateLimited) as refused:
        open_reply(user)
    assert refused.value.details["limit"] == "tokens_day"
    assert (Thread.objects.count(), Message.objects.count(), Reply.objects.count()) == (0, 0, 0)
    assert use(user) == AllowanceUse(running=0, spent=0, reserved=0)


def test_a_retry_and_a_preset_need_room_as_well(user: User, settings: Any) -> None:
    thread = make_thread(user, ["Hello", "Hi"], assistant=Assistant.objects.get(slug="analyst"))
    reply = make_reply(thread)
    settings.OPENBOOK_LIMIT_RUNNING_REPLIES = 1
    open_reply(user)
    with pytest.raises(RateLimited):
        opening.open_retry(user=user, reply_id=reply.id)
    with pytest.raises(RateLimited):
        opening.open_preset(user=user, thread_id=thread.id, slug="brd", click=None)


NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LIMITS = Limits(requests_minute=0, running_replies=2, tokens_day=1_000)


@pytest.mark.parametrize("whose", ["user", "token"])
@pytest.mark.parametrize(
    ("of", "needed", "details"),
    [
        (AllowanceUse(running=1, spent=500, reserved=100), 400, None),
        (
            AllowanceUse(running=2, spent=0, reserved=0),
            1,
            {"limit": "running_replies", "most": 2, "used": 2, "retry_after": 5},
        ),
        (
            AllowanceUse(running=1, spent=500, reserved=100),
            401,
            {"limit": "tokens_day", "most": 1_000, "used": 600, "needed": 401, "retry_after": 5},
        ),
        (
            AllowanceUse(running=0, spent=900, reserved=0),
            101,
            {"limit": "tokens_day", "most": 1_000, "used": 900, "needed": 101, "retry_after": 12 * 3_600 + 1},
        ),
    ],
)
def test_a_refusal_says_which_limit_and_when_there_is_room_again(
    of: AllowanceUse, needed: int, details: dict[str, Any] | None, whose: str
) -> None:
    refused = allowances.refusal(LIMITS, of, needed, NOON, whose)
    assert (refused.details if refused else None) == (details and {**details, "whose": whose})


@pytest.mark.parametrize(("of_user", "of_token", "both"), [(0, 0, 0), (5, 0, 5), (0, 3, 3), (5, 3, 3), (5, 8, 5)])
def test_the_tighter_limit_is_the_one_that_counts(of_user: int, of_token: int, both: int) -> None:
    limits = [Limits(requests_minute=most, running_replies=most, tokens_day=most) for most in (of_user, of_token, both)]
    assert tighter(limits[0], limits[1]) == limits[2]
