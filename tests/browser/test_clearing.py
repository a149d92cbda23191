"""Clearing a conversation, as a person meets it: what goes and what stays is said first, and another tab learns of it."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import violations
from tests.browser.memories import add_fact, holding
from tests.browser.pages import Chat
from tests.browser.rows import add_artifact
from tests.model_scripts import Gate, text
from tests.model_server import ModelServer

MENU = "What to do with this conversation"


def begin_clearing(chat: Chat) -> Locator:
    """The dialog, opened from the thread's menu by keyboard."""
    chat.page.get_by_role("button", name=MENU).focus()
    chat.page.keyboard.press("Enter")
    chat.page.get_by_role("menuitem", name="Clear…").focus()
    chat.page.keyboard.press("Enter")
    return chat.page.get_by_role("dialog", name="Clear this conversation?")


def lines(dialog: Locator) -> list[str]:
    expect(dialog.locator(".forget-others").first).to_be_visible()
    return dialog.locator(".forget-others li").all_inner_texts()


@pytest.mark.wide
def test_a_conversation_is_cleared_by_keyboard_and_goes_on_afresh(
    chat: Chat, browser_database: str, model: ModelServer
) -> None:
    chat.ask("My boat Quillhaven leaks.")
    chat.ask("And the mast of Quillhaven?")
    add_fact(browser_database, chat.thread_id, "The boat Quillhaven leaks.", position=1)
    add_artifact(browser_database, chat.thread_id, "# Repairs", title="Repairs")
    chat.page.reload()
    dialog = begin_clearing(chat)
    assert lines(dialog) == [
        "4 turns",
        "its title, which is the beginning of a turn: your next message gives it another",
        "1 note that rests on nothing else",
        "the text of 2 recorded requests that were given some of it",
        "the conversation, with its settings",
        "1 artifact made in it",
        "what other conversations say, and notes that rest on them too",
    ]
    expect(dialog.get_by_role("heading", name="Clear this conversation?")).to_be_focused()
    assert violations(chat.page) == []
    chat.page.keyboard.press("Escape")
    expect(chat.page.get_by_role("button", name=MENU)).to_be_focused()
    assert len(chat.said()) == 4

    yes = begin_clearing(chat).get_by_role("button", name="Clear", exact=True)
    expect(yes).to_be_enabled()
    yes.press("Enter")
    cleared = chat.page.get_by_role("dialog", name="Cleared")
    expect(cleared.get_by_role("heading", name="Cleared")).to_be_focused()
    assert lines(cleared) == ["4 turns", "its title", "1 note", "the text of 2 recorded requests"]
    assert holding(browser_database, "Quillhaven") == []
    cleared.get_by_role("button", name="Close").press("Enter")
    expect(chat.turns).to_have_count(0)
    expect(chat.box).to_be_focused()
    expect(chat.page.get_by_text("No turns yet.")).to_be_visible()
    expect(chat.page.locator("#title")).to_have_text("New conversation")
    expect(chat.page.locator("#gauge")).to_be_hidden()
    expect(chat.page.locator(".card-note")).to_contain_text("Repairs")
    assert violations(chat.page) == []

    chat.ask("What is it called?")
    assert "Quillhaven" not in str(model.bodies[-1])
    expect(chat.page.locator("#title")).to_have_text("What is it called?")
    expect(chat.page.get_by_text("No turns yet.")).to_be_hidden()
    chat.page.reload()
    expect(chat.turns).to_have_count(2)


@pytest.mark.wide
def test_an_empty_conversation_has_nothing_to_clear(chat: Chat) -> None:
    chat.ask("Hello")
    for title, button in (("Clear this conversation?", "Clear"), ("Cleared", "Close")):
        if button == "Clear":
            begin_clearing(chat)
        chat.page.get_by_role("dialog", name=title).get_by_role("button", name=button, exact=True).click()
    expect(chat.turns).to_have_count(0)
    dialog = begin_clearing(chat)
    expect(dialog).to_contain_text("There is nothing to clear.")
    expect(dialog.get_by_role("button", name="Clear", exact=True)).to_be_disabled()


@pytest.mark.wide
def test_another_tab_drops_what_was_cleared_and_keeps_what_came_since(chat: Chat) -> None:
    chat.ask("My boat Marigold leaks.")
    other = Chat(chat.page.context.new_page(), chat.url)
    other.page.goto(chat.page.url)
    expect(other.replies).to_have_count(1)
    begin_clearing(chat).get_by_role("button", name="Clear", exact=True).click()
    chat.page.get_by_role("dialog", name="Cleared").get_by_role("button", name="Close").click()
    expect(chat.turns).to_have_count(0)
    chat.ask("Hello again")
    expect(other.page.get_by_text("Marigold")).to_have_count(0)
    assert other.said() == chat.said()
    expect(other.page.locator("#title")).to_have_text("Hello again")
    assert other.problems == []


@pytest.mark.wide
def test_nothing_is_cleared_while_a_reply_runs_and_the_dialog_says_so(chat: Chat, model: ModelServer) -> None:
    chat.ask("Hello")
    gate = Gate()
    model.script(text("One. ", gate, "Two."))
    chat.send("Count")
    expect(chat.live.locator(".parts > .prose")).to_have_text("One.")
    dialog = begin_clearing(chat)
    dialog.get_by_role("button", name="Clear", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("A reply is still running")
    dialog.get_by_role("button", name="Cancel").click()
    gate.open()
    expect(chat.replies).to_have_count(2)
    chat.problems[:] = [
        problem for problem in chat.problems if "409" not in problem
    ]  # the browser tells of the refusal
