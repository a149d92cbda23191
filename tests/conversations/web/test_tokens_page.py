"""The page on which people make their tokens: it shows each once, and works without a script."""

import html
import re

import pytest
from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth.models import User
from django.test import Client, RequestFactory

from conversations.accounts import tokens
from conversations.accounts.limits import Limits, limits_of_token
from conversations.models import ApiToken
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db

PAGE = "/account/tokens/"


@pytest.fixture
def browser(user: User) -> Client:
    """Of somebody who has just signed in, and has no password to be asked for."""
    client = Client()
    client.force_login(user)
    said = RequestFactory().get("/")
    said.session = client.session
    record_authentication(said, user, "socialaccount")
    said.session.save()
    return client


def make_token(browser: Client, **form: object) -> tuple[str, str]:
    """The page after the form was sent, and the token on it, if there is one."""
    page = browser.post(PAGE, {"name": "Backup", "scopes": ["read", "export"], "days": 7} | form).text
    found = re.search(r'value="(ob_[^"]+)"', page)
    return page, html.unescape(found.group(1)) if found else ""


def test_a_token_is_shown_once_and_does_what_was_ticked(browser: Client, user: User) -> None:
    _, token = make_token(browser)
    row = ApiToken.objects.get()
    assert tokens.valid(token) == row
    assert (row.user, row.name, row.scopes, (row.expires_at - row.created_at).days) == (
        user,
        "Backup",
        ["read", "export"],
        6,
    )
    again = browser.get(PAGE)
    assert ("Backup" in again.text, token in again.text, "no-store" in again["Cache-Control"]) == (True, False, True)


def test_a_token_gets_a_part_of_what_its_user_may_use(browser: Client) -> None:
    page, _ = make_token(browser, requests_minute=30, running_replies=1, tokens_day=50_000)
    row = ApiToken.objects.get()
    assert limits_of_token(row) == Limits(requests_minute=30, running_replies=1, tokens_day=50_000)
    assert "30 requests a minute · 1 reply at once · 50,000 tokens a day" in " ".join(page.split())


@pytest.mark.parametrize(
    "form",
    [{"name": ""}, {"scopes": []}, {"scopes": ["admin"]}, {"days": 91}, {"days": 0}, {"tokens_day": -1}],
)
def test_a_form_that_asks_for_too_much_or_too_little_makes_nothing(browser: Client, form: dict[str, object]) -> None:
    page, token = make_token(browser, **form)
    assert (token, ApiToken.objects.count(), "field-error" in page) == ("", 0, True)


def test_revoking_asks_first_and_then_ends_it_at_once(browser: Client) -> None:
    _, token = make_token(browser)
    address = f"{PAGE}{ApiToken.objects.get().pk}/revoke/"
    assert "Revoke “Backup”?" in browser.get(address).text
    assert tokens.valid(token) is not None
    assert browser.post(address).headers["Location"] == PAGE
    assert (tokens.valid(token), "Backup" in browser.get(PAGE).text) == (None, False)


def test_another_users_token_is_neither_seen_nor_revoked(browser: Client) -> None:
    token = tokens.issue(user=make_user(), name="Not yours")
    address = f"{PAGE}{ApiToken.objects.get().pk}/revoke/"
    assert [browser.get(address).status_code, browser.post(address).status_code] == [404, 404]
    assert ("Not yours" in browser.get(PAGE).text, tokens.valid(token) is None) == (False, False)


def test_the_page_is_for_people_who_are_signed_in(db: None) -> None:
    assert [Client().get(url).status_code for url in (PAGE, f"{PAGE}1/revoke/")] == [302, 302]
