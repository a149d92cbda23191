"""No model is called without tokens that are set aside before and counted after, whoever calls it and however it ends."""

import ast
import json
import re
from collections.abc import Iterator
from copy import copy
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations import replies
from conversations.accounts import allowances, budgets, spending
from conversations.accounts.allowances import AllowanceUse
from conversations.context.record.usage import usage_answer
from conversations.errors import RateLimited
from conversations.models import Assistant, ContextSnapshot, Message, Reply, TokenReservation, UserLimits
from conversations.providers import get_provider
from conversations.providers.base import Finished, ModelCall, Reservation, TextDelta, Unreserved, Usage, ask
from conversations.providers.messages_api import RequestParts
from conversations.replies import closing, model_requests, opening
from conversations.replies.model_requests import OpenedReply
from conversations.replies.user_content import NewMessage
from conversations.runtime.db import in_database
from conversations.runtime.ids import uuid7
from conversations.upkeep.hourly_figures import cost_of, hours
from memory.consolidation.consolidate import consolidate
from memory.models import Consolidation, ThreadSummary
from tests import model_scripts as scripts
from tests.calls import reserved_call
from tests.conversations.factories import make_thread
from tests.model_scripts import ScriptedStream
from tests.model_server import ModelServer
from tests.processes import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOTES, TRIAL = TokenReservation.Purpose.NOTES, TokenReservation.Purpose.TRIAL
PRODUCT = ("conversations", "memory", "artifacts", "config")
CALLED = re.compile(r"\b(?:stream|moderate|ask|whole_text|reserve|reserved|Reservation|of_request)\(")
TOLD = {"input_tokens": 3_000, "output_tokens": 100}


@pytest.fixture(autouse=True)
def figures(model: ModelServer) -> None:
    """What is told is what the scripts say, to the figure."""
    model.claude.verbatim = True


def calls() -> Iterator[tuple[str, str]]:
    """Of a model's stream, of the makers of reservations: the name, and the module with the function around it."""
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not CALLED.search(source := path.read_text()):
                continue
            for outer in ast.walk(ast.parse(source)):
                if not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                for node in ast.walk(outer):
                    if isinstance(node, ast.Call):
                        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                        yield name, f"{path.relative_to(ROOT)}:{outer.name}"


def test_a_model_is_called_in_one_place_and_reservations_are_made_in_one() -> None:
    found = list(calls())
    assert {where for name, where in found if name == "stream" and "/staff/" not in where} == {
        "conversations/providers/base.py:ask",
        "conversations/accounts/provider_http.py:_call",  # of sign-in
        "conversations/moderation/checks.py:by_webhook",  # HTTP, to a service of the operator's own
        "conversations/audit/http_destination.py:_post",  # the same
        "conversations/providers/local.py:stream",  # its own, of the class above
        "conversations/tools/page_reading.py:_fetch",  # HTTP, to pages
        "conversations/tools/search_web.py:search",  # HTTP, to a service that searches them
    }
    assert {where for name, where in found if name == "moderate"} == {
        "conversations/providers/base.py:moderate",
        "conversations/moderation/checks.py:by_model",
    }
    assert {where for name, where in found if name == "Reservation"} == {
        "conversations/accounts/allowances.py:of_request",
        "conversations/accounts/allowances.py:reserve",
    }
    assert {where.split(":")[0] for name, where in found if name == "of_request"} == {"conversations/replies/rounds.py"}


RESERVED_FOR = {
    "conversations/replies/rounds.py:_stream": "replies with their rounds, retries and fallbacks, by their row",
    "conversations/context/query/rewriting.py:_ask": "contextualised queries, by the row of their reply",
    "conversations/replies/model_titles.py:give_title": "titles",
    "memory/consolidation/summarize.py:_answer": "notes",
    "conversations/providers/connection_trial.py:_ask": "trials of connections",
    "conversations/moderation/checks.py:by_model": "moderation models",
    "conversations/datasets/asking.py:_answer": "answers and judges of experiments",
}
"""Whoever has a model asked, and for what: all kinds of calls that cost. To count tokens costs nothing at any service that is
asked for it, and what judges answers in benchmarks and proofs is no part of the product."""
RESERVING = {
    "conversations/replies/model_titles.py:record",
    "memory/consolidation/summarize.py:record",
    "conversations/staff/connections.py:try_out",
    "conversations/moderation/checks.py:_reserved",
    "conversations/accounts/allowances.py:reserved",
    "conversations/datasets/asking.py:record",
}


def test_every_kind_of_call_that_costs_is_known_and_set_aside() -> None:
    """One that is new fails here until it has a reservation, and its name in the list."""
    found = set(calls())
    others = {
        "config/worker/loop.py:_ask",
        "conversations/replies/rounds.py:_build",
        "conversations/mcp_client/offers.py:_asked",
        "conversations/mcp_client/servers.py:refresh",
        "conversations/datasets/answers.py:ask",
        "conversations/datasets/runs.py:_ask",
    }  # a worker's loop; a memory service; servers of tools; who leads to `asking.py:_answer`
    inner = {"conversations/providers/base.py:whole_text", "conversations/providers/base.py:moderate"}
    own = "conversations/providers/http_provider.py:_asked"
    asking = {where for name, where in found if name in ("ask", "whole_text", "moderate")}
    assert asking - others - inner - {own} == RESERVED_FOR.keys()
    assert {where for name, where in found if name in ("reserve", "reserved")} == RESERVING
    purposes = {TokenReservation.Purpose(each) for each in ("notes", "title", "trial", "moderation", "experiment")}
    assert set(TokenReservation.Purpose) == purposes, "each of them is one of the kinds above"


async def heard(call: ModelCall) -> list[Any]:
    provider = get_provider("offline")
    payload = provider.render(
        RequestParts(model="offline", max_tokens=10, system=[], messages=[{"role": "user", "content": "Hi"}])
    )
    return [event async for event in ask(provider, payload, call)]


async def test_a_call_without_a_reservation_is_not_made_and_one_reservation_is_for_one_call() -> None:
    with pytest.raises(Unreserved):
        await heard(ModelCall())
    call = reserved_call()
    assert isinstance((await heard(call))[-1], Finished)
    with pytest.raises(Unreserved):
        await heard(call)


def again_and_again(body: dict[str, Any]) -> ScriptedStream:
    """A model that calls a tool for as long as it may, with 3,000 tokens each time."""
    draft = {"title": "Notes", "kind": "document", "content": "# Notes"}
    if not body.get("tools"):
        return scripts.text("Done.")
    block = {"type": "tool_use", "id": f"toolu_{len(body['messages'])}", "name": "save_artifact", "input": {}}
    return scripts.stream(
        scripts.message_start({"input_tokens": TOLD["input_tokens"], "output_tokens": 1}),
        scripts.block_start(0, block),
        scripts.json_delta(json.dumps(draft)),
        scripts.block_stop(0),
        scripts.message_delta("tool_use", TOLD["output_tokens"]),
        scripts.message_stop(),
    )


async def ended(opened: OpenedReply) -> Reply:
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def opened_by(user: User, text: str = "Save this, again and again") -> OpenedReply:
    return await replies.start(user=user, thread_id=None, content=text, assistant="analyst")


async def use(user: User) -> AllowanceUse:
    return await in_database(allowances.use_of)(user.pk)


async def test_each_round_is_set_aside_before_it_is_asked(user: User, model: ModelServer) -> None:
    model.script(again_and_again)
    opened = await opened_by(user)
    reply = await ended(opened)
    rounds = len(model.requests)
    assert (reply.status, rounds > 3) == ("completed", True)
    taken = await use(user)
    assert (taken.running, taken.reserved, taken.spent) == (0, 0, reply.spent)
    assert taken.spent == spending.used_by(reply.usage)
    assert await in_database(allowances.recounted)(user.pk) == taken


async def test_a_reply_ends_in_words_where_a_round_finds_no_room(
    user: User, other_user: User, model: ModelServer
) -> None:
    model.script(again_and_again)
    first = await opened_by(other_user)
    most = first.reply.reserved + 2 * sum(TOLD.values())
    await ended(first)
    asked = len(model.requests)
    await UserLimits.objects.acreate(user=user, tokens_day=most)
    opened = await opened_by(user)
    reply = await ended(opened)
    assert reply.error
    assert (reply.status, reply.error["code"], reply.error["details"]["limit"]) == (
        "failed", "rate_limited", "tokens_day",
    )  # fmt: skip
    assert f"{most:,}" in reply.error["message"] and "is kept" in reply.error["message"]
    assert 0 < len(model.requests) - asked < asked
    turn = await Message.objects.aget(reply=reply)
    assert any(block["type"] == "tool_use" for block in turn.blocks)
    requests = [row async for row in ContextSnapshot.objects.filter(reply=reply)]
    assert {(row.status, bool(row.usage)) for row in requests} == {("completed", True)}
    taken = await use(user)
    assert (taken.running, taken.reserved, taken.spent) == (0, 0, sum(TOLD.values()) * len(requests))
    assert taken.spent <= most
    assert await in_database(allowances.recounted)(user.pk) == taken


def test_a_dead_process_loses_what_it_asked_for_and_not_what_its_rounds_took(user: User) -> None:
    opened = opening.open_turn(NewMessage(user=user, thread_id=None, blocks=[{"type": "text", "text": "Hi"}]))
    assert opened.recorded
    snapshot, context = opened.recorded
    further = copy(snapshot)
    further.id, further.round = uuid7(), 2
    spent = spending.Spent(tokens=500)
    model_requests.record(further, context, spent=spent)
    set_aside = 500 + allowances.needed(context)
    assert allowances.use_of(user.pk) == AllowanceUse(running=1, reserved=set_aside, spent=0)
    model_requests.record(further, context, spent=spent)  # nobody knew whether it was done
    assert allowances.recounted(user.pk) == allowances.use_of(user.pk)
    assert allowances.use_of(user.pk).reserved == set_aside
    Reply.objects.filter(id=opened.reply.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert closing.interrupt(opened.reply.id, user_id=user.pk)
    assert allowances.use_of(user.pk) == AllowanceUse(running=0, reserved=0, spent=500)
    assert allowances.recounted(user.pk) == allowances.use_of(user.pk)


async def test_a_query_that_a_model_writes_counts_too(user: User, model: ModelServer) -> None:
    await Assistant.objects.aupdate(rewriting="model", uses_memory=False)
    query = scripts.text("Who are the children of Ada Lovelace?")
    model.script(scripts.text("A mathematician."), query, scripts.text("Three of them."))
    await ended(await replies.start(user=user, thread_id=None, content="Who is Ada Lovelace?"))
    thread = (await Reply.objects.afirst()).thread_id  # type: ignore[union-attr]
    await ended(await replies.start(user=user, thread_id=thread, content="and her children?"))
    told = [row.usage async for row in ContextSnapshot.objects.all()]
    assert len(told) == 3
    assert (await use(user)).spent == sum(map(spending.used_by, told))


def floor(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def silent(*texts: str) -> ScriptedStream:
    """A whole answer of a service that tells no usage."""
    steps = [scripts.text_delta(text) for text in texts]
    end = {**scripts.message_delta(), "usage": {}}
    return scripts.stream(
        scripts.message_start({}), scripts.block_start(), *steps, scripts.block_stop(), end, scripts.message_stop()
    )


async def test_what_no_service_told_is_unknown_and_counted_as_estimated(user: User, model: ModelServer) -> None:
    model.script(silent("So many words. " * 50))
    reply = await ended(await replies.start(user=user, thread_id=None, content="Hello"))
    request = await ContextSnapshot.objects.aget(reply=reply)
    for row in (request, reply):
        usage = dict(usage_answer(row.usage))
        assert {name for name, value in usage.items() if value is None} == set(vars(Usage()))
        assert usage["estimated_input_tokens"] == request.total_tokens
    estimated = sum(request.usage.values())
    assert request.usage["estimated_output_tokens"] > 100
    assert (await in_database(cost_of)(request) or 0) > 0
    [hour] = await in_database(lambda: list(hours(floor(request.created_at), timezone.now() + timedelta(minutes=1))))()
    assert (hour.figures["reported"], hour.figures["estimated"]) == (0, 1)
    assert hour.figures["input"] + hour.figures["output"] == estimated
    assert (reply.spent, (await use(user)).spent) == (estimated, estimated)
    assert await in_database(allowances.recounted)(user.pk) == await use(user)
    await UserLimits.objects.acreate(user=user, tokens_day=estimated)
    with pytest.raises(RateLimited):
        await replies.start(user=user, thread_id=None, content="Hello")


def test_what_a_call_took_is_estimated_where_it_is_not_told() -> None:
    call = reserved_call(500)
    assert (spending.estimate(call), spending.tokens_of(call)) == (None, 0)
    call.note(TextDelta(text="So many words. " * 50))
    written = spending.written_by(call)
    assert spending.tokens_of(call) == 500 + written
    call.note(Finished(stop_reason="end_turn", usage=Usage(input_tokens=7, output_tokens=8)))
    assert (spending.estimate(call), spending.tokens_of(call)) == (None, 15)


def reserve(user: User, tokens: int, purpose: TokenReservation.Purpose = TRIAL, seconds: int = 60) -> Reservation:
    lasts = timedelta(seconds=seconds)
    charge = budgets.charge("offline", "offline", input_tokens=tokens, output_tokens=0)
    return allowances.reserve(user.pk, purpose, charge, lasts=lasts)


def test_calls_beside_replies_share_the_day_and_give_back_what_they_did_not_take(user: User) -> None:
    UserLimits.objects.create(user=user, tokens_day=1_000)
    charge = budgets.charge("offline", "offline", input_tokens=600, output_tokens=0)
    with allowances.reserved(user.pk, TRIAL, charge, lasts=timedelta(minutes=1)) as call:
        assert allowances.use_of(user.pk) == AllowanceUse(running=0, spent=0, reserved=600)
        with pytest.raises(RateLimited):
            reserve(user, 500)
        call.note(Finished(stop_reason="end_turn", usage=Usage(input_tokens=40, output_tokens=2)))
    assert allowances.use_of(user.pk) == AllowanceUse(running=0, spent=42, reserved=0)
    assert allowances.recounted(user.pk) == allowances.use_of(user.pk)


def test_what_a_dead_worker_set_aside_is_given_back(user: User) -> None:
    UserLimits.objects.create(user=user, tokens_day=1_000)
    reserve(user, 900)
    with pytest.raises(RateLimited):
        reserve(user, 200)
    TokenReservation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    reserve(user, 200)
    assert allowances.use_of(user.pk) == AllowanceUse(running=0, spent=0, reserved=200)


def test_notes_leave_a_part_of_the_day_to_talk(user: User) -> None:
    UserLimits.objects.create(user=user, tokens_day=1_000)
    reserve(user, 400, NOTES)
    with pytest.raises(RateLimited):
        reserve(user, 200, NOTES)
    reserve(user, 500, TRIAL)


def test_notes_of_many_parts_stay_within_the_day_and_none_is_lost(user: User, model: ModelServer) -> None:
    """Parts for which there is no room are noted by rules, and staff can see it."""
    summary = {"summary": "They talked.", "facts": [], "topics_opened": [], "topics_resolved": [], "key_moments": []}
    model.script(lambda body: scripts.text(json.dumps(summary)))
    threads = [make_thread(user, [f"My boat number {number} is blue. " * 40, "Noted."]) for number in range(12)]
    UserLimits.objects.create(user=user, tokens_day=20_000)
    at = timezone.now() + timedelta(minutes=30)
    assert consolidate(user.pk, at=at) == len(threads)
    taken, state = allowances.use_of(user.pk), Consolidation.objects.get(user=user)
    asked = ContextSnapshot.objects.filter(purpose="consolidation")
    assert 0 < len(model.requests) == asked.count() <= len(threads)
    assert 0 < taken.spent == allowances.spent_on_notes(user.pk) <= 10_000
    assert taken.reserved == 0
    assert allowances.recounted(user.pk) == taken
    assert ThreadSummary.objects.filter(user=user).values("thread").distinct().count() == len(threads)
    assert state.parts_limited == len(threads) - len(model.requests)
    assert bool(state.limited_at) == bool(state.parts_limited)
    UserLimits.objects.update(tokens_day=100)
    more = make_thread(user, ["My car is red.", "Noted."])
    assert consolidate(user.pk, at=at) == 1
    state.refresh_from_db()
    assert (state.parts_limited, state.limited_at is None) == (1, False)
    assert ThreadSummary.objects.filter(thread=more).exists()
    assert asked.count() == len(model.requests)
