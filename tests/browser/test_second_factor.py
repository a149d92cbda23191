"""A second factor as a person meets it: an app, recovery codes, passkeys beside the password and in its place."""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.browser.pages import PASSWORD, Chat, chat_page
from tests.browser.test_account import faults
from tests.conversations.accounts.codes import code_of

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@contextmanager
def passkey_device(page: Page) -> Iterator[tuple[CDPSession, str]]:
    """An authenticator that is software, and its id."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    id = session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]
    yield session, id
    session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": id})


def read(page: Page, heading: str) -> None:
    """Wait for the page of this heading, which everybody can use."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    assert faults(page) == {}, heading


def prove(page: Page) -> None:
    """By the password, where it is asked for."""
    read(page, "Your password, please")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")


def arrive(chat: Chat) -> None:
    expect(chat.page).to_have_url(f"{chat.url}/")
    chat.wait_until_ready()


def sign_out(chat: Chat) -> None:
    chat.open("/accounts/logout/")
    chat.page.get_by_role("button", name="Sign out").press("Enter")
    expect(chat.page).to_have_url(re.compile("/accounts/login/"))


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")


def kept(session: CDPSession, device: str) -> list[Any]:
    return list(session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"])


@pytest.mark.wide
def test_a_passkey_signs_in_alone_until_it_is_removed(browser: Browser, server_url: str) -> None:
    # An address of numbers has no passkeys.
    with chat_page(browser, server_url.replace("127.0.0.1", "localhost")) as chat:
        page, name = chat.page, f"keyed-{uuid.uuid4().hex[:10]}"
        with passkey_device(page) as (session, device):
            chat.sign_up(name)
            chat.open("/accounts/2fa/")
            read(page, "Second factor")
            page.get_by_role("link", name="Add a passkey").press("Enter")
            prove(page)
            read(page, "Add a passkey")
            page.get_by_label("Name").fill("My laptop")
            page.get_by_role("button", name="Add the passkey").press("Enter")
            read(page, "Recovery codes")
            assert [each["isResidentCredential"] for each in kept(session, device)] == [True]
            chat.open("/accounts/2fa/")
            expect(page.get_by_text("My laptop")).to_be_visible()
            assert faults(page) == {}
            sign_out(chat)
            page.get_by_role("button", name="Sign in with a passkey").press("Enter")
            arrive(chat)
            sign_out(chat)
            sign_in(page, name)
            read(page, "Your second factor")
            page.get_by_role("button", name="Use a passkey").press("Enter")
            arrive(chat)
            chat.open("/accounts/2fa/")
            page.get_by_role("link", name="Remove My laptop").press("Enter")
            page.get_by_role("link", name="Use a passkey").press("Enter")
            read(page, "Your passkey, please")
            page.get_by_role("button", name="Use a passkey").press("Enter")
            expect(page).to_have_url(re.compile("/remove/$"))
            page.get_by_role("button", name="Remove the passkey").press("Enter")
            expect(page.get_by_text("My laptop")).to_have_count(0)
            sign_out(chat)
            page.get_by_role("button", name="Sign in with a passkey").press("Enter")
            expect(page.get_by_role("status")).to_contain_text("Incorrect code")
            sign_in(page, name)
            arrive(chat)
        assert chat.problems == []


def test_an_app_asks_for_codes_and_recovery_codes_stand_in(browser: Browser, server_url: str) -> None:
    with chat_page(browser, server_url) as chat:
        page, name = chat.page, f"coded-{uuid.uuid4().hex[:10]}"
        chat.sign_up(name)
        chat.open("/accounts/2fa/totp/activate/")
        prove(page)
        read(page, "Set up an authenticator app")
        assert page.locator(".qr img").evaluate("image => image.naturalWidth > 0")
        key = page.locator("#app-key").input_value()
        page.get_by_label("The code that the app shows now").fill("000000")
        page.keyboard.press("Enter")
        expect(page.locator(".field-error")).to_be_visible()
        assert page.locator("#app-key").input_value() == key
        page.get_by_label("The code that the app shows now").fill(code_of(key))
        page.keyboard.press("Enter")
        read(page, "Recovery codes")
        codes = page.locator(".codes li").all_inner_texts()
        assert len(codes) == 10
        sign_out(chat)
        sign_in(page, name)
        page.get_by_label("Code").fill(codes[0])
        page.keyboard.press("Enter")
        arrive(chat)
        chat.open("/accounts/2fa/")
        expect(page.get_by_text("9 codes left")).to_be_visible()
        assert faults(page) == {}
        assert chat.problems == []
