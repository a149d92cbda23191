"""Words are found as people write them, in any language: by search, by recall and while they are still being typed."""

from dataclasses import replace
from typing import NamedTuple

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.models import Thread
from conversations.runtime.db import read_only
from conversations.threads import search as threads_search
from conversations.web.search import hits
from memory.index.index_turns import catch_up
from memory.language.words import ALIKE, bare_letters
from memory.sources import recall
from memory.sources.recall import RecallQuery
from tests.conversations.factories import make_thread, make_thread_with_file

pytestmark = pytest.mark.django_db

ELSEWHERE = [
    "Nothing of the kind, on any day.",
    "이것은 다른 이야기",
    "זה סיפור אחר",
    "هذا كلام آخر",
    "こんにちは",
]


class Case(NamedTuple):
    """What was said, the question that it answers, what somebody types, and the word that is marked where it stands."""

    told: str
    asked: str
    typed: str
    marked: str


LANGUAGES = {
    "English": Case("We saw the lighthouses of Orust.", "Which lighthouse was it?", "lightho", "lighthouses"),
    "German": Case("Die alten Häuser stehen am Fluss.", "Wo steht das alte Haus?", "Häus", "Häuser"),
    "French": Case("Mes clés sont sur la table.", "Où est ma clé ?", "clés", "clés"),
    "Spanish": Case("Mis gatos duermen en la cocina.", "¿Dónde duerme el gato?", "gat", "gatos"),
    "Polish": Case("W Łodzi kupiłem zegar.", "Co kupiłem w Lodzi?", "zeg", "zegar"),
    "Turkish": Case("Işıklı köyünde bir ev aldık.", "isikli neresi?", "köy", "köyünde"),
    "Russian": Case("Мои книги лежат дома.", "Где моя книга?", "книг", "книги"),
    "Arabic": Case("صديقي مُحَمَّد يسكن هنا.", "أين محمد؟", "محمد", "مُحَمَّد"),
    "Hebrew": Case(
        "גרנו בירושלים שנה.",
        "מה אמרתי על ירושלים?",
        "ירושלים",
        "בירושלים",
    ),
    "Hindi": Case(
        "मेरी बिल्ली काली है।",
        "बिल्ली कैसी है?",
        "बिल्",
        "बिल्ली",
    ),
    "Chinese": Case("我昨天在北京吃饭。", "北京怎么样？", "北京", "北京"),
    "Japanese": Case("先週京都へ行きました。", "京都はどうでしたか？", "京都", "京都"),
    "Korean": Case("지난주에 부산에서 회를 먹었어요.", "부산은 어땠어?", "부산", "부산에서"),
    "Thai": Case(
        "ฉันชอบกินข้าวผัด",
        "ข้าวผัดเป็นอย่างไร",
        "ข้าว",
        "ข้าว",
    ),
    "Danish": Case("Vi sejlede over Øresund.", "Hvor er Oresund?", "Øres", "Øresund"),
}
WRITTEN = {
    "a particle that was typed": ("부산은 좋다", "부산에서", "부산은"),
    "a syllable with its particle": ("집에서 일해요", "집", "집에서"),
    "a noun made a verb": ("제주도를 여행했어요", "여행", "여행했어요"),
    "a word longer than what it was shortened to": ("우리 고양이 나비", "고양이가", "고양이"),
    "two prefixes": ("ובבית הספר למדנו", "הבית", "ובבית"),
    "vowel points": ("שָׁלוֹם לכולם", "שלום", "שָׁלוֹם"),
    "a lengthened word": ("هذه مـــدرسة", "مدرسة", "مـــدرسة"),
    "without vowel marks": ("اسمه محمد", "مُحَمَّد", "محمد"),
    "a space of no width": ("Our Kuber\u200bnetes cluster", "kubernetes", "Kuber\u200bnetes"),
    "a soft hyphen": ("Our Kuber\u00adnetes cluster", "kubernetes", "Kuber\u00adnetes"),
    "a joiner in Persian": ("می\u200cخواهم بروم", "میخواهم", "می\u200cخواهم"),
    "a stroke": ("Byłem w Łodzi", "lodzi", "Łodzi"),
    "no stroke": ("I was in Lodz", "Łódź", "Lodz"),
    "a sharp s": ("Die Straße ist nass", "strasse", "Straße"),
    "joined letters": ("Mon cœur bat", "coeur", "cœur"),
    "Icelandic letters": ("Það var í Þórshöfn", "thorshofn", "Þórshöfn"),
    "C++": ("I write C++17 daily.", "C++", "C++"),
    "C#": ("I like C#.", "c#", "C#"),
    "F#": ("F# it is.", "F#", "F#"),
    ".NET": ("We use .NET 10.", ".NET", "NET"),
    "C++ with its year": ("We build with C++17.", "C++17", "C++"),
    "R&D": ("Ask the R&D team.", "r&d", "R&D"),
    "AT&T": ("The AT&T bill came.", "AT&T", "AT&T"),
    "Q&A": ("It was a Q&A.", "Q&A", "Q&A"),
    "a handle": ("Ask @maria_k about it.", "maria", "maria_k"),
    "thousands with a comma": ("It costs 1,299.50 EUR.", "1299", "1,299"),
    "thousands with a point": ("Es kostet 1.299,50 EUR.", "1299", "1.299"),
    "thousands with the other sign": ("Es kostet 1.299,50 EUR.", "1,299.50", "1.299"),
    "thousands without a sign": ("It costs 1299 EUR.", "1,299", "1299"),
    "small words alone": ("He said: to be or not to be, in short.", "to be or not to be", "to be or not to be"),
    "a name of small words": ("We heard The Who at Leeds.", "The Who", "The Who"),
    "a beginning": ("We run Kubernetes.", "Kuber", "Kubernetes"),
    "a word and a beginning": ("Two clusters run Kubernetes.", "cluster Kuber", "clusters"),
}


def tell(user: User, text: str, *, indexed: bool = True) -> Thread:
    thread = make_thread(user, [text])
    for other in ELSEWHERE:
        make_thread(user, [other])
    if indexed:
        catch_up(user.pk)
    return thread


def found_by(user: User, text: str) -> dict[str, list[str]]:
    """Of the threads found, by their ids, the words that are marked."""
    search = threads_search.search_of(user, text)
    threads = list(threads_search.threads_with(search))
    places = threads_search.places(search, threads)
    return {str(thread.id): list(places[thread.id].words) if thread.id in places else [] for thread in threads}


@pytest.mark.parametrize("case", LANGUAGES.values(), ids=LANGUAGES)
def test_what_was_said_is_found_in_every_language(user: User, case: Case) -> None:
    thread = tell(user, case.told)
    found = found_by(user, case.marked)
    assert list(found) == [str(thread.id)] and found[str(thread.id)]


@pytest.mark.parametrize("case", LANGUAGES.values(), ids=LANGUAGES)
def test_what_was_said_is_recalled_in_every_language(user: User, case: Case) -> None:
    thread = tell(user, case.told)
    with read_only():
        best, *_ = recall.search(RecallQuery(user_id=user.pk, text=case.asked, at=timezone.now(), everywhere=True))
    assert (best.text, best.thread) == (case.told, thread.id)


@pytest.mark.once("English", "Arabic", "Chinese")
@pytest.mark.parametrize("case", LANGUAGES.values(), ids=LANGUAGES)
def test_the_side_bar_finds_it_while_it_is_typed(user: User, case: Case) -> None:
    thread = tell(user, case.told)
    [hit] = hits(user, case.typed)
    [place] = hit.places
    assert hit.address == f"/threads/{thread.id}/#turn-1"
    assert "".join(part for part, _ in place.parts) == case.told
    assert case.marked in [part for part, is_word in place.parts if is_word]


@pytest.mark.once("*-indexed")
@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "just stored"])
@pytest.mark.parametrize(("told", "asked", "marked"), WRITTEN.values(), ids=WRITTEN)
def test_a_word_is_found_as_others_write_it(user: User, told: str, asked: str, marked: str, indexed: bool) -> None:
    thread = tell(user, told, indexed=indexed)
    found = found_by(user, asked)
    assert list(found) == [str(thread.id)] and marked in found[str(thread.id)]


def test_a_beginning_stands_where_a_word_begins(user: User) -> None:
    tell(user, "We start the party.")
    assert found_by(user, "art") == {} == found_by(user, "art%")
    assert found_by(user, "sta") != {}


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Łódź and Œuvre", "lodz oeuvre"),
        ("Smørrebrød", "smorrebrod"),
        ("Diyarbakır", "diyarbakir"),
        ("Café Straße", "cafe strasse"),
        ("zero\u200bwidth", "zerowidth"),
        ("lodz", "Łódź"),
        ("Þingvellir", "thing"),
    ],
)
def test_titles_are_found_by_the_letters_that_turns_are_found_by(user: User, title: str, asked: str) -> None:
    thread = make_thread(user, title=title)
    make_thread(user, title="Other")
    assert [hit.address for hit in hits(user, asked)] == [f"/threads/{thread.id}/"]


def test_titles_fold_in_sql_as_words_do_in_python(user: User) -> None:
    title = "".join(ALIKE) + "ß" + "".join(map(chr, range(0xC0, 0x180)))
    make_thread(user, title=title[:200])
    assert len(hits(user, bare_letters(title[:100]))) == 1


def test_a_beginning_is_found_in_a_file_and_marked_there(user: User) -> None:
    make_thread_with_file(user, ["Nothing.", "We run Kubernetes in two clusters."], turns=["Look.", "Yes."])
    for asked in ("Kuber", "cluster Kuber"):
        [hit] = hits(user, asked)
        assert ("Kubernetes", True) in hit.places[0].parts
    assert hits(user, "notacluster Kuber") == []


@pytest.mark.parametrize("for_message", [False, True])
def test_small_words_alone_are_recalled_as_a_phrase(user: User, other_user: User, for_message: bool) -> None:
    said = "He began: To be, or not to be, that is it."
    for person in (user, other_user):
        thread = make_thread(person, [said.replace(",", ""), "To be."], updated_at=timezone.now())
        catch_up(person.pk)
    query = RecallQuery(user_id=user.pk, text="“to be or not to be”?", at=timezone.now(), is_message=for_message)
    with read_only():
        [best] = recall.search(query)
        assert best.text == said.replace(",", "") and best.thread != thread.id
        assert recall.search(replace(query, text="not to be or to be")) == []
        assert recall.search(replace(query, thread_id=best.thread, before=1)) == []


def test_nothing_of_others_and_nothing_forgotten_is_found_by_a_beginning(user: User, other_user: User) -> None:
    thread = tell(user, "We run Kubernetes.")
    assert found_by(other_user, "Kuber") == {}
    thread.messages.update(is_active=False)
    assert found_by(user, "Kuber") == {}


def test_an_excerpt_is_a_text_without_marks_and_a_thread_stands_once(user: User) -> None:
    turns = [
        "What does it say?",
        "## Rent\n\n| due | on |\n|---|---|\n| **the first** | of [each month](https://a.example/) |",
    ]
    make_thread_with_file(user, ["# Terms\n\n- The *month* of `notice`."], turns=turns)
    catch_up(user.pk)
    [hit] = hits(user, "month")
    said, written = ("".join(part for part, _ in place.parts) for place in hit.places)
    assert said == "Rent due on the first of each month"
    assert written == "Terms The month of notice."


def test_an_excerpt_of_a_file_shows_the_word_wherever_it_stands(user: User) -> None:
    make_thread_with_file(user, [f"{'Other terms, at length. ' * 400}The **notice** is two months."])
    [hit] = hits(user, "notice")
    assert "The notice is two months." in "".join(part for part, _ in hit.places[0].parts)
