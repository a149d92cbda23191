"""The book under a reply, as a person reads it who never heard of tokens or tiers."""

from contextlib import suppress
from datetime import UTC, datetime

from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import Reader
from tests.browser.memories import add_memory, add_today, add_topic, without_table
from tests.browser.pages import Chat
from tests.model_scripts import text
from tests.model_server import ModelServer

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def open_book(chat: Chat) -> Locator:
    """The book of the newest reply, by keyboard."""
    book = chat.page.get_by_role("dialog", name="The book of this reply")
    while not book.is_visible():  # a reply that has just ended may take the focus along
        chat.replies.last.get_by_role("button", name="open what the model was given").press("Enter")
        with suppress(AssertionError):
            expect(book).to_be_visible(timeout=5_000)
    expect(book.locator(".stack-bar")).to_be_visible()
    return book


def test_what_is_known_about_me_is_told_in_plain_words(chat: Chat, browser_database: str) -> None:
    chat.ask("Hello.")
    add_memory(browser_database, chat.thread_id, "Ada bakes bread.")
    add_memory(browser_database, chat.thread_id, "Ada is on holiday.", LONG_AGO)
    add_topic(browser_database, chat.thread_id, "The leaking oven door")
    add_today(browser_database, chat.thread_id, "Ada planned her week.")
    chat.ask("What time is it in Lisbon?")
    book = open_book(chat)
    parts = ["Instructions", "What it knows about you", "Today", "Open topics", "Earlier turns", "Your message"]
    expect(book.locator(".stack-bar li span:nth-child(2)")).to_have_text([*parts, "Room left"])
    expect(book.locator(".texts summary span:first-child")).to_have_text(parts)
    expect(book.locator(".fate.included li")).to_have_text(
        [
            "2 turns – recent enough for the window",
            "1 turn – the message to answer",
            "1 memory – remembered about you",
            "1 summary – what was said before, in short",
            "1 topic – still open",
        ]
    )
    expect(book.locator(".fate.left-out li")).to_have_text(["1 memory – no longer true"])
    expect(book.locator(".failures, .understood")).to_have_count(0)
    book.locator("summary", has_text="What it knows about you").press("Enter")
    expect(book.locator("details[open] pre")).to_contain_text("Ada bakes bread.")
    assert "_" not in book.inner_text()


def test_how_a_message_was_understood_is_shown_without_the_mark_for_the_model(chat: Chat, model: ModelServer) -> None:
    model.script(text("A former president."))
    chat.ask("Who is Donald Trump?")
    chat.ask("who are his children")
    understood = open_book(chat).locator(".understood")
    expect(understood.get_by_role("heading")).to_have_text("How your message was understood")
    expect(understood.locator("blockquote")).to_have_text("who are his children (about: Donald Trump)")


def test_a_source_that_failed_is_said_plainly(chat: Chat, browser_database: str) -> None:
    with without_table(browser_database, "memory_topic"):
        chat.ask("What is still open?")
    failures = open_book(chat).get_by_role("list", name="What went wrong")
    expect(failures.get_by_role("listitem")).to_have_text(
        ["Your open topics could not be read. This reply had to do without."]
    )


def test_what_comes_late_of_an_earlier_request_does_not_turn_the_gauge_back(chat: Chat) -> None:
    held: list[Route] = []
    chat.page.route("**/api/v1/requests/*/", lambda route: route.continue_() if held else held.append(route))
    chat.ask("Hello.")
    chat.ask("And again?")
    with chat.page.expect_response(held[0].request.url):
        held[0].continue_()
    chat.page.get_by_role("button", name="Open the book").press("Enter")
    book = chat.page.get_by_role("dialog", name="The book of this reply")
    expect(book.locator(".fate.included")).to_contain_text("2 turns – recent enough")


def test_the_gauge_opens_the_same_book_on_a_phone(reader: Reader, browser_database: str) -> None:
    with reader(viewport={"width": 390, "height": 844}) as chat:
        chat.ask("Hello.")
        add_memory(browser_database, chat.thread_id, "A_very_long_word_" * 20)
        chat.ask("What time is it in Lisbon?")
        chat.page.get_by_role("button", name="Open the book").press("Enter")
        book = chat.page.get_by_role("dialog", name="The book of this reply")
        expect(book.locator(".fate.included")).to_contain_text("1 memory – remembered about you")
        for fold in book.locator(".texts summary").all():
            fold.click()
        body = book.locator("#book-body")
        assert body.evaluate("body => body.scrollWidth - body.clientWidth") == 0
