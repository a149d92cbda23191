"""The language of a page is its reader's; what a model is sent knows none."""

from datetime import timedelta
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone, translation

from config.languages import bare, catalogues, check, extraction, raised
from conversations.context.render.rendering import canonical
from conversations.errors import RateLimited, ThreadNotFound, describe
from conversations.runtime import wording
from conversations.runtime.wording import translated, worded
from conversations.staff import display
from tests.conversations.factories import make_context, make_reply, make_thread
from tests.memory.factories import make_daily_summary, make_memory, make_topic

CODES = [code for code, _ in settings.LANGUAGES]


@pytest.mark.django_db
@pytest.mark.parametrize("code", CODES)
def test_a_page_is_in_the_language_that_its_browser_asks_for_until_the_person_chooses(code: str, user: User) -> None:
    client = Client(headers={"accept-language": f"{code}-XX,{code};q=0.9,en;q=0.5"})
    page = client.get("/accounts/login/")
    direction = "rtl" if code == "ar" else "ltr"
    assert f'<html lang="{code}" dir="{direction}">' in page.text
    assert page["Content-Language"] == code
    client.force_login(user)
    other = CODES[CODES.index(code) - 1]
    assert client.post("/account/language/", {"language": other}).status_code == 302
    assert client.get("/account/")["Content-Language"] == other
    assert client.post("/account/language/", {"language": "tlh"}).status_code == 302
    assert client.get("/memory/")["Content-Language"] == other


@pytest.mark.django_db
def test_programs_are_answered_in_english_whoever_runs_them() -> None:
    client = Client(headers={"accept-language": "fr"})
    answer = client.get("/api/v1/threads/nothing/")
    assert "Content-Language" not in answer
    assert answer.json()["error"]["message"].startswith("You are not signed in.")


@pytest.mark.django_db
@pytest.mark.parametrize("code", [code for code in CODES if code != "en"])
def test_a_model_request_is_the_same_bytes_in_every_language(code: str, user: User) -> None:
    make_memory(user, "Ines is vegetarian.", valid_until=timezone.now() + timedelta(days=3))
    make_topic(user, "The trip to Lisbon")
    make_daily_summary(
        user, f"{timezone.now() - timedelta(days=1):%Y-%m-%d}", text="They talked about tokens and dates."
    )
    make_thread(user, ["When does my sister Ines arrive in Lisbon?", "On Friday at nine, 1.5 hours late."])
    thread = make_thread(user, ["Hello", "Hi", "When does Ines arrive in Lisbon?"])
    reply = make_reply(thread)
    plain = make_context(reply)
    with translation.override(code):
        same = make_context(reply)
        assert translation.gettext("Search") != "Search"  # it is on
    assert canonical(same.payload) == canonical(plain.payload)
    assert "Ines" in canonical(plain.payload).decode() and "Lisbon" in canonical(plain.payload).decode()


@pytest.mark.long
def test_no_catalogue_has_a_broken_translation() -> None:
    assert [problem for source in catalogues.sources() for problem in check.broken(source)] == []


@pytest.mark.parametrize(
    ("text", "translated", "is_right"),
    [
        ("{count} of %(name)s", "%(name)s: {count}", True),
        ("{count} of all", "von allen", False),
        ('<a href="/">Back</a>', '<a href="/">Zurück</a>', True),
        ('<a href="/">Back</a>', "Zurück", False),
    ],
)
def test_a_translation_repeats_what_the_code_fills_in(text: str, translated: str, is_right: bool) -> None:
    assert (check.parts(text) == check.parts(translated)) is is_right


def test_texts_of_templates_scripts_and_code_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('  <p>{% translate "One" %}</p>\n<b>{% blocktranslate count n=n %}{{ n }} cat'
                                     "{% plural %}{{ n }} cats{% endblocktranslate %}</b>")  # fmt: skip
    (tmp_path / "a.js").write_text(
        'h("p", {}, gettext("Two {name}", { name }), ngettext("{count} a", "{count} b", n));'
    )
    (tmp_path / "a.py").write_text('x = gettext_lazy("Three")')
    found = [[text for _, text, _, _ in extraction.texts_of(tmp_path / name)] for name in ("a.html", "a.js", "a.py")]
    assert found == [
        ["One", ("%(n)s cat", "%(n)s cats")],
        ["Two {name}", ("{count} a", "{count} b")],
        ["Three"],
    ]


@pytest.mark.long
def test_what_is_raised_is_found_with_all_its_sentences_and_an_f_string_is_refused() -> None:
    source = """
BUSY = {1: "One runs.", 2: "Two run."}
def look(names):
    words = worded(BUSY[1], "It is {name}." if names else "It is nobody.", name=names)
    raise InvalidMessage(words)
    raise NotFound("It is gone." if names else f"{names} is gone.")
"""
    assert sorted(raised.texts_in(source)) == [
        "It is gone.", "It is nobody.", "It is {name}.", "One runs.", "Two run."
    ]  # fmt: skip
    assert raised.filled_in(source) == [6]
    assert "Try again in {seconds} s." in [*raised.messages()]


def test_a_message_with_figures_is_english_for_programs_and_in_the_language_of_a_page() -> None:
    error = RateLimited(worded("Too many attempts from your address.", "Try again in {seconds} s.", seconds=1200))
    with translation.override("de"):
        assert describe(error)["message"] == str(error) == "Too many attempts from your address. Try again in 1,200 s."
        assert translated(error.message) == "Zu viele Versuche von deiner Adresse. Versuche es in 1.200 s noch einmal."
        assert translated(ThreadNotFound.message) != ThreadNotFound.message
    sentences = ["Too many attempts from your address.", "Try again in {seconds} s."]
    assert describe(error)["wording"] == {"sentences": sentences, "values": {"seconds": 1200}}


def test_the_module_for_scripts_holds_what_is_translated_and_the_rule_of_plurals() -> None:
    catalog = Catalog("de")
    catalog.add("Yes", "Ja")
    catalog.add("No", "")
    catalog.add(("{count} cat", "{count} cats"), ("{count} Katze", "{count} Katzen"))
    module = catalogues.script("de", catalog)
    assert module.startswith("export const plural = (n) => Number((n != 1));\n")
    assert '"Yes": "Ja"' in module and '"No"' not in module
    assert catalogues.key(Message(("a", "b"), context="c")) == "c\x04a"


def test_a_text_that_nothing_marks_is_found_by_its_line() -> None:
    template = (
        "{% load i18n %}<p>{% translate 'One' %} · {{ name }} CSV</p>\n"
        "<p title='{{ x }}'>{% blocktranslate %}Two{% endblocktranslate %}\n  Three {{ n }}</p>"
        "<code>four</code><img alt='Five'><b>{{ n|pluralize }}</b>{# six #}"
    )
    assert bare.bare_in_template(template) == [(3, "Five"), (3, "Three …"), (3, "n|pluralize")]
    script = """const a = gettext("Not me."); h("p", {}, "A bare text");
        // "A comment here"
        console.warn("For nobody"); x.className = "button quiet wide";
        y = `Up to ${n}`; if (key === "Enter") z(ngettext("One day", "More days", n));"""
    assert bare.bare_in_script(script) == [(1, "A bare text"), (4, "Up to ${n}")]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "1,234.5 · 1 turn · 2 turns · 1,234 turns"),
        ("de", "1.234,5 · 1 Beitrag · 2 Beiträge · 1.234 Beiträge"),
        ("fr", "1\xa0234,5 · 1 intervention · 2 interventions · 1\xa0234 interventions"),
        ("es", "1.234,5 · 1 intervención · 2 intervenciones · 1.234 intervenciones"),
        ("ar", "1,234.5 · مداخلة واحدة · مداخلتان · 1,234 مداخلة"),
    ],
)
def test_numbers_and_their_nouns_are_those_of_the_language(code: str, said: str) -> None:
    with translation.override(code):
        nouns = (display.with_noun(count, "turn") for count in (1, 2, 1234))
        assert " · ".join([wording.number(1234.5, 1), *nouns]) == said
    with translation.override(None):
        assert display.with_noun(1234, "turn") == "1,234 turns"  # of a command


def test_arabic_has_six_forms() -> None:
    with translation.override("ar"):
        said = [display.with_noun(count, "topic") for count in (0, 1, 2, 3, 11, 100)]
    assert said[:3] == ["لا مواضيع", "موضوع واحد", "موضوعان"]
    assert said[3:] == ["3 مواضيع", "11 موضوعًا", "100 موضوع"]
