"""What is measured of recall: each way gives a share of the evidence, and what is asked leaves nothing behind."""

import pytest

from conversations.models import Assistant, Message
from tests.benchmarks.memory import evidence
from tests.benchmarks.memory.evidence import ALONE, BESIDE, Plan
from tests.benchmarks.memory.report import ASKED
from tests.benchmarks.talk import messenger

WAYS = {"context", "context, 1,000", "context, 2,000", "search, 500", "search, 1,000", "search, 2,000", "search, 4,000"}


@pytest.mark.django_db
def test_each_way_gives_a_share_of_the_evidence() -> None:
    talk = messenger.conversation(0, turns=120)
    before = list(Assistant.objects.values_list("slug", "recall_tokens"))
    first, *others = evidence.measure([talk], ALONE, Plan(questions=4), 0)
    assert WAYS | {"ts_rank", "BM25", *ASKED} <= set(first.shares)
    assert all(0 <= share <= 1 for result in (first, *others) for share in result.shares.values())
    assert list(Assistant.objects.values_list("slug", "recall_tokens")) == before


@pytest.mark.django_db
def test_a_conversation_leaves_the_unrelated_turns_behind() -> None:
    talk = messenger.conversation(0, turns=120)
    results = list(evidence.measure([talk], BESIDE, Plan(questions=6, budgets=False, others=False), 60))
    assert any(result.shares["search, 4,000"] for result in results)
    assert Message.objects.count() == 60
