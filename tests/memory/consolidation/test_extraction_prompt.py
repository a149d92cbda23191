"""What a model is asked, and that nothing of its answer is believed that it can't cite. Pure."""

import json
import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.consolidation.extraction_prompt import InvalidAnswer, material, parse_answer
from memory.consolidation.findings import EarlierTopic, ExtractedFact, Findings, KnownNote, NewTopic, ResolvedTopic
from tests.memory.turns import MONDAY, conversation, id_of

TURNS = conversation("I moved to Berlin.", "You have a dog.", "I sold the boat. I must find a flat.")
KNOWN = [
    KnownNote(id=uuid.UUID(int=n), text=text, said_at=MONDAY - timedelta(days=9))
    for n, text in ((101, "I live in Hamburg."), (102, "I own a boat."))
]
TOPICS = [EarlierTopic(id=uuid.UUID(int=201), title="Sell the boat", opened_at=MONDAY - timedelta(days=3))]


def answered(**parts: Any) -> str:
    return json.dumps({"summary": "The person moved."} | parts)


def parse_findings(answer: str) -> Findings:
    return parse_answer(answer, TURNS, KNOWN, TOPICS, made_by="small")


def test_the_model_is_given_the_turns_with_numbers_and_what_is_known() -> None:
    assert json.loads(material(TURNS, KNOWN, TOPICS)) == {
        "day": "Monday 2026-03-02",
        "turns": [
            {"number": 1, "role": "user", "text": "I moved to Berlin."},
            {"number": 2, "role": "assistant", "text": "You have a dog."},
            {"number": 3, "role": "user", "text": "I sold the boat. I must find a flat."},
        ],
        "known": [
            {"number": 1, "text": "I live in Hamburg.", "said": "2026-02-21"},
            {"number": 2, "text": "I own a boat.", "said": "2026-02-21"},
        ],
        "open_topics": [{"number": 1, "title": "Sell the boat"}],
    }


def test_a_good_answer_is_read_with_its_sources() -> None:
    answer = answered(
        key_moments=["Moved to Berlin"],
        facts=[{"text": "The person lives\nin Berlin.", "turns": [1, 2], "replaces": [1], "until": "2027-03-01"}],
        topics_opened=[{"title": "Find a flat", "turns": [3]}],
        topics_resolved=[{"topic": 1, "turns": [3]}],
    )
    assert parse_findings(f"Here you are:\n```json\n{answer}\n```") == Findings(
        summary="The person moved.",
        moments=["Moved to Berlin"],
        facts=[
            ExtractedFact(
                text="The person lives in Berlin.",
                sources=(id_of(1),),
                at=TURNS[0].at,
                valid_until=datetime(2027, 3, 1, 23, 59, 59, tzinfo=MONDAY.tzinfo),
                replaces=(KNOWN[0].id,),
            )
        ],
        opened=[NewTopic(title="Find a flat", sources=(id_of(3),), at=TURNS[2].at)],
        resolved=[ResolvedTopic(topic=TOPICS[0].id, at=TURNS[2].at)],
        made_by="small",
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"facts": [{"text": "The person has a dog.", "turns": [2]}]},  # only the assistant said so
        {"facts": [{"text": "The person has a dog."}, {"text": "x", "turns": [0, 9, -1, "1", True, None]}]},
        {"facts": [{"text": "a" * 1_000, "turns": [1]}, {"text": "", "turns": [1]}, {"turns": [1]}, "x", None]},
        {"facts": "none", "key_moments": {"a": 1}, "topics_opened": 7, "topics_resolved": [[1]]},
        {"topics_opened": [{"title": "Get a dog", "turns": [2]}]},
        {"topics_resolved": [{"topic": 2, "turns": [3]}, {"topic": 1, "turns": [2]}, {"topic": "1", "turns": [3]}]},
    ],
)
def test_what_cites_no_turn_of_the_person_or_makes_no_sense_is_passed_over(parts: dict[str, Any]) -> None:
    nothing = Findings(summary="The person moved.", made_by="small", moments=[], facts=[], opened=[], resolved=[])
    assert parse_findings(answered(**parts)) == nothing


@pytest.mark.parametrize("until", ["soon", "2020-01-01", "9999-12-31", 7, None])
def test_an_end_that_is_none_is_left_away(until: Any) -> None:
    (fact,) = parse_findings(answered(facts=[{"text": "In Berlin.", "turns": [1], "until": until}])).facts
    assert fact.valid_until is None


@pytest.mark.parametrize(
    "answer", ["", "I can't.", "{", "[]", "{}", '{"summary": 7}', '{"summary": " "}', "[" * 9_000, "{" * 9_000 + "}"]
)
def test_an_answer_without_a_summary_is_garbage(answer: str) -> None:
    with pytest.raises(InvalidAnswer):
        parse_findings(answer)


def test_what_the_database_cannot_hold_is_not_in_what_is_read() -> None:
    answer = '{"summary": "a\\u0000b\\ud800c", "facts": [{"text": "x\\u0000y\\udfff", "turns": [1]}]}'
    read_ = parse_findings(answer)
    assert (read_.summary, [fact.text for fact in read_.facts]) == ("a b c", ["x y"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["text", "turns", "title", "topic", "replaces", "until"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["key_moments", "facts", "topics_opened", "topics_resolved"]), JSON))
def test_any_json_is_read_or_garbage(parts: dict[str, Any]) -> None:
    read_ = parse_findings(answered(**parts))
    persons = {turn.id for turn in TURNS if turn.is_persons}
    cited = [*(fact.sources for fact in read_.facts), *(topic.sources for topic in read_.opened)]
    assert all({*sources} <= persons for sources in cited)
