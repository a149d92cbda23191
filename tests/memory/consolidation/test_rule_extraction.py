"""What the rules find in a conversation: facts that the person stated, what was left open, what carries most. Pure."""

import uuid
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.consolidation.endings import finishes
from memory.consolidation.findings import (
    LONGEST_FACT,
    LONGEST_MOMENT,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_MOMENTS,
    MOST_OPENED,
    EarlierTopic,
    ExtractedFact,
    Findings,
    NewTopic,
    ResolvedTopic,
)
from memory.consolidation.rule_extraction import SENTENCES, extract
from tests.memory.turns import MONDAY, conversation, id_of


def facts(text: str) -> list[str]:
    return [fact.text for fact in extract(conversation(text)).facts]


def topics_of(*texts: str) -> list[str]:
    return [topic.title for topic in extract(conversation(*texts)).opened]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Hi! My name is Ada and I live in Hamburg.", ["My name is Ada.", "I live in Hamburg."]),
        ("we're building a FastAPI app, any tips?", ["We're building a FastAPI app."]),
        ("We're building a FastAPI app for our library.", ["We're building a FastAPI app for our library."]),
        ("I work as a nurse at St. Mary's hospital.", ["I work as a nurse at St. Mary's hospital."]),
        ("Oh yeah, my daughter Mia is 7, so we need shoes.", ["My daughter Mia is 7."]),
        ("I have two cats, Tinker and Bell.", ["I have two cats, Tinker and Bell."]),
        ("I'm allergic to peanuts, and I need a recipe.", ["I'm allergic to peanuts."]),
        ("I don't eat meat", ["I don't eat meat."]),
        ("I use PostgreSQL 16 and we use Django.", ["I use PostgreSQL 16.", "We use Django."]),
        ("My sister and I went to Rome in May.", ["My sister and I went to Rome in May."]),
        ("My favourite colour is green 😊", ["My favourite colour is green."]),
        ("I adopted a dog and it was great fun.", ["I adopted a dog."]),
        ("My flight is on 14 May.", ["My flight is on 14 May."]),
        ("I'm flying to Lisbon tomorrow.", ["I'm flying to Lisbon tomorrow. (2026-03-02)"]),
        ("Please remember that the safe's code is 4711.", ["The safe's code is 4711."]),
        ("Remember: the garage is closed on Sundays.", ["The garage is closed on Sundays."]),
        ("I no longer work at Siemens.", ["I no longer work at Siemens."]),
        ("Caroline: I'm keen on counseling.", ["Caroline: I'm keen on counseling."]),
        ("Ich heiße Jonas. Mein Hund heißt Bello.", ["Ich heiße Jonas.", "Mein Hund heißt Bello."]),
        ("Merk dir, dass meine Frau am 3. Mai Geburtstag hat.", ["Meine Frau am 3. Mai Geburtstag hat."]),
        ("Je m'appelle Luc et j'habite à Lyon.", ["Je m'appelle Luc.", "J'habite à Lyon."]),
        ("Me llamo Ana y vivo en Sevilla.", ["Me llamo Ana.", "Vivo en Sevilla."]),
    ],
)
def test_statements_of_the_person_become_facts_that_read_on_their_own(said: str, expected: list[str]) -> None:
    assert facts(said) == expected


@pytest.mark.parametrize(
    "said",
    [
        "Do I live in Hamburg?",
        "If I lived in Rome, I would have a dog.",
        "When it rains, I live in Rome. If so, I have two dogs.",
        "I wish I had a dog. Maybe I have a cat. I might move to Rome.",
        'My friend said "I have three kids".',
        "She told me that I work at Siemens.",
        "I love it! I love your painting. I have one too. I did that.",
        "I have a question. I have a feeling. I'm a bit tired.",
        "Translate into German: I live in Paris and I have two dogs.",
        "Write a story about a pirate: I live in Nassau and I have a parrot.",
        "Imagine I live on Mars.",
        "Ada: I live in Hamburg.\nBob: I live in Bremen.",
        "```\nmy name is Ada\n```",
        "> I live in Hamburg.",
        "I agree. I see. I know what you mean. I'd love to!",
    ],
)
def test_questions_suppositions_and_what_others_said_are_no_facts(said: str) -> None:
    assert facts(said) == []


def test_what_only_the_assistant_says_is_no_fact_and_no_topic() -> None:
    found = extract(
        conversation("Hello there, how are you today?", "You said: I live in Hamburg. I need to call Mia.", "Ok.")
    )
    assert (found.facts, found.opened) == ([], [])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["I need to renew my passport before June."], ["I need to renew my passport before June."]),
        (["I still have to call the dentist", "Do it!"], ["I still have to call the dentist."]),
        (["I'm planning a trip to Lisbon in May."], ["I'm planning a trip to Lisbon in May."]),
        (["Can you remind me to water the plants?", "Yes."], ["Remind me to water the plants."]),
        (["We haven't decided on a name yet.", "Take your time."], ["We haven't decided on a name yet."]),
        (["Ich muss noch die Steuererklärung abgeben."], ["Ich muss noch die Steuererklärung abgeben."]),
        (["What is the capital of Peru?"], ["What is the capital of Peru?"]),  # nobody answered
        (["What is the capital of Peru?", "Lima."], []),
        (["I need to call Mia.", "Do!", "I called Mia, all good."], []),  # begun and done
        (["I have to go now. I have to say, it was fun.", "Bye!"], []),
        (["I need to do that.", "Yes."], []),
    ],
)
def test_what_is_begun_and_not_finished_is_open(said: list[str], expected: list[str]) -> None:
    assert topics_of(*said) == expected


@pytest.mark.parametrize(
    ("sentence", "title", "expected"),
    [
        ("I renewed my passport today", "I need to renew my passport before June.", True),
        ("Done with the passport!", "I need to renew my passport before June.", True),
        ("I bought the gift for Mia.", "I have to buy a gift for Mia.", True),
        ("We finally booked the flights to Lisbon", "We need to book the flights to Lisbon.", True),
        ("The trip to Lisbon is cancelled.", "I'm planning a trip to Lisbon in May.", True),
        ("Ich habe die Steuererklärung abgegeben.", "Ich muss noch die Steuererklärung abgeben.", True),
        ("J'ai appelé le plombier", "Je dois appeler le plombier demain.", True),
        ("He llamado al médico", "Tengo que llamar al médico.", True),
        ("I still haven't renewed my passport", "I need to renew my passport.", False),
        ("Have I renewed my passport?", "I need to renew my passport.", False),
        ("I love my passport photo", "I need to renew my passport.", False),
        ("I booked a table", "We need to book the flights to Lisbon.", False),
    ],
)
def test_a_topic_is_resolved_by_who_says_that_it_is_done(sentence: str, title: str, expected: bool) -> None:
    assert finishes(sentence, title) is expected


def test_a_question_whose_answer_was_forgotten_is_not_open() -> None:
    asked = conversation("What is the capital of Peru?", "Lima.")[:1]
    assert [[one.title for one in extract(asked, last=last).opened] for last in (1, 2)] == [
        ["What is the capital of Peru?"],
        [],
    ]


def test_a_topic_is_resolved_only_by_what_was_said_later_and_by_the_person() -> None:
    topic = EarlierTopic(id=uuid.uuid4(), title="I need to renew my passport.", opened_at=MONDAY)
    later = EarlierTopic(id=uuid.uuid4(), title="I need to renew my passport.", opened_at=MONDAY + timedelta(days=1))
    turns = conversation("Hello!", "You renewed your passport. I renewed my passport.", "I renewed my passport.")
    assert extract(turns, [topic, later]).resolved == [ResolvedTopic(topic=topic.id, at=turns[2].at)]


def test_findings_name_their_turns_and_the_summary_tells_who_said_what() -> None:
    turns = conversation(
        "Thanks! I'm planning a trip to Lisbon with my wife Elena.",
        "Great! The tram 28 shows you most of Lisbon's old town.",
        "I have to book the hotel near the tram.",
    )
    assert extract(turns) == Findings(
        summary="User: I'm planning a trip to Lisbon with my wife Elena.\n"
        "Assistant: The tram 28 shows you most of Lisbon's old town.\n"
        "User: I have to book the hotel near the tram.",
        moments=[],
        facts=[],
        opened=[
            NewTopic(title="I'm planning a trip to Lisbon with my wife Elena.", sources=(id_of(1),), at=turns[0].at),
            NewTopic(title="I have to book the hotel near the tram.", sources=(id_of(3),), at=turns[2].at),
        ],
        resolved=[],
        made_by="rules",
    )
    assert extract(conversation("I live in Hamburg.")).facts == [
        ExtractedFact(text="I live in Hamburg.", sources=(id_of(1),), at=MONDAY)
    ]
    assert extract([]) == Findings()


SAID = (
    "I we my need to live in Hamburg Lisbon dog cat love have bought two yesterday if not it . , ! ? : - \n “ ” Ada "
    "ich muss wohne je suis tengo perros 住在 猫 \u0645\u0631\u062d\u0628\u0627 😀 ` > * [x] https://a.b "
    "remember that done 42"
)
WORDS = st.sampled_from(SAID.split(" "))
TEXTS = st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=80).map(" ".join))


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=8))
@example(["a" * 9_000])
@example(["I need to " + "call Mia and " * 60])
def test_whatever_is_said_findings_are_bounded_and_the_same_again(texts: list[str]) -> None:
    texts = [text.replace("\0", " ") for text in texts]
    turns = conversation(*texts)
    found = extract(turns)
    assert found == extract(turns)
    persons = {turn.id for turn in turns if turn.is_persons}
    cited = [*(fact.sources for fact in found.facts), *(topic.sources for topic in found.opened)]
    assert all({*sources} <= persons for sources in cited)
    assert len(found.summary) <= LONGEST_SUMMARY
    assert len(found.summary.splitlines()) <= SENTENCES
    assert (len(found.facts) <= MOST_FACTS, len(found.opened) <= MOST_OPENED) == (True, True)
    assert len(found.moments) <= MOST_MOMENTS
    assert all(0 < len(fact.text) <= LONGEST_FACT + 40 for fact in found.facts)
    assert all(0 < len(topic.title) <= LONGEST_TITLE for topic in found.opened)
    assert all(0 < len(moment) <= LONGEST_MOMENT for moment in found.moments)
