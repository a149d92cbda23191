"""What a text is found by: stems of any language, numbers and names, and the days that it names. Pure."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from memory.language import words
from memory.language.days import spans
from memory.language.word_families import LANGUAGES, TABLES
from memory.language.words import (
    asking_stems,
    asks,
    marked,
    speaker,
    spelling_terms,
    spellings,
    stems,
    term,
    words_in_families,
    words_of,
)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Which camps has she painted?", "I'm painting the camp"),
        ("What did the dogs' vet say?", "My dog's at the vet's"),
        ("Wo stehen die Häuser?", "Die Häuser stehen am Meer"),
        ("Cafe Opera", "We met at the café 'Opéra'"),
        ("¿Dónde están mis gatos?", "Mis gatos están en la casa"),
        ("какие книги ты читал", "Я читаю книгу"),
        ("我的猫叫什么", "猫叫小花"),
        ("狗", "我养了一只小狗"),
        ("我的狗叫什么", "我们家来了一只狗"),
        ("When did you get the dog?", "guess who moved in 🐶"),
        ("Wann kommt der Hund? 🐕", "🐕!"),
        ("my 🚗", "the car"),
        ("ＡＢＣ 42", "abc 42"),
        ("मेरी बिल्ली", "बिल्ली का नाम"),
    ],
)
def test_other_forms_of_a_word_are_found(asked: str, told: str) -> None:
    assert {*stems(asked)} & {*stems(told)}


def test_faces_gestures_and_hearts_tell_nothing() -> None:
    assert stems("so happy 😂❤️🎉🔥👍🏽👨\u200d👩\u200d👧🇫🇷") == ["happi"]
    assert stems("look 🐶🎂☕") == ["look", "dog", "birthday", "cake", "hot", "beverag", "coffe"]


def test_small_words_tell_nothing_and_numbers_and_names_do() -> None:
    assert stems("What is it that you did to them, and why?") == []
    assert stems("The tax of 2023 for Marisol Ng") == ["tax", "2023", "marisol", "ng"]
    assert stems("Was ist das denn?") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline: Hello!", ("carolin", "Hello!")),
        ("Anna Maria: Hello!", ("anna", "Hello!")),
        ("hello: world", ("", "hello: world")),
        ("See https://example.com", ("", "See https://example.com")),
        ("Good morning", ("", "Good morning")),
    ],
)
def test_who_speaks_is_told_by_the_name_that_a_turn_begins_with(text: str, expected: tuple[str, str]) -> None:
    assert speaker(text) == expected


def test_a_question_is_known_by_its_end() -> None:
    assert [asks(text) for text in ("Really?", "真的？ ", 'He asked "why?"', "Why? I know.")] == [
        True,
        True,
        True,
        False,
    ]


def test_the_same_word_is_another_term_for_another_user() -> None:
    assert term(1, "boat") == term(1, "boat") != term(2, "boat")
    assert all(-(2**31) <= term(1, word) < 2**31 and term(1, word) for word in ("", "boat", "天地", "\ud800"))


@pytest.mark.parametrize("stem", ["boat", "маяк", "aa", "a", "café", "狗屋", "7up"])
def test_the_terms_of_spellings_are_theirs(stem: str) -> None:
    written = spellings(stem)
    assert stem not in written and all(word[0] == stem[0] for word in written)
    assert spelling_terms(7, stem) == {term(7, word) for word in written}


def test_a_letter_more_less_another_or_two_swapped_is_a_spelling() -> None:
    assert {"boaat", "bat", "boot", "baot", "boat" + "s"} <= spellings("boat")


@pytest.mark.parametrize(
    ("text", "words", "inside"),
    [
        ("A boat, boats; steamboats.", ["boat", "boats"], ["boat", "boats"]),
        ("我的猫叫小花", ["猫叫", "叫小"], ["猫叫小"]),
        ("मेरी बिल्ली, काली", ["बिल्ली", "काल"], ["बिल्ली"]),
        ("Nothing", [], []),
    ],
)
def test_the_words_are_marked_where_they_stand_by_themselves(text: str, words: list[str], inside: list[str]) -> None:
    parts = marked(text, words)
    assert ("".join(part for part, _ in parts), [part for part, is_word in parts if is_word]) == (text, inside)


SATURDAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2026-03-01", [("2026-03-01", "2026-03-01")]),
        ("on 13 October, 2023 he", [("2023-10-13", "2023-10-13")]),
        ("October 3rd, 2023", [("2023-10-03", "2023-10-03")]),
        ("in February 2024", [("2024-02-01", "2024-02-29")]),
        ("in 2022?", [("2022-01-01", "2022-12-31")]),
        ("yesterday", [("2026-11-20", "2026-11-20")]),
        ("last week", [("2026-11-09", "2026-11-20")]),
        ("last month", [("2026-10-01", "2026-11-20")]),
        ("on Monday", [("2026-11-16", "2026-11-16")]),
        ("last Saturday", [("2026-11-14", "2026-11-14")]),
        ("two weeks ago", [("2026-11-04", "2026-11-10")]),
        ("31 June 2026", []),
        ("you may go; 3 boats", []),
        ("999 years ago", [("1926-06-17", "1927-06-16")]),
    ],
)
def test_the_days_that_a_text_names(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(str(span.first), str(span.last)) for span in spans(text, SATURDAY)] == expected


def test_a_month_without_its_year_is_any_of_the_last_ones() -> None:
    assert [str(span.first) for span in spans("What happened in December?", SATURDAY)] == [
        f"{year}-12-01" for year in (2025, 2024, 2023, 2022)
    ]


@pytest.mark.long
def test_threads_that_stem_at_once_get_what_one_alone_gets() -> None:
    texts = [f"word{n}ings hopefulness{n} relational{n} nationally{n} sensibilities{n}" for n in range(2_000)]
    alone = [stems(text, "english") for text in texts]
    words._stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: stems(text, "english"), texts)) == alone


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("What is my job?", "Ich arbeite als Hafenmeister."),
        ("What is my job?", "I work at the harbour."),
        ("How old are my nephews?", "My sister has two boys."),
        ("Wie heißt mein Hund?", "Our dog is called Rex."),
        ("Où habite ma sœur ?", "Моя сестра живёт в Омске."),
    ],
)
def test_a_word_that_is_asked_for_stands_for_its_family_in_other_languages(asked: str, told: str) -> None:
    held = {*stems(told)}
    assert any(not held.isdisjoint(others) for _, others in words_in_families(asked))
    assert not any(not held.isdisjoint({stem, *others}) for stem, others in words_of(asked))


def test_families_have_known_languages_and_no_word_twice() -> None:
    for table in TABLES.values():
        for name, family in table.items():
            texts = [text.split() for code, text in family.items() if code != "by"]
            assert family.keys() <= {*LANGUAGES, "by"}, name
            assert all(len({*text}) == len(text) for text in texts), name
            assert {*family.get("by", "").split()} <= TABLES["families"].keys(), name


def test_words_for_how_an_answer_is_wanted_are_told_from_what_is_asked() -> None:
    assert asking_stems("Give me a summary of how the boat developed over our conversations.") >= {"summari", "convers"}
    assert asking_stems("In welcher Reihenfolge sprachen wir vom Boot? Die Liste bitte.") >= {"reihenfolg"}
    assert asking_stems("What is on the list?") == frozenset()
