"""What a file says to a model is what it says to people: numbers, hidden text, missing text, letters, kinds."""

from collections import Counter
from pathlib import Path

import pytest

from tests.artifacts.reading.cases import FORMATS, Case, cases, makers
from tests.artifacts.reading.helpers import read_here

CASES = list(cases())


@pytest.mark.once("*.docx", "*.xlsx", "*.pdf", "*.html", "*.pptx")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_says_what_people_see(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.content())
    outcome = read_here(path, tmp_path)
    assert not outcome.problem, outcome.message
    for wanted in case.expected["must_hold"]:
        choices = [wanted] if wanted.startswith("| ") else wanted.split("|")
        assert any(choice in outcome.text for choice in choices), outcome.text
    for unwanted in case.expected["must_not_hold"]:
        assert unwanted not in outcome.text
    if "left_out" in case.expected:
        assert outcome.left_out == case.expected["left_out"]
    if "parts" in case.expected:
        assert len(outcome.parts) == case.expected["parts"], outcome.labels
    if "pictures" in case.expected:
        assert sum(part.picture is not None for part in outcome.parts) == case.expected["pictures"]


@pytest.mark.parametrize("format", FORMATS)
def test_each_case_has_a_maker_and_each_maker_a_case(format: str) -> None:
    assert Counter(case.name for case in CASES if case.format == format) == Counter(list(makers(format)))
