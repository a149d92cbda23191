"""Of made messages that nothing was learnt from: what is not of the person makes few notes, and what is does."""

from itertools import islice

import pytest

from memory.consolidation import own_facts
from tests.benchmarks.whose import is_right
from tests.made_messages import ASIDE, FACTS, messages


@pytest.mark.long
def test_what_is_not_of_the_person_makes_few_notes_and_what_is_does() -> None:
    outcomes = [(message.kind == FACTS, is_right(message)) for message in islice(messages(ASIDE), 0, None, 3)]
    others, facts = ([right for is_fact, right in outcomes if is_fact is wanted] for wanted in (False, True))
    assert len(others) >= 600 and len(facts) >= 350
    assert (sum(others) / len(others) >= 0.92, sum(facts) / len(facts) >= 0.5) == (True, True)


def test_each_part_is_in_the_message_where_it_says_and_no_letter_is_lost() -> None:
    for message in islice(messages(ASIDE), 0, None, 20):
        parts = list(own_facts.parts(message.text))
        texts = [message.text[part.start : part.end] for part in parts]
        assert all(part.opens <= part.start < part.end <= part.closes for part in parts)
        assert [*filter(str.isalnum, "".join(texts))] == [*filter(str.isalnum, message.text)]


@pytest.mark.long
def test_weights_are_of_features_that_there_are() -> None:
    """What was learnt with other features would weigh nothing."""
    seen: set[str] = set()
    for message in messages(ASIDE):
        seen.update(*(own_facts.features(message.text, part) for part in own_facts.parts(message.text)))
    known = {line.rpartition("\t")[0] for line in own_facts.WEIGHTS.read_text(encoding="utf-8").splitlines()}
    assert len(known & seen) > 10_000
    assert {feature for feature in known if feature.startswith("?")} <= seen
