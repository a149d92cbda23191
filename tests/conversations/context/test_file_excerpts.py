"""What of a person's files stands in a turn."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.files.account import PackedFiles, form_of
from conversations.context.files.excerpts import (
    LONGEST_RANGES,
    MOST_PARTS,
    OUTLINE_TOKENS,
    FileExcerpt,
    FileForm,
    FileOutline,
    PartContent,
    PartOutline,
    blocks,
    choose,
    kept,
    read_ranges,
    whole_file,
    write_ranges,
)
from conversations.context.tokens.estimate import estimate_tokens, text_of
from conversations.providers.file_frames import read_file

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def file_of(id: str, *tokens: int, name: str = "") -> FileOutline:
    parts = [PartOutline(number=n, label=f"page {n}", tokens=each) for n, each in enumerate(tokens, 1)]
    return FileOutline(id=id, name=name or f"{id}.pdf", kind="pdf", parts=parts)


def numbers(excerpts: list[FileExcerpt]) -> dict[str, tuple[int, ...]]:
    return {excerpt.file.id: excerpt.numbers for excerpt in excerpts}


def test_a_small_file_stands_whole_and_of_a_large_one_what_bears_on_the_message_in_its_order() -> None:
    small, large = file_of("small", 100, 200), file_of("large", *[500] * 100)
    scores = {("large", 70): 5.0, ("large", 12): 4.0, ("large", 50): 0.1}
    chosen = choose([large, small], [], scores, room=4_000)
    assert [excerpt.file.id for excerpt in chosen] == ["large", "small"]
    of_large, of_small = chosen
    assert (of_small.numbers, of_small.is_whole, of_small.outlined) == ((1, 2), True, False)
    assert {12, 70} <= {*of_large.numbers}
    assert 50 not in of_large.numbers
    assert of_large.numbers == tuple(sorted(of_large.numbers))
    assert of_large.outlined


def test_a_file_of_which_nothing_bears_on_the_message_is_begun_at_its_beginning() -> None:
    (excerpt,) = choose([file_of("report", *[400] * 50)], [], {}, room=4_000)
    assert excerpt.numbers == tuple(range(1, len(excerpt.numbers) + 1)) != ()
    assert excerpt.tokens <= 2_500


def test_a_later_message_brings_what_no_earlier_turn_has_and_nothing_where_nothing_bears() -> None:
    report = file_of("report", *[400] * 50)
    before = [FileExcerpt(file=report, numbers=(3, 4), outlined=True)]
    scores = {("report", 3): 9.0, ("report", 20): 8.0}
    assert numbers(choose([], before, scores, room=2_000)) == {"report": (20,)}
    assert choose([], before, {("report", 3): 9.0}, room=2_000) == []
    assert choose([], before, {}, room=2_000) == []


def test_no_room_at_all_still_says_that_the_file_is_there() -> None:
    (excerpt,) = choose([file_of("report", *[400] * 50)], [], {("report", 9): 1.0}, room=0)
    assert (excerpt.numbers, excerpt.outlined) == ((), True)
    text = text_of(blocks(excerpt, {}, FileForm(readable=True)))
    assert 'name="report.pdf"' in text
    assert 'parts="50"' in text
    assert 'given="none"' in text
    assert "Read other parts with read_file." in text
    assert "read_file" not in text_of(blocks(excerpt, {}, FileForm()))


def test_blocks_hold_the_parts_in_order_and_pictures_between_them() -> None:
    excerpt = FileExcerpt(file=file_of("r", 10, 20, 30, name='a "b" <c>.pdf'), numbers=(1, 3), outlined=True)
    contents = {1: PartContent(text="First"), 3: PartContent(text="", picture=IMAGE)}
    first, picture, last = blocks(excerpt, contents, FileForm(pictures=True))
    assert picture == IMAGE
    assert first["text"].startswith('<file name="a &quot;b&quot; &lt;c&gt;.pdf" parts="3" given="1, 3">\n<outline>\n')
    assert first["text"].index("First") < first["text"].index('<part number="3" label="page 3">')
    assert last["text"] == "</part>\n</file>"


def test_a_long_outline_is_thinned_evenly() -> None:
    text = text_of(blocks(FileExcerpt(file=file_of("r", *[10] * 3_000), outlined=True), {}, FileForm()))
    outline = text[text.index("<outline>") : text.index("</outline>")]
    assert estimate_tokens(outline) <= OUTLINE_TOKENS + 10
    assert "\n1: page 1\n" in outline
    assert any(f"\n{number}: " in outline for number in range(2_500, 3_001))


def test_files_stay_in_their_turns_until_the_room_is_full_and_then_half_of_it_goes() -> None:
    part = [whole_file(file_of("a", 1_000 - 20 - 3 - 36 - 5))]
    assert part[0].tokens == 1_000
    assert kept([part, [], part, part], 3_000) == [True, False, True, True]
    assert kept([part, [], part, part, part], 3_000) == [False, False, False, False, True]
    assert kept([part, [], part, part, part, [], part], 3_000) == [False, False, False, False, True, False, True]
    assert kept([[whole_file(file_of("b", 2_900))], part], 3_000) == [False, True]
    assert kept([part, [whole_file(file_of("c", 9_000))]], 3_000) == [False, False]


tokens = st.lists(st.integers(min_value=0, max_value=3_000), max_size=30)


@given(st.lists(tokens, max_size=4), st.lists(tokens, max_size=3), st.integers(0, 20_000), st.randoms())
def test_every_choice_fits_its_room_and_gives_nothing_twice(new, old, room, random) -> None:  # type: ignore[no-untyped-def]
    files = [file_of(f"n{place}", *each) for place, each in enumerate(new)]
    earlier = [file_of(f"o{place}", *each) for place, each in enumerate(old)]
    before = [
        FileExcerpt(file=file, numbers=tuple(part.number for part in file.parts if random.random() < 0.4))
        for file in earlier
    ]
    scores = {
        (file.id, part.number): random.random()
        for file in [*files, *earlier]
        for part in file.parts
        if random.random() < 0.5
    }
    chosen = choose(files, before, scores, room)
    standing = {(excerpt.file.id, number) for excerpt in before for number in excerpt.numbers}
    given_now = [(excerpt.file.id, number) for excerpt in chosen for number in excerpt.numbers]
    assert len(given_now) == len({*given_now})
    assert standing.isdisjoint(given_now)
    assert {file.id for file in files} <= {excerpt.file.id for excerpt in chosen}
    least = sum(FileExcerpt(file=file, outlined=True).tokens for file in files)
    assert sum(excerpt.tokens for excerpt in chosen) <= max(room, least)
    for excerpt in chosen:
        nothing = {part.number: PartContent(text="") for part in excerpt.file.parts}
        around = text_of(blocks(excerpt, nothing, FileForm(readable=True)))
        parts = sum(part.tokens for part in excerpt.file.parts if part.number in excerpt.numbers)
        assert estimate_tokens(around) <= excerpt.tokens - parts


@given(st.sets(st.integers(1, 300), max_size=60))
def test_ranges_are_read_as_they_are_written(numbers: set[int]) -> None:
    assert read_ranges(write_ranges(sorted(numbers))) == sorted(numbers)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("7-9, 1,8 – 10", [1, 7, 8, 9, 10]),
        ("1-999999, 5, 1-999999", [*range(1, 13)]),
        ("12-999999", [12]),
        ("13", []),
    ],
)
def test_ranges_are_read_in_order_each_number_once_and_no_further_than_there_are_parts(
    text: str, numbers: list[int]
) -> None:
    assert read_ranges(text, most=12) == numbers


@pytest.mark.parametrize(
    "text", ["p. 3", "3-1", "0-4", "1-", "-1", "1,,2", "1;2", "1000000", "٣", "1, " * LONGEST_RANGES + "1"]
)
def test_other_texts_are_no_ranges(text: str) -> None:
    with pytest.raises(ValueError, match="range"):
        read_ranges(text)


def test_ranges_that_lie_upon_each_other_take_no_longer_than_one() -> None:
    text = ",".join(["1-999999"] * (LONGEST_RANGES // 9))
    assert len(read_ranges(text)) == MOST_PARTS


def test_what_is_in_no_part_stands_in_the_opening_but_of_requests_of_before() -> None:
    file = replace(file_of("r", 10), left_out='2 charts, 1 "hidden" <note>')
    excerpt = whole_file(file)
    text = text_of(blocks(excerpt, {}, FileForm()))
    assert 'left_out="2 charts, 1 &quot;hidden&quot; &lt;note&gt;">' in text
    assert read_file(text)
    recorded: PackedFiles = {"pictures": False, "tokens": 0, "turns": {}, "left_out": []}
    assert "left_out" not in text_of(blocks(excerpt, {}, form_of(recorded)))
    assert excerpt.tokens > whole_file(replace(file, left_out="")).tokens
