"""Which model answers: picked for a conversation, and for another answer, on a desk and on a phone, by keyboard alone."""

import re
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.pages import Chat
from tests.browser.rows import offer_models
from tests.browser.test_endings import PHONE, faults
from tests.model_scripts import error, text
from tests.model_server import ModelServer

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
NAMES = ["Claude Sonnet 5.5", "Claude Opus 5.5", "Claude Haiku 5.5"]
NOT_OFFERED = "This model is not offered any more, and nothing was sent. Choose another one, and send again."
GONE = "Claude Opus 5.5 is not offered here any more: Claude Sonnet 5.5 answers instead."


@pytest.fixture
def offered(browser_database: str) -> Iterator[None]:
    offer_models(browser_database, OPUS, HAIKU)
    yield
    offer_models(browser_database)


def picker(chat: Chat) -> Locator:
    return chat.page.get_by_role("button", name=re.compile("^Model: "))


def menu(chat: Chat) -> Locator:
    return chat.page.get_by_role("menu")


def pick(chat: Chat, name: str) -> None:
    picker(chat).click()
    menu(chat).get_by_role("menuitemradio", name=name).click()
    expect(picker(chat)).to_contain_text(name)


def marks(chat: Chat) -> list[str]:
    return chat.replies.locator(".model-mark").all_inner_texts()


@pytest.fixture
def with_small_window(browser_database: str) -> Iterator[None]:
    """A choice of one whose window does not hold the budget beside an answer."""
    keep = "UPDATE conversations_assistant SET hard_cap_tokens = %s WHERE slug = 'companion'"
    offer_models(browser_database, OPUS, "claude-haiku-4-5")
    with psycopg.connect(browser_database, autocommit=True) as connection:
        connection.execute(keep, [195_000])
        yield
        connection.execute(keep, [6_150])
    offer_models(browser_database)


@pytest.mark.wide
def test_a_window_that_is_too_small_is_said_before_anything_is_sent(
    chat: Chat, model: ModelServer, with_small_window: None
) -> None:
    asked = len(model.requests)
    chat.page.reload()
    note = chat.page.locator("#answers")
    expect(note).to_be_hidden()
    pick(chat, "Claude Haiku 4.5")
    expect(note).to_have_text(
        "Claude Haiku 4.5 has a small window: it is given less of a long conversation than usual here."
    )
    pick(chat, "Claude Opus 5.5")
    expect(note).to_be_hidden()
    assert len(model.requests) == asked


def test_where_there_is_one_model_there_is_nothing_to_choose(chat: Chat, model: ModelServer) -> None:
    chat.ask("Hello")
    expect(picker(chat)).to_have_count(0)
    again = chat.page.get_by_role("button", name="Answer again", exact=True)
    model.script(text("Once more."))
    again.click()
    expect(chat.replies.last).to_contain_text("Once more.")
    assert marks(chat) == ["Claude Sonnet 5.5"]


def test_a_picked_model_answers_from_the_first_message_on_and_survives_a_reload(
    chat: Chat, model: ModelServer, offered: None
) -> None:
    chat.page.reload()
    expect(picker(chat)).to_have_text(re.compile("Claude Sonnet 5.5"))
    chat.box.fill("Half a th")
    pick(chat, "Claude Opus 5.5")
    chat.page.reload()
    expect(picker(chat)).to_have_text(re.compile("Claude Opus 5.5"))
    expect(chat.box).to_have_value("Half a th")
    chat.ask("Hello")
    assert model.bodies[-1]["model"] == OPUS
    chat.page.reload()
    chat.ask("And now?")
    assert model.bodies[-1]["model"] == OPUS
    pick(chat, "Claude Haiku 5.5")
    chat.ask("And you?")
    assert (model.bodies[-1]["model"], marks(chat)) == (HAIKU, [NAMES[1], NAMES[1], NAMES[2]])
    chat.page.get_by_role("link", name="New conversation").click()
    expect(picker(chat)).to_have_text(re.compile("Claude Sonnet 5.5"))


@pytest.mark.wide
def test_the_gauge_and_the_book_follow_the_model_that_is_picked(chat: Chat, model: ModelServer, offered: None) -> None:
    chat.page.reload()
    chat.ask("My boat is called Marigold.")
    gauge = chat.page.locator("#gauge")
    expect(gauge).to_have_attribute("title", re.compile("^The last request held"))
    pick(chat, "Claude Opus 5.5")
    expect(gauge).to_have_attribute("title", re.compile("^The next request would hold about"))
    gauge.click()
    book = chat.page.get_by_role("dialog")
    expect(book).to_contain_text("The book of the next reply")
    expect(book).to_contain_text("Nothing is sent yet: this is what your next message would be given.")
    switch = "To be answered by Claude Opus 5.5, the turn before by Claude Sonnet 5.5."
    expect(book).to_contain_text(switch)
    assert violations(chat.page) == []
    chat.page.keyboard.press("Escape")
    chat.ask("How is she called?")
    expect(gauge).to_have_attribute("title", re.compile("^The last request held"))
    gauge.click()
    expect(book).to_contain_text("The book of this reply")
    expect(book).to_contain_text("Answered by Claude Opus 5.5, the turn before by Claude Sonnet 5.5.")


@pytest.mark.wide
def test_the_menus_are_walked_by_keyboard_alone(chat: Chat, model: ModelServer, offered: None) -> None:
    chat.page.reload()
    chat.ask("Hello")
    chat.box.fill("What is typed")
    picker(chat).focus()
    chat.page.keyboard.press("Enter")
    options = menu(chat).get_by_role("menuitemradio")
    expect(menu(chat)).to_have_accessible_name("Which model answers in this conversation")
    expect(options).to_have_count(3)
    expect(options.nth(0)).to_be_focused()
    assert [option.get_attribute("aria-checked") for option in options.all()] == ["true", "false", "false"]
    assert [option.locator(".menu-label").inner_text() for option in options.all()] == NAMES
    for key, place in (("ArrowUp", 2), ("ArrowDown", 0), ("End", 2), ("Home", 0), ("ArrowDown", 1)):
        chat.page.keyboard.press(key)
        expect(options.nth(place)).to_be_focused()
    chat.page.keyboard.press("Escape")
    expect(picker(chat)).to_be_focused()
    expect(picker(chat)).to_have_text(re.compile("Claude Sonnet 5.5"))
    chat.page.keyboard.press("Enter")
    chat.page.keyboard.press("End")
    chat.page.keyboard.press("Enter")
    expect(picker(chat)).to_have_text(re.compile("Claude Haiku 5.5"))
    again = chat.page.get_by_role("button", name="Answer again with …")
    again.focus()
    chat.page.keyboard.press("Enter")
    expect(menu(chat)).to_have_accessible_name("Answer again with")
    items = menu(chat).get_by_role("menuitem")
    expect(items.nth(0)).to_be_focused()
    assert [item.locator(".menu-hint").all_inner_texts() for item in items.all()] == [["Wrote this answer"], [], []]
    assert violations(chat.page) == []
    model.script(text("From another one."))
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("Enter")
    expect(chat.replies.last).to_contain_text("From another one.")
    assert (model.bodies[-1]["model"], marks(chat)) == (OPUS, ["Claude Opus 5.5"])
    expect(chat.box).to_have_value("What is typed")
    expect(picker(chat)).to_have_text(re.compile("Claude Haiku 5.5"))


@pytest.mark.wide
def test_models_are_chosen_on_a_desk_and_on_a_phone(reader: Reader, model: ModelServer, offered: None) -> None:
    with reader(**PHONE) as chat:
        model.script(error(401))
        chat.send("Hello")
        failed = chat.turns.last.locator(".turn-note")
        failed.get_by_role("button", name="Answer with …").click()
        assert faults(chat) == []
        assert chat.page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
        menu(chat).get_by_role("menuitem", name="Claude Opus 5.5").click()
        expect(chat.replies.last.locator(".model-mark")).to_have_text("Claude Opus 5.5")
        picker(chat).click()
        assert faults(chat) == []
        menu(chat).get_by_role("menuitemradio", name="Claude Haiku 5.5").click()
        chat.ask("And now?")
        assert model.bodies[-1]["model"] == HAIKU


def test_where_staff_take_a_model_away_what_was_typed_stays_and_the_page_says_what_to_do(
    chat: Chat, model: ModelServer, offered: None, browser_database: str
) -> None:
    chat.page.reload()
    pick(chat, "Claude Opus 5.5")
    offer_models(browser_database, HAIKU)
    chat.send("A first message")
    expect(chat.page.get_by_role("alert")).to_have_text(NOT_OFFERED)
    expect(chat.box).to_have_value("A first message")
    expect(picker(chat)).to_have_text(re.compile("Claude Sonnet 5.5"))
    chat.page.keyboard.press("Enter")
    expect(chat.replies).to_have_count(1)
    offer_models(browser_database, HAIKU, OPUS)
    chat.page.reload()
    expect(chat.replies).to_have_count(1)
    pick(chat, "Claude Opus 5.5")
    chat.ask("And now?")
    offer_models(browser_database, HAIKU)
    chat.ask("And you?")
    assert model.bodies[-1]["model"] == SONNET
    expect(chat.page.locator("#answers")).to_have_text(GONE)
    expect(picker(chat)).to_have_text(re.compile("Claude Sonnet 5.5"))
    chat.page.reload()
    expect(chat.page.locator("#answers")).to_have_text(GONE)
    pick(chat, "Claude Haiku 5.5")
    expect(chat.page.locator("#answers")).to_be_hidden()
    offer_models(browser_database, OPUS)
    chat.page.get_by_role("button", name="Answer again with …").last.click()
    menu(chat).get_by_role("menuitem", name="Claude Haiku 5.5").click()
    expect(chat.page.get_by_role("alert")).to_have_text(NOT_OFFERED)
