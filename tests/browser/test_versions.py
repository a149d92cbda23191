"""People edit what they said, ask again and go back and forth between versions, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.pages import Chat
from tests.model_scripts import text
from tests.model_server import ModelServer


def test_a_message_is_edited_and_its_versions_are_gone_through(chat: Chat, model: ModelServer) -> None:
    model.script(text("Hello Ann."), text("Fish it is."), text("Bones it is."), text("He likes to walk."))
    for words in ("I am Ann.", "My dog likes fish."):
        chat.ask(words)
    page, composer = chat.page, chat.page.locator("#text")
    composer.press("ArrowUp")
    editor = page.get_by_label("Edit your message").and_(page.locator("textarea"))
    expect(editor).to_have_value("My dog likes fish.")
    editor.press("Escape")
    expect(editor).to_have_count(0)
    assert chat.said() == ["I am Ann.", "Hello Ann.", "My dog likes fish.", "Fish it is."]
    page.get_by_role("button", name="Edit your message").last.click()
    editor.fill("My dog likes bones.")
    assert violations(page) == []
    editor.press("Enter")
    expect(chat.replies.last).to_contain_text("Bones it is.")
    assert chat.said() == ["I am Ann.", "Hello Ann.", "My dog likes bones.", "Bones it is."]
    versions = page.get_by_role("group", name="Version 2 of 2")
    expect(versions).to_have_count(1)
    versions.get_by_role("button", name="Previous version").press("Enter")
    expect(chat.replies.last).to_contain_text("Fish it is.")
    assert chat.said() == ["I am Ann.", "Hello Ann.", "My dog likes fish.", "Fish it is."]
    expect(page.get_by_role("button", name="Next version")).to_be_focused()
    page.reload()
    expect(chat.replies.last).to_contain_text("Fish it is.")
    expect(page.get_by_role("group", name="Version 1 of 2")).to_have_count(1)


@pytest.mark.wide
def test_an_earlier_answer_is_given_again_and_both_stand_beside_one_another(chat: Chat, model: ModelServer) -> None:
    model.script(text("Red."), text("Round."), text("Blue."))
    for words in ("A colour?", "A shape?"):
        chat.ask(words)
    page = chat.page
    page.locator(".turn.assistant").first.get_by_role("button", name="Answer again").click()
    expect(chat.replies).to_have_count(1)
    expect(chat.replies.first).to_contain_text("Blue.")
    page.get_by_role("button", name="Show two answers beside one another").click()
    dialog = page.get_by_role("dialog", name="Two answers beside one another")
    expect(dialog.locator(".compare-body")).to_have_text(["Red.", "Blue."])
    assert violations(page) == []
    dialog.get_by_role("button", name="Go on with this one").first.click()
    expect(chat.replies).to_have_count(2)
    assert chat.said() == ["A colour?", "Red.", "A shape?", "Round."]


@pytest.mark.wide
def test_a_tab_that_looks_on_shows_the_branch_that_another_one_chose(chat: Chat, model: ModelServer) -> None:
    model.script(text("Hello Ann."), text("Hello Bea."))
    chat.ask("I am Ann.")
    other = chat.page.context.new_page()
    other.goto(chat.page.url)
    expect(other.locator(".turn.assistant")).to_contain_text("Hello Ann.")
    chat.page.get_by_role("button", name="Edit your message").click()
    editor = chat.page.locator("textarea.edit-text")
    editor.fill("I am Bea.")
    editor.press("Enter")
    expect(chat.replies).to_contain_text(["Hello Bea."])
    expect(other.locator(".turn.assistant")).to_contain_text("Hello Bea.")
    chat.page.get_by_role("button", name="Previous version").first.click()
    expect(chat.replies).to_contain_text(["Hello Ann."])
    expect(other.locator(".turn.assistant")).to_contain_text("Hello Ann.")
