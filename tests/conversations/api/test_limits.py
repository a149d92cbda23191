"""Limits as programs meet them: told in headers, and in a 429 that says when to come again."""

from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User

from conversations import counting, tokens
from conversations.db import in_database
from conversations.models import Thread, UserLimits
from tests.conversations.api.client import Answer, Api
from tests.conversations.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

AT = 1_795_262_400.0 + 15
"""A quarter of a minute past a full one."""


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still, so that what is counted belongs to one minute."""
    monkeypatch.setattr(counting, "HERE", counting.Counts())


def told(answer: Answer) -> tuple[str | None, str | None, str | None]:
    return tuple(answer.headers.get(name) for name in ("ratelimit-policy", "ratelimit", "retry-after"))  # type: ignore[return-value]


async def test_a_minutes_requests_are_told_and_then_refused_until_the_next_minute(
    user: User, api: Api, others_api: Api
) -> None:
    await UserLimits.objects.acreate(user=user, requests_minute=2, tokens_day=0)
    policy = '"requests_minute";q=2;w=60, "running_replies";q=8;qu="concurrent-requests"'
    with time_machine.travel(AT, tick=False) as clock:
        assert told(await api.get("threads/")) == (policy, '"requests_minute";r=1;t=45', None)
        assert told(await api.get("threads/")) == (policy, '"requests_minute";r=0;t=45', None)
        answer = await api.get("threads/")
        assert told(answer) == (policy, '"requests_minute";r=0;t=45', "45")
        assert answer.refusal == (
            429,
            {
                "type": "rate_limited",
                "code": "rate_limited",
                "message": "Too many requests: 2 a minute are allowed. Go on in 45 s.",
                "details": {"limit": "requests_minute", "most": 2, "retry_after": 45},
            },
        )
        assert (await others_api.get("threads/")).status == 200
        clock.shift(45)
        assert (await api.get("threads/")).status == 200


async def test_a_tokens_own_share_is_counted_apart(user: User) -> None:
    token = await in_database(tokens.issue)(user=user, name="slow", requests_minute=1)
    slow, quick = Api(Authorization=f"Token {token}"), await in_database(Api)(user)
    with time_machine.travel(AT, tick=False):
        statuses = [(await each.get("threads/")).status for each in (slow, slow, quick, quick)]
    assert statuses == [200, 429, 200, 200]


async def test_a_message_that_no_token_is_left_for_is_refused_and_not_stored(user: User, api: Api) -> None:
    await UserLimits.objects.acreate(user=user, tokens_day=10)
    answer = await api.post("threads/new/messages/", {"content": "Hello"})
    details = answer.refusal[1]["details"]
    assert (answer.code, details["limit"], details["most"]) == ((429, "rate_limited", "rate_limited"), "tokens_day", 10)
    assert answer.headers["retry-after"] == str(details["retry_after"])
    assert f'"tokens_day";r=0;t={details["retry_after"]}' in answer.headers["ratelimit"]
    assert await Thread.objects.acount() == 0


async def test_what_is_used_can_be_asked_for(user: User, api: Api) -> None:
    sent = (await api.post("threads/new/messages/", {"content": "Hello"})).body
    usage = (await api.get(f"requests/{sent['request']}/")).body["usage"]
    assert (await api.get("limits/")).body == {
        "requests_minute": 600,
        "running_replies": 8,
        "tokens_day": None,
        "running_now": 0,
        "tokens_used": sum(usage.values()),
        "tokens_reserved": 0,
    }


async def test_passwords_are_not_to_be_guessed(_shipped_assistants: None) -> None:
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
    first = [(await in_database(counting.count)(key, seconds=3_600))[0] for _ in range(2)]
    counting.HERE = counting.Counts()  # as in another process
    assert (first, counting.count(key, seconds=3_600)[0]) == ([1, 2], 3)
    counting.forget(key, seconds=3_600)
    assert counting.count(key, seconds=3_600)[0] == 1
    settings.REDIS_URL = "redis://127.0.0.1:9/0"  # the discard port, where nothing listens
    assert [counting.count(key, seconds=3_600)[0] for _ in range(2)] == [1, 2]
