"""Recall by meaning, where it is on: what shares no word with the message is found too, and whatever fails costs that only."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conversations.checks import embeddings_are_possible
from conversations.models import Message, Thread
from conversations.runtime.db import read_only
from conversations.threads.deletion import delete_thread
from memory.index import embed_turns, embeddings, index_turns, vectors
from memory.index.embeddings import NoModel
from memory.models import IndexedTurn
from memory.sources.recall import NEAR_BY_GRAPH, NEAR_ONE_BY_ONE, RANKED, Candidate, RecallQuery, fused, searched
from tests.conversations.factories import make_thread

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SMALL_TALK = ["What a day.", "It is quiet here.", "Nothing much happened.", "So it goes."] * 5
PETS, QUESTION = "We have two cats and a dog at home.", "Which animals does she own?"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(find_spec(embeddings.PACKAGE) is None, reason="its package comes for Python before 3.14 only"),
]


@pytest.fixture
def meaning(db: None) -> Iterator[None]:
    with override_settings(OPENBOOK_EMBEDDINGS=True):
        assert embed_turns.prepare() == ""
        yield


def make_told_thread(user: User, *texts: str) -> Thread:
    thread = make_thread(user, texts, created_at=NOW - timedelta(days=90))
    index_turns.catch_up_if_possible(user.pk)
    return thread


def recalled(user: User, text: str = QUESTION) -> tuple[list[str], list[str]]:
    """The texts that were found, and what went wrong."""
    with read_only():
        found, problems = searched(RecallQuery(user_id=user.pk, text=text, at=NOW))
    return [one.text for one in found], [problem.message for problem in problems]


def points() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_turnvector")
        row = cursor.fetchone()
        assert row
        return int(row[0])


@pytest.mark.parametrize("few", [vectors.FEW_TURNS, -1], ids=["one by one", "by the graph"])
def test_what_shares_no_word_with_the_question_is_found_first(
    user: User, meaning: None, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(vectors, "FEW_TURNS", few)
    make_told_thread(user, *SMALL_TALK, PETS, *SMALL_TALK)
    texts, problems = recalled(user)
    assert (texts[0], problems) == (PETS, [])
    with override_settings(OPENBOOK_EMBEDDINGS=False):
        assert recalled(user) == ([], [])


def test_it_is_off_unless_switched_on_and_then_nothing_knows_of_it(user: User) -> None:
    with CaptureQueriesContext(connection) as queries:
        make_told_thread(user, *SMALL_TALK, PETS)
        assert recalled(user) == ([], [])
    assert not [query for query in queries if "turnvector" in query["sql"]]
    assert embeddings_are_possible() == []
    with pytest.raises(CommandError, match="OPENBOOK_EMBEDDINGS=on"):
        call_command("embed")


def test_what_was_said_before_it_was_switched_on_is_found_after_the_command(user: User, other_user: User) -> None:
    for one in (user, other_user):
        make_told_thread(one, *SMALL_TALK * 30, PETS)
    with override_settings(OPENBOOK_EMBEDDINGS=True):
        assert recalled(user)[1] == ["The database did not answer: UndefinedTable."]
        for _ in range(2):
            call_command("embed")
        assert points() == IndexedTurn.objects.filter(length__gt=0).count()
        assert [recalled(one)[0][0] for one in (user, other_user)] == [PETS, PETS]


class TestWhatLeaves:
    def test_never_what_another_user_said(self, user: User, other_user: User, meaning: None) -> None:
        make_told_thread(other_user, *SMALL_TALK, PETS)
        make_told_thread(user, *SMALL_TALK)
        assert PETS not in recalled(user)[0]

    def test_what_is_emptied_in_the_index_or_deleted_has_no_point_even_when_it_is_off_by_then(
        self, user: User, meaning: None
    ) -> None:
        thread = make_told_thread(user, *SMALL_TALK, PETS)
        before = points()
        with override_settings(OPENBOOK_EMBEDDINGS=False):
            IndexedTurn.objects.filter(thread=thread, depth=21).update(terms=[], length=0)
        assert points() == before - 1
        index_turns.catch_up_if_possible(user.pk)
        assert (points(), PETS in recalled(user)[0]) == (before - 1, False)
        with override_settings(OPENBOOK_EMBEDDINGS=False):
            delete_thread(thread)
        assert points() == 0

    def test_a_replaced_answer_is_found_by_what_it_says_now(self, user: User, meaning: None) -> None:
        thread = make_told_thread(user, *SMALL_TALK, "And now?", PETS)
        Message.objects.filter(thread=thread, position=22).update(is_active=False)
        Message.objects.create(
            thread=thread,
            position=23,
            depth=22,
            role="assistant",
            text="The soup was too salty.",
            token_count=9,
            token_total=20,
            created_at=NOW,
        )
        Thread.objects.filter(id=thread.id).update(updated_at=timezone.now(), last_position=23)
        assert PETS not in recalled(user)[0]
        index_turns.catch_up_if_possible(user.pk)
        assert recalled(user, "How did dinner taste?")[0][0] == "The soup was too salty."
        assert PETS not in recalled(user)[0]


class TestWhatFails:
    def test_a_model_that_is_not_there_costs_this_source_only(
        self, user: User, meaning: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(embeddings, "PACKAGE", "no_such_package")
        embeddings._loaded.cache_clear()
        try:
            make_told_thread(user, *SMALL_TALK, PETS)
            problem = "The package no_such_package is not installed."
            assert recalled(user, "the cats") == (
                [PETS, "So it goes.", "Nothing much happened.", "It is quiet here.", "What a day.", "So it goes."],
                [problem],
            )
            assert [(found.id, problem in found.msg) for found in embeddings_are_possible()] == [
                ("openbook.W001", True)
            ]
        finally:
            embeddings._loaded.cache_clear()

    def test_a_model_that_is_broken_is_told(self, tmp_path: Path) -> None:
        for file in (embeddings.WEIGHTS, embeddings.TOKENIZER):
            (tmp_path / file).parent.mkdir()
            (tmp_path / file).write_text("{}")
        with pytest.raises(NoModel, match=r"^The model of wordllama can't be loaded: Exception\.$"):
            embeddings.load(tmp_path)

    def test_a_table_that_is_gone_costs_this_source_only(self, user: User, meaning: None) -> None:
        make_told_thread(user, *SMALL_TALK, PETS)
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE memory_turnvector CASCADE")
        texts, problems = recalled(user, "the cats")
        assert (texts[0], problems) == (PETS, ["The database did not answer: UndefinedTable."])

    @pytest.mark.parametrize(
        ("extensions", "problem"),
        [
            ("", "This PostgreSQL does not have the extension pgvector."),
            ("('vector', '0.7.4', NULL)", "This PostgreSQL has pgvector 0.7.4; 0.8 or newer is needed."),
            ("('vector', '0.8.5', '0.7.4')", "This PostgreSQL has pgvector 0.7.4; 0.8 or newer is needed."),
            ("('vector', '0.10.0', NULL)", ""),
        ],
    )
    def test_the_check_says_what_to_do_without_the_extension(self, extensions: str, problem: str) -> None:
        rows = f"VALUES {extensions}" if extensions else "SELECT '', '', '' WHERE false"
        with connection.cursor() as cursor:  # found before the view of PostgreSQL's own
            cursor.execute(
                "CREATE TEMPORARY TABLE pg_available_extensions (name text, default_version text, installed_version text);"
                f"INSERT INTO pg_available_extensions {rows}; SET LOCAL search_path = pg_temp, pg_catalog, public"
            )
        with override_settings(OPENBOOK_EMBEDDINGS=True):
            expected = [("openbook.W001", f"Nothing is recalled by its meaning. {problem}")] if problem else []
            assert [(found.id, found.msg) for found in embeddings_are_possible()] == expected


def test_texts_become_the_same_points_each_time_and_none_is_too_odd() -> None:
    model = embeddings.model()
    texts = ["", " ", "\0", "猫", "🐈‍⬛", "a" * 100_000, PETS, PETS]
    once = list(model.embed(texts))
    assert once == list(model.embed(texts)) and once[-1] == once[-2]
    assert {len(one.split(",")) for one in once} == {embeddings.DIMENSIONS}
    assert "NaN" not in "".join(once)


def test_meaning_adds_a_quarter_of_the_best_at_most_and_keeps_what_words_found() -> None:
    one, two, three = (
        Candidate(kind="message", id=uuid.uuid4(), text="", at=NOW, score=score) for score in (8.0, 4.0, 0.0)
    )
    near = [replace(two, score=0.6), replace(three, score=0.3)]
    scores = {found.id: found.score for found in fused([one, two], near)}
    assert scores == {one.id: 8.0, two.id: 6.0, three.id: 1.0}
    assert fused([one, two], []) == [one, two]


def test_no_statement_is_longer_than_what_is_kept_prepared() -> None:
    assert max(map(len, (RANKED, NEAR_BY_GRAPH, NEAR_ONE_BY_ONE))) < 4_096
