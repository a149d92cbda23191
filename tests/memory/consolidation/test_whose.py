"""Of the made cases of the benchmark ``whose``: what is not of the person makes no notes, and what is does."""

import pytest

from tests.benchmarks.whose import FACTS, cases


@pytest.mark.long
@pytest.mark.parametrize(("group", "others", "facts"), [("develop", 0.99, 0.96), ("aside", 0.98, 0.91)])
def test_what_others_said_makes_no_notes_and_true_facts_do(group: str, others: float, facts: float) -> None:
    mine = [case for case in cases() if case.group == group]
    for is_fact, least in ((False, others), (True, facts)):
        right = [case.is_right for case in mine if (case.kind == FACTS) == is_fact]
        assert len(right) >= 100
        assert sum(right) / len(right) >= least
