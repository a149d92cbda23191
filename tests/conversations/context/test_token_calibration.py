"""What is learnt from the tokens that a model reports, and what a context is fitted with."""

from collections.abc import Iterator
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.tokens import calibration as token_calibration
from conversations.context.tokens.calibration import (
    FEWEST,
    NEWEST,
    OF_ONE_USER,
    Sample,
    exact_tokens,
    learnt,
    reported_input,
    sample,
    samples_of,
)
from conversations.context.tokens.factor import Factor
from conversations.models import ContextSnapshot, Model, Thread, TokenFactor
from conversations.providers import model_catalog
from conversations.runtime.ids import uuid7
from tests.conversations.factories import make_context, make_reply, make_snapshot, make_thread

numbers = st.tuples(st.integers(0, 9), st.integers(0, 200_000), st.integers(0, 200_000))


def samples(*ratios: float, user: int = 1) -> list[Sample]:
    return [Sample(user=user, estimated=10_000, reported=round(10_000 * ratio)) for ratio in ratios]


@pytest.fixture(autouse=True)
def _nothing_learnt() -> Iterator[None]:
    token_calibration.forget()
    yield
    token_calibration.forget()
    model_catalog.reread()


def test_what_was_counted_exactly_teaches_nothing() -> None:
    """Of 2,600 tokens the provider had counted 1,300, of a turn that was sent whole; the others were estimated."""
    runs = "1-2 over_budget;3 shortened 90 " + "A" * 43 + ";4-8 recent 2000;9 newest 20"
    assert exact_tokens(runs, "") == 0
    assert exact_tokens(runs, "1 5000;3 700;5 1000;8 300") == 1_300
    seen = sample(1, 2_600, 1.3, 2_800, exact=1_300)
    assert (seen.estimated, seen.reported, seen.ratio) == (1_000, 1_500, 1.5)


@pytest.mark.parametrize(
    ("ratios", "factor"),
    [
        ([], None),
        ([1.3] * (FEWEST - 1), None),
        ([1.3] * FEWEST, Factor(value=1.3, samples=FEWEST)),
        ([1.15] * FEWEST, Factor(value=1.15, samples=FEWEST)),
        ([1.11] * FEWEST, Factor(value=1.15, samples=FEWEST)),
        ([1.2] * 7 + [2.4, 2.4, 0.5], Factor(value=1.2, samples=10)),
        ([1.2] * FEWEST + [30.0, 0.01] * FEWEST, Factor(value=1.2, samples=FEWEST)),
        ([0.2] * FEWEST, None),
        ([9.0] * FEWEST, None),
        ([0.6] * FEWEST, Factor(value=0.7, samples=FEWEST)),
        ([2.0] * FEWEST, Factor(value=1.6, samples=FEWEST)),
    ],
)
def test_the_factor_is_the_median_ratio_rounded_up_and_kept_in_bounds(
    ratios: list[float], factor: Factor | None
) -> None:
    assert learnt(samples(*ratios)) == factor


def test_one_person_who_sends_odd_texts_does_not_set_the_factor_for_all() -> None:
    odd = samples(*[1.6] * (NEWEST - 12), user=1)
    others = [sample for user in (2, 3) for sample in samples(*[1.0] * 6, user=user)]
    assert learnt([*odd, *others]) == Factor(value=1.0, samples=NEWEST)
    assert len(others) > OF_ONE_USER


def test_a_request_that_is_tiny_or_without_a_count_teaches_nothing() -> None:
    tiny = [Sample(user=1, estimated=20, reported=400)] * FEWEST
    uncounted = [Sample(user=1, estimated=10_000, reported=0)] * FEWEST
    assert learnt([*tiny, *uncounted]) is None
    assert learnt([*tiny, *uncounted, *samples(*[1.2] * FEWEST)]) == Factor(value=1.2, samples=FEWEST)


@given(st.lists(numbers, max_size=60))
def test_the_order_of_requests_does_not_matter(given_numbers: list[tuple[int, int, int]]) -> None:
    given_samples = [Sample(user=user, estimated=a, reported=b) for user, a, b in given_numbers]
    backwards = learnt(given_samples[::-1])
    assert learnt(given_samples) == backwards
    assert backwards is None or token_calibration.LOWEST <= backwards.value <= token_calibration.HIGHEST


@given(st.integers(0, 200_000), st.sampled_from([0.7, 0.75, 1.0, 1.05, 1.3, 1.6]))
def test_what_fits_the_estimate_fits_the_model(tokens: int, value: float) -> None:
    factor = Factor(value=value)
    assert factor.of_estimate(factor.to_estimate(tokens)) <= tokens


def test_tokens_read_from_and_written_to_the_cache_were_given_too() -> None:
    assert reported_input({"input_tokens": 9, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 2}) == 41
    assert reported_input({"input_tokens": 9}) == 9
    assert reported_input({}) is None


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user, turns=["Tell me of tides. " * 40])


def request(first: ContextSnapshot, ratio: float, number: int, **values: object) -> None:
    """Another request like the first one, of which so many times the estimate was reported."""
    usage = {"input_tokens": 0, "cache_read_input_tokens": round(first.total_tokens * ratio)}
    copy = ContextSnapshot.objects.get(pk=first.pk)
    copy.pk, copy.round, copy.created_at = uuid7(), number, timezone.now()
    for name, value in {"status": "completed", "usage": usage, **values}.items():
        setattr(copy, name, value)
    copy.save(force_insert=True)


@pytest.mark.django_db
def test_samples_are_the_newest_completed_requests_of_the_model_in_one_statement(thread: Thread) -> None:
    first, rounds = make_snapshot(thread, status="failed"), count(2)
    for _ in range(10):
        request(first, 0.8, next(rounds))
    for _ in range(NEWEST):
        request(first, 1.5, next(rounds))
    for _ in range(NEWEST // 2):
        request(first, 0.8, next(rounds), status="failed")
        request(first, 0.8, next(rounds), model="another")
        request(first, 0.8, next(rounds), provider="another")
    with CaptureQueriesContext(connection) as queries:
        newest = samples_of(first.provider, first.model)
    assert len(queries) == 1
    assert learnt(newest) == Factor(value=1.5, samples=NEWEST)
    assert samples_of(first.provider, "unheard of") == []


@pytest.mark.django_db
def test_it_does_not_learn_from_what_it_has_learnt(thread: Thread) -> None:
    """Figures of a snapshot are in tokens of the model; the ratio is that of the plain estimate."""
    first = make_snapshot(thread, status="failed")
    for number in range(FEWEST):
        request(first, 1.3, number + 2, total_tokens=round(first.total_tokens * 1.3), token_factor=1.3)
    token_calibration.learn(first.provider, first.model)
    assert token_calibration.of_model(first.provider, first.model) == Factor(value=1.3, samples=FEWEST)


@pytest.mark.django_db
def test_until_ten_replies_are_known_the_shipped_factor_holds(thread: Thread) -> None:
    first = make_snapshot(thread, status="failed")
    Model.objects.update_or_create(
        provider=first.provider,
        name=first.model,
        defaults={"token_factor": 1.25, "context_window": 200_000, "max_output": 8_000},
    )
    model_catalog.reread()
    for number in range(FEWEST - 1):
        request(first, 1.38, number + 2)
    token_calibration.learn(first.provider, first.model)
    assert token_calibration.of_model(first.provider, first.model) == Factor(value=1.25)
    request(first, 1.38, FEWEST + 1)
    token_calibration.learn(first.provider, first.model)
    assert token_calibration.of_model(first.provider, first.model) == Factor(value=1.4, samples=FEWEST)


@pytest.mark.django_db
def test_a_context_is_fitted_in_tokens_of_its_model(user: User) -> None:
    """4,100 means 4,100 tokens of that model: what it counts one and a half times gets two thirds of the estimate."""
    thread = make_thread(user, turns=["What is a tide? " * 20, "The sea rises and falls. " * 20] * 40 + ["Why?"])
    plain = make_context(make_reply(thread))
    TokenFactor.objects.create(
        provider=plain.provider, model=plain.model, value=1.5, samples=FEWEST, learnt_at=timezone.now()
    )
    token_calibration.forget()
    fitted = make_context(make_reply(thread))
    assert plain.budget == fitted.budget
    assert 0.6 <= fitted.total_tokens / plain.total_tokens <= 0.75
    assert fitted.model_tokens <= fitted.budget.total_tokens
    assert fitted.history_tokens <= thread.assistant.history_tokens_high / 1.5
