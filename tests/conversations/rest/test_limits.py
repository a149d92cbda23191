"""Limits as programs meet them: told in headers, and in a 429 that says when to come again."""

from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User

from conversations.accounts import tokens
from conversations.models import ApiToken, Reply, Thread, UserLimits
from conversations.providers.base import COUNTED_TOKENS
from conversations.runtime import rate_counters
from conversations.runtime.db import in_database
from tests.conversations.factories import make_user
from tests.conversations.rest.client import Api, ApiResponse

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

AT = 1_795_262_400.0 + 15
"""A quarter of a minute past a full one."""


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    """The clock stands still, so that what is counted belongs to one minute."""
    rate_counters.HERE.clear()


def limit_headers(answer: ApiResponse) -> tuple[str | None, ...]:
    return tuple(answer.headers.get(name) for name in ("ratelimit-policy", "ratelimit", "retry-after"))


async def test_a_minutes_requests_are_told_and_then_refused_until_the_next_minute(
    user: User, api: Api, others_api: Api
) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=2, tokens_day=0)
    policy = '"requests_minute";q=2;w=60, "running_replies";q=8;qu="concurrent-requests"'
    with time_machine.travel(AT, tick=False) as clock:
        assert limit_headers(await api.get("threads/")) == (policy, '"requests_minute";r=1;t=45', None)
        assert limit_headers(await api.get("threads/")) == (policy, '"requests_minute";r=0;t=45', None)
        answer = await api.get("threads/")
        assert limit_headers(answer) == (policy, '"requests_minute";r=0;t=45', "45")
        assert answer.refusal == (
            429,
            {
                "type": "rate_limited",
                "code": "rate_limited",
                "message": "Too many requests: 2 a minute are allowed. Go on in 45 s.",
                "details": {"limit": "requests_minute", "whose": "user", "most": 2, "retry_after": 45},
            },
        )
        assert (await others_api.get("threads/")).status == 200
        clock.shift(45)
        assert (await api.get("threads/")).status == 200


async def test_a_tokens_own_share_is_counted_apart_and_takes_nothing_from_others(user: User) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=2, running_replies=3)
    token = await in_database(tokens.issue)(user=user, name="slow", requests_minute=1, running_replies=5, tokens_day=9)
    slow, quick = Api(Authorization=f"Token {token}"), await in_database(Api)(user)
    policy = ", ".join(
        [
            '"requests_minute";q=1;w=60',
            '"running_replies";q=3;qu="concurrent-requests"',
            '"tokens_day";q=9;w=86400;qu="tokens"',
        ]
    )
    with time_machine.travel(AT, tick=False):
        assert limit_headers(await slow.get("threads/")) == (policy, '"requests_minute";r=0;t=45', None)
        refused = [await slow.get("threads/") for _ in range(3)]
        assert refused[0].refusal[1]["details"] == {
            "limit": "requests_minute",
            "whose": "token",
            "most": 1,
            "retry_after": 45,
        }
        statuses = [answer.status for answer in (*refused, await quick.get("threads/"), await quick.get("threads/"))]
    assert statuses == [429, 429, 429, 200, 429]


@pytest.mark.parametrize("whose", ["user", "token"])
async def test_a_message_that_no_token_is_left_for_is_refused_and_not_stored(user: User, api: Api, whose: str) -> None:
    if whose == "user":
        await UserLimits.objects.acreate(user=user, tokens_day=10)
    else:
        api = Api(Authorization=f"Token {await in_database(tokens.issue)(user=user, name='small', tokens_day=10)}")
    answer = await api.post("threads/new/messages/", {"content": "Hello"})
    details = answer.refusal[1]["details"]
    assert (answer.code, details["limit"], details["whose"], details["most"]) == (
        (429, "rate_limited", "rate_limited"),
        "tokens_day",
        whose,
        10,
    )
    assert answer.headers["retry-after"] == str(details["retry_after"])
    assert f'"tokens_day";r=0;t={details["retry_after"]}' in answer.headers["ratelimit"]
    assert await Thread.objects.acount() == 0


async def test_what_is_used_can_be_asked_for(user: User, api: Api) -> None:
    sent = (await api.post("threads/new/messages/", {"content": "Hello"})).body
    usage = (await api.get(f"requests/{sent['request']}/")).body["usage"]
    of_all = {
        "requests_minute": 600,
        "running_replies": 8,
        "tokens_day": None,
        "running_now": 0,
        "tokens_used": sum(usage[name] for name in COUNTED_TOKENS),
        "tokens_reserved": 0,
    }
    files: dict[str, Any] = {"files_bytes": 2_048 * 2**20, "files_used": 0, "tokens_noted": 0, "groups": []}
    assert (await api.get("limits/")).body == {**of_all, **files, "token": None}
    token = await in_database(tokens.issue)(user=user, name="small", tokens_day=100_000)
    small = Api(Authorization=f"Token {token}")
    of_its_own = {**of_all, "requests_minute": None, "running_replies": None, "tokens_day": 100_000, "tokens_used": 0}
    assert (await small.get("limits/")).body == {**of_all, **files, "token": of_its_own}


async def test_every_way_to_ask_for_a_reply_counts_for_the_token_that_asked(user: User) -> None:
    token = await in_database(tokens.issue)(user=user, name="program")
    program = Api(None, **{"Authorization": f"Token {token}", "X-Api-Key": token})
    sent = (await program.post("threads/new/messages/", {"content": "Hello", "assistant": "analyst"})).body
    again = (await program.post(f"replies/{sent['reply']['id']}/retry/")).body
    [_ async for _ in program.events("GET", f"replies/{again['id']}/events/")]
    await program.post(f"threads/{sent['thread']}/presets/brd/", {})
    call = {"model": "companion", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    assert (await program.post("/v1/messages", call)).status == 200
    asked = [reply.token_id async for reply in Reply.objects.all()]
    assert asked == [(await ApiToken.objects.aget(name="program")).pk] * 4


async def test_passwords_are_not_to_be_guessed() -> None:
    await in_database(make_user)("carol", password="correct horse battery")

    async def attempt(password: str, name: str = "carol", **where: Any) -> int:
        return (await Api().post("auth/token/", {"username": name, "password": password}, **where)).status

    with time_machine.travel(AT, tick=False) as clock:
        assert [await attempt(f"wrong {n}") for n in range(9)] == [401] * 9
        assert await attempt("correct horse battery") == 200  # forgives the wrong ones
        assert [await attempt(f"wrong {n}") for n in range(11)] == [401] * 10 + [429]
        assert await attempt("correct horse battery", "CAROL") == 429
        assert await attempt("wrong", "somebody else") == 401
        answer = await Api().post("auth/token/", {"username": "carol", "password": "correct horse battery"})
        assert (answer.code, answer.headers["retry-after"]) == ((429, "rate_limited", "rate_limited"), "45")
        clock.shift(45)
        assert await attempt("correct horse battery") == 200


async def test_processes_count_together_in_redis_and_alone_without_it(redis_url: str, settings: Any) -> None:
    settings.REDIS_URL = redis_url
    key = "test.of.counting"
    first = [(await in_database(rate_counters.count)(key, seconds=3_600))[0] for _ in range(2)]
    rate_counters.HERE.clear()  # as in another process
    assert (first, rate_counters.count(key, seconds=3_600)[0]) == ([1, 2], 3)
    rate_counters.take_back(key, seconds=3_600)
    assert rate_counters.count(key, seconds=3_600)[0] == 3
    rate_counters.forget(key, seconds=3_600)
    assert rate_counters.count(key, seconds=3_600)[0] == 1
    settings.REDIS_URL = "redis://127.0.0.1:9/0"  # the discard port, where nothing listens
    assert [rate_counters.count(key, seconds=3_600)[0] for _ in range(2)] == [1, 2]
