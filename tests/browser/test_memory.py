"""The memory page and forgetting, as a person meets them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Reader
from tests.browser.memories import add_day, add_fact, add_memory, add_topic, holding
from tests.browser.pages import Chat
from tests.browser.rows import add_turns
from tests.model_scripts import text
from tests.model_server import ModelServer

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def open_memory(chat: Chat, address: str = "/memory/") -> Page:
    chat.open(address)
    expect(chat.page.locator("#memory[data-ready]")).to_be_visible()
    return chat.page


HOLDS = "#note-list > .note > .note-body .note-text"


def notes(page: Page) -> list[str]:
    return page.locator(HOLDS).all_inner_texts()


def undo_and_redo(page: Page, *versions: str) -> None:
    page.reload()
    assert notes(page) == [versions[-1], "The boat is called Zephyrine."]
    for words in versions:
        page.locator("#note-list .note-history summary:visible").press("Enter")
        expect(page.locator(".note.ended").get_by_text(re.compile("^(Until|Not so)"))).to_be_visible()
        page.get_by_role("button", name=f"Bring back: {words}").press("Enter")
        expect(page.locator(HOLDS).first).to_have_text(words)
        expect(page.locator(".note.marked")).to_be_focused()


def test_notes_are_read_added_corrected_found_and_forgotten_for_good(
    chat: Chat, model: ModelServer, browser_database: str
) -> None:
    model.script(text("A boat called Zephyrine, then."))
    chat.ask("My boat is called Zephyrine.")
    thread = chat.thread_id
    add_fact(browser_database, thread, "The boat is called Zephyrine.", position=1)
    add_turns(browser_database, thread, 120)
    page = open_memory(chat)
    field = page.get_by_role("textbox", name="A new note")
    field.fill("Likes te.")
    field.press("Enter")
    expect(page.locator(HOLDS)).to_have_text(["Likes te.", "The boat is called Zephyrine."])
    expect(page.locator(".note-from").first).to_contain_text("You wrote it down on")

    page.get_by_role("button", name="Edit: Likes te.").press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.type("Likes tea.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Edit: Likes tea.")).to_be_focused()
    undo_and_redo(page, "Likes te.", "Likes tea.")

    search = page.get_by_role("searchbox", name="Search your notes")
    search.fill("ZEPHY")
    expect(page.locator(HOLDS)).to_have_text(["The boat is called Zephyrine."])
    search.fill("ship")
    expect(page.get_by_text("No note holds these words.")).to_be_visible()
    search.fill("")
    expect(page.locator(HOLDS)).to_have_count(2)

    page.get_by_role("link", name="You said so on").click()
    said = page.locator(".turn.pointed")
    expect(said).to_contain_text("My boat is called Zephyrine.")
    expect(said).to_be_in_viewport()
    expect(said).to_be_focused()
    page.go_back()

    forget = page.get_by_role("button", name="Forget: The boat is called Zephyrine.")
    forget.click()
    dialog = page.get_by_role("dialog", name="Forget this note?")
    expect(dialog.locator(".forget-turns li")).to_have_text(
        ["YouMy boat is called Zephyrine.", "ReplyA boat called Zephyrine, then."]
    )
    expect(dialog).to_contain_text("the text of 1 recorded request where it stood")
    page.keyboard.press("Escape")
    expect(forget).to_be_focused()
    assert holding(browser_database, "Zephyrine") != []
    forget.click()
    dialog.get_by_role("button", name="Forget").click()
    done = page.get_by_role("dialog", name="Forgotten")
    expect(done.locator(".gone li").first).to_have_text("1 note")
    expect(done).to_contain_text("the text of 2 turns")
    done.get_by_role("button", name="Close").click()
    expect(page.locator(HOLDS)).to_have_text(["Likes tea."])
    assert holding(browser_database, "Zephyrine") == []
    chat.open(f"/threads/{thread}/#turn-1")
    expect(page.locator(".turn.forgotten")).to_have_count(2)
    expect(page.locator(".turn.pointed .bubble")).to_have_text("Forgotten")


@pytest.mark.wide
def test_topics_days_and_the_switch_work_by_keyboard_and_on_a_phone(reader: Reader, browser_database: str) -> None:
    with reader(timezone_id="Pacific/Auckland", **PHONE) as chat:
        chat.ask("Which flour?")
        add_topic(browser_database, chat.thread_id, "The leaking oven door")
        today = datetime.now(UTC).date()
        for ago in (0, 1, 9):
            add_day(browser_database, chat.thread_id, today - timedelta(days=ago), f"Ada rested {ago} days ago.")
        page = open_memory(chat)
        expect(page.locator("#zone-name")).to_have_text("Pacific/Auckland")
        assert chat.too_small_targets() == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

        page.get_by_role("button", name="Resolved: The leaking oven door").press("Enter")
        page.get_by_role("button", name="Undo: The leaking oven door").press("Enter")
        page.get_by_role("button", name="Resolved: The leaking oven door").press("Enter")
        expect(page.get_by_role("button", name="Undo: The leaking oven door")).to_be_focused()

        day = page.locator(".day-page:visible > p")
        expect(day).to_have_text("Ada rested 0 days ago.")
        page.locator("#calendar a[aria-current]").focus()
        for key, told in (("ArrowLeft", 1), ("ArrowUp", 9), ("ArrowRight", 1), ("Home", 9), ("End", 0)):
            page.keyboard.press(key)
            expect(day).to_have_text(f"Ada rested {told} days ago.")

        page.get_by_role("switch", name="Remember across conversations").press("Space")
        expect(page.locator("#off-note")).to_be_visible()
        page.reload()
        expect(page.get_by_role("switch", name="Remember across conversations")).not_to_be_checked()
        expect(page.get_by_text("Nothing is open.")).to_be_visible()
        page.get_by_text("Resolved 1").click()
        expect(page.get_by_role("button", name="Open again: The leaking oven door")).to_be_visible()

        page.get_by_role("textbox", name="A new note").fill("Kept?")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".note")).to_have_count(1)
        page.get_by_role("button", name="Forget everything").click()
        dialog = page.get_by_role("dialog", name="Forget everything?")
        expect(dialog).to_contain_text("1 note")
        expect(dialog.get_by_role("button", name="Forget")).to_be_disabled()
        dialog.get_by_label("To go on, type").fill("Forget everything")
        dialog.get_by_role("button", name="Forget").click()
        page.get_by_role("dialog", name="Forgotten").get_by_role("button", name="Close").click()
        expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()
        expect(page.locator(".topic, .day-page, .note")).to_have_count(0)


def test_a_turn_is_forgotten_in_the_chat_and_a_conversation_left_out_of_memory(
    chat: Chat, browser_database: str
) -> None:
    chat.ask("My code is 471199.")
    turn = chat.turns.first
    turn.hover()
    turn.get_by_role("button", name="More about your message").click()
    chat.page.get_by_role("menuitem", name="Forget this turn").click()
    dialog = chat.page.get_by_role("dialog", name="Forget what you said here?")
    dialog.get_by_role("button", name="Forget").click()
    chat.page.get_by_role("dialog", name="Forgotten").get_by_role("button", name="Close").click()
    expect(turn.locator(".bubble")).to_have_text("Forgotten")
    expect(turn.get_by_role("button")).to_have_count(0)

    chat.page.get_by_role("button", name="What to do with this conversation").click()
    chat.page.get_by_role("menuitemcheckbox", name="Remember this conversation", checked=True).click()
    expect(chat.page.locator("#unremembered")).to_be_visible()
    chat.page.reload()
    expect(chat.page.locator("#unremembered")).to_have_text("Not remembered")
    expect(chat.threads.get_by_text(", not remembered")).to_have_count(1)
    expect(turn.locator(".bubble")).to_have_text("Forgotten")

    add_memory(browser_database, chat.thread_id, "Bakes rye.")
    chat.page.get_by_role("link", name="Memory").click()
    expect(chat.page).to_have_url(re.compile("/memory/$"))
    expect(chat.page.locator(".note-text")).to_have_text(["Bakes rye."])


@pytest.mark.wide
def test_long_lists_go_on_and_the_book_leads_to_a_note(chat: Chat, browser_database: str) -> None:
    chat.ask("Hello.")
    for number in range(60):
        add_memory(browser_database, chat.thread_id, f"Fact {number} about rye.")
    chat.ask("What about the rye?")
    chat.replies.last.get_by_role("button", name="open what the model was given").click()
    link = chat.page.locator(".fate.included .fate-link").first
    named = str(link.get_attribute("href")).partition("#memory-")[2].split(",")
    link.click()
    page = chat.page
    expect(page.locator("#memory[data-ready]")).to_be_visible()
    expect(page.locator(".note.marked")).to_have_count(len(named))
    expect(page.locator(".note.marked").first).to_be_focused()
    page.goto("about:blank")
    open_memory(chat)
    expect(page.locator(".note")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".note")).to_have_count(60)
    assert len(set(notes(page))) == 60
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    expect(page.locator(".note").nth(50)).to_be_focused()
