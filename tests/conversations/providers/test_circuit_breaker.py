"""A service that is away costs a few requests their time-out, and not each one; one at a time tries whether it is back."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pytest_django import Settings

from conversations.providers import get_provider
from conversations.providers.base import Provider, ProviderError, ProviderEvent
from conversations.providers.circuit_breaker import (
    FAILURES,
    TRIAL_SECONDS,
    Circuit,
    Permit,
    asking_thread,
    resting,
)
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.model_scripts import Gate, Stall
from tests.model_server import ModelServer
from tests.services import free_port

OPEN_SECONDS = 20.0


class CircuitMachine(RuleBasedStateMachine):
    """Any order of calls that begin, succeed, fail and are cancelled, beside what is expected of them."""

    def __init__(self) -> None:
        super().__init__()
        self.circuit = Circuit()
        self.now = 1_000.0
        self.calls: list[Permit] = []
        self.failures = 0
        self.open_until: float | None = None
        self.trial: Permit | None = None

    @rule(seconds=st.sampled_from([0.5, OPEN_SECONDS / 2, OPEN_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def a_call_begins(self) -> None:
        is_closed = self.open_until is None
        may_try = not is_closed and self.now >= (self.open_until or 0) and self.trial is None
        may_begin = self.circuit.wait(self.now) == 0
        assert may_begin == (is_closed or may_try)
        if may_begin:
            permit = self.circuit.begin(self.now)
            self.calls.append(permit)
            self.trial = permit if may_try else None

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def a_call_succeeds(self, data: st.DataObject) -> None:
        self._take(data)
        self.circuit.succeed()
        self.failures, self.open_until, self.trial = 0, None, None

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def a_call_fails(self, data: st.DataObject) -> None:
        permit = self._take(data)
        self.circuit.fail(permit, self.now, OPEN_SECONDS)
        if self.open_until is None:
            self.failures += 1
            if self.failures >= FAILURES:
                self.open_until = self.now + OPEN_SECONDS
        elif permit is self.trial:
            self.open_until, self.trial = self.now + OPEN_SECONDS, None

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def a_call_is_cancelled(self, data: st.DataObject) -> None:
        permit = self._take(data)
        self.circuit.release(permit)
        if permit is self.trial:
            self.trial = None

    @invariant()
    def says_how_long_to_wait(self) -> None:
        wait = self.circuit.wait(self.now)
        if self.open_until is None:
            assert wait == 0
        elif self.trial:
            assert wait == TRIAL_SECONDS
        else:
            assert wait == max(0, self.open_until - self.now)

    def _take(self, data: st.DataObject) -> Permit:
        permit = data.draw(st.sampled_from(self.calls))
        self.calls.remove(permit)
        return permit


TestCircuit = CircuitMachine.TestCase


def test_a_circuit_of_no_seconds_never_opens() -> None:
    circuit = Circuit()
    for _ in range(3 * FAILURES):
        circuit.fail(circuit.begin(0), 0, 0)
    assert circuit.wait(0) == 0


def payload() -> dict[str, Any]:
    return {
        "model": "claude-local",
        "max_tokens": 2048,
        "system": [],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}],
        "stream": True,
    }


async def heard(provider: Provider) -> list[ProviderEvent]:
    async with aclosing(provider.stream(payload())) as events:
        return [event async for event in events]


async def failure(provider: Provider) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        await heard(provider)
    return raised.value


async def until_it_may_be_asked(provider: Provider) -> None:
    await asyncio.sleep(provider.wait())
    assert provider.wait() == 0


@pytest.mark.parametrize(
    ("answer", "code", "opens"),
    [
        (scripts.error(500), "server_error", True),
        (scripts.stream(Stall()), "timeout", True),
        (replace(scripts.stream(scripts.message_start(), Stall()), thinks=False), "timeout", True),
        (scripts.error(429, headers={"retry-after": "60"}), "rate_limited", False),
        (scripts.error(529), "overloaded", False),
        (scripts.error(401), "authentication", False),
        (scripts.error(400), "invalid_request", False),
        (scripts.stream(*scripts.opening_steps(), scripts.text_delta("So"), scripts.BrokenStream()), "cut_off", False),
    ],
    ids=["5xx", "silence", "silence after its first sign", "429", "529", "401", "400", "broken off in mid-reply"],
)
async def test_only_a_service_that_is_away_is_not_asked(
    model: ModelServer, settings: Settings, answer: scripts.Script, code: str, opens: bool
) -> None:
    provider = get_provider("anthropic")
    assert await heard(provider)
    if code == "timeout":
        settings.OPENBOOK_FIRST_TOKEN_SECONDS = 0.3
    model.script(lambda body: answer)
    assert [(await failure(provider)).code for _ in range(FAILURES)] == [code] * FAILURES
    asked = len(model.requests)
    error = await failure(provider)
    assert (error.code, len(model.requests) == asked) == ("circuit_open" if opens else code, opens)
    if opens:
        assert error.retryable
        assert error.retry_after == pytest.approx(OPEN_SECONDS, abs=15)
        assert list(resting()) == ["anthropic"]


async def asked_in(provider: Provider, thread: str, *, model: str = "claude-local") -> str:
    """The code of the failure of a request that is made for a reply in a thread; empty where it was answered."""
    asking_thread.set(thread)
    try:
        async with aclosing(provider.stream(payload() | {"model": model})) as events:
            assert [event async for event in events]
    except ProviderError as error:
        return error.code
    return ""


async def test_a_message_that_fails_again_and_again_closes_nothing_to_others(model: ModelServer) -> None:
    provider = get_provider("anthropic")
    model.script(lambda body: scripts.error(500))
    for thread in ["one"] * 2 * FAILURES + ["two"]:
        assert await asyncio.create_task(asked_in(provider, thread)) == "server_error"
    model.script(scripts.text("There."))
    assert await asyncio.create_task(asked_in(provider, "three")) == ""


async def test_a_model_that_fails_in_several_threads_closes_no_other_model(model: ModelServer) -> None:
    provider = get_provider("anthropic")
    model.script(lambda body: scripts.error(500) if body["model"] == "claude-local" else scripts.text("There."))
    codes = [await asyncio.create_task(asked_in(provider, str(number))) for number in range(FAILURES + 1)]
    assert codes == ["server_error"] * FAILURES + ["circuit_open"]
    assert await asyncio.create_task(asked_in(provider, "1", model="claude-other")) == ""
    assert provider.wait("claude-local") > 0
    assert provider.wait("claude-other") == 0


@pytest.mark.usefixtures("model")
async def test_no_connection_closes_the_provider_whoever_asks(settings: Settings) -> None:
    settings.ANTHROPIC_BASE_URL = f"http://127.0.0.1:{free_port()}"
    provider = get_provider("anthropic")
    for _ in range(FAILURES):
        assert await asyncio.create_task(asked_in(provider, "one")) == "unreachable"
    assert await asyncio.create_task(asked_in(provider, "two", model="claude-other")) == "circuit_open"


async def test_failures_that_are_not_in_a_row_open_nothing(model: ModelServer) -> None:
    provider = get_provider("anthropic")
    for _ in range(2):
        model.script(*[scripts.error(500)] * 3 * (FAILURES - 1), scripts.text("There."))
        for _ in range(FAILURES - 1):
            assert (await failure(provider)).code == "server_error"
        assert await heard(provider)


async def test_another_address_or_key_is_asked_at_once(model: ModelServer, settings: Settings) -> None:
    provider, there = get_provider("anthropic"), settings.ANTHROPIC_BASE_URL
    settings.ANTHROPIC_BASE_URL = f"http://127.0.0.1:{free_port()}"
    for _ in range(FAILURES):
        assert (await failure(provider)).code == "unreachable"
    assert (await failure(provider)).code == "circuit_open"
    settings.ANTHROPIC_BASE_URL = there
    assert await heard(provider)
    assert provider.wait() == 0


async def test_one_request_tries_and_one_that_is_cancelled_lets_another_try(
    model: ModelServer, settings: Settings
) -> None:
    settings.OPENBOOK_BREAKER_SECONDS = 0.05
    provider, gate = get_provider("anthropic"), Gate()
    model.script(*[scripts.error(500)] * 3 * FAILURES)
    for _ in range(FAILURES):
        await failure(provider)
    model.script(scripts.stream(gate, *scripts.opening_steps(), *scripts.closing_steps()))
    await until_it_may_be_asked(provider)
    trial = asyncio.create_task(heard(provider))
    await asyncio.to_thread(gate.wait_until_reached)
    asked = len(model.requests)
    turned_away = await asyncio.gather(*(failure(provider) for _ in range(5)))
    assert {(error.code, error.retry_after) for error in turned_away} == {("circuit_open", TRIAL_SECONDS)}
    assert len(model.requests) == asked

    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    model.script(*[scripts.error(500)] * 3, scripts.text("There."))
    assert (await failure(provider)).code == "server_error"  # a trial that fails opens it at once
    assert (await failure(provider)).code == "circuit_open"
    await until_it_may_be_asked(provider)
    assert await heard(provider)
    assert all(await asyncio.gather(heard(provider), heard(provider)))
    assert resting() == {}
    gate.open()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
async def test_a_reply_is_told_at_once_and_health_names_the_provider(
    user: User, model: ModelServer, settings: Settings
) -> None:
    api = await in_database(Api)(user)
    assert (await api.post("threads/new/messages/", {"content": "Hello"})).status == 201  # sets the client up
    settings.OPENBOOK_FIRST_TOKEN_SECONDS = 0.3
    model.script(lambda body: scripts.stream(Stall()))
    codes = []
    for _ in range(FAILURES + 1):
        answer = await api.post("threads/new/messages/", {"content": "Hello"})
        codes.append(answer.body["error"]["code"] if "error" in answer.body else answer.body["reply"]["error"]["code"])
    assert codes == ["timeout"] * FAILURES + ["circuit_open"]
    assert len(model.requests) == 1 + FAILURES
    health = await Api().get("/health/")
    assert (health.status, health.body["checks"]["circuits"].startswith("open: anthropic is asked again in ")) == (
        200,
        True,
    )
