"""What is recalled for one message: what bears on it, best first, within its room, accounted for row by row."""

import os
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.reasons import Reason
from conversations.context.sessions import Session
from conversations.context.sources import ADDED, Fitted, MessageQuery, SourceItem, TurnItem
from conversations.context.tokens.estimate import estimate_tokens
from conversations.models import Message, Thread
from conversations.providers.markers import RECALLED, REPLACED
from conversations.providers.quoting import quoted_texts
from conversations.runtime.db import read_only
from conversations.threads.deletion import allow_deletion, delete_thread
from memory.index.index_turns import catch_up
from memory.models import IndexedPassage, Memory
from memory.scope import OUTSIDE
from memory.sources.passages import Candidate, fitted
from memory.sources.recall import RecallQuery, RecallSource, search
from memory.tags import thread_tag
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.memory.factories import make_memory

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
NO_PLACE = SourceItem(
    kind="memory", id="00000000-0000-4000-8000-000000000000", included=False, reason=Reason.OVER_BUDGET, tokens=0
)
SMALL_TALK = ["What a day.", "It is quiet here.", "Nothing much happened.", "So it goes."]
INDEXED = pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "just stored"])


def tell_turns(user: User, *texts: str, at: datetime = NOW - timedelta(days=90), indexed: bool = True) -> Thread:
    thread = make_thread(user, texts, created_at=at)
    if indexed:
        catch_up(user.pk)
    return thread


def answer_again(thread: Thread, text: str) -> None:
    """Another answer in the place of the second turn."""
    Message.objects.filter(thread=thread, position=2).update(is_active=False)
    Message.objects.create(
        thread=thread,
        position=3,
        depth=2,
        role="assistant",
        text=text,
        token_count=9,
        token_total=20,
        created_at=NOW,
    )
    Thread.objects.filter(id=thread.id).update(updated_at=timezone.now(), last_position=3)


def recalled_texts(user: User, text: str, *, is_message: bool = False) -> list[str]:
    with read_only():
        return [one.text for one in search(RecallQuery(user_id=user.pk, text=text, at=NOW, is_message=is_message))]


def candidate(n: int, text: str, here: uuid.UUID) -> Candidate:
    fact = Candidate(kind="memory", id=uuid.uuid4(), text=text, at=NOW - timedelta(hours=7 * n), score=100 - n)
    if n % 3 == 0:
        return fact
    thread = [here, uuid.uuid4()][n % 2]
    return replace(fact, kind="message", thread=thread, role="user", depth=n + 1, position=n + 1)


@given(st.lists(st.text(min_size=1, max_size=200), max_size=12), st.integers(0, 400))
def test_what_is_recalled_keeps_its_room_and_every_row_is_accounted_for(texts: list[str], room: int) -> None:
    here = uuid.uuid4()
    offered = [candidate(n, text, here) for n, text in enumerate(texts)]
    recalled = fitted(offered, room, here=here)
    assert estimate_tokens(recalled.text) <= room or not recalled.text
    ids = [item.id for item in recalled.items]
    assert len(set(ids)) == len(ids) and set(ids) <= {str(one.id) for one in offered}
    lines = recalled.text.splitlines()
    assert lines[:1] in ([], [RECALLED])
    assert sum(line.startswith("- ") for line in lines) == sum(item.included for item in recalled.items)
    given_here = {str(one.id) for one in offered if one.thread == here} & {i.id for i in recalled.items if i.included}
    assert {str(turn.id) for turn in recalled.turns} == given_here


SENTENCES = [f"This is sentence {n} of the answer." for n in range(12)]
ANSWER = " ".join(SENTENCES)


@given(st.lists(st.tuples(st.integers(0, 11), st.booleans()), unique_by=lambda pair: pair[0]), st.integers(0, 400))
def test_passages_of_a_turn_are_literal_in_order_and_accounted_for_once(
    chosen: list[tuple[int, bool]], room: int
) -> None:
    """One item a turn, in it each passage with its own fate."""
    id, thread = uuid.uuid4(), uuid.uuid4()
    offered = [passage_of(number, id, thread, left_out=gone) for number, gone in chosen]
    recalled = fitted(offered, room, here=None)
    assert estimate_tokens(recalled.text) <= room or not recalled.text
    assert len(recalled.items) == min(1, len(offered))
    for item in recalled.items:
        assert isinstance(item, TurnItem)
        assert [ANSWER[part.start : part.end] for part in item.passages] == [SENTENCES[n] for n in sorted(dict(chosen))]
        given_parts = [ANSWER[part.start : part.end] for part in item.passages if part.included]
        assert [sentence for sentence in SENTENCES if sentence in recalled.text.removeprefix(RECALLED)] == given_parts
        assert item.included == bool(given_parts)
        assert item.tokens == sum(part.tokens for part in item.passages)
        assert all(part.included == (part.reason is Reason.RECALLED) == bool(part.tokens) for part in item.passages)
        assert recalled.text.count("[…]") >= (0 < len(given_parts) < len(SENTENCES))


def passage_of(number: int, id: uuid.UUID, thread: uuid.UUID, *, left_out: bool) -> Candidate:
    start = ANSWER.index(SENTENCES[number])
    return Candidate(
        kind="message",
        id=id,
        text=SENTENCES[number],
        at=NOW,
        score=100 - number,
        role="assistant",
        thread=thread,
        depth=2,
        position=2,
        start=start,
        end=start + len(SENTENCES[number]),
        head="This is the head" if number else "",
        is_whole=False,
        is_last=number == len(SENTENCES) - 1,
        left_out=Reason.REPEATED if left_out else None,
    )


@pytest.mark.django_db
class TestPassages:
    LONG = "\n\n".join(
        [
            "Here is what I would do on such a journey, in the order in which I would do it.",
            *(
                f"Step {n}: pack what you need for such a journey, and take {n} more of it than you think."
                for n in range(20)
            ),
            "The best place to eat is Konditori Lyra, right behind the harbour.",
            *(
                f"Hint {n}: keep what is dear to you in the {n}th bag, and have an eye on such a bag."
                for n in range(20)
            ),
        ]
    )

    def test_of_a_long_answer_the_passage_is_recalled_with_its_beginning_and_marks(self, user: User) -> None:
        here = make_thread(user)
        thread = tell_turns(user, "What should I know?", self.LONG)
        recalled = reminded(user, here, "Where did you say is the best place to eat?")
        (line,) = [line for line in recalled.text.splitlines() if line.startswith("- assistant")]
        assert line.startswith('- assistant: "Here is what I would do on such a journey') and line.endswith(' […]"')
        assert "Konditori Lyra, right behind the harbour." in line and len(line) < 700
        (item,) = [
            item for item in recalled.items if item.included and item.id == str(thread.messages.get(position=2).id)
        ]
        assert isinstance(item, TurnItem)
        assert any("Lyra" in self.LONG[part.start : part.end] for part in item.passages if part.included)

    def test_white_space_before_a_turn_is_no_beginning_of_its_own(self, user: User) -> None:
        tell_turns(user, "\n  The boat is called Marisol.", "  \n" + self.LONG)
        with read_only():
            found = search(RecallQuery(user_id=user.pk, text="boat Marisol journey order", at=NOW))
        heads = {passage.start: passage.head for passage in found}
        assert (heads[3], {head[:12] for start, head in heads.items() if start > 3}) == ("", {"  \nHere is w"})

    def test_a_short_fact_is_not_pushed_out_by_long_answers_about_the_same(self, user: User) -> None:
        here = make_thread(user)
        for n in range(6):
            tell_turns(user, f"Any hints for journey {n}?", self.LONG, at=NOW - timedelta(days=n + 1))
        tell_turns(user, "On the journey I lost my red umbrella.", "I'm sorry.", at=NOW - timedelta(days=30))
        assert "I lost my red umbrella" in reminded(user, here, "What did I lose on the journey?").text
        added = SourceItem(kind="memory", id=ADDED, included=True, reason=Reason.REMEMBERED, tokens=5)  # to try it
        assert "I lost my red umbrella" in reminded(user, here, "What did I lose on the journey?", [added]).text

    def test_a_retry_of_fewer_passages_leaves_none_of_the_old(self, user: User) -> None:
        thread = tell_turns(user, "What should I know?", self.LONG)
        answer_again(thread, "Nothing.")
        catch_up(user.pk)
        rows = IndexedPassage.objects.filter(thread=thread).order_by("depth", "number")
        assert list(rows.values_list("depth", "number", "position")) == [(1, 0, 1), (2, 0, 3)]

    def test_what_was_told_of_a_day_is_found_by_the_day(self, user: User) -> None:
        tell_turns(
            user, *SMALL_TALK, "Yesterday the twins were born.", *SMALL_TALK, at=datetime(2026, 3, 4, tzinfo=UTC)
        )
        tell_turns(user, *SMALL_TALK, at=datetime(2026, 3, 3, tzinfo=UTC))
        assert recalled_texts(user, "What happened on 3 March 2026?")[0] == "Yesterday the twins were born."


@pytest.mark.django_db
class TestWords:
    @pytest.mark.parametrize(
        ("said", "asked"),
        [
            ("i bought a bike 4 my mums bday", "What did I buy for my mother's birthday?"),
            ("caamping was a disaster", "How was the camping?"),
            ("we went to the cinema", "How often did they go to the movies?"),
            ("The rent is 3 hundred", "Is it three hundred?"),
            ("soooo many zebras", "Zebras?"),
            ("Ich bin nach Graz gefahren.", "Wann fährst du nach Graz?"),
            ("J'ai vu un aigle.", "Où as-tu pu voir l'aigle ?"),
            ("Ayer hice una tortilla.", "¿Quién sabe hacer tortilla?"),
            ("Дети любят мороженое.", "Что любит ребёнок?"),
            ("اشتريت السيارة الجديدة", "أين سيارتي الجديدة؟"),
        ],
    )
    def test_other_forms_short_forms_and_misspellings_are_found(self, user: User, said: str, asked: str) -> None:
        tell_turns(user, *SMALL_TALK * 5, said, *SMALL_TALK * 5)
        assert recalled_texts(user, asked)[0] == said

    def test_who_speaks_in_one_of_many_conversations_is_known_by_name(self, user: User) -> None:
        tell_turns(user, *["Ada: I like my garden.", "Bob: I like it, too."] * 5, at=NOW - timedelta(days=90))
        for n in range(30):
            tell_turns(user, *[f"Something about the garden, {n} {m}." for m in range(10)], at=NOW - timedelta(days=n))
        assert [text[:3] for text in recalled_texts(user, "What does Ada say of her garden?")[:1]] == ["Ada"]

    def test_the_conversation_that_is_asked_in_comes_first(self, user: User) -> None:
        for n in range(5):
            tell_turns(user, f"The boat is number {n}.", "So it is.", at=NOW - timedelta(days=n))
        here = tell_turns(user, "The boat is called Marisol.", "A fine name.", at=NOW - timedelta(days=200))
        query = RecallQuery(user_id=user.pk, text="Which boat?", at=NOW, thread_id=here.id, before=9)
        with read_only():
            assert search(query)[0].text == "The boat is called Marisol."


@pytest.mark.django_db
class TestRanking:
    @INDEXED
    def test_rare_words_count_more_than_common_ones(self, user: User, indexed: bool) -> None:
        talk = [f"We talked about the boat again, time {n}." for n in range(30)]
        tell_turns(user, *talk, "The boat is called Marisol.", *SMALL_TALK, indexed=indexed)
        assert recalled_texts(user, "Is there a boat called Marisol?")[0] == "The boat is called Marisol."

    def test_an_answer_is_found_beside_its_question(self, user: User) -> None:
        tell_turns(user, *SMALL_TALK * 5, "Where did you grow up?", "In Trondheim.", *SMALL_TALK * 5)
        assert recalled_texts(user, "Where did she grow up?")[:2] == ["Where did you grow up?", "In Trondheim."]
        assert recalled_texts(user, "Where did she grow up?", is_message=True)[0] == "In Trondheim."

    @INDEXED
    @pytest.mark.parametrize(
        "asked",
        [
            "Which colour should the garden bench have?",
            "Tell me which colour the garden bench should have.",
            "长椅 应该 什么 颜色？",
        ],
    )
    def test_what_only_asks_is_no_evidence_however_often_it_is_asked(
        self, user: User, asked: str, indexed: bool
    ) -> None:
        evidence = [
            "We have a garden behind the house.",
            "My bench is old oak.",
            "Green is my favourite.",
            "长椅是木头的。",
        ]
        tell_turns(user, *evidence, *SMALL_TALK, at=NOW - timedelta(days=3))
        before = recalled_texts(user, asked, is_message=True)
        for n in range(3):
            tell_turns(user, asked, "I can't tell from what I know.", at=NOW - timedelta(hours=n + 1), indexed=indexed)
        after = recalled_texts(user, asked, is_message=True)
        assert before == [text for text in after if text in before]
        assert after[0] != asked

    def test_a_statement_answers_the_question_of_the_same_words(self, user: User) -> None:
        tell_turns(user, "Do I have a dog?", "Tell me.", "I have a dog.", *SMALL_TALK)
        assert recalled_texts(user, "Do I have a dog?", is_message=True)[0] == "I have a dog."

    def test_other_forms_of_a_word_and_scripts_without_spaces_are_found(self, user: User) -> None:
        tell_turns(user, *SMALL_TALK, "I painted a sunrise.", "Nice.", "我的猫叫小花。", "好的。")
        assert recalled_texts(user, "Which paintings?")[0] == "I painted a sunrise."
        assert recalled_texts(user, "猫叫什么名字？")[0] == "我的猫叫小花。"

    def test_who_is_named_has_said_it(self, user: User) -> None:
        talk = [f"{name}: I like my cat, number {n}." for n in range(10) for name in ("Ada", "Bob")]
        tell_turns(user, *talk)
        assert [text[:3] for text in recalled_texts(user, "Which cat does Bob like?")[:5]] == ["Bob"] * 5

    def test_who_asks_for_himself_or_for_what_was_advised(self, user: User) -> None:
        tell_turns(user, *["I cook rice with lemon.", "Try rice with saffron."] * 3)
        assert recalled_texts(user, "What rice do I cook?")[0] == "I cook rice with lemon."
        assert recalled_texts(user, "Which rice did you suggest?")[0] == "Try rice with saffron."

    @INDEXED
    def test_a_day_that_is_named_is_found_even_without_other_words(self, user: User, indexed: bool) -> None:
        for days in (30, 7, 1):
            tell_turns(user, f"Gardening, {days}.", at=NOW - timedelta(days=days), indexed=indexed)
        assert recalled_texts(user, "What was it yesterday?")[0] == "Gardening, 1."
        assert recalled_texts(user, "And on 2026-11-14?")[0] == "Gardening, 7."
        assert recalled_texts(user, "Gardening on 22 October?")[0] == "Gardening, 30."


@pytest.mark.django_db
class TestWhoseAndWhat:
    def test_never_what_another_user_said(self, user: User, other_user: User) -> None:
        tell_turns(other_user, "The boat is called Marisol.", "Nice.")
        tell_turns(other_user, "The boat is for sale.", indexed=False)
        mine = tell_turns(user, *SMALL_TALK)
        # Even if two users' terms were the same number.
        terms = IndexedPassage.objects.filter(user=other_user).values_list("terms", flat=True)
        IndexedPassage.objects.filter(thread=mine, depth=1).update(terms=[number for some in terms for number in some])
        assert (
            recalled_texts(user, "The boat called Marisol"),
            len(recalled_texts(other_user, "The boat")),
        ) == ([], 3)

    @INDEXED
    def test_a_replaced_answer_and_a_deleted_thread_never_come_back(self, user: User, indexed: bool) -> None:
        thread = tell_turns(user, "The name of the boat?", "The boat is called Marisol.", indexed=indexed)
        answer_again(thread, "The boat is called Aurora.")
        both = {"The name of the boat?", "The boat is called Aurora."}
        assert set(recalled_texts(user, "the boat Marisol")) == both
        catch_up(user.pk)
        assert set(recalled_texts(user, "the boat Aurora")) == both
        delete_thread(thread)
        assert (recalled_texts(user, "the boat Aurora"), IndexedPassage.objects.count()) == ([], 0)

    def test_a_request_whose_artifact_was_made_is_not_recalled(self, user: User) -> None:
        thread = tell_turns(user, "Write the boat plan.", "Here is the boat plan.", "Which boat?", "A small boat.")
        make_artifact(thread, message=thread.messages.get(position=2))
        assert set(recalled_texts(user, "the boat plan")) == {"Which boat?", "A small boat."}

    def test_the_nearest_turn_made_it_and_an_earlier_one_is_recalled(self, user: User) -> None:
        """F3, which a copy of the rule in SQL did not know."""
        thread = tell_turns(user, "Draw the boat.", "A boat.", "Write the boat plan.", "Here is the boat plan.")
        at = thread.created_at + timedelta(seconds=4)
        with allow_deletion():
            Message.objects.filter(thread=thread, position__gt=2).update(created_at=at - timedelta(seconds=1))
        make_artifact(thread, created_at=at)
        assert set(recalled_texts(user, "the boat plan")) == {"Draw the boat.", "A boat."}

    def test_what_made_a_deleted_artifact_comes_back_to_its_own_thread_only(self, user: User) -> None:
        """F5, F11."""
        thread = tell_turns(user, "Write the boat plan.", "Here is the boat plan.", "Which boat?", "A small boat.")
        make_artifact(thread, message=thread.messages.get(position=2), deleted_at=NOW)
        assert set(recalled_texts(user, "the boat plan")) == {"Which boat?", "A small boat."}
        here = RecallQuery(user_id=user.pk, text="the boat plan", at=NOW, thread_id=thread.id, before=9)
        with read_only():
            assert len(search(here)) == 4

    def test_nobodys_words_are_not_recalled_but_what_the_person_said_is(self, user: User) -> None:
        """P6."""
        thread = tell_turns(
            user, *("The boat is blue.", "Noted: a blue boat.") * 2, "Sink the boat.", "No boat is sunk."
        )
        turns = Message.objects.filter(thread=thread)
        ends: dict[int, dict[str, Any]] = {
            2: {"offline": True},
            4: {"status": "failed"},
            5: {"status": "refused"},
            6: {"status": "refused"},
        }
        with allow_deletion():
            for position, values in ends.items():
                turns.filter(position=position).update(**values)
        assert recalled_texts(user, "the boat") == ["The boat is blue."]

    def test_enough_is_found_behind_much_that_may_not_be_told(self, user: User) -> None:
        pairs = [(f"Write boat plan {n}.", f"Boat plan {n} is written.") for n in range(60)]
        thread = tell_turns(user, *(text for pair in pairs for text in pair))
        for position in range(2, 121, 2):
            make_artifact(thread, message=thread.messages.get(position=position))
        tell_turns(user, *SMALL_TALK, "Somewhere a boat plan was mentioned, in a long sentence that says much else.")
        assert recalled_texts(user, "the boat plan")[0].startswith("Somewhere a boat plan")

    def test_what_is_left_unindexed_is_indexed_by_the_next(self, user: User) -> None:
        long = [f"Turn {n} of the boat talk." for n in range(700)]
        thread = tell_turns(user, *long, indexed=False)
        assert recalled_texts(user, "boat turn 699")[0] == "Turn 699 of the boat talk."
        catch_up(user.pk)
        catch_up(user.pk)
        assert IndexedPassage.objects.filter(thread=thread).count() == 700
        assert recalled_texts(user, "boat turn 7")[0] == "Turn 7 of the boat talk."

    def test_only_what_the_person_may_be_reminded_of_here_is_found(self, user: User, other_user: User) -> None:
        here, elsewhere = make_thread(user), make_thread(user)
        wanted = make_memory(user, "The boat is called Marisol.", tags=[f"thread:{here.id}"])
        make_memory(user, "The boat has sails.", tags=[f"thread:{elsewhere.id}"])
        make_memory(user, "The boat was sold.", ended_at=timezone.now())
        make_memory(user, "The boat is at sea until noon.", valid_until=timezone.now())
        make_memory(user, "Likes figs.")
        make_memory(other_user, "The boat of somebody else.")
        recalled = reminded(user, here, "What's the boat's name? Tell me about the boat!")
        assert [item.id for item in recalled.items] == [str(wanted.id)]


def recalled_in_new_thread(user: User, text: str) -> Fitted:
    return reminded(user, make_thread(user), text)


@pytest.mark.django_db
class TestReplaced:
    OLD, NEW = "I live in Porto, near the harbour.", "By the way, the boxes are unpacked in Graz."

    @pytest.fixture
    def moved(self, user: User) -> Memory:
        """The note that holds now; the person said so in another thread than the old one."""
        old, new = tell_turns(user, self.OLD, "Nice."), tell_turns(user, self.NEW, at=NOW - timedelta(days=2))
        first, _ = Message.objects.filter(thread=old).order_by("position")
        newer = make_memory(user, "Lives in Graz", sources=[new.messages.get().id])
        make_memory(
            user, "Lives in Porto", sources=[first.id], ended_at=NOW - timedelta(days=1), superseded_by_id=newer.id
        )
        return newer

    def test_the_note_that_holds_stands_before_the_turn_which_is_marked(self, user: User, moved: Memory) -> None:
        with read_only():
            note, turn, *_ = found = search(RecallQuery(user_id=user.pk, text="Do I live in Porto?", at=NOW))
        assert (note.text, turn.text, turn.replaced_by) == ("Lives in Graz", self.OLD, moved.id)
        assert [candidate.text for candidate in found if candidate.replaced_by] == [self.OLD]

    def test_the_request_and_its_record_say_so(self, user: User, moved: Memory) -> None:
        fitted = recalled_in_new_thread(user, "Do I live in Porto?")
        assert f'"{self.OLD}" {REPLACED}' in fitted.text
        assert "- Lives in Graz" in fitted.text
        assert {item.replaced_by for item in fitted.items if isinstance(item, TurnItem)} == {str(moved.id), None}
        assert self.OLD in [*quoted_texts(fitted.text)]

    def test_a_chain_leads_to_what_holds_now(self, user: User, moved: Memory) -> None:
        newest = make_memory(user, "Lives in Linz")
        Memory.objects.filter(id=moved.id).update(ended_at=NOW, superseded_by=newest.id)
        assert recalled_texts(user, "Do I live in Porto?")[:2] == ["Lives in Linz", self.OLD]

    def test_what_may_not_be_told_here_marks_nothing(self, user: User, moved: Memory) -> None:
        Memory.objects.filter(id=moved.id).update(tags=[thread_tag(make_thread(user).id)])
        assert REPLACED not in recalled_in_new_thread(user, "Do I live in Porto?").text

    def test_a_turn_that_says_both_is_not_marked(self, user: User, moved: Memory) -> None:
        old = Memory.objects.get(superseded_by=moved.id)
        Memory.objects.filter(id=moved.id).update(sources=old.sources)
        assert REPLACED not in recalled_in_new_thread(user, "Do I live in Porto?").text

    def test_of_the_past_only_what_was_noted_then_counts(self, user: User, moved: Memory) -> None:
        Memory.objects.filter(id=moved.id).update(created_at=NOW)
        past = RecallQuery(user_id=user.pk, text="Do I live in Porto?", at=NOW - timedelta(days=1), is_past=True)
        with read_only():
            assert {candidate.replaced_by for candidate in search(past)} == {None}


@pytest.mark.django_db
class TestQuoted:
    def test_the_same_request_of_other_threads_is_recalled_once_as_said_last_with_how_often(self, user: User) -> None:
        """F11: it stood four times beside one message."""
        here = make_thread(user)
        for days in (40, 30, 20, 10):
            tell_turns(user, "Paint the boat, please!", at=NOW - timedelta(days=days))
        newest = tell_turns(user, "paint the boat please", at=NOW - timedelta(days=5)).messages.get()
        recalled = reminded(user, here, "Which boat?")
        assert recalled.text.splitlines() == [
            RECALLED,
            "Said on 16 November 2026 in another conversation:",
            '- person: "paint the boat please" (said 5 times)',
        ]
        assert [(item.id, item.included) for item in recalled.items][:1] == [(str(newest.id), True)]
        assert [item.reason for item in recalled.items] == [Reason.RECALLED, *[Reason.REPEATED] * 4]

    def test_where_and_when_it_was_said_stands_above_it(self, user: User) -> None:
        here = tell_turns(user, "My boat is blue.", "A blue boat.", at=datetime(2026, 3, 3, 12, tzinfo=UTC))
        tell_turns(user, "Ada: The boat leaks.", at=datetime(2026, 3, 3, 9, tzinfo=UTC))
        make_memory(user, "Has a boat.", created_at=datetime(2026, 1, 2, 9, tzinfo=UTC))
        text = reminded(user, here, "Is my blue boat the one that leaks?").text
        assert text.splitlines() == [
            RECALLED,
            "Remembered on 2 January 2026:",
            "- Has a boat.",
            "Said on 3 March 2026, earlier in this conversation:",
            '- person: "My boat is blue."',
            '- assistant: "A blue boat."',
            "Said on 3 March 2026 in another conversation:",
            '- "Ada: The boat leaks."',
        ]
        assert [*quoted_texts(text)] == [
            "Has a boat.",
            "My boat is blue.",
            "A blue boat.",
            "Ada: The boat leaks.",
        ]

    def test_what_may_not_be_told_is_accounted_for(self, user: User) -> None:
        here = make_thread(user)
        thread = tell_turns(user, "Write the boat plan.", "Here is the boat plan.", "Which boat?", "A small boat.")
        make_artifact(thread, message=thread.messages.get(position=2))
        reasons = {item.id: (item.reason, item.tokens > 0) for item in reminded(user, here, "the boat plan").items}
        made, recalled = (Reason.FULFILLED_ARTIFACT, False), (Reason.RECALLED, True)
        turns = thread.messages.order_by("position").values_list("id", flat=True)
        assert reasons == dict(zip(map(str, turns), [made, made, recalled, recalled], strict=True))


def reminded(user: User, here: Thread, text: str, given: Sequence[SourceItem] = (NO_PLACE,)) -> Fitted:
    query = MessageQuery(
        memory=OUTSIDE,
        user_id=user.pk,
        thread_id=here.id,
        session=Session(started_at=NOW),
        text=text,
        at=timezone.now(),
        before=10**6,
        already_sent={"memory": given},
    )
    source = RecallSource()
    with read_only():
        recalled = source.search(None, query, 200)
    return source.fit(recalled, 200) if recalled else Fitted()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("deadlines")
def test_a_source_that_stalls_or_fails_costs_recall_only(user: User) -> None:
    here = make_thread(user, ["The boat is called Marisol."])
    with psycopg.connect(os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"]) as other:
        other.execute("LOCK TABLE memory_indexedpassage")
        stalled = reminded(user, here, "the boat")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_vocabulary RENAME TO gone")
        failed = reminded(user, here, "the boat")
        cursor.execute("ALTER TABLE gone RENAME TO memory_vocabulary")
    assert [problem.kind for problem in [*stalled.problems, *failed.problems]] == ["timed_out", "error"]
    assert [item.kind for item in reminded(user, here, "the boat").items] == ["message"]
