"""How much parts of files bear on a text: rare words count for more than common ones, and what a part is about for most."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.files.ranking import MOST_WORDS, PartWords, part_terms, scores, sought_words

USER = 7
FILLER = "The ferry leaves the quay at nine. "


def found(question: str, *texts: str) -> list[float]:
    """What each text scores for a question, as the statement would find its words."""
    pairs = sought_words(USER, question).pairs
    parts = [
        PartWords(
            key=("file", number),
            bits=sum(1 << place for place in {place for term, place in pairs if term in terms}),
            length=len(text),
        )
        for number, text in enumerate(texts)
        for terms in [set(part_terms(USER, text))]
    ]
    scored = scores(parts)
    return [scored.get(part.key, 0.0) for part in parts]


def test_a_part_without_any_of_the_words_has_no_score() -> None:
    assert found("What does a berth cost?", FILLER, FILLER) == [0.0, 0.0]
    assert scores([]) == {}


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    common, rare, *_ = found("Does the ferry sink?", FILLER, "The boat sank there, and sinks. ", FILLER, FILLER)
    assert 0 < common < rare


def test_a_part_that_is_about_a_word_beats_one_that_mentions_it() -> None:
    padding = "Nothing else of any interest happened on that day. " * 3
    once, often = found(
        "What about the harbour?", f"The harbour. {padding}{padding}", "The harbour is old. " * 3 + padding
    )
    assert once < often


def test_of_two_parts_that_hold_the_same_the_shorter_one_comes_first() -> None:
    long, short = found("What about the harbour?", "The harbour. " + FILLER * 9, "The harbour.")
    assert long < short


@pytest.mark.parametrize("question", ["", "!?", "the of and"])
def test_what_asks_for_nothing_finds_nothing_that_stands_apart(question: str) -> None:
    first, second = found(question, FILLER, FILLER)
    assert first == second


def test_a_part_that_was_read_before_words_were_counted_is_found_as_well() -> None:
    words = sought_words(USER, "the harbour")
    ((term, place), (_, often)) = words.pairs[0], words.pairs[-1]
    assert (place, often) == (0, MOST_WORDS)
    assert term in part_terms(USER, "harbour")
    old = PartWords(key=("old", 1), bits=1, length=10)
    new = PartWords(key=("new", 1), bits=1 | 1 << MOST_WORDS, length=10)
    other = PartWords(key=("new", 2), bits=0, length=10)
    scored = scores([old, new, other])
    assert 0 < scored["old", 1] < scored["new", 1]
    assert ("new", 2) not in scored


@given(st.lists(st.tuples(st.integers(0, 2 ** (2 * MOST_WORDS) - 1), st.integers(0, 5_000)), max_size=20))
def test_scores_are_positive_where_a_word_stands_and_nowhere_else(found: list[tuple[int, int]]) -> None:
    parts = [PartWords(key=("f", number), bits=bits, length=length) for number, (bits, length) in enumerate(found)]
    scored = scores(parts)
    held = {part.key for part in parts if part.bits & (1 << MOST_WORDS) - 1}
    assert set(scored) == held
    assert all(score > 0 for score in scored.values())
