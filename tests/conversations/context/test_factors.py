"""What is learnt from the tokens that a model reports."""

from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.factors import NEWEST, Factor, factor_of, learnt, reported_input
from conversations.ids import uuid7
from conversations.models import ContextSnapshot
from tests.conversations.factories import make_snapshot, make_thread

pairs = st.lists(st.tuples(st.integers(0, 200_000), st.integers(0, 200_000)), max_size=60)


@pytest.mark.parametrize(
    ("ratios", "factor"),
    [
        ([], Factor(value=1.0, samples=0)),
        ([1.3] * 4, Factor(value=1.0, samples=4)),
        ([1.3] * 5, Factor(value=1.3, samples=5)),
        ([1.0] * 9, Factor(value=1.0, samples=9)),
        ([1.15] * 5, Factor(value=1.15, samples=5)),
        ([1.11] * 5, Factor(value=1.15, samples=5)),
        ([1.2, 1.2, 1.2, 30.0, 0.01], Factor(value=1.2, samples=5)),
        ([0.2] * 6, Factor(value=0.7, samples=6)),
        ([9.0] * 6, Factor(value=1.6, samples=6)),
    ],
)
def test_the_factor_is_the_median_ratio_rounded_up_and_kept_in_bounds(ratios: list[float], factor: Factor) -> None:
    assert learnt([(10_000, round(10_000 * ratio)) for ratio in ratios]) == factor


def test_a_request_without_a_count_teaches_nothing() -> None:
    assert learnt([(0, 100), (100, 0), (0, 0)] * 5) == Factor(value=1.0, samples=0)


@given(pairs)
def test_the_order_of_requests_does_not_matter(found: list[tuple[int, int]]) -> None:
    assert learnt(found) == learnt(sorted(found))


def test_tokens_read_from_and_written_to_the_cache_were_given_too() -> None:
    assert reported_input({"input_tokens": 9, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 2}) == 41
    assert reported_input({"input_tokens": 9}) == 9
    assert reported_input({}) is None


@pytest.mark.django_db
def test_the_factor_comes_from_the_newest_completed_requests_of_the_model_in_one_statement() -> None:
    first = make_snapshot(make_thread(turns=["Hello?"]), status="failed")
    rounds = count(2)

    def request(ratio: float, **values: str) -> None:
        usage = {"input_tokens": 0, "cache_read_input_tokens": round(first.total_tokens * ratio)}
        copy = ContextSnapshot.objects.get(pk=first.pk)
        copy.pk, copy.round, copy.created_at = uuid7(), next(rounds), timezone.now()
        for name, value in {"status": "completed", "usage": usage, **values}.items():
            setattr(copy, name, value)
        copy.save(force_insert=True)

    for _ in range(10):
        request(0.8)
    for _ in range(NEWEST):
        request(1.5)
    for _ in range(NEWEST // 2):
        request(0.8, status="failed")
        request(0.8, model="another")
        request(0.8, provider="another")
    with CaptureQueriesContext(connection) as queries:
        assert factor_of(provider=first.provider, model=first.model) == Factor(value=1.5, samples=NEWEST)
    assert len(queries) == 1
    assert factor_of(provider=first.provider, model="unheard of") == Factor(value=1.0, samples=0)
