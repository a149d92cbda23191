"""People and their accounts: passwords, sign-ins, and an end that leaves nothing."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from config.settings import mailers
from conversations import schedule
from conversations.accounts import letters, lifecycle, mailing, session_user, tokens
from conversations.models import AccountDeletion, ApiToken, OutgoingMail, Thread
from conversations.upkeep import retention
from memory.models import Preferences
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_snapshot, make_thread, make_user
from tests.memory.factories import make_daily_summary, make_memory, make_topic
from tests.memory.forgetting.test_forgetting import rows_with

pytestmark = pytest.mark.django_db

PASSWORD, OTHER = "correct horse battery", "another staple entirely"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Version/19.0 Safari/604.1"


@pytest.fixture
def person() -> User:
    return make_user("quirinia", password=PASSWORD, email="quirinia@example.org")


def browser(password: str = PASSWORD, name: str = "quirinia", agent: str = FIREFOX) -> Client:
    client = Client(headers={"User-Agent": agent})
    client.post("/accounts/login/", {"username": name, "password": password})
    return client


def left_open(client: Client) -> Client:
    """As it is six minutes after it was signed in."""
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 360
    session.save()
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def run_tasks() -> None:
    """All that wait, here and now: a worker closes connections, and with them the test's transaction."""
    for row in DBTaskResult.objects.all():
        import_string(row.task_path).call(*row.args_kwargs["args"], **row.args_kwargs["kwargs"])
        row.delete()
    mailing.send_due()


@pytest.fixture
def with_mail(settings: Settings) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}


# Passwords


def test_a_new_password_ends_all_other_sign_ins_but_not_this_one(person: User) -> None:
    here, elsewhere = browser(), browser(agent=PHONE)
    key_elsewhere = elsewhere.session.session_key
    form = {"oldpassword": PASSWORD, "password1": OTHER, "password2": OTHER}
    answer = here.post("/accounts/password/change/", form, follow=True)
    assert "Your password is changed, and all other sign-ins have ended." in answer.text
    assert not Session.objects.filter(session_key=key_elsewhere).exists()  # which holds the person's name
    assert (is_in(here), is_in(elsewhere), is_in(browser()), is_in(browser(OTHER))) == (True, False, False, True)
    assert [each.browser for each in lifecycle.sign_ins_of(person)] == ["Firefox on Linux"] * 2


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("way", ["change", "link", "sign out", "staff"])
def test_access_tokens_end_with_the_sign_ins_unless_they_are_kept(person: User, way: str, keeps: bool) -> None:
    token, form = tokens.issue(user=person, name="program"), {"password1": OTHER, "password2": OTHER}
    client, page = browser(), "/accounts/password/change/"
    match way:
        case "change":
            form["oldpassword"] = PASSWORD
        case "link":
            client = Client()
            person.refresh_from_db()
            page = client.get(letters.password_link(person)).headers["Location"]
        case "sign out":
            page = "/account/sign-out/"
        case "staff":
            client.force_login(User.objects.create_superuser("root"))
            page = f"/admin/auth/user/{person.pk}/password/"
            form["usable_password"] = "true"
    if way != "sign out":
        assert "Keep access tokens working" in client.get(page).text
    assert client.post(page, form | ({"keep_tokens": "on"} if keeps else {})).status_code == 302
    assert (tokens.valid(token) is not None) == keeps


def test_a_session_left_open_makes_no_token_without_the_password(person: User) -> None:
    client, form = left_open(browser()), {"name": "thief", "scopes": ["read"], "days": 90}
    asked = client.post("/account/tokens/", form)
    assert (asked.status_code, ApiToken.objects.exists()) == (302, False)
    made = client.post(asked.headers["Location"], {"password": PASSWORD})
    assert (re.search('ob_[^"]+', made.text) is not None, ApiToken.objects.count()) == (True, 1)
    client.post("/account/tokens/", form)
    browser().post("/account/tokens/", form)  # signed in a moment ago, which proves as much
    assert ApiToken.objects.count() == 3


@pytest.mark.parametrize(
    ("page", "form"),
    [
        ("/accounts/password/change/", {"password1": OTHER, "password2": OTHER}),
        ("/accounts/email/", {"action_add": "", "email": "thief@example.org"}),
        ("/accounts/email/", {"action_remove": "", "email": "quirinia@example.org"}),
        ("/account/delete/", {}),
    ],
)
def test_a_browser_left_open_is_not_enough_and_gives_no_guesses(
    person: User, with_mail: None, page: str, form: dict[str, str]
) -> None:
    client = browser()
    with time_machine.travel(1_795_262_415.0, tick=False):
        asked = client.post(page, form)
        if asked.status_code == 302:  # the password is asked for on a page of its own
            page, form = asked.headers["Location"], {}
            assert page.startswith("/accounts/reauthenticate/")
        field = "password" if "reauthenticate" in page else "oldpassword"
        guesses = [client.post(page, form | {field: f"wrong {n}"}).status_code for n in range(11)]
        assert guesses == [200] * 10 + [429]
        refused = client.post(page, form | {field: PASSWORD})
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "45")
    person.refresh_from_db()
    assert (person.check_password(PASSWORD), person.email) == (True, "quirinia@example.org")
    assert not AccountDeletion.objects.exists()
    assert DBTaskResult.objects.count() == 0


def test_a_mail_address_counts_once_its_link_was_opened_and_can_be_removed(person: User, with_mail: None) -> None:
    EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
    client = browser()
    asked = client.post("/accounts/email/", {"action_add": "", "email": "New@Example.org"})
    page = client.post(asked.headers["Location"], {"password": PASSWORD}, follow=True)
    assert "A link is on its way to new@example.org." in page.text
    person.refresh_from_db()
    assert (person.email, OutgoingMail.objects.count()) == ("quirinia@example.org", 1)
    run_tasks()
    (letter,) = mail.outbox
    assert letter.to == ["new@example.org"]
    link = urlsplit(next(word for word in str(letter.body).split() if word.startswith("http://testserver/"))).path
    assert "Is new@example.org yours, quirinia?" in Client().get(link).text
    client.post(link)
    person.refresh_from_db()
    assert person.email == "new@example.org"
    assert "new@example.org" in client.get("/accounts/email/").text
    client.post("/accounts/email/", {"action_remove": "", "email": "new@example.org"})
    person.refresh_from_db()
    assert (person.email, EmailAddress.objects.exists()) == ("", False)


def test_links_to_an_address_are_few(person: User, with_mail: None) -> None:
    client = browser()
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.post("/accounts/email/", {"action_add": "", "email": "new@example.org"})
    again = {"action_send": "", "email": "new@example.org"}
    assert [client.post("/accounts/email/", again).status_code for _ in range(3)] == [302, 302, 429]
    assert OutgoingMail.objects.count() == 3


def test_without_mail_there_is_no_page_for_an_address(person: User) -> None:
    client = browser()
    assert client.get("/accounts/email/").status_code == 404
    assert "/accounts/email/" not in client.get("/account/").text


def test_a_forgotten_password_is_set_by_a_link_that_works_once_and_for_a_day(person: User, with_mail: None) -> None:
    signed_in_before, client = browser(), Client()
    answers = [
        client.post("/accounts/password/reset/", {"email": email}, follow=True)
        for email in ("Quirinia@example.org", "no@example.org")
    ]
    assert ["If somebody here has that mail address" in answer.text for answer in answers] == [True] * 2
    assert answers[0].text == answers[1].text
    assert mail.outbox == []  # nobody's answer takes longer for it
    run_tasks()
    (letter,) = mail.outbox
    assert letter.to == ["quirinia@example.org"]
    link = urlsplit(next(word for word in str(letter.body).split() if word.startswith("http://testserver/"))).path

    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1)):
        assert "This link works no more" in client.get(link, follow=True).text
    page = client.get(link, follow=True)
    assert "Set a new password" in page.text
    done = client.post(page.request["PATH_INFO"], {"password1": OTHER, "password2": OTHER}, follow=True)
    assert "Your new password is set" in done.text
    assert (is_in(signed_in_before), is_in(browser()), is_in(browser(OTHER))) == (False, False, True)
    assert "This link works no more" in Client().get(link, follow=True).text


def test_mail_speaks_the_language_of_the_person_else_of_their_browser(person: User, with_mail: None) -> None:
    for _ in range(2):
        Client().post("/accounts/password/reset/", {"email": person.email}, HTTP_ACCEPT_LANGUAGE="de")
        run_tasks()
        Preferences.objects.update_or_create(user=person, defaults={"language": "fr"})
    subjects = [letter.subject for letter in mail.outbox]
    assert subjects == ["Ein neues Passwort für Openbook", "Un nouveau mot de passe pour Openbook"]
    assert ["Passwort" in str(letter.body) for letter in mail.outbox] == [True, False]


@pytest.mark.parametrize("host", ["evil.example", "testserver:4711"])
def test_no_link_leads_where_a_host_header_says(person: User, with_mail: None, settings: Settings, host: str) -> None:
    settings.ALLOWED_HOSTS, settings.OPENBOOK_PUBLIC_URL = ["*"], "https://book.example"
    Client().post("/accounts/password/reset/", {"email": person.email}, HTTP_HOST=host)
    staff = Client()
    staff.force_login(User.objects.create_superuser("root"))
    form = {"action": "link_for_password", "_selected_action": [person.pk]}
    page = staff.post("/admin/auth/user/", form, HTTP_HOST=host).text
    run_tasks()
    (letter,) = mail.outbox
    for text in (str(letter.body), page):
        assert ("https://book.example/accounts/password/" in text, host in text) == (True, False)


def test_mails_are_few_and_without_mail_the_page_says_whom_to_ask(person: User, settings: Settings) -> None:
    assert "Ask the people who run it" in Client().get("/accounts/password/reset/").text
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    with time_machine.travel(1_795_262_415.0, tick=False):
        form = {"email": person.email}
        statuses = [
            Client().post("/accounts/password/reset/", form, REMOTE_ADDR=f"198.51.100.{n}").status_code
            for n in range(5)
        ]
        assert (statuses, OutgoingMail.objects.count()) == ([302] * 5, 3)
        statuses = [
            Client().post("/accounts/password/reset/", {"email": f"{n}@example.org"}).status_code for n in range(11)
        ]
        assert statuses == [302] * 10 + [429]


@pytest.mark.parametrize(
    ("staff", "of", "expected"),
    [("change", "", 200), ("change", "staff", 302), ("super", "staff", 200), ("view", "", 403)],
)
def test_staff_make_a_link_but_not_to_become_other_staff(person: User, staff: str, of: str, expected: int) -> None:
    User.objects.filter(pk=person.pk).update(is_staff=bool(of))
    helper = make_user("helper", password=PASSWORD, is_staff=True, is_superuser=staff == "super")
    helper.user_permissions.set(Permission.objects.filter(codename__in=[f"{staff}_user", "view_user"]))
    client = Client()
    client.force_login(helper)
    action = {"action": "link_for_password", "_selected_action": [person.pk]}
    answer = client.post("/admin/auth/user/", action)
    links = re.findall(r"http://testserver(/accounts/password/[^<]+)", answer.text)
    assert (answer.status_code if staff != "view" else 403, len(links)) == (expected, int(expected == 200))
    assert LogEntry.objects.filter(change_message__contains="Made a link").count() == len(links)
    for link in links:
        assert "Set a new password" in Client().get(link, follow=True).text
        assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://u%40x:p%2F@mail.example", ("mail.example", 587, "u@x", "p/", True, False)),
        ("smtps://mail.example", ("mail.example", 465, "", "", False, True)),
        ("smtp://mail.example:25/?tls=off", ("mail.example", 25, "", "", False, False)),
    ],
)
def test_mail_is_set_up_by_one_address(url: str, expected: tuple[Any, ...]) -> None:
    options = mailers(url)["default"]["OPTIONS"]
    assert tuple(options[name] for name in ("host", "port", "username", "password", "use_tls", "use_ssl")) == expected
    assert mailers("") == {}


# Sign-ins


def test_people_see_where_they_are_signed_in_and_end_it(person: User) -> None:
    here, phone, tablet, stranger = browser(), browser(agent=PHONE), browser(agent="x"), browser(name="nobody")
    make_user("other", password=PASSWORD)
    others = browser(name="other")
    page = here.get("/account/").text
    assert [words in page for words in ("Firefox on Linux", "this browser", "Safari on iPhone", "A browser")] == [
        True
    ] * 4
    assert not is_in(stranger)
    row = UserSession.objects.get(user=person, user_agent=PHONE)
    assert others.post("/account/sign-out/", {"sign_in": row.pk}, follow=True).text.count("0 sign-ins ended")
    here.post("/account/sign-out/", {"sign_in": row.pk})
    assert [is_in(client) for client in (here, phone, tablet, others)] == [True, False, True, True]
    here.post("/account/sign-out/")
    assert [is_in(client) for client in (here, phone, tablet, others)] == [True, False, False, True]


def test_the_oldest_sign_in_ends_where_there_would_be_too_many(person: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "MOST_SIGN_INS", 2)
    oldest, older, newest = browser(), browser(), browser()
    assert [is_in(client) for client in (oldest, older, newest)] == [False, True, True]
    assert UserSession.objects.count() == 2


def test_a_sign_in_that_has_ended_otherwise_is_not_listed(person: User) -> None:
    here, gone, expired = browser(), browser(), browser()
    gone.post("/accounts/logout/")
    Session.objects.filter(session_key=expired.session.session_key).update(expire_date=timezone.now())
    assert [each.session_key for each in lifecycle.sign_ins_of(person)] == [here.session.session_key]
    assert UserSession.objects.count() == 1


def test_sign_ins_go_with_their_sessions(person: User) -> None:
    here, gone, expired = browser(), browser(), browser()
    gone.post("/accounts/logout/")
    Session.objects.filter(session_key=expired.session.session_key).update(expire_date=timezone.now())
    retention.apply()
    keys = [here.session.session_key]
    assert [list(rows.objects.values_list("session_key", flat=True)) for rows in (UserSession, Session)] == [keys] * 2


@pytest.mark.parametrize("sign_in", ["x", "-1", "9" * 30, "٣", "1'"])
def test_what_is_no_sign_in_ends_none(person: User, sign_in: str) -> None:
    here, elsewhere = browser(), browser()
    assert here.post("/account/sign-out/", {"sign_in": sign_in}).status_code == 302
    assert is_in(elsewhere)


# The end of an account


class FullLife:
    """What a person leaves in every corner."""

    def __init__(self, person: User) -> None:
        person.first_name, person.last_name = "Quirinia", "Zwetschge"
        person.save()
        thread = make_thread(person, ["The zwetschge is ripe.", "How nice, quirinia!"], title="zwetschge")
        make_snapshot(thread)
        make_artifact(thread, "zwetschge pie")
        make_memory(person, "quirinia likes zwetschge")
        make_daily_summary(person, timezone.now().date().isoformat(), "zwetschge")
        make_topic(person, "zwetschge jam")
        self.token = tokens.issue(user=person, name="zwetschge laptop")
        helper = make_user("helper", is_staff=True)
        for row in (person, ApiToken.objects.get(user=person)):
            kind = ContentType.objects.get_for_model(row)
            noted = {"user": helper, "content_type": kind, "object_id": row.pk, "object_repr": str(row)}
            LogEntry.objects.create(action_flag=CHANGE, change_message="Changed.", **noted)
        self.thread = thread


@pytest.fixture
def ask() -> Callable[[Client], Any]:
    def delete(client: Client) -> Any:
        left_open(client)
        page = client.post("/account/delete/", follow=True).request
        return client.post(f"{page['PATH_INFO']}?{page['QUERY_STRING']}", {"password": PASSWORD}, follow=True)

    return delete


def test_an_account_says_what_goes_answers_nothing_and_can_be_kept_for_a_day(
    person: User, ask: Callable[[Client], Any]
) -> None:
    life = FullLife(person)
    client, elsewhere = browser(), browser()
    page = client.get("/account/delete/").text
    assert [re.search(rf"{words}: <strong>{n}</strong>", page) is not None for n, words in (
        (1, "conversations"), (2, "messages"), (1, "artifacts"), (1, "notes"), (2, "days and topics"), (1, "access tokens"),
    )] == [True] * 6  # fmt: skip
    assert "Your account will be deleted" in ask(client).text

    # Nothing is answered, to whomever and by whatever door.
    bearer = {"Authorization": f"Token {life.token}"}
    for path in ("/", "/memory/", "/account/", "/account/tokens/", f"/threads/{life.thread.id}/"):
        assert client.get(path).status_code == elsewhere.get(path).status_code == 302
    assert client.get("/api/v1/threads/").status_code == 401
    assert Client().get("/api/v1/threads/", headers=bearer).status_code == 401
    assert session_user.as_of_now(client.session.session_key) is None
    asked = {"username": "quirinia", "password": PASSWORD}
    refused = Client().post("/api/v1/auth/token/", asked, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "account_leaving")
    wrong = Client().post("/api/v1/auth/token/", asked | {"password": "x"}, content_type="application/json")
    assert wrong.status_code == 401

    # Whoever signs in is shown the way back, and only that.
    back = Client()
    shown = back.post("/accounts/login/", asked, follow=True)
    assert (shown.request["PATH_INFO"], "Keep my account" in shown.text) == ("/accounts/leaving/", True)
    assert Client().post("/accounts/leaving/").headers["Location"] == "/"
    assert AccountDeletion.objects.exists()
    back.post("/accounts/leaving/")
    assert (is_in(back), Client().get("/api/v1/threads/", headers=bearer).status_code) == (True, 200)
    assert lifecycle.delete_due(timezone.now() + timedelta(days=2)) == 0
    assert Thread.objects.get().title == "zwetschge"


def test_after_a_day_the_worker_leaves_nothing_of_the_person(person: User, ask: Callable[[Client], Any]) -> None:
    FullLife(person)
    other = make_thread(make_user("other"), ["I stay."])
    client = browser()
    ask(client)
    needles = ("quirinia", "zwetschge", str(client.session.session_key))
    now = timezone.now()
    schedule.sweep(at=now + timedelta(hours=23))
    run_tasks()
    assert User.objects.filter(pk=person.pk).exists()
    with time_machine.travel(now + timedelta(days=1, minutes=2)):
        schedule.sweep()
        run_tasks()
    assert rows_with(*needles) == []
    assert not User.objects.filter(pk=person.pk).exists()
    assert Thread.objects.get() == other
    again = client.post("/accounts/login/", {"username": "quirinia", "password": PASSWORD})
    assert "username and/or password" in again.text


def test_a_reply_that_still_runs_is_waited_for(person: User) -> None:
    reply = make_reply(make_thread(person, ["One"]), status="running")
    lifecycle.ask_deletion(person, None)
    then = timezone.now() + timedelta(days=2)
    assert lifecycle.delete_due(then) == 0
    type(reply).objects.filter(id=reply.id).update(status="stopped", ended_at=then)
    assert lifecycle.delete_due(then) == 1


def test_staff_do_not_take_themselves_out_of_the_record(ask: Callable[[Client], Any]) -> None:
    make_user("quirinia", password=PASSWORD, is_staff=True)
    assert "deleted by another administrator" in ask(browser()).text
    assert not AccountDeletion.objects.exists()
