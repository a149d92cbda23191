"""What the model is given: foretold by ``context/``, recorded in ``requests/``, and the same as what the model got."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from conversations.context.record import snapshots
from conversations.context.record.snapshot_api import NO_TIMINGS
from conversations.context.record.snapshots import timings_of
from conversations.models import Assistant, ContextSnapshot, Message, Reply
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

FACTOR = 1.3
TIMES = {"created_at", "timings_ms", "thinking_ms", "first_token_ms"}
CHANGING = {"id", "message", "reply", "usage", "status", "stop_reason", "items", *TIMES}
"""What a request has that its preview can't know."""


def digest(request: dict[str, Any]) -> str:
    text = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def stable(body: dict[str, Any]) -> dict[str, Any]:
    items = [{name: value for name, value in item.items() if name != "id"} for item in body["items"]]
    return {name: value for name, value in body.items() if name not in CHANGING} | {"items": items}


def row_counts() -> dict[str, int]:
    return {
        model.__name__: model._default_manager.count() for model in apps.get_app_config("conversations").get_models()
    }


@pytest.mark.parametrize("turns", [0, 2, 130])
async def test_the_preview_is_what_the_request_then_gets(user: User, api: Api, model: ModelServer, turns: int) -> None:
    texts = [f"turn {number}: " + "a good many words " * 10 for number in range(turns)]
    thread = (await in_database(make_thread)(user, texts)).id
    before = await in_database(row_counts)()
    preview = await api.post(f"threads/{thread}/context/", {"content": "What was that? 😀"})
    assert (preview.status, await in_database(row_counts)(), model.requests) == (200, before, [])

    sent = await api.post(f"threads/{thread}/messages/", {"content": "What was that? 😀"})
    recorded = await api.get(f"requests/{sent.body['request']}/")
    assert stable(preview.body) == stable(recorded.body)
    assert preview.body["digest"] == recorded.body["digest"] == digest(model.bodies[0])
    assert preview.body["request"] == recorded.body["request"] == model.bodies[0]
    assert (preview.body["id"], preview.body["reply"], preview.body["message"]) == (None, None, None)


async def test_a_preview_of_a_new_thread_makes_none(user: User, api: Api, model: ModelServer) -> None:
    before = await in_database(row_counts)()
    preview = await api.post("threads/new/context/", {"content": "Hello", "assistant": "analyst"})
    assert (preview.status, preview.body["thread"], await in_database(row_counts)()) == (200, None, before)
    sent = await api.post("threads/new/messages/", {"content": "Hello", "assistant": "analyst"})
    assert preview.body["digest"] == (await api.get(f"requests/{sent.body['request']}/")).body["digest"]


def fate(reason: str, count: int, what: str, why: str) -> dict[str, Any]:
    """Of turns of the thread that the model was given."""
    nothing = {"source": "", "file": None, "parts": ""}
    return {"kind": "message", "included": True, "reason": reason, "count": count, "what": what, "why": why, **nothing}


async def test_a_recorded_request_is_told_as_the_contract_says(user: User, api: Api, model: ModelServer) -> None:
    model.claude.verbatim = True  # for its figures
    model.script(scripts.text("Hello"), scripts.text("It is noon"))
    first = (await api.post("threads/new/messages/", {"content": "Hi"})).body
    second = (await api.post(f"threads/{first['thread']}/messages/", {"content": "What time is it?"})).body
    answer = await api.get(f"requests/{second['request']}/")
    companion = await Assistant.objects.aget(slug="companion")
    row = await ContextSnapshot.objects.aget(id=second["request"])
    question, greeting, newest = [
        first["user_message"],
        first["assistant_message"],
        second["user_message"],
    ]
    base_tokens = answer.body["sections"][0]["tokens"]
    history_tokens = counted(question["token_count"] + greeting["token_count"])
    message_tokens = counted(newest["token_count"])
    system = [{"type": "text", "text": companion.system_prompt}]
    assert answer.body == {
        "id": second["request"],
        "thread": first["thread"],
        "message": newest["id"],
        "reply": second["reply"]["id"],
        "purpose": "reply",
        "round": 1,
        "created_at": row.created_at.isoformat().replace("+00:00", "Z"),
        "provider": "anthropic",
        "model": model.bodies[1]["model"],
        "max_tokens": row.max_tokens,
        "thinking": asdict(snapshots.thinking_of(row)),
        "digest": digest(model.bodies[1]),
        "message_history_count": 2,
        "message_history_tokens": history_tokens,
        "today_summary_present": False,
        "open_threads_count": 0,
        "last_conversation_present": False,
        "total_tokens": base_tokens + history_tokens + message_tokens,
        "token_factor": FACTOR,
        "budget": companion.total_tokens,
        "hard_cap": companion.hard_cap_tokens,
        "version": 2,
        "rules": 5,
        "budget_origin": {
            "share": None,
            "context_window": 1_000_000,
            "wanted": 6_150,
            "is_cut": False,
            "text": "6,150 tokens",
        },
        "sections": [
            {"name": name, "tokens": tokens, "text": text, "forgotten_at": None}
            for name, tokens, text in (
                ("base", base_tokens, companion.system_prompt),
                ("history", history_tokens, "user: Hi\n\nassistant: Hello"),
                ("message", message_tokens, "user: What time is it?"),
            )
        ],
        "items": [item(question, "recent"), item(greeting, "recent"), item(newest, "newest")],
        "window_begins": None,
        "fates": [
            fate("recent", 2, "2 turns", "recent enough for the window"),
            fate("newest", 1, "1 turn", "the message to answer"),
        ],
        "files": [],
        "rewriting": {"outcome": "not_needed", "query": None},
        "memory": None,
        "against_duplicates": {"rules": False, "tool_wording": False, "filtered_turns": 0, "silent": False},
        "moderation": [],
        "problems": [],
        "cache": {
            "state": "too_small",
            "marks": [],
            "expected": 0,
            "lifetime": "5m",
            "cost_five_minutes": None,
            "cost_hour": None,
        },
        "diagnostics": None,
        "request": {
            "model": model.bodies[1]["model"],
            "max_tokens": companion.max_output_tokens + companion.thinking_tokens,
            "thinking": {"type": "adaptive", "display": "omitted"},
            "system": system,
            "messages": [
                {"role": "user", "content": question["content"]},
                {"role": "assistant", "content": greeting["content"]},
                {"role": "user", "content": newest["content"]},
            ],
            "stream": True,
            "diagnostics": {"previous_message_id": "msg_local"},
        },
        "forgotten_at": None,
        "timings_ms": NO_TIMINGS | timings_of(row),
        "thinking_ms": row.thinking_ms,
        "first_token_ms": row.first_token_ms,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 7,
            "cache_read_input_tokens": 5,
            "cache_creation_input_tokens": 3,
            "cache_creation_1h_input_tokens": 0,
            "thinking_tokens": 0,
            "estimated_input_tokens": None,
            "estimated_output_tokens": None,
        },
        "fallback_for": None,
        "fallback_cause": None,
        "fallback_text": None,
        "switch": None,
        "stop_details": None,
        "stop_reason": "end_turn",
        "status": "completed",
        "error": None,
    }


def counted(tokens: int) -> int:
    """Estimated tokens as the model counts them."""
    return round(tokens * FACTOR)


def item(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "kind": "message",
        "id": message["id"],
        "position": message["position"],
        "included": True,
        "reason": reason,
        "tokens": counted(message["token_count"]),
    }


async def test_the_requests_of_a_thread_are_listed_newest_first(user: User, api: Api, model: ModelServer) -> None:
    first = (await api.post("threads/new/messages/", {"content": "One"})).body
    second = (await api.post(f"threads/{first['thread']}/messages/", {"content": "Two"})).body
    listed = (await api.get(f"threads/{first['thread']}/requests/")).body
    one, two = [(await api.get(f"requests/{sent['request']}/")).body for sent in (first, second)]
    assert listed == {"next": None, "previous": None, "results": [two, one]}


async def test_a_failed_request_is_recorded_with_its_error(user: User, api: Api, model: ModelServer) -> None:
    model.script(scripts.error(401))
    await api.post("threads/new/messages/", {"content": "Hello"})
    reply, snapshot = await Reply.objects.aget(), await ContextSnapshot.objects.aget()
    recorded = (await api.get(f"requests/{snapshot.id}/")).body
    assert (recorded["status"], recorded["error"], recorded["digest"]) == (
        "failed",
        reply.error,
        digest(model.bodies[0]),
    )


@pytest.mark.parametrize("turns", [3, 60, 300])
async def test_each_turn_is_accounted_for_exactly_once(user: User, api: Api, model: ModelServer, turns: int) -> None:
    thread = (await in_database(make_thread)(user, [f"turn {number} " * 40 for number in range(turns)])).id
    sent = (await api.post(f"threads/{thread}/messages/", {"content": "Berlin is the capital of Germany."})).body
    recorded = (await api.get(f"requests/{sent['request']}/")).body
    seen: list[int] = []
    for each in recorded["items"]:
        if each["kind"] == "range":
            assert (each["included"], each["count"]) == (False, each["last"] - each["first"] + 1)
            seen += range(each["first"], each["last"] + 1)
        else:
            seen.append(each["position"])
    assert seen == list(range(1, turns + 2))
    named = {each["position"]: each["id"] for each in recorded["items"] if each["kind"] == "message"}
    rows = Message.objects.filter(thread_id=thread, position__in=named)
    assert named == {row.position: str(row.id) async for row in rows}
    included = sum(each["included"] for each in recorded["items"])
    assert included == recorded["message_history_count"] + 1
    tokens = sum(each["tokens"] for each in recorded["items"] if each["included"])
    whole = recorded["total_tokens"] - recorded["sections"][0]["tokens"]
    assert tokens == pytest.approx(whole, abs=included / 2 + 1)  # each is rounded to whole tokens of the model


async def test_a_retry_is_accounted_for_with_the_attempt_that_it_replaced(
    user: User, api: Api, model: ModelServer
) -> None:
    cut = scripts.stream(*scripts.opening_steps(), scripts.text_delta("half"), scripts.BrokenStream())
    model.script(cut, scripts.text("whole"))
    failed = (await api.post("threads/new/messages/", {"content": "Hello"})).refusal[1]["details"]
    retried = (await api.post(f"replies/{failed['reply']}/retry/")).body["id"]
    async for _ in api.events("GET", f"replies/{retried}/events/"):
        pass
    sent = (await api.post(f"threads/{failed['thread']}/messages/", {"content": "And?"})).body
    recorded = (await api.get(f"requests/{sent['request']}/")).body
    assert [(each["position"], each["included"], each["reason"]) for each in recorded["items"]] == [
        (1, True, "recent"),
        (2, False, "superseded"),
        (3, True, "recent"),
        (4, True, "newest"),
    ]
