"""What was said in much the same words is one thing; whatever tells two texts apart keeps them apart (F11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.sources.repeats import Compared, groups, is_alike

REQUEST = "Please write a business requirements document for the bike shop in Bergen"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (REQUEST, REQUEST.upper() + "!!"),
        (REQUEST, REQUEST.removeprefix("Please ").capitalize()),
        (REQUEST, REQUEST.replace("document ", "document now ")),
        ("Yes.", "yes"),
        ("我的猫叫小花。", "我的猫叫小花"),
    ],
)
def test_marks_capitals_and_a_word_in_ten_make_no_difference(text: str, other: str) -> None:
    assert is_alike(Compared(text), Compared(other)) and is_alike(Compared(other), Compared(text))
    assert groups((place, "user", said) for place, said in enumerate([text, "Something else.", other])) == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We talked about the boat again, time 3.", "We talked about the boat again, time 4."),
        ("The wall of the living room is to be painted blue", "The wall of the living room is to be painted green"),
        ("I do like to eat fish in the evening at home", "I do not like to eat fish in the evening at home"),
        ("You said that the boat is for sale this spring", "You said that the boat is for sale this spring?"),
        ("We meet at the old harbour in Bergen on Monday", "We meet at the old harbour in Bergen on Monday 7"),
        ("I was born in Bergen", "I was born in Bergen Norway"),
        ("Anna calls Bob", "Bob calls Anna"),
        ("", "Yes"),
    ],
)
def test_names_numbers_denials_and_questions_tell_texts_apart(text: str, other: str) -> None:
    assert not is_alike(Compared(text), Compared(other)) and not is_alike(Compared(other), Compared(text))
    assert len(groups((said, "user", said) for said in (text, other))) == 2


def test_the_same_words_of_others_are_others() -> None:
    assert groups([(1, "user", "Yes."), (2, "assistant", "Yes."), (3, "user", "Yes")]) == [[1, 3], [2]]


@given(st.lists(st.sampled_from([REQUEST, REQUEST + " 2", "Yes", "yes!", "No", "", "?", "a b", "b a"]), max_size=12))
def test_each_is_in_one_group_in_the_order_of_the_first(texts: list[str]) -> None:
    found = groups((place, None, text) for place, text in enumerate(texts))
    assert sorted(place for group in found for place in group) == list(range(len(texts)))
    assert all(group == sorted(group) for group in found) and found == sorted(found)
    assert all(is_alike(Compared(texts[group[0]]), Compared(texts[place])) for group in found for place in group)
