"""What an attempt to sign in costs, and whom it keeps out."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from conversations.accounts import passwords, sign_in
from conversations.errors import RateLimited
from conversations.runtime import rate_counters
from tests.conversations.factories import make_user
from tests.test_authorisation import routes
from tests.waiting import until

AT = 1_795_262_400.0 + 15
PASSWORD = "correct horse battery"
FAR = "198.51.100.9"
DOORS = ["/accounts/login/", "/admin/login/", "/api/v1/auth/token/"]


class Hasher(passwords.PasswordHasher):
    """The real one, quick, and known by how often it ran. ``gate`` holds it up."""

    iterations = 1
    ran: list[str] = []
    gate = threading.Event()

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        self.ran.append(password)
        return super().encode(password, salt, iterations)


@pytest.fixture(autouse=True)
def hashes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of passwords, since the test began."""
    monkeypatch.setattr(Hasher, "ran", [])
    settings.PASSWORD_HASHERS = [f"{__name__}.Hasher"]
    return Hasher.ran


@pytest.fixture
def person(db: None, hashes: list[str]) -> User:
    user = make_user("carol", password=PASSWORD, is_staff=True)
    hashes.clear()
    return user


@pytest.fixture
def held_up(hashes: list[str]) -> Iterator[Callable[[], None]]:
    """No hash ends until it is called; at the end of the test all do."""
    gate = threading.Event()
    for _ in range(passwords.THREADS):
        passwords.EXECUTOR.submit(gate.wait)
    yield gate.set
    gate.set()
    passwords.EXECUTOR.submit(str).result()


def attempt(
    client: Client, password: str, name: str = "carol", door: str = DOORS[0], address: str = "127.0.0.1"
) -> int:
    kind = {"content_type": "application/json"} if "api" in door else {}
    form = {"username": name, "password": password}
    return client.post(door, form, REMOTE_ADDR=address, **kind).status_code  # type: ignore[arg-type]


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_name_costs_and_says_the_same_as_a_wrong_password(
    person: User, hashes: list[str], door: str
) -> None:
    make_user("gone", password=PASSWORD, is_active=False)
    make_user("without")
    said, costs = [], []
    for name in ("carol", "nobody", "gone", "without"):
        hashes.clear()
        kind = {"content_type": "application/json"} if "api" in door else {}
        answer = Client().post(door, {"username": name, "password": "wrong"}, **kind)  # type: ignore[arg-type]
        text = answer.json()["error"]["message"] if "api" in door else str(answer.context["form"].errors)
        said.append((answer.status_code, text))
        costs.append(len(hashes))
    assert (said, costs) == ([said[0]] * 4, [1] * 4)


@pytest.mark.wide
def test_no_page_or_call_takes_more_guesses_than_signing_in_does(
    person: User, hashes: list[str], settings: Settings
) -> None:
    """Every address that there is, with a wrong password in every field that asks for one. Whoever compares a password
    without counting fails by itself."""
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    client, asking = Client(), []
    names = ("password", "oldpassword", "old_password", "current_password")
    wrong = dict.fromkeys(names, "wrong") | {"username": "carol", "new_password1": PASSWORD, "new_password2": PASSWORD}
    wrong |= {"password1": PASSWORD + "!", "password2": PASSWORD + "!"}
    plain = {route for route, view in routes() if "<" not in route and "^" not in route and "logout" not in route}
    for path in sorted("/" + route for route in {*plain, "admin/password_change/"}):
        client.force_login(person)
        kind: Any = {"content_type": "application/json"} if "api/" in path else {}
        with time_machine.travel(AT, tick=False):
            client.post(path, wrong, **kind)
            if any(text.startswith("wrong") for text in hashes):
                asking.append(path)
                for guess in range(sign_in.ATTEMPTS + 2):
                    client.post(path, wrong | dict.fromkeys(names, f"wrong {guess}"), **kind)
                assert len([text for text in hashes if text.startswith("wrong")]) == sign_in.ATTEMPTS, path
        hashes.clear()
        rate_counters.HERE.clear()
    assert asking == [
        "/accounts/login/",
        "/accounts/password/change/",
        "/accounts/reauthenticate/",
        "/admin/login/",
        "/api/v1/auth/token/",
    ]


@pytest.mark.parametrize("door", DOORS)
def test_who_guesses_is_refused_without_a_hash_or_a_query(
    person: User, hashes: list[str], django_assert_num_queries: DjangoAssertNumQueries, door: str
) -> None:
    client = Client()
    if door != "/admin/login/":  # whose page asks in any case who looks at it
        client.cookies["sessionid"] = "x" * 32
    with time_machine.travel(AT, tick=False):
        for n in range(sign_in.ATTEMPTS):
            attempt(client, f"wrong {n}", door=door)
        hashes.clear()
        with django_assert_num_queries(0):
            assert attempt(client, PASSWORD, door=door) == 429
    assert hashes == []


@pytest.mark.parametrize("door", [*DOORS, "/accounts/signup/"])
def test_where_too_many_hash_at_once_others_are_refused_without_a_query(
    person: User,
    hashes: list[str],
    settings: Settings,
    django_assert_num_queries: DjangoAssertNumQueries,
    door: str,
) -> None:
    settings.OPENBOOK_SIGNUP = True
    for who in ("a", "b"):
        for _ in range(passwords.PLACES // 2):
            passwords.PLACES_HERE.take(who)
    try:
        with django_assert_num_queries(0):
            assert attempt(Client(), PASSWORD, door=door) == 429
    finally:
        for who in ("a", "b"):
            for _ in range(passwords.PLACES // 2):
                passwords.PLACES_HERE.give_back(who)
    assert hashes == []
    assert attempt(Client(), PASSWORD) == 302


def test_one_address_leaves_places_for_others() -> None:
    places = passwords.Places(total=3, of_one=2)
    places.take("a")
    places.take("a")
    with pytest.raises(RateLimited):
        places.take("a")
    places.take("b")
    with pytest.raises(RateLimited):
        places.take("c")
    places.give_back("a")
    places.take("c")


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_password_waits_for_its_hash(
    hashes: list[str], held_up: Callable[[], None]
) -> None:
    """Of the database, which has few: each of these would hold one."""
    crowd = passwords.PLACES_OF_ONE
    connection.close()
    pool = connection.pool  # type: ignore[attr-defined]

    def taken() -> int:
        stats = pool.get_stats()
        return int(stats["pool_size"] - stats["pool_available"])

    def answer(number: int) -> int:
        try:
            return attempt(Client(), "wrong", f"nobody {number}", DOORS[2])
        finally:
            connection.close()

    before = taken()  # by threads of earlier tests
    with ThreadPoolExecutor(max_workers=crowd) as threads, ExitStack() as stack:
        stack.callback(held_up)
        answers = [threads.submit(answer, number) for number in range(crowd)]
        until(lambda: len(hashes) == crowd)
        until(lambda: taken() <= before)
        assert User.objects.count() == 0
        held_up()
        assert [each.result() for each in answers] == [401] * crowd


def test_a_stranger_who_guesses_keeps_out_strangers_but_not_a_browser_that_is_known(person: User) -> None:
    known, new, stranger = Client(), Client(), Client()
    with time_machine.travel(AT, tick=False) as clock:
        assert attempt(known, PASSWORD) == 302
        known.post("/accounts/logout/")
        statuses = [attempt(stranger, f"wrong {n}", address=FAR) for n in range(11)]
        assert statuses == [200] * 10 + [429]
        assert [attempt(new, PASSWORD), attempt(known, PASSWORD)] == [429, 302]
        assert attempt(new, PASSWORD) == 429  # the stranger's guesses still count
        known.post("/accounts/logout/")
        clock.shift(45)
        assert attempt(new, PASSWORD) == 302


@pytest.mark.parametrize("door", DOORS)
def test_a_known_browser_guesses_no_more_than_others_and_only_for_who_it_knows(person: User, door: str) -> None:
    make_user("dave", password=PASSWORD)
    known = Client()
    with time_machine.travel(AT, tick=False):
        assert attempt(known, PASSWORD) == 302
        known.post("/accounts/logout/")
        for n in range(10):
            assert attempt(known, f"wrong {n}", door=door) in (200, 401)
        assert attempt(known, PASSWORD, door=door) == 429
        assert attempt(Client(), PASSWORD, address=FAR) == 302  # which doesn't count for others
        for n in range(10):
            attempt(Client(), f"wrong {n}", "dave", door, FAR)
        assert attempt(known, PASSWORD, "dave", door) == 429


def test_a_cookie_that_was_not_signed_here_is_worth_nothing(person: User) -> None:
    known, forger = Client(), Client()
    with time_machine.travel(AT, tick=False):
        assert attempt(known, PASSWORD) == 302
        cookie = known.cookies["openbook_device"]
        assert (cookie["httponly"], cookie["samesite"], int(cookie["max-age"])) == (True, "Lax", 400 * 86_400)
        assert "carol" not in cookie.value
        for n in range(10):
            attempt(forger, f"wrong {n}", address=FAR)
        for forged in ("", "x", cookie.value[:-1], cookie.value.replace(":", ".", 1), "é:1:x"):
            forger.cookies["openbook_device"] = forged
            assert attempt(forger, PASSWORD, address=FAR) == 429


def test_people_who_share_a_browser_are_all_known_in_it(person: User) -> None:
    make_user("dave", password=PASSWORD)
    shared = Client()
    with time_machine.travel(AT, tick=False):
        for name in ("carol", "dave"):
            assert attempt(shared, PASSWORD, name) == 302
            shared.post("/accounts/logout/")
        for name in ("carol", "dave"):
            for n in range(10):
                attempt(Client(), f"wrong {n}", name, address=f"198.51.100.{n}")
            assert attempt(Client(), PASSWORD, name) == 429
            assert attempt(shared, PASSWORD, name) == 302
            shared.post("/accounts/logout/")


@pytest.mark.once("198*")
@pytest.mark.parametrize(
    ("one", "other", "elsewhere"),
    [(FAR, FAR, "198.51.100.10"), ("2001:db8:0:1::1", "2001:db8:0:1:ffff::9", "2001:db8:0:2::1")],
)
def test_an_address_guesses_for_whomever_only_so_often(person: User, one: str, other: str, elsewhere: str) -> None:
    """An account of its own doesn't buy more, and a customer has a whole network of IPv6."""
    make_user("mallory", password=PASSWORD)
    client = Client()
    with time_machine.travel(AT, tick=False):
        for n in range(sign_in.ATTEMPTS_OF_ADDRESS):
            if n % 10 == 0:
                assert attempt(Client(), PASSWORD, "mallory", address=one) == 302
            assert attempt(client, "wrong", f"nobody {n}", address=one) == 200
        assert attempt(client, PASSWORD, address=other) == 429
        assert attempt(client, PASSWORD, address=elsewhere) == 302


@pytest.mark.django_db
def test_accounts_are_made_only_so_often_from_one_address(settings: Settings, hashes: list[str]) -> None:
    settings.OPENBOOK_SIGNUP, settings.OPENBOOK_LIMIT_SIGNUPS_HOUR = True, 2

    def sign_up(number: int, address: str = FAR) -> Any:
        form = {"username": f"new{number}", "password1": PASSWORD, "password2": PASSWORD}
        return Client().post("/accounts/signup/", form, REMOTE_ADDR=address)

    with time_machine.travel(AT, tick=False) as clock:
        assert [sign_up(n).status_code for n in range(2)] == [302] * 2
        hashes.clear()
        refused = sign_up(2)
        assert (refused.status_code, refused.headers["Retry-After"], hashes) == (429, "3585", [])
        assert "Too many attempts from your address. Try again in 60 minutes." in refused.text
        assert sign_up(3, "198.51.100.10").status_code == 302
        clock.shift(3_585)
        assert sign_up(4).status_code == 302
    assert sorted(User.objects.values_list("username", flat=True)) == ["new0", "new1", "new3", "new4"]
