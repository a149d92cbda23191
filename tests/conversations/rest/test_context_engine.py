"""The context as a whole, from the door: what the model is given after real turns, and what the snapshot says of it."""

import asyncio
import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from artifacts.models import Artifact
from conversations.context.record import snapshots
from conversations.context.render.rendering import canonical
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.providers.markers import CONTEXTUALISED, RECALLED
from conversations.providers.quoting import day
from conversations.runtime.db import in_database
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_scripts import Gate, Stall
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def texts_sent(body: dict[str, Any]) -> list[str]:
    """The texts of a request's turns, with what Openbook added to them."""
    return [block["text"] for message in body["messages"] for block in message["content"] if block["type"] == "text"]


async def ask(api: Api, thread: Any, content: str) -> dict[str, Any]:
    """The model request that the message made."""
    sent = await api.post(f"threads/{thread}/messages/", {"content": content})
    assert sent.status == 201, sent.body
    return dict((await api.get(f"requests/{sent.body['request']}/")).body)


async def assistant_with(**values: Any) -> None:
    await Assistant.objects.filter(slug="companion").aupdate(**values)


def reasons(request: dict[str, Any]) -> dict[int, str]:
    return {item["position"]: item["reason"] for item in request["items"] if item["kind"] == "message"}


@pytest.mark.parametrize("reply", ["yes", "why?", "lol", "👍", "no 😅"])
async def test_a_short_reply_goes_with_the_turn_that_it_answers(api: Api, model: ModelServer, reply: str) -> None:
    """C8."""
    model.script(scripts.text("Shall I book the train to Rome?"), scripts.text("Done."))
    first = (await api.post("threads/new/messages/", {"content": "I want to see the Forum."})).body
    await ask(api, first["thread"], reply)
    assert texts_sent(model.bodies[1])[:3] == ["I want to see the Forum.", "Shall I book the train to Rome?", reply]


async def artifact_of(turn: Message, *, after: timedelta, knows_its_turn: bool = True) -> Artifact:
    return await in_database(make_artifact)(
        await Thread.objects.aget(id=turn.thread_id),
        message=turn if knows_its_turn else None,
        created_at=turn.created_at + after,
    )


async def imported(api: Api, *texts: Any) -> uuid.UUID:
    """A thread of yesterday with a turn each minute, the user's and the assistant's in turn."""
    begin = timezone.now() - timedelta(days=1)
    messages = [
        {
            "role": ["user", "assistant"][n % 2],
            "content": text,
            "created_at": (begin + timedelta(minutes=n)).isoformat(),
        }
        for n, text in enumerate(texts)
    ]
    thread = {"title": "From elsewhere", "messages": messages}
    answer = await api.post("import/", {"format": "openbook/1", "threads": [thread]})
    assert answer.status == 201, answer.body
    return uuid.UUID(answer.body["threads"][0]["id"])


async def requested(api: Api) -> tuple[uuid.UUID, Message]:
    """A thread in which an artifact was asked for, and the turn that says that it was made."""
    thread = await imported(api, *WHOLE[:-1])
    return thread, await Message.objects.aget(thread=thread, position=4)


BARE = ["Hello", "Hi!", "Thanks, it looks good", "Anytime.", "The weather is fine in Rome today."]
WHOLE = [*BARE[:2], "Generate a BRD", "Your BRD is ready.", *BARE[2:]]


@pytest.mark.parametrize(
    ("after", "knows_its_turn", "expected"),
    [
        (timedelta(seconds=2), True, BARE),
        (timedelta(minutes=10), True, BARE),  # slow generation
        (timedelta(seconds=-30), True, BARE),  # saved in the middle of the reply
        (timedelta(seconds=5), False, BARE),
        (timedelta(seconds=5.001), False, WHOLE),
        (timedelta(seconds=-0.001), False, WHOLE),
    ],
)
async def test_a_fulfilled_request_is_not_in_the_context(
    api: Api, model: ModelServer, after: timedelta, knows_its_turn: bool, expected: list[str]
) -> None:
    """F1–F4, F7: the pair is gone from the request, and stays where people look."""
    thread, turn = await requested(api)
    await artifact_of(turn, after=after, knows_its_turn=knows_its_turn)
    request = await ask(api, thread, BARE[-1])
    assert texts_sent(model.bodies[0]) == expected
    gone = {position for position, reason in reasons(request).items() if reason == "fulfilled_artifact"}
    assert gone == ({3, 4} if expected == BARE else set())
    listed = (await api.get(f"threads/{thread}/messages/")).body["results"]
    assert [message["text"] for message in listed][2:4] == ["Generate a BRD", "Your BRD is ready."]
    assert await in_database(snapshots.proof)(await ContextSnapshot.objects.aget(id=request["id"]))


async def test_a_deleted_artifact_brings_its_pair_back_and_the_switch_turns_the_filter_off(
    api: Api, model: ModelServer
) -> None:
    """F5."""
    thread, turn = await requested(api)
    artifact = await artifact_of(turn, after=timedelta(0))
    await ask(api, thread, BARE[-1])
    await Artifact.objects.filter(id=artifact.id).aupdate(deleted_at=timezone.now())
    await ask(api, thread, BARE[-1])
    await Artifact.objects.filter(id=artifact.id).aupdate(deleted_at=None)
    await assistant_with(filters_artifacts=False)
    await ask(api, thread, BARE[-1])
    assert [texts_sent(body)[:7] == WHOLE for body in model.bodies] == [False, True, True]


async def test_filtering_never_starves_the_window(api: Api, model: ModelServer) -> None:
    """F6: behind a hundred fulfilled pairs the window goes on with what is older."""
    texts = [f"turn {n} of a talk about the harbour and its boats" for n in range(1, 61)] + [
        "Make a table",
        "Made.",
    ] * 100
    thread = await imported(api, *texts)
    async for turn in Message.objects.filter(thread=thread, role="assistant", position__gt=60):
        await artifact_of(turn, after=timedelta(0))
    request = await ask(api, thread, BARE[-1])
    assert texts_sent(model.bodies[0]) == [*texts[60 - request["message_history_count"] : 60], BARE[-1]]
    assert request["message_history_count"] >= 30
    gone = [item for item in request["items"] if item["reason"] == "fulfilled_artifact"]
    assert sum(item.get("count", 1) for item in gone) == 200


CALL = {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "boats"}}
RESULT = {"type": "tool_result", "tool_use_id": "call_1", "content": "two boats"}


@pytest.mark.parametrize("turns_max", range(2, 9))
async def test_no_context_holds_half_of_a_tool_call(api: Api, model: ModelServer, turns_max: int) -> None:
    """W4, wherever the window begins: the model's own server would refuse an orphan."""
    await assistant_with(history_turns_min=0, history_turns_max=turns_max)
    made = await imported(
        api,
        "How many boats?",
        [{"type": "text", "text": "I look."}, CALL],
        [RESULT],
        "Two.",
        "And ships?",
        [CALL | {"id": "call_2"}],  # was never answered
        "Go on with the list please, all of it",
        "None.",
    )
    request = await ask(api, made, BARE[-1])
    assert reasons(request)[6] in ("orphan_tool", "turn_limit")
    sent = [block for message in model.bodies[0]["messages"] for block in message["content"]]
    ids = [block.get("id") or block.get("tool_use_id") for block in sent if block["type"] != "text"]
    assert ids in ([], ["call_1", "call_1"])


async def memories_of(user: User) -> dict[str, str]:
    """One row for each tier; the user was away for two days."""
    now = timezone.now()
    old = await in_database(make_thread)(user, ["Plan my trip", "Gladly."])
    await Thread.objects.filter(id=old.id).aupdate(updated_at=now - timedelta(days=2))
    fact = await Memory.objects.acreate(user=user, content="Lives in Lisbon.", created_at=now)
    day = await DailySummary.objects.acreate(
        user=user, day=now.date(), text="Talked about sailing.", key_moments=["Chose a boat."], updated_at=now
    )
    topic = await Topic.objects.acreate(user=user, title="Rent a mooring", opened_at=now - timedelta(days=1))
    last = await ThreadSummary.objects.acreate(
        user=user,
        thread=old,
        text="A trip to Rome was planned.",
        first_position=1,
        last_position=2,
        started_at=old.created_at,
        ended_at=now - timedelta(days=2),
        made_at=now,
    )
    return {"memory": str(fact.id), "topic": str(topic.id), "day": str(day.pk), "conversation": str(last.pk)}


async def test_the_tiers_come_in_order_and_are_accounted_for(user: User, api: Api, model: ModelServer) -> None:
    """C1, C3, C5–C7, S2, S3, W7: a first turn without history has them too."""
    ids = await memories_of(user)
    preview = (await api.post("threads/new/context/", {"content": "Hello there, how are you?"})).body
    sent = (await api.post("threads/new/messages/", {"content": "Hello there, how are you?"})).body
    request = (await api.get(f"requests/{sent['request']}/")).body
    texts = [block["text"] for block in model.bodies[0]["system"]]
    assert [section["name"] for section in request["sections"]] == [
        *("base", "memory", "today", "open_threads", "last_conversation"),
        *("history", "message"),
    ]
    assert [section["text"] for section in request["sections"][:5]] == texts
    for text, fact in zip(
        texts[1:], ("Lives in Lisbon.", "Chose a boat.", "Rent a mooring", "A trip to Rome"), strict=True
    ):
        assert fact in text
    assert "## Open Threads" in texts[3]
    summary = {
        name: request[name] for name in ("today_summary_present", "open_threads_count", "last_conversation_present")
    }
    assert summary == {"today_summary_present": True, "open_threads_count": 1, "last_conversation_present": True}
    known = [(item["kind"], item["id"], item["included"]) for item in request["items"] if item["kind"] != "message"]
    assert known == [
        ("memory", ids["memory"], True),
        ("summary", ids["day"], True),
        ("topic", ids["topic"], True),
        ("summary", ids["conversation"], True),
    ]
    assert sum(section["tokens"] for section in request["sections"]) == request["total_tokens"]
    assert preview["digest"] == request["digest"]
    assert await in_database(snapshots.proof)(await ContextSnapshot.objects.aget(id=request["id"]))


async def test_a_tier_changes_only_when_what_it_rests_on_changes(user: User, api: Api, model: ModelServer) -> None:
    """C3, C6: so that the provider's prompt cache holds."""
    ids = await memories_of(user)
    first = (await api.post("threads/new/messages/", {"content": "Hello there, how are you?"})).body
    await ask(api, first["thread"], BARE[-1])
    await Topic.objects.filter(id=ids["topic"]).aupdate(resolved_at=timezone.now())
    request = await ask(api, first["thread"], BARE[-1])
    systems = [body["system"] for body in model.bodies]
    assert systems[0] == systems[1]
    assert [block["text"] for block in systems[2]] == [
        block["text"] for block in systems[1] if "## Open Threads" not in block["text"]
    ]
    assert (request["open_threads_count"], request["cache"]["state"]) == (0, "too_small")


async def test_what_the_snippet_has_no_room_for_is_recalled_beside_the_message(
    user: User, api: Api, model: ModelServer
) -> None:
    """C3, Q2, S3: the person's own words first, each memory accounted for once."""
    now = timezone.now()
    facts = [
        "The boat is called Marisol, " + "a good name " * 8,
        *(f"Fact {n} about the garden, " + "green " * 20 for n in range(30)),
    ]
    await Memory.objects.abulk_create(
        Memory(user=user, content=fact, created_at=now + timedelta(seconds=n)) for n, fact in enumerate(facts)
    )
    sent = (await api.post("threads/new/messages/", {"content": "What is my boat called?"})).body
    request = (await api.get(f"requests/{sent['request']}/")).body
    own, recalled = texts_sent(model.bodies[0])
    assert own == "What is my boat called?"
    assert recalled.splitlines()[:3] == [RECALLED, f"Remembered on {day(now)}:", f"- {facts[0].strip()}"]
    assert "Marisol" not in request["sections"][1]["text"]
    memories = [item for item in request["items"] if item["kind"] == "memory"]
    assert len({item["id"] for item in memories}) == len(memories) == len(facts)
    assert {item["reason"] for item in memories} >= {"remembered", "recalled", "over_budget"}
    assert await in_database(snapshots.proof)(await ContextSnapshot.objects.aget(id=request["id"]))


async def test_memory_can_be_switched_off(user: User, api: Api, model: ModelServer) -> None:
    await memories_of(user)
    await assistant_with(uses_memory=False)
    await api.post("threads/new/messages/", {"content": "Hello there, how are you?"})
    assert len(model.bodies[0]["system"]) == 1


def rename_tables(to: str, *, back: bool = False) -> None:
    with connection.cursor() as cursor:
        for name in ("memory_memory", "memory_topic"):
            old, new = (f"{name}_{to}", name) if back else (name, f"{name}_{to}")
            cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")


async def test_a_source_that_fails_costs_itself_only(user: User, api: Api, model: ModelServer) -> None:
    """C9: the reply goes on, the other tiers are there, and the snapshot names what failed."""
    await memories_of(user)
    await in_database(rename_tables)("gone")
    try:
        sent = (await api.post("threads/new/messages/", {"content": "Hello there, how are you?"})).body
    finally:
        await in_database(rename_tables)("gone", back=True)
    request = (await api.get(f"requests/{sent['request']}/")).body
    assert sent["reply"]["status"] == "completed"
    assert [(problem["source"], problem["kind"]) for problem in request["problems"]] == [
        ("memory", "error"),
        ("open_threads", "error"),
        ("recall", "error"),  # it asks the notes what was replaced since
    ]
    assert [section["name"] for section in request["sections"][:3]] == ["base", "today", "last_conversation"]


async def asking_a_model(
    api: Api, model: ModelServer, *script: Any, before: str = "Who is Donald Trump?"
) -> tuple[str, dict[str, Any]]:
    """A message that leans on the one before, where a model rewrites: its thread, and its main request."""
    await assistant_with(rewriting=Assistant.Rewriting.MODEL)
    model.script(scripts.text("A president." if before.endswith("?") else "Noted."), *script)
    first = (await api.post("threads/new/messages/", {"content": before})).body
    return first["thread"], await ask(api, first["thread"], "who are his children")


async def test_a_model_is_asked_for_the_query_and_its_request_is_recorded(api: Api, model: ModelServer) -> None:
    """Q1, Q2, S1, S4."""
    answers = [scripts.text("Who are Donald Trump's children?"), scripts.text("Five.")]
    thread, request = await asking_a_model(api, model, *answers)
    asked, main = model.bodies[1:]
    assert (asked["model"], asked["max_tokens"], asked["thinking"]) == ("claude-haiku-5-5", 300, {"type": "disabled"})
    assert "output_config" not in asked
    assert json.loads(asked["messages"][0]["content"][0]["text"])["message"] == "who are his children"
    assert texts_sent(main)[2:] == ["who are his children", f"{CONTEXTUALISED} Who are Donald Trump's children?"]
    assert request["rewriting"] == {
        "outcome": "rewritten",
        "query": f"{CONTEXTUALISED} Who are Donald Trump's children?",
    }
    rows = [row async for row in ContextSnapshot.objects.filter(thread_id=thread).order_by("created_at")]
    assert [(row.purpose, row.status) for row in rows] == [
        ("reply", "completed"),
        ("rewrite", "completed"),
        ("reply", "completed"),
    ]
    assert [canonical(await in_database(snapshots.rebuild)(row)) for row in rows] == [
        canonical(body) for body in model.bodies
    ]
    assert all([await in_database(snapshots.proof)(row) for row in rows])
    assert rows[1].usage["output_tokens"] > 0
    listed = (await api.get(f"threads/{thread}/requests/")).body["results"]
    assert [each["purpose"] for each in listed] == ["reply", "rewrite", "reply"]
    for each in listed:
        assert sum(section["tokens"] for section in each["sections"]) == each["total_tokens"]


async def test_a_rewriter_that_cannot_but_think_has_room_for_it(api: Api, model: ModelServer) -> None:
    answers = [scripts.text("Who are Donald Trump's children?"), scripts.text("Five.")]
    await assistant_with(rewriting_model="claude-opus-5-5")
    thread, request = await asking_a_model(api, model, *answers)
    asked = model.bodies[1]
    assert (asked["model"], asked["max_tokens"]) == ("claude-opus-5-5", 300 + 1_024)
    assert (asked["thinking"]["type"], asked["output_config"]) == ("adaptive", {"effort": "low"})
    assert request["rewriting"]["outcome"] == "rewritten"
    row = await ContextSnapshot.objects.aget(thread_id=thread, purpose="rewrite")
    assert await in_database(snapshots.proof)(row)


@pytest.mark.once("*script0*", "*script4*")
@pytest.mark.parametrize(
    ("script", "outcome", "error"),
    [
        (scripts.error(400), "failed", "invalid_request"),
        (scripts.text(""), "empty", None),
        (scripts.text("", stop_reason="max_tokens"), "failed", None),
        (scripts.text("", stop_reason="refusal"), "failed", None),
        (scripts.stream(Stall()), "timed_out", "timeout"),
    ],
)
@pytest.mark.parametrize("about", ["Donald Trump", ""])
async def test_where_the_model_fails_the_rules_make_the_query_and_else_the_message_goes_alone(
    api: Api, model: ModelServer, script: Any, outcome: str, error: str | None, about: str
) -> None:
    """Q3: and staff can see what became of it."""
    before = f"Who is {about}?" if about else "yes"
    thread, request = await asking_a_model(api, model, script, scripts.text("Five."), before=before)
    query = f"{CONTEXTUALISED} who are his children (about: {about})"
    assert texts_sent(model.bodies[-1])[2:] == ["who are his children", *([query] if about else [])]
    assert request["rewriting"] == (
        {"outcome": "by_rules", "query": query} if about else {"outcome": outcome, "query": None}
    )
    row = await ContextSnapshot.objects.aget(thread_id=thread, purpose="rewrite")
    assert (row.status, row.error["code"] if row.error else None) == (
        ("failed", error) if error else ("completed", None)
    )


async def test_a_message_that_stands_by_itself_asks_no_model(api: Api, model: ModelServer) -> None:
    """Q4."""
    await assistant_with(rewriting=Assistant.Rewriting.MODEL)
    first = (await api.post("threads/new/messages/", {"content": "Who is Donald Trump?"})).body
    request = await ask(api, first["thread"], "What time is it in Lisbon?")
    assert (len(model.bodies), request["rewriting"]["outcome"]) == (2, "not_needed")


async def test_a_stop_ends_the_asking_too(api: Api, model: ModelServer) -> None:
    await assistant_with(rewriting=Assistant.Rewriting.MODEL)
    gate = Gate()
    model.script(scripts.text("A president."), scripts.text("Who", gate))
    first = (await api.post("threads/new/messages/", {"content": "Who is Donald Trump?"})).body
    sending = asyncio.create_task(api.post(f"threads/{first['thread']}/messages/", {"content": "who are his children"}))
    await asyncio.to_thread(gate.wait_until_reached)
    running = await Reply.objects.aget(status=Reply.Status.RUNNING)
    await api.post(f"replies/{running.id}/stop/")
    assert (await sending).body["reply"]["status"] == "stopped"
    row = await ContextSnapshot.objects.aget(reply=running)
    assert (row.purpose, row.status) == ("rewrite", "stopped")
    model.requests[1].wait_until_ended()
    assert model.requests[1].hung_up


@pytest.mark.parametrize("prompt", ["", " "])
async def test_a_request_that_breaks_a_rule_is_not_sent(api: Api, model: ModelServer, prompt: str) -> None:
    """The error names the rule, the user turn is stored, and so is the request that was not made."""
    await assistant_with(system_prompt=prompt)
    sent = await api.post("threads/new/messages/", {"content": "Hello"})
    assert (sent.status, model.bodies) == (502, [])
    error = sent.body["error"]
    assert (error["type"], error["code"], error["details"]["rule"]) == ("context", "context_invariant", "system_prompt")
    assert "system prompt" in error["message"]
    row = await ContextSnapshot.objects.aget(reply_id=error["details"]["reply"])
    assert (row.status, row.error and row.error["details"]["rule"]) == ("failed", "system_prompt")
    assert await Message.objects.filter(id=error["details"]["user_message"]).aexists()


async def test_the_hard_cap_is_never_passed_even_by_the_system_prompt(api: Api, model: ModelServer) -> None:
    await assistant_with(system_prompt="Be kind. " * 4_000)
    sent = await api.post("threads/new/messages/", {"content": "Hello"})
    assert (sent.status, sent.body["error"]["details"]["rule"], model.bodies) == (502, "hard_cap", [])


async def test_the_window_stays_where_it_began_while_the_cache_is_warm(
    user: User, api: Api, model: ModelServer
) -> None:
    """Its start moves in steps, marks stand where they pay, and what is expected of the cache is told."""
    thread = (await in_database(make_thread)(user, [f"turn {n} " + "of boats and nets " * 8 for n in range(120)])).id
    model.script(*[scripts.text("An answer that is long enough to count, " * 4)] * 30)
    begun, states = [], []
    for n in range(30):
        request = await ask(api, thread, f"Message {n} says more about the harbour of Lisbon and its boats.")
        begun.append(min(position for position, reason in reasons(request).items() if reason == "recent"))
        states.append(request["cache"]["state"])
        if n and states[-1] == "warm":
            before, now = model.bodies[-2:]
            common = now["messages"][: len(before["messages"])]
            assert [strip(message) for message in common] == [strip(message) for message in before["messages"]]
            assert request["cache"]["expected"] > 1_024
        assert "cache_control" in model.bodies[-1]["messages"][-1]["content"][0]
        assert 1_500 <= request["message_history_tokens"] <= 3_000
    assert begun == sorted(begun)
    assert states[0] == "first"
    assert 1 <= states.count("moved") == len(set(begun)) - 1 <= 6
    *_, last, _ = [row.provider_message_id async for row in ContextSnapshot.objects.order_by("created_at")]
    assert model.bodies[-1]["diagnostics"] == {"previous_message_id": last}


async def test_what_the_provider_says_about_its_cache_is_told(api: Api, model: ModelServer) -> None:
    model.claude.verbatim = True  # for its ids
    missed = {"cache_miss_reason": {"type": "messages_changed"}}
    started = [scripts.message_start(diagnostics=missed), scripts.block_start(), scripts.text_delta("Hi")]
    model.script(scripts.text("Hello"), scripts.stream(*started, *scripts.closing_steps()))
    first = (await api.post("threads/new/messages/", {"content": "Hello there, how are you?"})).body
    request = await ask(api, first["thread"], BARE[-1])
    assert model.bodies[0]["diagnostics"] == {"previous_message_id": None}, "what comes next can be compared with it"
    assert model.bodies[1]["diagnostics"] == {"previous_message_id": "msg_local"}
    assert request["diagnostics"] == missed


def strip(message: dict[str, Any]) -> dict[str, Any]:
    """Without cache marks, which are no content, and without what stands beside the newest message only."""
    own = [block for block in message["content"] if not block.get("text", "").startswith(RECALLED)]
    blocks = [{name: value for name, value in block.items() if name != "cache_control"} for block in own]
    return message | {"content": blocks}
