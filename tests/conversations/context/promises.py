"""What must hold of every context that was built, whatever the rows are: looked at from outside, with all rows at hand."""

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from conversations.context.built_context import Context
from conversations.context.explain import comparing
from conversations.context.explain.turn_history import FATES, Fate, SummarizedRange, bars
from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.turn_account import NOT_SENT
from conversations.context.render.invariants import broken
from conversations.context.render.rendering import canonical
from conversations.context.rules.fitting import SMALLEST_SHARE
from conversations.context.rules.windowing import without_orphans
from conversations.context.sources import TurnItem
from conversations.context.tokens.estimate import text_of
from conversations.context.tokens.factor import PLAIN
from conversations.models import ContextSnapshot, Message, Thread
from conversations.staff.trace import trace_reads
from conversations.staff.trace.map_page import map_page
from tests.model_server.rules import complaint

ORDER = ["base", "memory", "today", "open_threads", "last_conversation", "history", "message"]
LEFT_OUT = NOT_SENT | {Reason.OVER_BUDGET, Reason.TURN_LIMIT}


def check_context(context: Context, stored: Sequence[Message]) -> None:
    """``stored``: all turns of the thread but the newest that the context answers and what comes after it."""
    check_request(context)
    check_account(context, stored)
    check_size(context)
    check_pair(context, [turn for turn in stored if turn.is_active])


def check_request(context: Context) -> None:
    """C1, W4, W6, Q2: the order, whole tool calls, alternating roles, and the person's words at the end."""
    names = [section.name for section in context.sections]
    assert names == [name for name in ORDER if name in names], "in order, each once"
    assert [block["text"] for block in context.payload["system"]] == [section.text for section in context.sections]
    refused = [rule for rule, _ in faults(context)]
    if context.sections[0].text.strip():
        assert refused == [] or (refused == ["hard_cap"] and the_prompt_alone_breaks_the_cap(context))
        assert complaint(context.payload) is None
    else:
        assert refused[0] == "system_prompt"
    turns = context.parts.turns
    assert len(without_orphans(turns)) == len(turns), "what is called included is sent"
    texts = [block["text"] for turn in turns for block in turn.content if block["type"] == "text"]
    sent = [block["text"] for message in context.payload["messages"] for block in message["content"] if "text" in block]
    additions = [addition.text for addition in context.parts.additions]
    assert [*texts, *additions] == sent[len(sent) - len(texts) - len(additions) :], "oldest first, the message last"


def faults(context: Context) -> list[tuple[str, str]]:
    newest = text_of(context.newest.content)
    cap = context.budget.hard_cap
    return list(broken(context.payload, newest=newest, total_tokens=context.model_tokens, hard_cap=cap))


def the_prompt_alone_breaks_the_cap(context: Context) -> bool:
    return context.parts.base.tokens > context.factor.to_estimate(context.budget.hard_cap) - SMALLEST_SHARE


def check_account(context: Context, stored: Sequence[Message]) -> None:
    """S3: each position of the thread exactly once, with the reason that is true of it."""
    runs, newest = context.runs, context.newest
    assert [run.first for run in runs] == [1, *(run.last + 1 for run in runs[:-1])]
    assert all(run.first <= run.last for run in runs) and runs[-1].last == newest.position
    fates = {position: run for run in runs for position in range(run.first, run.last + 1)}
    sent = {turn.position for turn in context.parts.turns}
    assert {position for position, run in fates.items() if run.included} == sent
    for turn in stored:
        if turn.is_active and turn.position not in sent:
            assert fates[turn.position].reason in LEFT_OUT
    active = {turn.position for turn in stored if turn.is_active} | {newest.position}
    for run in runs:
        inside = [position for position in range(run.first, run.last + 1) if position in active]
        assert run.count == (run.last - run.first + 1 if run.reason in OFF_PATH else len(inside))
        assert not (run.reason in OFF_PATH and inside)
    check_turn_tokens(context, [run.tokens for run in runs])
    tokens = sum(section.tokens for section in context.sections)
    assert context.total_tokens == tokens + context.history_tokens + context.parts.message_tokens
    items = [(item.kind, item.id) for item in context.items]
    assert len(set(items)) == len(items), "each memory, topic and summary once"
    assert all(item.included or not item.tokens for item in [*context.items, *context.recalled])
    recalled = {
        item.position: item for item in context.recalled if isinstance(item, TurnItem) and is_here(item, stored)
    }
    assert recalled.keys() == {position for position, run in fates.items() if run.reason is Reason.RECALLED}
    texts = [addition.text for addition in context.parts.additions if addition.name == "recalled"]
    for turn in stored:
        if item := recalled.get(turn.position):
            assert turn.is_active
            assert all(words in texts[0] for words in passages_of(item, turn.text)), (
                "what is told to be recalled is sent"
            )


def passages_of(item: TurnItem, text: str) -> list[str]:
    """The passages of the turn that were given, or all of it, each as one line."""
    given = [text[part.start : part.end] for part in item.passages if part.included] if item.passages else [text]
    assert given, "a turn is recalled by at least one passage"
    return [" ".join(words.split()) for words in given]


def is_here(item: TurnItem, stored: Sequence[Message]) -> bool:
    return item.included and item.thread in {str(turn.thread_id) for turn in stored[:1]}


def check_size(context: Context) -> None:
    """W2, W5, W6: within the cap; within the budget, or what may give way has given way."""
    budget = context.budget.estimated(context.factor)
    assert context.total_tokens <= budget.hard_cap or the_prompt_alone_breaks_the_cap(context)
    if context.total_tokens > budget.total_tokens:
        assert not any(section.tokens for section in context.sections if section.name in ORDER[2:5])


def check_pair(context: Context, path: Sequence[Message]) -> None:
    """W3: the last question with its answer is sent, unless it was filtered out."""
    gone = {
        position
        for run in context.runs
        if run.reason in NOT_SENT - {Reason.RECALLED}
        for position in range(run.first, run.last + 1)
    }
    left = [turn for turn in path if turn.position not in gone]
    sent = {turn.position for turn in context.history}
    if context.parts.base.tokens + 4 * SMALLEST_SHARE > context.factor.to_estimate(context.budget.hard_cap):
        return
    least = [turn.position for turn in left[-2:] if turn.text.strip()]
    assert sent.issuperset(least), "two turns where there are two"
    for question, answer in reversed(list(pairwise(left))):
        if (question.role, answer.role) == ("user", "assistant"):
            near = sum(turn.position > question.position for turn in left) < 40
            # What is more than text can't be shortened, and goes whole where the cap doesn't hold it.
            if near and plain(question) and plain(answer):
                assert {question.position, answer.position} <= sent
            return


def plain(turn: Message) -> bool:
    return all(block["type"] == "text" for block in turn.blocks)


def check_record(context: Context, recorded: ContextSnapshot) -> dict[str, Any]:
    """S2–S4: read back from the database, it is rebuilt to the byte, and its account lists everything once."""
    snapshot = ContextSnapshot.objects.get(id=recorded.id)
    assert canonical(snapshots.rebuild(snapshot)) == canonical(context.payload)
    assert bytes(snapshot.digest) == hashlib.sha256(canonical(context.payload)).digest()
    assert comparing.compare(snapshot, snapshot).is_empty
    assert sum(tier.tokens for tier in comparing.page_of(snapshot).tiers) == snapshot.total_tokens
    body: dict[str, Any] = dict(snapshot_api.body(snapshot))
    assert body["request"] == context.payload
    check_body(body, context)
    return body


def check_body(body: dict[str, Any], context: Context) -> None:
    assert [section["name"] for section in body["sections"]] == [s.name for s in context.sections] + ORDER[5:]
    assert sum(section["tokens"] for section in body["sections"]) == body["total_tokens"] == context.model_tokens
    items = body["items"]
    listed = [
        position
        for item in items
        if in_place(item, body)
        for position in range(item.get("first", item.get("position")), item.get("last", item.get("position")) + 1)
    ]
    assert listed == list(range(1, context.newest.position + 1)), "each position of the thread once"
    in_thread = [item for item in items if in_place(item, body)]
    turns = [fate for fate in body["fates"] if fate["kind"] == "message"]
    assert sum(fate["count"] for fate in turns) == sum(item.get("count", 1) for item in in_thread)
    sent_turns = [item for item in in_thread if item["included"] and "thread" not in item]
    too_old = any(item["reason"] in (Reason.OVER_BUDGET, Reason.TURN_LIMIT) for item in in_thread)
    assert body["window_begins"] == (sent_turns[0]["id"] if too_old else None), (
        "only turns of the thread fall out of it"
    )
    others = [(item["kind"], item["id"]) for item in items if not in_place(item, body)]
    assert len(set(others)) == len(others)
    told = {(item["kind"], item.get("id")) for item in items}
    elsewhere = [item for item in context.recalled if not isinstance(item, TurnItem) or item.included]
    assert told >= {(item.kind, item.id) for item in [*context.items, *elsewhere]}
    sent = [item for item in items if item["kind"] == "message" and item["included"] and "thread" not in item]
    check_turn_tokens(context, [item["tokens"] for item in sent])


def check_turn_tokens(context: Context, counts: Sequence[int]) -> None:
    """Together they are the turns', each rounded to the model's count."""
    turns = context.factor.of_estimate(context.history_tokens + context.newest.token_count)
    assert abs(sum(counts) - turns) <= (0 if context.factor == PLAIN else len(counts) / 2 + 1)


def in_place(item: dict[str, Any], body: dict[str, Any]) -> bool:
    """Whether it tells of a turn of the thread itself."""
    return item["kind"] in ("message", "range") and item.get("thread", body["thread"]) == body["thread"]


def check_traces(thread: Thread, bodies: Mapping[uuid.UUID, dict[str, Any]]) -> None:
    """The map of the thread, and the way of a turn through its requests, tell what the account of each request tells."""
    page = map_page(thread, until="")
    shown = [column.request for column in page.columns]
    assert {request.id for request in shown} == set(bodies)
    told = {id: reasons_by_position(body) for id, body in bodies.items()}
    for request, column in zip(shown, page.columns, strict=True):
        drawn = {
            position: Fate.NO_ROOM if bar.fate is Fate.SUMMARISED else bar.fate
            for bar in bars(request.runs, [SummarizedRange(first=2, last=9, at=request.at)], request.at)
            for position in range(bar.first, bar.last + 1)
        }
        assert drawn == {position: FATES[reason] for position, reason in told[request.id].items()}
        counts = dict(zip(page.fates, column.counts, strict=True))
        sent = sum(counts.get(fate, 0) for fate in (Fate.ASKED, Fate.SENT, Fate.SHORTENED))
        assert sent == bodies[request.id]["message_history_count"] + 1
    for position in {1, page.axis.end // 2 or 1, page.axis.end}:
        seen = trace_reads.outcomes(thread, position)
        assert [(one.id, one.reason) for one in seen] == [
            (request.id, told[request.id].get(position)) for request in shown
        ]


def reasons_by_position(body: dict[str, Any]) -> dict[int, Reason]:
    return {
        position: Reason(item["reason"])
        for item in body["items"]
        if in_place(item, body)
        for position in range(item.get("first", item.get("position")), item.get("last", item.get("position")) + 1)
    }


def same(body: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot body without what tells a preview from a request that is made, and without what was measured."""
    own = {"id", "reply", "message", "timings_ms"}
    items = [item | {"id": None} if item.get("reason") in ("newest", "shortened") else item for item in body["items"]]
    begins = body["window_begins"] if body["window_begins"] != body["message"] else None
    switch = body["switch"] and {name: value for name, value in body["switch"].items() if name != "text"}  # its tense
    alike = {"items": items, "window_begins": begins, "switch": switch}
    return {name: value for name, value in body.items() if name not in own} | alike


def check_change(a: ContextSnapshot, before: Context, b: ContextSnapshot, after: Context) -> None:
    """``compare`` names the turns that came and went."""
    found = comparing.compare(a, b)
    first = {turn.position for turn in before.parts.turns}
    second = {turn.position for turn in after.parts.turns}

    def positions(turns: Sequence[comparing.TurnSpan]) -> set[int]:
        return {position for run in turns for position in range(run.first, run.last + 1)}

    assert (positions(found.added), positions(found.removed)) == (second - first, first - second)
    texts = [
        {section.name: section.text for section in [*context.sections, *context.parts.additions]}
        for context in (before, after)
    ]
    assert set(found.rewritten) == {
        name for name in texts[0].keys() & texts[1].keys() if texts[0][name] != texts[1][name]
    }
    if found.is_empty:
        assert comparing.common_prefix(before.payload, after.payload).is_all
