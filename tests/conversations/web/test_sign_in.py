"""The pages on which people sign in: who guesses is told to wait, in words, and loses nothing."""

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from conversations.runtime import rate_counters
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db

AT = 1_795_262_400.0 + 15
PASSWORD = "correct horse battery"
WAIT = "Too many attempts for this user name. Try again in 45 s."


@pytest.fixture
def person() -> User:
    rate_counters.HERE.clear()
    return make_user("carol", password=PASSWORD, is_staff=True)


@pytest.mark.parametrize("page", ["/accounts/login/", "/admin/login/"])
def test_a_password_is_not_to_be_guessed_and_the_page_says_when_to_go_on(person: User, page: str) -> None:
    client = Client()

    def attempt(password: str, name: str = "carol") -> int:
        return client.post(page, {"username": name, "password": password, "next": "/memory/"}).status_code

    with time_machine.travel(AT, tick=False) as clock:
        assert [attempt(f"wrong {n}") for n in range(9)] == [200] * 9
        assert attempt(PASSWORD) == 302  # forgives the wrong ones
        client.logout()
        assert [attempt(f"wrong {n}") for n in range(11)] == [200] * 10 + [429]
        refused = client.post(page, {"username": "Carol", "password": PASSWORD, "next": "/memory/"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "45")
        assert [told in refused.text for told in (WAIT, 'value="Carol"', 'value="/memory/"')] == [True] * 3
        assert (PASSWORD in refused.text, attempt("wrong", "somebody else")) == (False, 200)
        clock.shift(45)
        assert attempt(PASSWORD) == 302


def test_attempts_are_counted_together_at_all_doors(person: User) -> None:
    client, form = Client(), {"username": "carol", "password": "wrong"}
    with time_machine.travel(AT, tick=False):
        statuses = [client.post(page, form).status_code for page in ["/accounts/login/", "/admin/login/"] * 6]
        answer = client.post("/api/v1/auth/token/", form, content_type="application/json")
    assert (statuses, answer.status_code) == ([200] * 10 + [429] * 2, 429)
