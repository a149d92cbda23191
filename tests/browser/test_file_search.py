"""What stands in files is found by the search of the chat, and opened where it stands."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import Reader
from tests.browser.long_pdf import long_pdf
from tests.browser.pages import Chat
from tests.browser.test_viewer import ask_about, page_at, panel
from tests.model_server import ModelServer

pytestmark = pytest.mark.wide


def search(chat: Chat, words: str) -> None:
    chat.page.keyboard.press("Control+k")
    chat.page.get_by_role("searchbox").fill(words)
    expect(chat.threads.get_by_role("status")).to_have_text("Found in 1 conversation")


def test_a_page_of_a_file_is_found_and_opened_beside_its_turn_by_keyboard(
    chat: Chat, model: ModelServer, reading: None
) -> None:
    ask_about(chat, model, ("report.pdf", long_pdf(9)))
    chat.page.get_by_role("link", name="New conversation").click()
    search(chat, "4711 crowns")
    hit = chat.threads.locator(".hit")
    expect(hit.locator(".place")).to_have_text(re.compile(r"^report\.pdf, page 7, .*, turn 1$"))
    expect(hit.locator("mark").first).to_have_text("4711")
    assert violations(chat.page) == []
    chat.page.keyboard.press("ArrowDown")
    chat.page.keyboard.press("Enter")
    expect(chat.page).to_have_url(re.compile(r"/threads/[0-9a-f-]{36}/#turn-1$"))
    expect(panel(chat)).to_contain_text("report.pdf")
    expect(page_at(chat, 7)).to_be_in_viewport()


def test_on_a_phone_the_drawer_gives_way_to_the_page_that_was_found(
    reader: Reader, model: ModelServer, reading: None
) -> None:
    with reader(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as chat:
        ask_about(chat, model, ("report.pdf", long_pdf(9)))
        chat.page.get_by_role("button", name="Show the conversations").click()
        chat.page.get_by_role("searchbox").fill("4711 crowns")
        chat.threads.locator(".hit").click()
        expect(chat.threads).to_be_hidden()
        expect(page_at(chat, 7)).to_be_in_viewport()
