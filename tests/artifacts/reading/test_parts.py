"""All that stands in a file stands in its parts once, and no part is too large."""

import csv
import io
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifacts.reading.blocks import Block, Heading, Place, Text, table
from artifacts.reading.parts import PART_BYTES, make_parts, split
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.text import plain as text_reader

WORDS = st.text("abcXYZäßжя你好", min_size=1, max_size=30)
LINES = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=40)
MARKS = st.sampled_from(["", "", "", "# ", "## ", "- ", "> ", "    ", "| "])


def parts_of(content: str, extension: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_text(content, encoding="utf-8", newline="")
        blocks = text_reader.read(file, extension, PictureFolder(Path(folder), 0))
        return [part["text"] for part in make_parts(blocks)]


def words_of(*texts: str) -> Counter[str]:
    return Counter(word for text in texts for word in text.split())


@given(LINES, st.lists(MARKS, min_size=40, max_size=40), st.integers(1, 20), st.sampled_from(["\n", "\r\n", "\n\n"]))
@pytest.mark.parametrize("extension", ["txt", "md"])
def test_each_word_of_a_text_stands_in_one_part(
    extension: str, lines: list[list[str]], marks: list[str], times: int, end: str
) -> None:
    content = end.join(mark + " ".join(words) for mark, words in zip(marks, lines * times, strict=False))
    parts = parts_of(content, extension)
    assert words_of(*parts) == words_of(content)
    assert all(len(part.encode()) <= PART_BYTES for part in parts)


@given(LINES, st.integers(1, 20))
def test_each_line_of_code_stands_in_one_part(lines: list[list[str]], times: int) -> None:
    content = "\n".join(["import os", *(" ".join(words) for words in lines * times)])
    parts = parts_of(content, "py")
    inner = [part.removeprefix("```py\n").removesuffix("\n```").splitlines() for part in parts]
    assert [line for part in inner for line in part if line.strip()] == [
        line for line in content.splitlines() if line.strip()
    ]
    assert all(len(part.encode()) <= PART_BYTES for part in parts)


@given(st.lists(st.lists(WORDS, min_size=2, max_size=5), min_size=2, max_size=40), st.integers(1, 20))
def test_each_row_of_a_table_stands_in_one_part(rows: list[list[str]], times: int) -> None:
    written = io.StringIO()
    header = ["first", "second", "third", "fourth", "fifth"][: max(map(len, rows))]
    csv.writer(written).writerows([header, *rows * times])
    parts = parts_of(written.getvalue(), "csv")
    shown = [line for part in parts for line in part.splitlines()[2:]]
    assert shown == ["| " + " | ".join(row) + " |" for row in rows * times]
    assert all(part.startswith("| first | second") for part in parts)
    assert all(len(part.encode()) <= PART_BYTES for part in parts)


@given(st.text(min_size=1, max_size=3_000), st.integers(50, 400))
def test_no_character_is_lost_where_a_text_is_cut(content: str, most: int) -> None:
    content = content.encode(errors="replace").decode()
    pieces = split(content, most)
    assert "".join("".join(pieces).split()) == "".join(content.split())
    assert all(len(piece.encode()) <= most for piece in pieces)


def test_a_section_is_a_part_and_a_small_one_takes_in_those_below_it() -> None:
    blocks: list[Block] = [
        Text("Before."),
        Heading(1, "Report"),
        Heading(1, "Costs"),
        Text("cost " * 50),
        Heading(2, "Rent"),
        Text("rent " * 200),
        Heading(2, "Wages"),
        Text("wage " * 50),
        Heading(1, "Costs"),
        Text("again"),
    ]
    parts = list(make_parts(blocks))
    assert [(part["label"], part["heading"]) for part in parts] == [
        ("part 1", ""),
        ('section "Costs"', "Costs"),
        ('section "Wages"', "Wages"),
        ('section "Costs" (2)', "Costs"),
    ]
    assert parts[1]["text"].startswith("# Report\n\n# Costs\n\ncost")
    assert "## Rent" in parts[1]["text"]


def test_a_long_section_is_cut_before_a_heading_or_between_paragraphs() -> None:
    paragraph = "word " * 400
    blocks: list[Block] = [Heading(1, "Long"), *[Text(paragraph)] * 4, Heading(2, "Inner"), Text(paragraph)]
    parts = list(make_parts(blocks))
    assert [(part["label"], part["text"].count("word")) for part in parts] == [
        ('section "Long"', 1_200),
        ('section "Long" (2)', 400),
        ('section "Inner"', 400),
    ]


def test_rows_are_counted_as_the_sheet_counts_them() -> None:
    rows = [(3, ["Name", "Sum"]), *((number, ["x" * 100, str(number)]) for number in range(4, 203) if number != 5)]
    labels = [part["label"] for part in make_parts([Place('sheet "Q2"', 2, "Q2"), *table(rows)])]
    assert labels[0].startswith('sheet "Q2", rows 4–')
    assert labels[-1].endswith("–202")
    assert len(labels) == len(set(labels)) == 4


def test_a_header_of_thousands_of_columns_is_not_repeated() -> None:
    rows = [(number, [f"{column}" for column in range(4_000)]) for number in range(1, 4)]
    parts = list(make_parts(table(rows)))
    assert all(len(part["text"].encode()) <= PART_BYTES for part in parts)
    assert sum(part["text"].count(" 3999 |") for part in parts) == 3
