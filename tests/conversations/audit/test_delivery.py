"""Events pushed by HTTP and by syslog, to servers that take them, fail, hang and break off: none is lost, whoever is killed."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from config.worker.audit_sender import senders
from conversations import audit
from conversations.audit import chain, delivery, http_destination, syslog_destination
from conversations.models import AuditDelivery, AuditEvent, AuditKind, Lease
from conversations.providers.signatures import signature_headers
from conversations.runtime import leases
from conversations.upkeep import retention
from tests.certificates import self_signed
from tests.collector_server import BREAK_OFF, HANG, CollectorServer, collector_server
from tests.config.worker.test_worker import lose_connections
from tests.conversations.factories import make_user
from tests.processes import database_url, started
from tests.syslog_server import syslog_server
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def collector(settings: Any) -> Iterator[CollectorServer]:
    with collector_server() as server:
        settings.OPENBOOK_AUDIT_PUSH_URL = server.url
        yield server


def sealed_events(count: int, kind: AuditKind = AuditKind.SIGN_OUT) -> None:
    for number in range(count):
        audit.record(kind, target=("auth.User", number), details={"Ürün": "ü"})
    chain.seal()


def is_due_again() -> None:
    AuditDelivery.objects.update(next_at=timezone.now())


def test_a_batch_counts_as_delivered_once_it_is_answered_2xx(
    collector: CollectorServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "AT_ONCE", 2)
    settings.OPENBOOK_AUDIT_PUSH_TOKEN, settings.OPENBOOK_AUDIT_PUSH_SECRET = "t0ken", "s3cret"
    (destination,) = delivery.destinations()
    assert delivery.step(destination) == 0
    sealed_events(5)
    assert delivery.step(destination) == 2
    first = collector.requests[0]
    assert first.headers["authorization"] == "Bearer t0ken"
    assert first.headers["content-type"] == "application/x-ndjson"
    at = int(first.headers["x-openbook-time"])
    assert (
        first.headers["x-openbook-signature"]
        == dict(signature_headers(first.body, "s3cret", now=at))["X-Openbook-Signature"]
    )
    assert first.events[0]["unmapped"]["details"] == {"Ürün": "ü"}
    collector.answers = [500, 302, 401, BREAK_OFF]
    refusals = [f"answered {status} in place of 2xx" for status in (500, 302, 401)]
    for failures, problem in enumerate([*refusals, "not reached: unreachable"], 1):
        assert delivery.step(destination) == delivery.step(destination) == 0  # the second is not tried
        row = AuditDelivery.objects.get()
        assert (row.number, row.failures, row.problem) == (2, failures, problem)
        assert row.next_at and row.next_at > timezone.now()
        is_due_again()
    (status,) = delivery.status()
    assert (status.waiting, status.failures, status.number) == (3, 4, 2) and status.behind > 0
    assert delivery.step(destination) == 2 and delivery.step(destination) == 1 and delivery.step(destination) == 0
    (status,) = delivery.status()
    assert (status.waiting, status.behind, status.failures, status.problem) == (0, 0.0, 0, "")
    assert [request.numbers for request in collector.requests] == [[1, 2], *[[3, 4]] * 5, [5]]
    settings.OPENBOOK_AUDIT_PUSH_FORMAT, settings.OPENBOOK_AUDIT_PUSH_TOKEN = "array", "Splunk t0ken"
    output = StringIO()
    call_command("audit_push", "--again", "http", "--after", "3", stdout=output)
    assert "delivered up to 3, 2 wait" in output.getvalue()
    assert delivery.step(destination) == 2
    assert (
        collector.requests[-1].numbers == [4, 5] and collector.requests[-1].headers["authorization"] == "Splunk t0ken"
    )
    with pytest.raises(CommandError, match="not pushed by syslog"):
        call_command("audit_push", "--again", "syslog")


def test_attempts_are_made_ever_more_seldom() -> None:
    assert [delivery.rest_after(failures).total_seconds() for failures in (1, 2, 3, 9, 40, 10_000)] == [
        1,
        2,
        4,
        256,
        300,
        300,
    ]


def test_a_destination_that_hangs_is_given_up(collector: CollectorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_destination, "SECONDS", 0.2)
    collector.answers = [HANG]
    sealed_events(1)
    (destination,) = delivery.destinations()
    assert delivery.step(destination) == 0
    assert AuditDelivery.objects.get().problem == "no answer within 0.2 s"


def test_nothing_goes_before_it_was_pushed(collector: CollectorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "AT_ONCE", 2)
    sealed_events(3)
    (audit_kind,) = [kind for kind in retention.kinds() if kind.name == "audit"]
    later = timezone.now() + timedelta(hours=1)
    audit_kind.delete(later)
    assert (audit_kind.preview(later).count, AuditEvent.objects.count()) == (0, 3)
    (destination,) = delivery.destinations()
    delivery.step(destination)
    assert audit_kind.preview(later).count == 2
    audit_kind.delete(later)
    chain.seal()
    assert list(AuditEvent.objects.order_by("number").values_list("number", "kind")) == [
        (3, "sign_out"),
        (4, "audit_pruned"),
    ]
    verdict = chain.verify()
    assert (verdict.problem, verdict.first, verdict.checked) == ("", 3, 2)


@pytest.mark.wide
def test_a_sender_that_is_killed_in_the_middle_loses_nothing(collector: CollectorServer) -> None:
    """A worker, as a process, between a request and its answer. The next one takes the lease over."""
    sealed_events(600)
    collector.answers = [204, HANG]
    environment = {"DATABASE_URL": database_url(), "OPENBOOK_AUDIT_PUSH_URL": collector.url}
    with started("work", "--skip-checks", **environment) as victim:
        until(lambda: len(collector.requests) == 2)
        victim.kill()
    lose_connections()
    Lease.objects.update(lease_until=timezone.now())  # as seconds later
    assert AuditDelivery.objects.get().number == 250
    with started("work", "--skip-checks", **environment):
        until(lambda: not delivery.status()[0].waiting)
    assert collector.first_numbers == list(range(1, AuditEvent.objects.count() + 1))
    assert [request.numbers[0] for request in collector.requests][:4] == [1, 251, 251, 501]


def test_one_sender_at_a_time(collector: CollectorServer) -> None:
    sealed_events(1)
    with leases.held("audit push http") as lease, senders(), senders():
        assert lease
        assert collector.requests == []
        leases.give_back(lease)
        until(lambda: AuditDelivery.objects.filter(number=1).exists())
    assert [request.numbers for request in collector.requests] == [[1]]


@pytest.mark.wide
def test_rsyslog_takes_them_by_tls_from_whom_it_trusts(settings: Any, tmp_path: Path) -> None:
    marta = make_user("marta")
    audit.record(AuditKind.SIGN_IN, actor=marta, target=marta, outcome=audit.Outcome.DENIED)
    sealed_events(400)
    with syslog_server(tmp_path) as server:
        settings.OPENBOOK_AUDIT_SYSLOG, settings.OPENBOOK_AUDIT_SYSLOG_CA = server.url, str(server.certificate)
        (destination,) = delivery.destinations()
        for failures in range(1, 21):  # it asks for a certificate, and ends each connection in its own time
            is_due_again()
            assert delivery.step(destination) == 0
            assert AuditDelivery.objects.get().failures == failures
        settings.OPENBOOK_AUDIT_SYSLOG_CERTIFICATE = str(server.certificate)
        is_due_again()
        assert [delivery.step(destination) for _ in range(3)] == [250, 151, 0]
        until(lambda: len(server.received()) == 401)
        received = server.received()
    assert [event["unmapped"]["number"] for *_, event in received] == list(range(1, 402))
    priority, time, app, kind, event = received[0]
    assert (priority, app, kind) == ("108", "openbook", "sign_in")  # log audit, warning
    assert time.startswith(AuditEvent.objects.get(number=1).at.isoformat(timespec="milliseconds").partition("+")[0])
    assert event["actor"]["user"]["name"] == "marta"
    assert received[1][4]["unmapped"]["details"] == {"Ürün": "ü"}


@contextmanager
def silent_server(certificate: Path) -> Iterator[str]:
    """By TLS: reads nothing, and never ends a connection."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, context.wrap_socket(connection, server_side=True):
                ended.wait()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"tls://127.0.0.1:{listener.getsockname()[1]}"
        ended.set()
        thread.join()


def test_syslog_that_is_away_silent_or_not_to_be_trusted(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syslog_destination, "SECONDS", 0.3)
    sealed_events(1)
    certificate = self_signed(tmp_path)

    def attempt(url: str) -> str:
        settings.OPENBOOK_AUDIT_SYSLOG = url
        is_due_again()
        (destination,) = delivery.destinations()
        assert delivery.step(destination) == 0
        return AuditDelivery.objects.get().problem

    assert attempt("tls://127.0.0.1:1") == "not reached: Connection refused"
    settings.OPENBOOK_AUDIT_SYSLOG_CA = str(certificate)
    with silent_server(certificate) as url:
        assert attempt(url) == "no answer within 0.3 s"
    (tmp_path / "rsyslog").mkdir()
    with syslog_server(tmp_path / "rsyslog") as server:
        settings.OPENBOOK_AUDIT_SYSLOG_CA = ""
        assert attempt(server.url).startswith("its certificate is not trusted: self-signed certificate")
    assert AuditDelivery.objects.get().number == 0
