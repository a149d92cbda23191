"""Marks in a reply's text that name parts of files."""

import pytest

from conversations.context.files.citations import CitableFiles, find_citations
from conversations.context.files.excerpts import FileOutline, PartOutline
from conversations.providers.cited_documents import mark_of


def outline(id: str, name: str, *labels: str) -> FileOutline:
    parts = [PartOutline(number=number, label=label, tokens=100) for number, label in enumerate(labels, 1)]
    return FileOutline(id=id, name=name, kind="pdf", parts=parts)


REPORT = outline("report", "report.pdf", "page 1", "page 2", "page 2 (2)", "page 3", "page 4")
BUDGET = outline("budget", "budget [new].xlsx", 'sheet "Q1"', 'sheet "Q2", rows 1–80', 'sheet "Q2", rows 81–90')
DECK = outline("deck", "R&D.pptx", "slide 1", "slide 2 (hidden)")
BOOK = outline("book", "notes.md", 'section "Costs, and more"', 'section "Costs, and more" (2)', "part 3")
FILES = CitableFiles(outlines={file.id: file for file in (REPORT, BUDGET, DECK, BOOK)})


def parts(text: str, files: CitableFiles = FILES) -> list[tuple[str, int | None]]:
    return [(citation["file"], citation["part"]) for citation in find_citations(text, files)]


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("[report.pdf, p. 4]", [("report", 5)]),
        ("[report.pdf, page 4]", [("report", 5)]),
        ("[report.pdf, Page 4]", [("report", 5)]),
        ("[report.pdf,p.4]", [("report", 5)]),
        ("[report.pdf, S. 4]", [("report", 5)]),
        ("[report.pdf, pp. 3-4]", [("report", 4), ("report", 5)]),
        ("[report.pdf, pp. 3–4]", [("report", 4), ("report", 5)]),
        ("[report.pdf, pages 1, 3 and 4]", [("report", 1), ("report", 4), ("report", 5)]),
        ("[report.pdf, p. 2]", [("report", 2)]),
        ("[report.pdf, page 2 (2)]", [("report", 3)]),
        ("[report.pdf, part 3]", [("report", 3)]),
        ("[report.pdf, p. 90]", [("report", None)]),
        ("[report.pdf, the end]", [("report", None)]),
        ("[budget [new].xlsx, Q2]", [("budget", 2)]),
        ('[budget [new].xlsx, sheet "Q2"]', [("budget", 2)]),
        ("[budget [new].xlsx, Q2, rows 81–90]", [("budget", 3)]),
        ("[R&D.pptx, slide 2]", [("deck", 2)]),
        ("[R&amp;D.pptx, p. 1]", [("deck", 1)]),
        ("[notes.md, Costs, and more]", [("book", 1)]),
        ("[notes.md, part 3]", [("book", 3)]),
        ("[other.pdf, p. 4]", []),
        ("report.pdf, p. 4", []),
        ("[report.pdf]", []),
        ("[report.pdf, p. 4", []),
    ],
)
def test_a_mark_names_parts(mark: str, expected: list[tuple[str, int | None]]) -> None:
    assert parts(f"It says so {mark}.") == expected


def test_a_mark_is_told_once_with_its_text_and_whether_the_part_was_given() -> None:
    files = FILES.with_request({}, [("report", 5)])
    text = "Twelve [report.pdf, p. 4]. Yes [report.pdf, p. 4], and 13 [report.pdf, p. 1]."
    assert find_citations(text, files) == [
        {"text": "[report.pdf, p. 4]", "file": "report", "name": "report.pdf", "part": 5, "given": True},
        {"text": "[report.pdf, p. 1]", "file": "report", "name": "report.pdf", "part": 1, "given": False},
    ]


def test_of_a_page_that_is_cut_the_given_part_is_cited() -> None:
    assert parts("[report.pdf, p. 2]", FILES.with_request({}, [("report", 3)])) == [("report", 3)]


def test_of_two_files_of_one_name_the_one_that_was_given_is_cited() -> None:
    other = outline("other", "report.pdf", "page 1", "page 4")
    both = FILES.with_request({"other": other}, [("other", 2)])
    assert parts("[report.pdf, p. 4]", both) == [("other", 2)]


def test_a_mark_with_a_huge_range_is_bounded() -> None:
    assert len(parts("[report.pdf, pp. 1-999999999]")) <= 50


@pytest.mark.parametrize("file", [REPORT, BUDGET, DECK, BOOK])
def test_the_mark_of_a_part_names_it(file: FileOutline) -> None:
    for part in file.parts:
        ((id, number),) = parts(f"so {mark_of(file.name, part.label)}", CitableFiles(outlines={file.id: file}))
        assert (id, number) == (file.id, part.number)


def test_marks_of_pages_are_short() -> None:
    assert mark_of("report.pdf", "page 4") == "[report.pdf, p. 4]"
    assert mark_of("report.pdf", "page 4 (2)") == "[report.pdf, page 4 (2)]"
    assert mark_of("budget.xlsx", 'sheet "Q2"') == "[budget.xlsx, sheet Q2]"
