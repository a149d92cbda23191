"""Filter and window together while a conversation goes on: turns, tools, artifacts, retries, branches, pauses, budgets.

A state machine plays any such story; before each request it checks what must hold of every one (F1–F6, W1–W5, S3).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.record.turn_account import account
from conversations.context.rules.windowing import needs_older, whole, window, without_orphans
from conversations.context.tokens.budget import Budget
from conversations.context.turns.filtering import FilterArtifact, identify_fulfilled_pairs
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks

CACHE_LIVES = timedelta(minutes=5)
CHUNK = 5

KINDS = {
    "answered": ["question", "answer"],
    "answered twice": ["question", "answer", "answer"],
    "unanswered": ["question"],
    "greeting": ["answer"],
    "with a tool": ["question", "call", "result", "answer"],
    "with two tools": ["question", "call", "result", "call", "result", "answer"],
    "broken off in a call": ["question", "call"],
    "broken off after a call": ["question", "call", "result"],
    "half a call in the answer": ["question", "answer and call"],
    "a result without a call": ["result"],
}
CALL: dict[str, Any] = {"type": "tool_use", "id": "t", "name": "search", "input": {}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t", "content": "found"}
CONTENTS = {
    "question": text_blocks("?"),
    "answer": text_blocks("!"),
    "call": [CALL],
    "result": [RESULT],
    "answer and call": [*text_blocks("!"), CALL],
}

tokens = st.one_of(st.integers(1, 30), st.integers(20, 60), st.integers(1, 400))
budgets = st.builds(
    lambda low, more_tokens, least, more_turns: Budget(
        history_tokens=low + more_tokens,
        history_tokens_low=low,
        history_turns=least + more_turns,
        history_turns_min=least,
        total_tokens=10_000,
        hard_cap=10_000,
    ),
    st.integers(1, 300),
    st.integers(0, 300),
    st.integers(2, 10),
    st.integers(0, 14),
)


@dataclass(frozen=True, kw_only=True)
class WindowedRequest:
    """What one request was given. ``path`` is a list that is replaced where the path changes other than by growing."""

    at: datetime
    path: list[Turn]
    budget: Budget
    begin_at: int
    left_out: list[Turn]


class LongConversation(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.path: list[Turn] = []
        self.position = 0
        self.artifacts: list[FilterArtifact] = []
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.before: WindowedRequest | None = None

    @initialize(budget=budgets)
    def begin(self, budget: Budget) -> None:
        self.budget = budget

    @rule(kind=st.sampled_from(sorted(KINDS)), sizes=st.lists(tokens, min_size=6, max_size=6))
    def exchange(self, kind: str, sizes: list[int]) -> None:
        for part, size in zip(KINDS[kind], sizes, strict=False):
            self.append(part, size)

    @rule(sizes=st.lists(tokens, min_size=2, max_size=30))
    def talk(self, sizes: list[int]) -> None:
        for question, answer in pairwise(sizes):
            self.append("question", question)
            self.append("answer", answer)

    @precondition(lambda self: self.path)
    @rule(data=st.data(), seconds=st.integers(0, 7), provenance=st.sampled_from(["message", "reply", "none"]))
    def make_an_artifact(self, data: st.DataObject, seconds: int, provenance: str) -> None:
        by = data.draw(st.sampled_from(self.path))
        assert by.created_at
        self.artifacts.append(
            FilterArtifact(
                created_at=by.created_at + timedelta(seconds=seconds),
                message=by.id if provenance == "message" else None,
                reply=by.reply if provenance == "reply" else None,
            )
        )

    @precondition(lambda self: self.artifacts)
    @rule(data=st.data())
    def delete_an_artifact(self, data: st.DataObject) -> None:
        self.artifacts.pop(data.draw(st.integers(0, len(self.artifacts) - 1)))

    @precondition(lambda self: self.path)
    @rule(size=tokens)
    def retry(self, size: int) -> None:
        if self.path[-1].role == "assistant":
            self.path = self.path[:-1]
        self.append("answer", size)

    @precondition(lambda self: self.path)
    @rule(data=st.data(), size=tokens)
    def edit_a_question(self, data: st.DataObject, size: int) -> None:
        self.path = self.path[: data.draw(st.integers(0, len(self.path) - 1))]
        self.append("question", size)

    @rule(seconds=st.one_of(st.integers(1, 60), st.integers(200, 1_000)))
    def pause(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(budget=budgets)
    def change_the_budget(self, budget: Budget) -> None:
        self.budget = budget

    @rule()
    def request(self) -> None:
        path, budget = list(self.path), self.budget
        warm = self.before is not None and self.now - self.before.at <= CACHE_LIVES
        begin_at = self.before.begin_at if self.before and warm else None
        turns, fulfilled, orphans = candidates(path, self.artifacts)
        kept, reason = window(turns, budget, begin_at=begin_at)

        assert kept == turns[len(turns) - len(kept) :], "the newest, in order"
        assert (kept, reason) == window(turns, budget, begin_at=begin_at), "the same again"
        assert kept == self.read_in_chunks(begin_at), "the same however much is read"
        self.check_size(turns, kept, begin_at, [*fulfilled, *orphans])
        check_tools(kept)
        self.check_account(kept, reason, fulfilled, orphans)
        left_out = [*fulfilled, *orphans]
        if self.before and warm and self.before.path is self.path and self.before.budget == budget:
            check_start(turns, kept, left_out, self.before)
        begin_at = kept[0].position if kept else self.position + 1
        self.before = WindowedRequest(at=self.now, path=self.path, budget=budget, begin_at=begin_at, left_out=left_out)

    def append(self, part: str, size: int) -> None:
        self.position += 1
        self.now += timedelta(seconds=2)
        role = "user" if part in ("question", "result") else "assistant"
        self.path.append(
            Turn(
                id=uuid.uuid4(),
                position=self.position,
                depth=len(self.path) + 1,
                role=role,
                content=CONTENTS[part],
                token_count=size,
                created_at=self.now,
                reply=uuid.uuid4() if role == "assistant" else None,
            )
        )

    def read_in_chunks(self, begin_at: int | None) -> list[Turn]:
        """What the window is when only the newest turns are read, and older ones as long as they are asked for."""
        read = CHUNK
        while True:
            turns, _, _ = candidates(self.path[-read:], self.artifacts)
            if read >= len(self.path) or not needs_older(turns, self.budget, begin_at=begin_at):
                return window(turns, self.budget, begin_at=begin_at)[0]
            read += CHUNK

    def check_size(self, turns: list[Turn], kept: list[Turn], begin_at: int | None, taken: list[Turn]) -> None:
        budget = self.budget
        assert len(kept) >= min(2, len(turns))
        pair = last_whole_pair(turns)
        assert all(one in kept for one in pair)
        # Two turns may be three, where they would begin with a tool's result.
        assert fits(kept, budget) or len(kept) <= 3 or kept[0] is pair[0], "capped, but for the last pair"
        if len(kept) == len(turns):
            return
        if size(kept) < budget.history_tokens_low and len(kept) < budget.history_turns_min:
            assert not fits(turns[-len(kept) - 2 :], budget), "starved"
        if any(one.depth > kept[0].depth for one in taken if one.depth < kept[-1].depth):
            cold, _ = window(turns, budget, begin_at=None)
            assert len(kept) >= len(cold), "starved by the filter"

    def check_account(self, kept: list[Turn], reason: Reason, fulfilled: list[Turn], orphans: list[Turn]) -> None:
        newest = Turn(
            position=self.position + 1,
            depth=len(self.path) + 1,
            role="user",
            content=CONTENTS["question"],
            token_count=9,
        )
        excluded = [
            *((one, Reason.FULFILLED_ARTIFACT) for one in fulfilled),
            *((one, Reason.ORPHAN_TOOL) for one in orphans),
        ]
        runs = account(kept, newest, reason, {}, excluded=excluded)
        assert [run.first for run in runs] == [1, *(run.last + 1 for run in runs[:-1])], "each position once"
        assert runs[-1].last == newest.position
        assert all(one.reason is not other.reason for one, other in pairwise(runs)), "neighbours are joined"
        fates = {place: run.reason for run in runs for place in range(run.first, run.last + 1)}
        named = {
            Reason.RECENT: kept,
            Reason.FULFILLED_ARTIFACT: fulfilled,
            Reason.ORPHAN_TOOL: orphans,
            Reason.NEWEST: [newest],
        }
        found = {why: [place for place, other in fates.items() if other is why] for why in named}
        assert found == {why: [one.position for one in turns] for why, turns in named.items()}
        assert [run.included for run in runs] == [run.reason in (Reason.RECENT, Reason.NEWEST) for run in runs]
        assert sum(run.tokens for run in runs) == size(kept) + newest.token_count
        path = sum(run.count for run in runs if run.reason not in OFF_PATH)
        assert path == newest.depth, "each turn of the path is counted"


def candidates(path: Sequence[Turn], artifacts: list[FilterArtifact]) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """The turns that may be sent, those that are fulfilled, and halves of tool calls: as the builder finds them."""
    ids = identify_fulfilled_pairs(path, artifacts)
    turns, orphans = whole([one for one in path if one.id not in ids])
    return turns, [one for one in path if one.id in ids], orphans


def check_tools(kept: list[Turn]) -> None:
    sent = without_orphans(kept)
    assert sent == without_orphans(sent)
    assert sum(len(one.content) for one in kept) - sum(len(one.content) for one in sent) == sum(
        one.content == CONTENTS["answer and call"] and not (after and after.content == [RESULT])
        for one, after in zip(kept, [*kept[1:], None], strict=False)
    ), "nothing but halves is cut"
    for one, after in zip(sent, [*sent[1:], None], strict=False):
        if CALL in one.content:
            assert after is not None and after.content[0] == RESULT
    for before, one in zip([None, *sent], sent, strict=False):
        if RESULT in one.content:
            assert before is not None and CALL in before.content


def check_start(turns: list[Turn], kept: list[Turn], left_out: list[Turn], before: WindowedRequest) -> None:
    """While the cache is warm the window only moves forward, and only where a mark is passed."""
    as_before = [one for one in turns if one.position >= before.begin_at]
    if len(kept) > len(as_before):
        taken = any(one.position >= before.begin_at for one in left_out)
        returned = any(one in turns for one in before.left_out)
        pair = kept[0] in last_whole_pair(turns)[:1]  # an answer may make a pair of a question that stood alone
        assert taken or returned or pair, "moved back although the filter changed nothing"
    if len(kept) < len(as_before):
        assert not fits(as_before, before.budget), "moved forward although no mark was passed"


def fits(turns: Sequence[Turn], budget: Budget) -> bool:
    return size(turns) <= budget.history_tokens and len(turns) <= budget.history_turns


def size(turns: Sequence[Turn]) -> int:
    return sum(one.token_count for one in turns)


def last_whole_pair(turns: list[Turn]) -> list[Turn]:
    """The last question with its answer, where they stand side by side or with whole tool calls between them."""
    kinds = [next(kind for kind, content in CONTENTS.items() if content == one.content) for one in turns]
    for end in reversed(range(len(turns))):
        if kinds[end] not in ("answer", "answer and call") or kinds[end : end + 2] == ["answer and call", "result"]:
            continue
        begin = end - 1
        while begin > 0 and kinds[begin] == "result":
            begin -= 2
        if begin >= 0 and kinds[begin] == "question":
            return turns[begin : end + 1]
    return []


TestConversation = LongConversation.TestCase
TestConversation.settings = settings(stateful_step_count=40, max_examples=settings().max_examples * 2)
