"""The corpus that recall is measured by: made anew, the same each time, and each answer stands where it is said to stand."""

import pytest

from tests.benchmarks.talk import assistant, companion, haystack, messenger
from tests.benchmarks.talk.shapes import Conversation

CATEGORIES = {
    "assistant": {
        "all of",
        "all of a month",
        "assistant said",
        "contradiction",
        "cross-thread",
        "multi-hop",
        "order",
        "pasted",
        "preference",
        "single fact",
        "sloppy wording",
        "synonym",
        "temporal",
        "temporal, by date",
        "update",
        "update, before",
        "update, both",
    },
    "messenger": {"multi-hop", "pictures", "single fact", "sloppy wording", "temporal", "temporal, by date"},
}


ABOUT_ONE_PERSON = {
    "all of",
    "assistant said",
    "contradiction",
    "cross-thread",
    "multi-hop",
    "order",
    "preference",
    "same name",
    "single fact",
    "synonym",
    "temporal",
    "temporal, by date",
    "update",
    "update, before",
}


def make(kind: str) -> Conversation:
    if kind == "messenger":
        return messenger.conversation(0, turns=900)
    return assistant.conversation(0, profile="assistant", turns=300, projects=3)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_what_questions_rest_on_stands_in_its_turn(kind: str) -> None:
    conversation = make(kind)
    assert {question.category for question in conversation.questions} == CATEGORIES[kind]
    check(conversation)


def test_there_is_talk_in_each_language() -> None:
    conversations = [companion.conversation(name, turns=500) for name in companion.LANGUAGES]
    assert {question.category for talk in conversations for question in talk.questions} == ABOUT_ONE_PERSON
    for conversation in conversations:
        check(conversation)


def check(conversation: Conversation) -> None:
    assert all(message.raw and message.raw in message.content for message in conversation.messages)
    assert all(question.evidence and "{" not in question.question for question in conversation.questions)
    assert not any("{t}" in message.content or "{v}" in message.content for message in conversation.messages)


@pytest.mark.long
@pytest.mark.parametrize("kind", CATEGORIES)
def test_the_corpus_is_the_same_each_time(kind: str) -> None:
    assert make(kind) == make(kind)


def test_unrelated_talk_has_as_many_turns_as_asked_for() -> None:
    threads = haystack.threads(500)
    assert sum(len(thread.messages) for thread in threads) == 500
    assert not any(thread.questions for thread in threads)
