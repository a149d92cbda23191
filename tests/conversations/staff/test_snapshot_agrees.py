"""The page of a model request against any story: it says what the record says, and what the API says."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot
from conversations.replies import model_requests
from conversations.staff.snapshot.missing import rule
from conversations.staff.snapshot.snapshot_page import SnapshotPage, snapshot_page
from tests.conversations.context.promises import in_place
from tests.conversations.context.test_whole_builder import STORIES, Story
from tests.conversations.factories import make_snapshot, make_thread

pytestmark = [pytest.mark.django_db]

FEW = settings(STORIES, max_examples=max(1, STORIES.max_examples // 6), stateful_step_count=10)


class Inspected(Story):
    """Each request is also looked at by staff."""

    def check(self, opened: model_requests.OpenedReply) -> dict[str, Any]:
        body = super().check(opened)
        assert self.last
        snapshot = ContextSnapshot.objects.get(id=self.last[0].id)
        agrees(snapshot_page(snapshot, shown=True), snapshot, body)
        assert words(snapshot_page(snapshot, shown=False)) == set()
        return body


def agrees(page: SnapshotPage, snapshot: ContextSnapshot, body: dict[str, Any]) -> None:
    runs = snapshots.runs_of(snapshot)
    missing: Counter[Reason] = Counter()
    for run in runs:
        if not run.included and run.reason is not Reason.RECALLED:
            missing[run.reason] += run.count
    sent = [*page.sent.folded, *page.sent.open]
    items = [item for item in body["items"] if in_place(item, body) and "thread" not in item]
    given = [item for item in items if item["included"]]

    counted = re.match(r"(\d+) earlier turns? sent, (?:(\d[\d,]*)|none) left out", page.verdict)
    assert counted
    assert int(counted[1]) == snapshot.message_history_count == sum(run.count for run in runs if run.included) - 1
    assert int((counted[2] or "0").replace(",", "")) == missing.total()
    assert {(cause.reason, cause.count) for cause in page.causes} == {(r.label, count) for r, count in missing.items()}
    assert all(cause.rule for cause in page.causes)
    assert [turn.position for turn in sent] == [item["position"] for item in given][-len(sent) :]
    assert page.sent.hidden + len(sent) == len(given)
    assert sum(row.count for row in page.left_out) == sum(item.get("count", 1) for item in items) - len(given)
    assert sum(segment.tokens for segment in page.segments) == snapshot.total_tokens == body["total_tokens"]
    parts = [*page.sent.before, *page.sent.after]
    assert sum(part.tokens for part in parts) + sum(run.tokens for run in runs) == snapshot.total_tokens
    assert [(s.name, s.tokens) for s in page.segments] == [(s["name"], s["tokens"]) for s in body["sections"]]
    assert {row.id for row in page.known} == {item["id"] for item in body["items"] if item not in items}
    assert (page.proven, page.can_be_rebuilt, page.digest) == (True, True, body["digest"])


def words(page: SnapshotPage) -> set[str]:
    """All that people wrote and that stands on the page."""
    parts = [part.text for part in (*page.sent.before, *page.sent.after)]
    turns = [turn.excerpt for turn in (*page.sent.folded, *page.sent.open)]
    others = [row.excerpt for row in page.known] + [made.title for layer in page.layers for made in layer.artifacts]
    answer = page.answer.text if page.answer else ""
    exact = page.exact.raw.text if page.exact else ""
    return {*parts, *turns, *others, page.rewritten.query, answer, exact} - {""}


def test_the_page_says_what_was_recorded_in_any_story() -> None:
    run_state_machine_as_test(Inspected, settings=FEW)


def test_every_reason_to_leave_a_turn_out_has_its_rule_in_words() -> None:
    snapshot = make_snapshot(make_thread(turns=["Hello?"]))
    rules = [rule(reason, snapshot) for reason in Reason]
    assert [text for text in rules if not text.endswith(".") or re.search(r"\b[CFNPQSTW]\d", text)] == []
