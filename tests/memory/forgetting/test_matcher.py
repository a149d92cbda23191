"""What tells a fact, and what only shares its topic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.forgetting.hints import Hints
from memory.forgetting.matcher import Needles, facts_in, quote_of

CODE = "My locker code is ZEBRA-4417."
HOME = "Ada lives in Hamburg."
ANIMAL = "My favourite animal is the quokka."
KEY = "The spare key is hidden under the blue flowerpot"
DOG = "Her dog is called Quillhaven. It was born in 2019."
SAFE = "Мой код от сейфа – берёза и дуб"
BANK = "我的银行密码是蓝鲸九号"
STREET = "Sie wohnt in der Müllerstraße 12 bei Studenten."
VEGAN = "I am vegan"


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (CODE, "You told me: your locker code is zebra-4417!"),
        (CODE, "It is 4417."),
        (CODE, "- user: MY  LOCKER\ncode is Zebra-4417."),
        (HOME, "You live in Hamburg, Ada."),
        (HOME, "We spoke of much.\n\nHamburg is where Ada has lived for years. And more."),
        (HOME, "Does Ada live in Hamburg?"),
        (ANIMAL, "Your favourite animal is the quokka."),
        (ANIMAL, "Quokkas are the favourite animals of this person"),
        (KEY, "Your spare key is under the flowerpot."),
        (DOG, "Quillhaven is a fine dog"),
        (DOG, "Quillhaven was born in 2019"),
        (SAFE, "Ты сказал: код от сейфа БЕРЁЗА и дуб"),
        (BANK, "你的银行密码是蓝鲸九号。"),
        (STREET, "Müllerstraße 12, bei Studenten"),
        (VEGAN, "You are vegan."),
    ],
)
def test_what_quotes_or_paraphrases_a_fact_tells_it(fact: str, text: str) -> None:
    needles = Needles(facts_in(fact, {}, 0))
    assert needles.tell(text)
    assert any(start.lower() in text.lower() for start in needles.starts()), "the database is asked for it"


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (CODE, "How do I open a locker?"),
        (CODE, "What is my locker code?"),
        (CODE, "It was in 4418."),
        (CODE, "artifact 01a1fda8-4417-7166-b830-6fbd78dbf3b4"),
        (HOME, "The weather in Hamburg was nice."),
        (HOME, "Where does Ada live?"),
        (HOME, "I live in Berlin."),
        (ANIMAL, "What is my favourite animal?"),
        (ANIMAL, "My favourite animal is the panda"),
        (KEY, "I bought a blue flowerpot."),
        (DOG, "Where was she born? And what is a dog called?"),
        (DOG, "In 2019 we were in Porto."),
        (SAFE, "Сейф дорогой"),
        (BANK, "银行今天开门吗"),
        (VEGAN, "A vegan recipe for tonight, please"),
        (VEGAN, ""),
    ],
)
def test_what_shares_the_topic_does_not(fact: str, text: str) -> None:
    assert not Needles(facts_in(fact, {}, 0)).tell(text)


def test_words_that_a_person_hardly_uses_tell_more() -> None:
    counts = {"favourit": 400, "anim": 150, "quokka": 3}
    assert Needles(facts_in(ANIMAL, counts, 20_000)).tell("As for animals: quokkas!")
    assert not Needles(facts_in(ANIMAL, {}, 0)).tell("As for animals: quokkas!")


def test_texts_within_json_are_looked_at() -> None:
    needles = Needles(facts_in(CODE, {}, 0))
    assert needles.tell([{"type": "tool_use", "input": {"query": "locker code zebra 4417"}}])
    assert not needles.tell([{"type": "tool_use", "input": {"query": "lockers"}}, None, 4417])


def test_a_quote_is_met_in_its_wording_only() -> None:
    needles = Needles([quote_of("I saw her by the old mill.")])
    assert needles.tell("You said: “I saw her by the OLD mill”")
    assert not needles.tell("by the old mill I saw her")


@given(st.lists(st.text(max_size=60), max_size=3), st.text(max_size=80))
def test_every_text_tells_itself(facts: list[str], around: str) -> None:
    """Whatever the script, and whatever stands around it."""
    needles = Needles([one for fact in facts for one in facts_in(fact, {}, 0)])
    told = [fact for fact in facts if facts_in(fact, {}, 0)]
    assert all(needles.tell(f"{around}\n{fact}\n{around}") for fact in told)


BOAT = "My boat is called Quillhaven."
TRIP = "I'm planning a trip to Lisbon in May."
KEYS = frozenset({"a memory"})


def hints(fact: str, counts: dict[str, int] | None = None, turns: int = 0, *, but: str = "") -> Hints:
    return Hints({key: facts_in(fact, counts or {}, turns) for key in KEYS}, but=but)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (BOAT, "Quillhaven."),
        (BOAT, "is quillhaven insured?"),
        (BOAT.lower(), "Quillhaven’s mast"),
        (TRIP, "And the hotels in LISBON?"),
        (CODE, "4417"),
        (STREET, "Die Müllerstraße ist lang."),
        ("Mein Boot heißt Quillhaven.", "Ist Quillhaven versichert?"),
        ("Мою лодку зовут Заря.", "А где Заря?"),
        ("我的船叫Quillhaven", "Quillhaven很漂亮"),
        ("Bus 417 takes me to work.", "Take the 417."),
    ],
)
def test_one_word_gives_a_fact_away_to_who_was_told_it(fact: str, text: str) -> None:
    assert hints(fact).matching_keys(text, KEYS) == KEYS
    assert not hints(fact).matching_keys(text, frozenset()), "not to who was not"


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (BOAT, "What is the name of my boat?"),
        (BOAT, "A boat that is called so needs a haven."),
        (TRIP, "I may plan a trip in May."),
        (DOG, "In 2019 we were in Porto, she said."),
        (STREET, "Bus 12 was late."),
        (HOME, "Ada said hello."),
        ("Mein Boot heißt Quillhaven.", "Was kostet ein Boot?"),
        ("My dentist is in Boat Street on Monday.", "Is it Monday?"),
    ],
)
def test_what_anybody_says_gives_nothing_away(fact: str, text: str) -> None:
    assert not hints(fact).matching_keys(text, KEYS)


def test_a_name_that_is_all_over_or_the_persons_own_gives_nothing_away() -> None:
    assert not hints(BOAT, {"quillhaven": 300}, 20_000).matching_keys("Quillhaven.", KEYS)
    assert not hints("The user Ada has a boat.", but="ada_l Ada").matching_keys("Hello Ada!", KEYS)


def test_a_rare_word_gives_away_only_what_is_said_of_something() -> None:
    rare = hints("my parrot is a kea", {"kea": 3, "parrot": 3}, 20_000)
    assert (rare.matching_keys("A kea, I think.", KEYS), rare.matching_keys("A parrot, I think.", KEYS)) == (
        KEYS,
        frozenset(),
    )


@pytest.mark.parametrize(
    ("fact", "question", "answer", "gives_away"),
    [
        (KEY, "Where is the spare key?", "Look under the flowerpot.", True),
        (KEY, "Where is the spare key?", "The spare key? I don't know.", False),
        (KEY, "How is the weather?", "Blue sky.", False),
        (ANIMAL, "What's my favourite animal?", "A quokka!", True),
        (ANIMAL, "What's my favourite animal?", "I know of no favourite animal.", False),
        (DOG, "When was it born?", "In 2019.", True),
        (BANK, "我的银行密码是什么？", "蓝鲸九号。", True),
        (STREET, "What is 3 times 4?", "12", False),
    ],
)
def test_an_answer_is_read_with_its_question(fact: str, question: str, answer: str, *, gives_away: bool) -> None:
    assert bool(hints(fact).answered(question, answer, KEYS)) == gives_away
