"""How the words of two readings of a file are compared in the benchmarks."""

from tests.benchmarks.file_readers import ADDRESSES, MARKS, NUMBERS, REPEATED, explained, lines_of_pages
from tests.benchmarks.word_differences import AGREED, SPACING, UNEXPLAINED, compare, words_of


def test_what_one_reading_lacks_is_unexplained_where_no_rule_tells_why() -> None:
    theirs, ours = list(words_of("The ferry leaves at nine, 10 8 knots")), list(words_of("The ferry leaves, 108 knots"))
    missing, more = compare(theirs, ours)
    assert dict(missing.examples) == {
        (UNEXPLAINED, "at"): 1,
        (UNEXPLAINED, "nine"): 1,
        (SPACING, "10"): 1,
        (SPACING, "8"): 1,
    }
    assert dict(more.examples) == {(SPACING, "108"): 1}
    assert (missing.words, missing.share(explained=False)) == (8, 25.0)


def test_a_third_reading_explains_what_it_has_as_ours() -> None:
    theirs, ours, third = (list(words_of(text)) for text in ("a b b", "a c d", "a b c"))
    missing, more = compare(theirs, ours, third)
    assert dict(missing.counts) == {AGREED: 1, UNEXPLAINED: 1}
    assert dict(more.counts) == {AGREED: 1, UNEXPLAINED: 1}


def test_words_are_known_by_where_they_stand() -> None:
    text = "1.2 Costs\n(picture: a boat) see [the lease](https://example.org/lease) and 4.5 tonnes"
    told = {word.text: word.why for word in explained(text)}
    assert [told[word] for word in ("1", "boat", "org", "lease")] == [NUMBERS, MARKS, ADDRESSES, ADDRESSES]
    assert {told[word] for word in ("costs", "see", "4", "tonnes")} == {UNEXPLAINED}


def test_headers_of_pages_count_once() -> None:
    pages = "The lease, page {}\nFirst.\nSecond.\nThird.\nFourth.\nFifth.\n{}\f"
    words = list(lines_of_pages("".join(pages.format(number, number) for number in (1, 2))))
    assert [word.why for word in words if word.text == "lease"] == [UNEXPLAINED, REPEATED]
    assert [word.why for word in words if word.text in "12" and word.why != REPEATED][-1] == NUMBERS
