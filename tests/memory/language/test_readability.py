"""What doesn't read as a sentence is told by its signs, in each language."""

import pytest

from memory.language.readability import Fault, faults_of


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("I live in Lisbon.", set()),
        ("Ich ziehe im Mai um.", set()),
        ("Je travaille chez « Casa Nova ».", set()),
        ("Er sagte „nein“.", set()),
        ("我住在里斯本。", set()),
        ("لا أحب القهوة.", set()),
        ("My sister, who lives at…", {Fault.CUT, Fault.DANGLING}),
        ("Mi casa está en la.", {Fault.DANGLING}),
        ("Он сказал «нет.", {Fault.UNBALANCED}),
        ("**Plan** for Friday.", {Fault.MARKDOWN}),
        ("we slept, .", {Fault.LOOSE, Fault.LOWER_CASE}),
        ("Nothing more", {Fault.NO_END}),
    ],
)
def test_a_sentence_is_told_by_its_signs(text: str, faults: set[Fault]) -> None:
    assert faults_of(text) == faults
