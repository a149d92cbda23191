"""The pages of a person's own account, by keyboard, on a phone and in the dark."""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.accessibility import violations
from tests.browser.pages import PASSWORD, chat_page

PAGES = ["accounts/login/", "accounts/password/reset/", "account/", "accounts/password/change/", "account/delete/"]
TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"


@pytest.mark.parametrize(
    "looks",
    [{"viewport": {"width": 1280, "height": 820}}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}],
)
def test_an_account_is_left_and_kept_without_a_mouse(browser: Browser, server_url: str, looks: dict[str, Any]) -> None:
    with chat_page(browser, server_url, **looks) as chat:
        page = chat.page
        for path in PAGES[:2]:
            chat.open(f"/{path}")
            assert (path, violations(page), page.evaluate(TOO_WIDE)) == (path, [], False)
        chat.sign_up(f"reader-{uuid.uuid4().hex[:10]}")
        for path in PAGES[2:]:
            chat.open(f"/{path}")
            assert (path, violations(page), page.evaluate(TOO_WIDE)) == (path, [], False)
        page.get_by_role("button", name="Delete my account in a day").press("Enter")
        expect(page).to_have_url(re.compile("/accounts/reauthenticate/"))
        assert (violations(page), page.evaluate(TOO_WIDE)) == ([], False)
        page.get_by_label("Password").press_sequentially(PASSWORD)
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/accounts/leaving/$"))
        assert (violations(page), page.evaluate(TOO_WIDE)) == ([], False)
        chat.open("/")
        expect(page).to_have_url(re.compile("/accounts/login/"))
        chat.open("/accounts/leaving/")
        while page.locator(":focus").count() == 0 or page.locator(":focus").inner_text() != "Keep my account":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        chat.wait_until_ready()
        assert chat.problems == []
