"""Mail goes out by a real SMTP server, and what becomes of it where the server refuses, hangs or is not there."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config.doctor import work
from config.settings import mailers
from conversations.accounts import mailing, tokens
from conversations.models import OutgoingMail
from conversations.schedule import sweep
from tests.certificates import trusted
from tests.conversations.factories import make_user

pytestmark = pytest.mark.django_db
ADDRESS, SECRET = "quirinia@example.org", "p/w@d"


class Inbox:
    """Takes mail, but for the recipients and texts that it has an answer for."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers
        self.letters: list[tuple[list[str], str, str, bool]] = []

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if answer := self.answers.get(address.partition("@")[0]):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        text = envelope.content.decode()
        login = session.auth_data.login.decode() if session.auth_data else ""
        self.letters.append((envelope.rcpt_tos, text, login, session.ssl is not None))
        return self.answers.get("data", "250 OK")


class Server(Controller):
    """On a port that is free."""

    def _trigger_server(self) -> None:
        with socket.create_connection(("127.0.0.1", self.own_port)) as client:
            client.recv(1)

    @property
    def own_port(self) -> int:
        assert isinstance(self.server, asyncio.Server)
        return int(self.server.sockets[0].getsockname()[1])


@contextmanager
def smtp_server(inbox: Inbox, **options: Any) -> Iterator[int]:
    controller = Server(inbox, hostname="127.0.0.1", port=0, **options)
    controller.start()
    try:
        yield controller.own_port
    finally:
        controller.stop()


@pytest.fixture
def person() -> User:
    return make_user("quirinia", password="long enough", email=ADDRESS)


@pytest.fixture
def use(settings: Settings) -> Callable[[str], None]:
    """Have mail go by a server, given as in OPENBOOK_MAIL_URL."""

    def use(url: str) -> None:
        settings.MAILERS = mailers(url)
        settings.MAILERS["default"]["OPTIONS"]["timeout"] = 0.3

    return use


def later(**by: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(**by), tick=False)


def states() -> list[tuple[str, bool, str]]:
    rows = OutgoingMail.objects.order_by("created_at")
    return [(row.recipient, row.due_at is not None, row.problem) for row in rows]


def test_mail_is_delivered_with_starttls_and_a_login(person: User, use: Any, tmp_path: Path) -> None:
    inbox = Inbox()

    def sign_in(server: SMTP, session: Any, envelope: Any, mechanism: str, login: LoginPassword) -> AuthResult:
        is_right = (login.login, login.password) == (b"book", SECRET.encode())
        return AuthResult(success=is_right, handled=is_right, auth_data=login)

    with trusted(tmp_path) as certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        server = smtp_server(
            inbox, tls_context=context, require_starttls=True, auth_required=True, authenticator=sign_in
        )
        with server as port:
            use(f"smtp://book:wrong@127.0.0.1:{port}")
            mailing.notify(person, "password_changed")
            assert b"changed" not in bytes(OutgoingMail.objects.get().content)
            assert (mailing.send_due(), inbox.letters) == (0, [])
            assert states() == [(ADDRESS, True, "SMTPAuthenticationError: 535")]
            use(f"smtp://book:p%2Fw%40d@127.0.0.1:{port}")
            with later(minutes=1, seconds=1):
                assert (mailing.send_due(), states()) == (1, [])
    (letter,) = inbox.letters
    assert (letter[0], letter[2:]) == ([ADDRESS], ("book", True))
    assert "The password of your account was changed." in letter[1]


def test_what_is_refused_for_good_is_given_up_and_staff_see_it(
    person: User, use: Any, caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    inbox = Inbox(nobody="550 no such user", busy="451 later")
    with smtp_server(inbox) as port:
        use(f"smtp://127.0.0.1:{port}/?tls=off")
        for address in ("nobody@example.org", "busy@example.org", ADDRESS, "two\nlines@example.org"):
            mailing.notify(person, "token_made", to=address)
        assert mailing.send_due() == 1
        assert states() == [
            ("nobody@example.org", False, "recipient refused: 550"),
            ("busy@example.org", True, "recipient refused: 451"),
            ("two\nlines@example.org", False, "ValueError"),
        ]
        assert [record.levelname for record in caplog.records if record.name == "openbook.mail"] == [
            *("ERROR", "WARNING", "ERROR")
        ]
        with later(days=3):
            for _ in range(20):
                OutgoingMail.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
                mailing.send_due()
            assert [due for _, due, _ in states()] == [False] * 3
            (finding,) = work.look_at_mails()
            assert (finding.status, "3 were given up" in finding.words) == ("warning", True)
        client.force_login(User.objects.create_superuser("root"))
        page = client.get("/admin/conversations/outgoingmail/").text
        assert ("nobody@example.org" in page, "recipient refused: 550" in page, "access token" in page) == (
            *(True, True),
            False,
        )
        inbox.answers.clear()
        chosen = [str(row.pk) for row in OutgoingMail.objects.filter(recipient__in=("nobody@example.org",))]
        client.post("/admin/conversations/outgoingmail/", {"action": "try_again", "_selected_action": chosen})
        assert (mailing.send_due(), inbox.letters[-1][0]) == (1, ["nobody@example.org"])
    with later(days=31):
        mailing.forget_failed(timezone.now())
        assert states() == []


@contextmanager
def silent_server() -> Iterator[int]:
    """One that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def no_server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield port


@pytest.mark.parametrize(
    ("server", "problem"), [(silent_server, "SMTPServerDisconnected"), (no_server, "ConnectionRefusedError")]
)
def test_a_server_that_is_away_costs_no_request_and_one_attempt_a_minute(
    person: User, use: Any, server: Any, problem: str
) -> None:
    make_user("kim", password="long enough", email="kim@example.org")
    with server() as port:
        use(f"smtp://127.0.0.1:{port}/?tls=off")
        for address in (ADDRESS, "kim@example.org"):
            assert Client().post("/accounts/password/reset/", {"email": address}).status_code == 302
        tokens.issue(user=person, name="a")
        assert mailing.send_due() == 0
        assert states() == [(ADDRESS, True, problem), ("kim@example.org", True, ""), (ADDRESS, True, "")]
        assert mailing.send_due() == 0
        assert states()[1:] == [("kim@example.org", True, ""), (ADDRESS, True, "")]
    inbox = Inbox()
    with smtp_server(inbox) as port, later(minutes=2):
        use(f"smtp://127.0.0.1:{port}/?tls=off")
        sweep()
        assert mailing.send_due() == 3
    assert sorted(to for (to,), *_ in inbox.letters) == ["kim@example.org", ADDRESS, ADDRESS]


def test_a_worker_that_dies_while_it_sends_loses_nothing(
    person: User, use: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    inbox = Inbox()

    with smtp_server(inbox) as port:
        use(f"smtp://127.0.0.1:{port}/?tls=off")
        mailing.notify(person, "token_made")

        def killed(*_: Any) -> None:
            raise Killed

        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(OutgoingMail, "delete", killed)
            mailing.send_due()
        assert (mailing.send_due(), len(inbox.letters)) == (0, 1)
        with later(minutes=1, seconds=1):
            assert (mailing.send_due(), len(inbox.letters)) == (1, 2)


def test_a_mail_goes_with_its_account(person: User, use: Any) -> None:
    use("smtp://127.0.0.1:9/?tls=off")
    mailing.notify(person, "token_made")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM auth_user WHERE id = %s", [person.pk])
    assert states() == []
