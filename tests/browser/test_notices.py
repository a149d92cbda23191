"""A notice to accept, and banners, as a person meets them."""

import re
import uuid

import psycopg
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages import chat_page
from tests.browser.test_account import faults

PUBLISH = """INSERT INTO conversations_notice (title, text, version, published_at)
VALUES ('House rules', 'Be kind.', 1, now())"""
WITHDRAW = "UPDATE conversations_notice SET withdrawn_at = now()"
ANNOUNCE = """INSERT INTO conversations_banner (text, level, audience, starts_at, is_dismissable, version)
VALUES ('At six <b>all</b> rests.', 'warning', 'everybody', now() - interval '1 hour', %s, 1)"""
# `wait_for_function` takes a promise for a yes.
BOTH_ARE_READ = """async () => {
    const count = async () => (await (await fetch("/api/v1/banners/")).json()).results.length;
    while ((await count()) < 2) await new Promise((again) => setTimeout(again, 100));
}"""


def execute(database: str, *statements: str) -> None:
    with psycopg.connect(database) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@pytest.mark.wide
def test_a_notice_is_accepted_by_keyboard_and_leads_back(
    browser: Browser, server_url: str, browser_database: str
) -> None:
    with chat_page(browser, server_url) as chat:
        page = chat.page
        chat.sign_up(f"reader-{uuid.uuid4().hex[:10]}")
        chat.ask("Hello")
        thread = page.url
        execute(browser_database, PUBLISH)
        try:
            chat.box.fill("Typed before")
            page.get_by_role("link", name="Read it").press("Enter")
            expect(page.get_by_role("heading", level=1)).to_have_text("House rules")
            assert faults(page) == {}
            page.get_by_role("button", name="I accept").press("Enter")
            expect(page).to_have_url(thread)
            chat.wait_until_ready()
            expect(chat.box).to_have_value("Typed before")
            chat.open("/notice/")
            expect(page.get_by_text(re.compile("You accepted it on"))).to_be_visible()
        finally:
            execute(browser_database, WITHDRAW)
        assert [each for each in chat.problems if "403" not in each] == []


@pytest.mark.wide
def test_a_banner_is_read_and_dismissed_for_good(browser: Browser, server_url: str, browser_database: str) -> None:
    with psycopg.connect(browser_database) as connection:
        connection.execute(ANNOUNCE.encode(), [False])
        connection.execute(ANNOUNCE.encode(), [True])
    try:
        with chat_page(browser, server_url) as chat:
            page = chat.page
            chat.sign_up(f"reader-{uuid.uuid4().hex[:10]}")
            banners = page.get_by_role("region", name="Announcements").locator(".banner:visible")
            page.evaluate(BOTH_ARE_READ)
            page.reload()
            chat.wait_until_ready()
            expect(banners).to_have_text(["Warning: At six <b>all</b> rests."] * 2)
            assert faults(page) == {}
            page.get_by_role("button", name="Dismiss this announcement").press("Enter")
            expect(banners).to_have_count(1)
            expect(page.get_by_role("heading", level=1)).to_be_focused()
            chat.open("/projects/")
            expect(banners).to_have_count(1)
            assert faults(page) == {}
            assert chat.problems == []
    finally:
        execute(browser_database, "DELETE FROM conversations_banner")
