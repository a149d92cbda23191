"""docs/asvs.md: each requirement of levels 1 and 2 once, with a verdict, and what it names is there."""

import re
from collections import Counter

from tests.processes import ROOT

PAGE = ROOT / "docs" / "asvs.md"
# Of OWASP ASVS 5.0.0, levels 1 and 2: the numbers in each section.
REQUIREMENTS = {
    "1.1": "1-2",
    "1.2": "1-9",
    "1.3": "1-11",
    "1.4": "1-3",
    "1.5": "1-2",
    "2.1": "1-3",
    "2.2": "1-3",
    "2.3": "1-4",
    "2.4": "1",
    "3.2": "1-2",
    "3.3": "1-4",
    "3.4": "1-6",
    "3.5": "1-5",
    "3.7": "1-2",
    "4.1": "1-3",
    "4.2": "1",
    "4.3": "1-2",
    "4.4": "1-4",
    "5.1": "1",
    "5.2": "1-3",
    "5.3": "1-2",
    "5.4": "1-3",
    "6.1": "1-3",
    "6.2": "1-12",
    "6.3": "1-4",
    "6.4": "1-4",
    "6.5": "1-5",
    "6.6": "1-3",
    "6.8": "1-4",
    "7.1": "1-3",
    "7.2": "1-4",
    "7.3": "1-2",
    "7.4": "1-5",
    "7.5": "1-2",
    "7.6": "1-2",
    "8.1": "1-2",
    "8.2": "1-3",
    "8.3": "1",
    "8.4": "1",
    "9.1": "1-3",
    "9.2": "1-4",
    "10.1": "1-2",
    "10.2": "1-2",
    "10.3": "1-4",
    "10.4": "1-11",
    "10.5": "1-5",
    "10.6": "1-2",
    "10.7": "1-3",
    "11.1": "1-2",
    "11.2": "1-3",
    "11.3": "1-3",
    "11.4": "1-4",
    "11.5": "1",
    "11.6": "1",
    "12.1": "1-3",
    "12.2": "1-2",
    "12.3": "1-4",
    "13.1": "1",
    "13.2": "1-5",
    "13.3": "1-2",
    "13.4": "1-5",
    "14.1": "1-2",
    "14.2": "1-4",
    "14.3": "1-3",
    "15.1": "1-3",
    "15.2": "1-3",
    "15.3": "1-7",
    "16.1": "1",
    "16.2": "1-5",
    "16.3": "1-4",
    "16.4": "1-3",
    "16.5": "1-3",
    "17.1": "1",
    "17.2": "1-4",
    "17.3": "1-2",
}
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| [^|]+ \| \*\*(met|n/a|not met)\*\*(.*) \|$", re.MULTILINE)
PATH = re.compile(r"`([\w./-]+(?:/[\w.@-]+|\.(?:txt|json|toml|dockerignore)))`")


def numbers() -> list[str]:
    spans = [(section, [*map(int, span.split("-"))]) for section, span in REQUIREMENTS.items()]
    return [f"{section}.{number}" for section, ends in spans for number in range(ends[0], ends[-1] + 1)]


def test_each_requirement_stands_once_with_a_verdict() -> None:
    text = PAGE.read_text()
    assert len(numbers()) == 253
    assert [row[1] for row in ROW.finditer(text)] == numbers()
    counts = Counter(row[2] for row in ROW.finditer(text))
    assert f"{counts['met']} are met, {counts['n/a']} don’t apply, {counts['not met']} are not met" in text
    assert [row[1] for row in ROW.finditer(text) if not row[3].strip(" :")] == []


def test_what_is_named_is_there() -> None:
    named = {path for row in ROW.finditer(PAGE.read_text()) for path in PATH.findall(row[3])}
    assert len(named) > 80
    assert sorted(path for path in named if path[:10] != "/accounts/" and not (ROOT / path).exists()) == []
