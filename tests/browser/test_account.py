"""The pages of a person's own account, by keyboard, on a phone and in the dark."""

import re
import uuid
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.accessibility import violations
from tests.browser.pages import PASSWORD, chat_page

PAGES = ["accounts/login/", "accounts/password/reset/", "account/", "accounts/password/change/", "account/delete/"]
TOO_WIDE = "document.documentElement.scrollWidth > innerWidth"


LOOKS: list[tuple[int, Literal["light", "dark"]]] = [(1280, "light"), (390, "dark")]


def faults(page: Page) -> dict[int, object]:
    """What not everybody can use, or is too wide, by the width of the window."""
    found = {}
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        found[width] = (violations(page), page.evaluate(TOO_WIDE))
    return {width: each for width, each in found.items() if each != ([], False)}


@pytest.mark.wide
def test_an_account_is_left_and_kept_without_a_mouse(browser: Browser, server_url: str) -> None:
    with chat_page(browser, server_url) as chat:
        page = chat.page
        for path in PAGES[:2]:
            chat.open(f"/{path}")
            assert faults(page) == {}, path
        chat.sign_up(f"reader-{uuid.uuid4().hex[:10]}")
        for path in PAGES[2:]:
            chat.open(f"/{path}")
            assert faults(page) == {}, path
        chat.open("/accounts/reauthenticate/?next=/account/delete/")
        assert faults(page) == {}
        page.get_by_label("Password").press_sequentially(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Delete my account in a day").press("Enter")
        expect(page).to_have_url(re.compile("/accounts/leaving/$"))
        assert faults(page) == {}
        chat.open("/")
        expect(page).to_have_url(re.compile("/accounts/login/"))
        chat.open("/accounts/leaving/")
        while page.locator(":focus").count() == 0 or page.locator(":focus").inner_text() != "Keep my account":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        chat.wait_until_ready()
        assert chat.problems == []
