"""Passages of texts: literal, in order, cut where something ends, all of the text."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.language.passages import BREAK, MOST, Passage, passages

SENTENCES = st.lists(
    st.sampled_from(
        ["One sentence.", "Is it?", "他去了北京。", "Yes!", "- a line\n", "\n\n## A heading\n\n", "1. first", "x" * 500]
    )
    | st.text(max_size=80),
    max_size=40,
)


@given(st.builds(" ".join, SENTENCES), st.sampled_from([0, MOST, 1_000]))
@example("", 0)
@example("   \n ", 0)
@example("a" * 5_000, 0)
def test_passages_are_literal_in_order_and_all_of_the_text(text: str, whole: int) -> None:
    parts = passages(text, whole=whole)
    assert all(part.start < part.end for part in parts)
    assert all(before.end <= after.start for before, after in pairwise(parts))
    left_out = [*zip([0, *(part.end for part in parts)], [*(part.start for part in parts), len(text)], strict=True)]
    assert not any(text[start:end].strip() for start, end in left_out)
    assert all(text[part.start : part.end].strip() == text[part.start : part.end] for part in parts)
    assert len(parts) <= 1 or all(part.end - part.start <= MOST + 60 for part in parts)


def test_a_short_text_is_one_passage() -> None:
    assert passages("  A short text. With two sentences.\n") == [Passage(start=2, end=35)]


@pytest.mark.parametrize("end", [". ", "? ", "! ", ".\n", "\n", "。"])
def test_a_passage_ends_with_a_sentence_or_a_line(end: str) -> None:
    text = "".join(f"This is number {number} of the sentences that stand here{end}" for number in range(40))
    parts = passages(text)
    assert len(parts) > 4
    assert {text[part.end - len(end.strip()) :][: len(end)] for part in parts[:-1]} == {end}


def test_a_paragraph_begins_a_passage() -> None:
    paragraph = (
        "Something that is said in a paragraph of its own, with enough words for a passage by itself, I should think. "
        * 2
    )
    text = f"{paragraph}\n\n## Second\n\n{paragraph}"
    assert [text[part.start :][:9] for part in passages(text)][1] == "## Second"


def test_what_has_no_end_is_cut_between_words() -> None:
    text = "word " * 400
    assert all(text[part.start : part.end].split(" ")[0] == "word" for part in passages(text))
    assert max(part.end - part.start for part in passages("字" * 2_000)) <= MOST


BREAK_OF_STORED_PASSAGES = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=[。！？])[」』”’]*|\s*\n\s*")
"""By which passages were cut that the index of older installations has the places of. Its time grows with the square."""


@given(st.builds("".join, st.lists(st.sampled_from([*' \n\t.!?…。"»)*_a1\u3000', "\n\n", " a. "]), max_size=40)))
def test_passages_are_cut_where_those_in_the_index_were(text: str) -> None:
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    cuts, stored = (
        [match.span() for match in each.finditer(text, begin, end)] for each in (BREAK, BREAK_OF_STORED_PASSAGES)
    )
    assert cuts == stored
