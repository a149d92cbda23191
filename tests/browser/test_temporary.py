"""A temporary chat in the browser: said all the time, kept by a reload, gone when it is closed."""

from playwright.sync_api import expect

from tests.browser.pages import Chat
from tests.model_server import ModelServer


def test_a_temporary_chat_says_so_is_not_listed_and_goes_when_it_is_closed(chat: Chat, model: ModelServer) -> None:
    page = chat.page
    bar, switch = page.locator("#temporary-bar"), page.get_by_role("button", name="Temporary chat")
    expect(bar).to_be_hidden()
    page.keyboard.press("Control+Shift+L")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(bar).to_contain_text("Nothing of it is kept or learnt.")
    chat.ask("My boat is called Marigold.")
    expect(chat.threads).not_to_contain_text("Marigold")
    address = page.url

    page.reload()
    chat.wait_until_ready()
    expect(bar).to_be_visible()
    expect(chat.replies).to_have_count(1)
    page.get_by_label("Use what is remembered").check()
    chat.box.fill("a draft")
    assert page.evaluate("JSON.stringify(localStorage)").find("draft") == -1
    page.locator(".book-mark").click()
    expect(page.get_by_text("Temporary chat: this record goes with it.")).to_be_visible()
    page.keyboard.press("Escape")

    page.get_by_role("button", name="Close and delete").click()
    expect(bar).to_be_hidden()
    assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})").find("draft") == -1
    assert page.request.get(address).status == 404
