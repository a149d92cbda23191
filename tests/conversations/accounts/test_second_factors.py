"""Codes of an app, recovery codes, and who has to have a second factor."""

import json
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import Settings

from conversations.accounts import second_factors, sign_in
from conversations.models import ContentAccess, GroupSignIn
from conversations.upkeep import key_renewal
from tests.conversations.accounts.codes import code_of
from tests.conversations.accounts.test_sign_in import AT, PASSWORD, Hasher
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db
LOGIN, CODE, TOKEN = "/accounts/login/", "/accounts/2fa/authenticate/", "/api/v1/auth/token/"


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = [f"{Hasher.__module__}.Hasher"]


@pytest.fixture
def person(quick: None) -> User:
    return make_user("carol", password=PASSWORD)


def add_app(user: User) -> str:
    """Returns the key that the app has."""
    key: str = generate_totp_secret()
    TOTP.activate(user, key)
    return key


def recovery_codes(user: User) -> list[str]:
    codes: list[str] = RecoveryCodes.activate(user).generate_codes()
    return codes


def first_step(client: Client, name: str = "carol") -> None:
    answer = client.post(LOGIN, {"username": name, "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, CODE)


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def token(client: Client, **body: Any) -> tuple[int, str]:
    answer = client.post(TOKEN, {"username": "carol", "password": PASSWORD, **body}, content_type="application/json")
    return answer.status_code, answer.json().get("error", {}).get("code", "")


@pytest.mark.parametrize(
    ("steps", "is_right"), [(0, True), (-1, True), (1, True), (-2, False), (2, False), (-2880, False)]
)
def test_a_clock_may_be_wrong_by_a_step(person: User, steps: int, is_right: bool) -> None:
    with time_machine.travel(AT, tick=False):
        key = add_app(person)
        assert (second_factors.use_code(person, code_of(key, steps=steps)) is not None) is is_right


def test_a_code_works_once_in_whatever_process(person: User, client: Client) -> None:
    with time_machine.travel(AT, tick=False) as now:
        key = add_app(person)
        first_step(client)
        code = code_of(key, steps=1)
        assert client.post(CODE, {"code": code}).status_code == 302
        assert is_signed_in(client)
        other = Client()
        first_step(other)
        for replayed in (code, code_of(key)):  # nor does an earlier one
            answer = other.post(CODE, {"code": replayed})
            assert "Incorrect code" in answer.content.decode()
        now.shift(60)
        assert "Incorrect code" in other.post(CODE, {"code": code}).content.decode()
        assert not is_signed_in(other)
        assert other.post(CODE, {"code": code_of(key)}).status_code == 302


def test_a_recovery_code_works_once(person: User, client: Client) -> None:
    with time_machine.travel(AT, tick=False):
        add_app(person)
        code, another = recovery_codes(person)[:2]
        for attempt, status in ((code, 302), (code, 200), (another, 302)):
            browser = Client()
            first_step(browser)
            assert browser.post(CODE, {"code": attempt}).status_code == status


def test_codes_are_not_guessed_without_end_and_nobody_locks_anybody_out(person: User, client: Client) -> None:
    with time_machine.travel(AT, tick=False) as now:
        key = add_app(person)
        first_step(client)
        assert client.post(CODE, {"code": code_of(key)}).status_code == 302  # this browser is known from now on
        client.post("/accounts/logout/")
        stranger = Client()
        first_step(stranger)
        tried = 0
        for _ in range(10):
            while stranger.post(CODE, {"code": "000000"}).status_code == 200:
                tried += 1
            now.shift(60)
        assert tried == sign_in.CODES_HOUR
        assert stranger.post(CODE, {"code": code_of(key)}).status_code == 429
        first_step(client)
        assert client.post(CODE, {"code": code_of(key)}).status_code == 302


def test_a_token_takes_a_code_where_there_is_a_factor(person: User, client: Client) -> None:
    with time_machine.travel(AT, tick=False):
        assert token(client) == (200, "")
        key = add_app(person)
        assert token(client) == (403, "second_factor_needed")
        assert token(client, code="000000") == (401, "authentication_failed")
        assert token(client, code=code_of(key)) == (200, "")
        assert token(client, code=code_of(key)) == (401, "authentication_failed")
        for _ in range(sign_in.CODES):
            token(client, code="000000")
        assert token(client, code=code_of(key, steps=1)) == (429, "rate_limited")


def test_a_required_factor_is_asked_for_at_every_door(person: User, client: Client) -> None:
    group = Group.objects.create(name="Doctors")
    person.groups.add(group)
    client.force_login(person)
    assert is_signed_in(client)
    GroupSignIn.objects.create(group=group, requires_second_factor=True)
    assert client.get("/account/")["Location"] == "/accounts/2fa/"
    assert client.get("/api/v1/threads/").json()["error"]["code"] == "second_factor_needed"
    assert token(client) == (403, "second_factor_needed")
    add_app(person)
    assert is_signed_in(client)
    assert client.get("/api/v1/threads/").status_code == 200


def test_the_first_factor_ends_sign_ins_that_had_none(person: User) -> None:
    here, elsewhere = Client(), Client()
    for browser in (here, elsewhere):
        browser.post(LOGIN, {"username": "carol", "password": PASSWORD})
    page = "/accounts/2fa/totp/activate/"
    assert here.get(page)["Location"].startswith("/accounts/reauthenticate/")
    here.post(f"/accounts/reauthenticate/?next={page}", {"password": PASSWORD})
    key = here.get(page).context["form"].secret
    answer = here.post(page, {"code": code_of(key)})
    assert answer["Location"] == "/accounts/2fa/recovery-codes/"
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
    assert second_factors.use_code(person, code_of(key)) is None  # it was used to set the app up


def test_who_has_neither_password_nor_factor_signs_in_again(client: Client) -> None:
    client.force_login(make_user("by provider"))
    answer = client.post("/account/tokens/", {"name": "x"})
    assert answer["Location"].startswith("/accounts/again/?next=")
    assert "Sign in again" in client.get(answer["Location"]).content.decode()


def test_staff_remove_a_lost_factor_and_it_is_recorded(person: User, admin_client: Client, client: Client) -> None:
    client.post(LOGIN, {"username": "carol", "password": PASSWORD})
    assert is_signed_in(client)
    add_app(person)
    recovery_codes(person)
    form = {"action": "remove_second_factors", "_selected_action": [person.pk]}
    page = admin_client.post("/admin/auth/user/", form)
    assert "has 1 second factor" in page.content.decode()
    assert Authenticator.objects.count() == 2
    admin_client.post("/admin/auth/user/", form | {"confirmed": "yes"})
    assert not Authenticator.objects.exists()
    assert not UserSession.objects.filter(user=person).exists()
    assert not is_signed_in(client)
    assert ContentAccess.objects.get(user=person.pk).reason == "Removed the second factor."


def test_staff_remove_no_factor_of_whoever_may_more(person: User, client: Client) -> None:
    boss = make_user("boss", is_staff=True, is_superuser=True)
    add_app(boss)
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.set([])
    client.force_login(helper)
    client.post(
        "/admin/auth/user/", {"action": "remove_second_factors", "_selected_action": [boss.pk], "confirmed": "1"}
    )
    assert second_factors.has_factor(boss)


def test_secrets_lie_encrypted_and_follow_the_secret_key(person: User, settings: Settings) -> None:
    key = add_app(person)
    codes = recovery_codes(person)
    rows = json.dumps(list(Authenticator.objects.values_list("data", flat=True)))
    assert key not in rows
    assert not any(code in rows for code in codes)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the-new-one", [settings.SECRET_KEY]
    assert key_renewal.renew() == 2
    settings.SECRET_KEY_FALLBACKS = []
    assert second_factors.use_code(person, code_of(key))
    assert second_factors.use_code(person, codes[0])
    settings.SECRET_KEY = "a-third"
    assert second_factors.use_code(person, code_of(key, steps=1)) is None


def test_signing_out_everywhere_leaves_no_browser_that_needs_no_code(person: User, client: Client) -> None:
    with time_machine.travel(AT, tick=False) as now:
        key = add_app(person)
        here, elsewhere = Client(), Client()
        for browser in (here, elsewhere):
            first_step(browser)
            assert browser.post(CODE, {"code": code_of(key)}).status_code == 302
            now.shift(60)
        here.post("/account/sign-out/")
        assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
        first_step(elsewhere)
        assert not is_signed_in(elsewhere)


def test_reading_content_takes_a_fresh_factor_where_that_is_on(
    person: User, admin_client: Client, admin_user: User, settings: Settings
) -> None:
    settings.OPENBOOK_READING_NEEDS_FACTOR = True
    form, door = {"user": person.pk, "reason": "A call", "next": "/admin/"}, "/admin/conversations/contentaccess/open/"

    def is_open() -> bool:
        return str(person.pk) in admin_client.session.get("openbook_reasons", {})

    assert admin_client.post(door, form)["Location"] == "/accounts/2fa/"
    with time_machine.travel(AT, tick=False):
        key = add_app(admin_user)
        page = admin_client.post(door, form)["Location"]
        assert page == "/accounts/2fa/reauthenticate/?next=%2Fadmin%2F"
        assert admin_client.post("/accounts/reauthenticate/?next=/admin/", {"password": "password"}).status_code == 302
        assert not is_open()
        page = admin_client.post(door, form)["Location"]
        assert admin_client.post(page, {"code": code_of(key)})["Location"] == "/admin/"
        assert is_open()
