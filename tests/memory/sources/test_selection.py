"""Of long turns the parts that hold words of the question come first, and of two that say the same one."""

import uuid
from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory.index.ranking import query_of
from memory.sources.passages import Candidate
from memory.sources.selection import LONG, selected

AT = datetime(2026, 3, 4, tzinfo=UTC)
THREAD = uuid.uuid4()
WORDS = st.sampled_from(["boat", "harbour", "Tuesday", "12,500", "sail. ", "mast\n", "Boote?", "船很大。"])
QUERY = query_of(1, "Where does the boat lie?", AT)


def turn(text: str, *, score: float = 1.0, role: str = "user") -> Candidate:
    return Candidate(
        kind="message", id=uuid.uuid4(), text=text, at=AT, score=score, role=role, thread=THREAD, end=len(text)
    )


@given(st.lists(st.lists(WORDS, max_size=120).map(" ".join), max_size=6))
def test_parts_stand_in_their_turns_and_nothing_but_white_space_is_lost(texts: list[str]) -> None:
    turns = {each.id: each for each in map(turn, texts)}
    parts = selected([*turns.values()], QUERY)
    assert len({part.key for part in parts}) == len(parts)
    for id, whole in turns.items():
        own = sorted((part for part in parts if part.id == id), key=lambda part: part.start)
        assert all(part.text == whole.text[part.start : part.end] for part in own)
        assert all(first.end <= second.start for first, second in pairwise(own))
        assert "".join("".join(part.text for part in own).split()) == "".join(whole.text.split())


def test_the_part_that_holds_the_words_comes_before_the_rest_of_its_turn() -> None:
    other = "The weather was dreadful again, and nobody wanted to go out before noon on that day. " * 3
    long = turn(f"{other}The boat lies in Lerwick, at the second pier behind the old cannery. {other}")
    assert len(long.text) > LONG
    first, *_ = selected([long], QUERY)
    assert "Lerwick" in first.text and len(first.text) < 250


def test_what_repeats_the_one_before_it_comes_behind_what_adds_to_it() -> None:
    said = "The boat lies in Lerwick at the second pier behind the cannery, painted green, paid until August"
    best, again = turn(said, score=1.0), turn(f"{said} indeed", score=0.95)
    new = turn(
        "Our boat needs another mast, three sails, fresh varnish, a compass and somebody who knows rigging", score=0.8
    )
    assert [each.text for each in selected([best, again, new], QUERY)] == [best.text, new.text, again.text]
