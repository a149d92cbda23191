"""The book under a reply, as a person reads it who never heard of tokens or tiers."""

import re
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.memories import add_memory, add_today, add_topic, without_table
from tests.browser.pages import Chat
from tests.browser.rows import add_turns
from tests.model_scripts import text
from tests.model_server import ModelServer

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
HINTS = "\n\n".join(
    [
        "Here is what I would do on such a journey, in the order in which I would do it.",
        *(f"Step {n}: pack what you need for it, and take {n} more of each than you think." for n in range(12)),
        "The best place to eat is Konditori Lyra, right behind the harbour.",
        *(f"Hint {n}: keep what is dear to you in the {n}th bag, and have an eye on it." for n in range(12)),
    ]
)


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
    book = open_book(chat)
    understood = book.locator(".understood")
    expect(understood.get_by_role("heading")).to_have_text("How your message was understood")
    expect(understood.locator("blockquote")).to_have_text("who are his children (about: Donald Trump)")
    expect(book.locator(".book-summary")).to_contain_text("your message and 2 earlier turns")
    expect(book.locator(".fate.left-out")).to_contain_text("Nothing was left out.")
    book.locator("summary", has_text="Earlier turns").click()
    expect(book.locator("details[open] pre")).to_contain_text("user: Who is Donald Trump?")
    chat.page.keyboard.press("Escape")
    expect(book).to_be_hidden()


def recalled_in(book: Locator) -> Locator:
    """What the newest message brought along, unfolded."""
    fold = book.locator(".texts details", has_text="Your message")
    fold.locator("summary").press("Enter")
    return fold.locator("pre")


@pytest.mark.wide
def test_a_recalled_passage_leads_to_the_whole_turn_in_its_own_conversation(chat: Chat, model: ModelServer) -> None:
    model.script(text(HINTS))
    chat.ask("What should I know before I sail to Sweden?")
    told = chat.page.url
    chat.open()
    chat.ask("Where did you say is the best place to eat?")
    message = recalled_in(open_book(chat))
    expect(message).to_contain_text("The best place to eat is Konditori Lyra, right behind the harbour. […]")
    mark = message.get_by_role("link", name="[…] The whole of turn 2").first
    assert violations(chat.page) == []
    mark.press("Enter")
    expect(chat.page).to_have_url(re.compile(f"^{told}#turn-2$"))
    expect(chat.page.locator(".turn:focus")).to_contain_text("Konditori Lyra")
    expect(chat.page.locator(".turn:focus").get_by_text("Here is what I would do")).to_be_in_viewport()
    expect(chat.page.get_by_role("dialog", name="The book of this reply")).to_be_hidden()
    expect(chat.page.locator("#title")).to_have_text("What should I know before I sail to Sweden?")


@pytest.mark.wide
def test_a_recalled_turn_leads_back_to_it_in_the_same_conversation(chat: Chat, browser_database: str) -> None:
    chat.ask("My boat is called Marisol.")
    add_turns(browser_database, chat.thread_id, 200)
    chat.page.reload()
    chat.ask("What is my boat called?")
    message = recalled_in(open_book(chat))
    said = message.inner_text().splitlines()
    expect(message.get_by_role("link")).to_have_count(sum(line.startswith("- ") for line in said))
    message.get_by_role("link", name="The whole of turn 1", exact=True).press("Enter")
    expect(chat.page).to_have_url(re.compile("/#turn-1$"))
    expect(chat.page.locator(".turn:focus")).to_have_text(re.compile("My boat is called Marisol."))


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
