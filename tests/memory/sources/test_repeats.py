"""What was said in much the same words is one thing; whatever tells two texts apart keeps them apart (F11)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.sessions import Session
from conversations.context.sources import MessageQuery
from conversations.runtime.db import read_only
from memory.consolidation.store import day_of
from memory.index import word_index
from memory.scope import OUTSIDE
from memory.sources.recall import RecallSource
from memory.sources.repeats import Compared, groups, is_alike
from memory.sources.rows import Summary, without_repeats
from tests.benchmarks.memory.accounts import said_turn
from tests.conversations.factories import make_thread

NOW = timezone.now()

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


def test_a_day_says_once_what_was_asked_several_times() -> None:
    asked = "Please write the weekly report for the harbour."
    assert day_of([(f"User: {asked}", ["Planned a trip."])] * 4) == (f"User: {asked}", ["Planned a trip."])
    lines = f"User: {asked}\nUser: It rained.\nUser: {asked.upper()}"
    summary = Summary(id="1", text=lines, moments=("It rained!", "A call."))
    assert without_repeats(summary) == replace(summary, text=f"User: {asked.upper()}")


@pytest.mark.django_db
def test_what_a_section_says_is_not_recalled_beside_it(user: User) -> None:
    """Where *Today* quotes a request, the turn itself is left out as repeated."""
    asked = "Please write the weekly report for the harbour."
    thread = make_thread(
        user, [asked, "Here it is: all quiet.", "The harbour froze in the weekly report of May.", "Oh."]
    )
    word_index.store(user.pk, map(said_turn, thread.messages.all()))
    query = MessageQuery(
        memory=OUTSIDE,
        user_id=user.pk,
        thread_id=None,
        session=Session(started_at=NOW, away_since=None),
        at=NOW + timedelta(minutes=1),
        text="What stood in the weekly report for the harbour?",
        lines_sent=("## Today", "", f"User: {asked}"),
    )
    with read_only():
        recalled = RecallSource().search(None, query, 1_000)
    assert recalled and {candidate.text: candidate.left_out for candidate in recalled.candidates}[asked] == "repeated"
    assert "The harbour froze in the weekly report of May." in {
        candidate.text for candidate in recalled.candidates if not candidate.left_out
    }
