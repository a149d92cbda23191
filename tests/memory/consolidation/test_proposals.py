"""What a small model proposes stands only where it is no worse than what the rules wrote."""

from dataclasses import replace

import pytest

from memory.consolidation.findings import Findings
from memory.consolidation.proposals import Refusal, refusal_of_findings, refusal_of_title
from memory.consolidation.rule_extraction import extract
from tests.memory.turns import conversation

SAID = "I live in Lisbon and I pay 900 a month to Bruno. My sister Ana visits me in May."


@pytest.mark.parametrize(
    ("summary", "refusal"),
    [
        ("The person lives in Lisbon, pays Bruno 900 a month, and the sister Ana visits in May.", None),
        ("The person lives in Lisbon and pays Bruno 950 a month. The sister Ana visits in May.", Refusal.INVENTED),
        ("The person lives in Lisbon near Anton and pays Bruno 900. Ana visits in May.", Refusal.INVENTED),
        ("The person lives in Lisbon and has a sister.", Refusal.LESS),
        ("Die Person wohnt in Lisbon und zahlt im Monat 900 an Bruno. Ana kommt zu ihr im May.", Refusal.LANGUAGE),
        ("The person lives in Lisbon and pays Bruno 900, and Ana visits in May and", Refusal.UNREADABLE),
        ("Understood.", Refusal.EMPTY),
    ],
)
def test_notes_of_a_small_model_stand_or_are_refused_with_a_reason(summary: str, refusal: Refusal | None) -> None:
    turns = conversation(SAID)
    by_rules = extract(turns)
    proposed = replace(Findings(summary=summary, made_by="small"), facts=by_rules.facts[:0])
    assert refusal_of_findings(proposed, by_rules, turns) == refusal


@pytest.mark.parametrize(
    ("title", "refusal"),
    [
        ("Paying Bruno 900 for a flat in Lisbon", None),
        ("Rent in Lisbon", Refusal.LESS),
        ("Bruno's 900 house in Porto and Lisbon", Refusal.INVENTED),
        ("My flat in Lisbon, Bruno and the 900 of", Refusal.UNREADABLE),
    ],
)
def test_a_title_of_a_small_model_names_as_much_as_the_rules_do(title: str, refusal: Refusal | None) -> None:
    assert refusal_of_title(title, SAID, "I live in Lisbon and I pay 900 a month to Bruno") == refusal
