"""The questions about documents: each can be answered, and what answers it is among the parts that a message is given."""

import pytest
from django.contrib.auth.models import User

from tests.benchmarks.file_answers import first_fitting, ours, stored
from tests.benchmarks.file_documents import DOCUMENTS, Document, plain_words
from tests.conversations.factories import make_user

WHALE, BIBLIA, MESSAGES, JARGON, SQLITE = DOCUMENTS
ROOM = 3_500
"""Two pages of them, beside an outline."""


@pytest.fixture
def reader(db: None) -> User:
    return make_user("reader")


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.name for document in DOCUMENTS])
def test_what_answers_a_question_stands_once_in_its_document(document: Document) -> None:
    text = plain_words(document.markdown)
    stands = {evidence: text.count(plain_words(evidence)) for each in document.questions for evidence in each.evidence}
    assert stands == dict.fromkeys(stands, 1)
    assert [question.is_kept for question in document.questions].count(True) == 5
    assert len(document.questions) == 10


@pytest.mark.once("document0-*")
@pytest.mark.parametrize(
    ("document", "sections", "words"),
    [
        (WHALE, 3, "share a bed"),
        (BIBLIA, 6, "el barco de Noé"),
        (MESSAGES, 1, "the Greeks"),
        (JARGON, 5, "funny plural forms"),
        (SQLITE, 2, "a network drive"),
    ],
)
def test_the_part_that_answers_is_among_those_that_a_message_is_given(
    reader: User, document: Document, sections: int, words: str
) -> None:
    (question,) = (each for each in document.questions if words in each.text)
    file = stored(reader, document, sections)
    assert sum(part.tokens for part in file.outline.parts) > ROOM
    chosen = ours([file], document.language, ROOM)(question.text)
    assert sum(file.outline.parts[number - 1].tokens for _, number in chosen) <= ROOM
    assert any(question.is_answered_by(file.texts[key]) for key in chosen)


@pytest.mark.wide
def test_other_ways_take_the_best_that_fit(reader: User) -> None:
    file = stored(reader, MESSAGES, 1)
    first, second, *_ = file.texts
    tokens = file.outline.parts[0].sent_tokens
    assert first_fitting([first, second], [file], tokens) == [first]
    assert first_fitting([*file.texts], [file], 0) == []
