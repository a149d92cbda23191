"""A conversation is shared by keyboard alone, read by somebody without an account, continued by another, and taken back."""

from playwright.sync_api import Browser, expect

from tests.browser.conftest import Reader
from tests.browser.pages import DESK
from tests.browser.rows import add_reader


def test_a_conversation_is_shared_up_to_a_turn_read_and_taken_back(
    reader: Reader, browser: Browser, browser_database: str, server_url: str
) -> None:
    with reader() as chat:
        page, keys = chat.page, chat.page.keyboard
        chat.ask("Is **bread** good?")
        chat.ask("And later?")
        page.get_by_role("button", name="More about this reply").first.focus()
        keys.press("Enter")
        expect(page.get_by_role("menuitem", name="Copy")).to_be_focused()
        while page.locator(":focus").inner_text() != "Share up to here…":
            keys.press("ArrowDown")
        keys.press("Enter")
        dialog = page.get_by_role("dialog", name="Share this conversation")
        expect(dialog).to_be_visible()
        keys.press("Tab")
        keys.press("Space")  # the title
        while page.locator(":focus").inner_text() != "Make a link":
            keys.press("Tab")
        keys.press("Enter")
        expect(dialog.get_by_role("button", name="Copy", exact=True)).to_be_focused()
        address = dialog.get_by_role("textbox", name="The link").input_value()
        context = browser.new_context(**DESK)
        other = context.new_page()
        assert (other.goto(address) or other) and context.cookies() == []
        expect(other.get_by_role("heading", level=1)).to_have_text("Is bread good?")
        expect(other.locator(".turn.user strong")).to_have_text("bread")
        expect(other.locator(".turn")).to_have_count(2)
        assert "And later?" not in other.content()
        context.add_cookies([{"name": "sessionid", "value": add_reader(browser_database), "url": server_url}])
        other.reload()
        other.get_by_role("button", name="Continue from this").click()
        expect(other.locator(".turn")).to_have_count(2)
        expect(other.locator("#unremembered")).to_be_visible()
        other.get_by_role("textbox", name="Your message").fill("And of rye?")
        other.keyboard.press("Enter")
        expect(other.locator(".turn.assistant:not(.live)")).to_have_count(2)
        other.goto(address)
        dialog.get_by_role("button", name="Revoke the link").press("Enter")
        expect(dialog.get_by_role("button", name="Revoke the link")).to_have_count(0)
        other.reload()
        expect(other.get_by_role("heading", level=1)).to_have_text("This link shows nothing")
        context.close()
