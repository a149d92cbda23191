"""Webhooks to real servers that take them, refuse, hang, redirect and answer without an end; a worker is killed meanwhile."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any
from uuid import UUID

import pytest
import standardwebhooks
from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.test import Client, RequestFactory
from django.utils import timezone

from artifacts import services as artifacts
from artifacts.models import ArtifactVersion
from artifacts.services import ArtifactDraft, Provenance
from config.worker.due_senders import webhook_sender
from conversations.accounts import budget_warnings
from conversations.errors import InvalidWebhook, WebhookForAllRefused
from conversations.files import progress
from conversations.models import (
    AuditEvent,
    AuditKind,
    Budget,
    BudgetPool,
    ContentAccess,
    File,
    GroupManager,
    Lease,
    OutgoingMail,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
)
from conversations.runtime.db import in_database
from conversations.runtime.site import public_address
from conversations.staff import access
from conversations.threads import feedback
from conversations.threads.feedback import Verdict
from conversations.webhooks import attempts, delivery, sending, webhooks
from conversations.webhooks.outbox import tell
from memory import forgetting, services
from memory.models import Memory
from tests.config.worker.test_worker import lose_connections
from tests.conversations.factories import make_file, make_thread, make_user, make_webhook
from tests.conversations.rest.client import Api
from tests.processes import database_url, started
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

HANG, ENDLESS, REDIRECT = -1, -2, -3


@dataclass
class Target:
    """``answers`` are for the next requests, 200 after them."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    def verified(self, secret: str) -> list[dict[str, Any]]:
        """What came, by the library that receivers use: it raises for what is not signed."""
        return [standardwebhooks.Webhook(secret).verify(body, headers) for headers, body in self.received]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.received]


@contextmanager
def target_server() -> Iterator[Target]:
    target = Target()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # as http.server calls it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            target.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status = target.answers.pop(0) if target.answers else 200
            if status == HANG:
                target.let_go.wait()
            elif status == ENDLESS:
                self.send_response(200)
                self.end_headers()
                while not target.let_go.is_set():
                    self.wfile.write(b"x" * 1024)
            else:
                self.send_response(302 if status == REDIRECT else status)
                if status == REDIRECT:
                    self.send_header("Location", target.url)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"no")

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that goes away is what some of the tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    target.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield target
    finally:
        target.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def target(settings: Any) -> Iterator[Target]:
    settings.OPENBOOK_INNER_NETWORKS = (ip_network("127.0.0.0/8"),)
    with target_server() as server:
        yield server


def send_due() -> None:
    """Those that are due now, once each."""
    asyncio.run(_send_due())


async def _send_due() -> None:
    ended = threading.Event()
    looks: list[int] = []

    def check() -> None:
        looks.append(1)
        if len(looks) == 2:
            ended.set()

    async with asyncio.timeout(60):
        await sending.send_until(ended, check)


def is_due_again() -> None:
    now = timezone.now()
    Webhook.objects.update(rests_until=None)
    WebhookDelivery.objects.filter(due_at__isnull=False).update(due_at=now)


def wait_until_sent(condition: Callable[[], object]) -> None:
    with webhook_sender():
        until(condition)


def made(user: User, target: Target, *events: str, for_all: bool = False) -> tuple[Webhook, str]:
    wanted = list(events or WebhookEvent.values)
    return webhooks.create(user, name="Tickets", url=target.url, events=wanted, for_all=for_all)


def test_what_happens_is_told_with_ids_alone_to_whoever_may_hear_of_it(
    user: User, other_user: User, target: Target
) -> None:
    _, secret = made(user, target)
    staff = make_user("marta", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="hear_of_all_webhook"))
    made(User.objects.get(pk=staff.pk), target, "feedback.given", for_all=True)
    thread = make_thread(user, ["A secret", "An answer"])
    answer = thread.messages.get(position=2)
    feedback.give(user, str(answer.id), Verdict(value=-1, text="A secret"))
    note = services.remember(
        user=user, content="A secret", tags=[], origin=Memory.Origin.HAND, at=timezone.now(), valid_until=None
    )
    forgetting.forget_memory(user, note.id)
    services.remember(
        user=other_user, content="Not mine", tags=[], origin=Memory.Origin.HAND, at=timezone.now(), valid_until=None
    )
    rows = WebhookDelivery.objects.order_by("created_at").values_list("webhook__user__username", "event", "user")
    assert sorted(rows) == sorted(
        [
            ("ada", "feedback.given", user.pk),
            ("marta", "feedback.given", user.pk),
            ("ada", "memory.changed", user.pk),
            ("ada", "memory.changed", user.pk),
        ]
    )
    WebhookDelivery.objects.filter(webhook__for_all=True).delete()
    wait_until_sent(lambda: WebhookDelivery.objects.filter(delivered_at__isnull=False).count() == 3)
    told = {each["type"]: each for each in target.verified(secret)}
    assert told["feedback.given"]["data"] == {
        "user": user.pk,
        "thread": str(thread.id),
        "message": str(answer.id),
        "value": -1,
        "url": f"{public_address()}/api/v1/messages/{answer.id}/feedback/",
    }
    assert all(b"secret" not in body for _, body in target.received)
    row = WebhookDelivery.objects.first()
    assert row and (row.status_code, row.attempts, row.problem) == (200, 1, "")


def test_artifacts_files_limits_and_looks_are_told_of(user: User, target: Target, rf: RequestFactory) -> None:
    made(user, target, "artifact.created", "file.read", "limit.reached", "content.accessed")
    thread = make_thread(user, ["Hello?", "A plan."])
    draft = ArtifactDraft(title="Plan", kind="document", content="# Plan")
    origin = Provenance(origin=ArtifactVersion.Origin.HAND, at=timezone.now())
    artifact = artifacts.create(draft, thread_id=thread.id, user_id=user.pk, made=origin).artifact
    file = make_file(user, state=File.State.READING)
    progress.give_up(file.id)
    group = Group.objects.create(name="Readers")
    budget = Budget.objects.create(group=group, tokens_day=0)
    GroupManager.objects.create(group=group, user=user)
    today = timezone.now().date()
    BudgetPool.objects.create(budget=budget, day=today, month=today.replace(day=1))
    budget_warnings.look()
    request = rf.get("/")
    request.user = make_user("staff", is_staff=True)
    access.record(request, user=user.pk, what="thread", object_id=thread.id, reason="Ticket 7", action="read")
    told = {each.event: each.data for each in WebhookDelivery.objects.all()}
    looked = told["content.accessed"].pop("access")
    assert ContentAccess.objects.get().id == UUID(looked)
    assert told == {
        "artifact.created": {
            "user": user.pk, "artifact": str(artifact.id), "thread": str(thread.id), "kind": "document",
        },
        "file.read": {"user": user.pk, "file": str(file.id), "status": "failed"},
        "limit.reached": {"budget": budget.pk, "period": "day", "percent": 100},
        "content.accessed": {"user": user.pk, "action": "read", "what": "thread", "object": str(thread.id)},
    }  # fmt: skip


def test_a_webhook_of_everybody_ends_with_the_right_to_it(user: User, target: Target) -> None:
    staff = make_user("marta", is_staff=True)
    staff.user_permissions.add(Permission.objects.get(codename="hear_of_all_webhook"))
    made(User.objects.get(pk=staff.pk), target, for_all=True)
    tell(WebhookEvent.FILE_READ, about=user.pk, data={"file": "x", "status": "ready"})
    staff.user_permissions.clear()
    send_due()
    webhook = Webhook.objects.get()
    assert (webhook.is_active, webhook.disabled_because, target.received) == (False, "right_lost", [])
    with pytest.raises(WebhookForAllRefused):
        made(user, target, for_all=True)


def test_what_rolls_back_is_told_to_nobody(user: User, target: Target) -> None:
    made(user, target)
    with pytest.raises(RuntimeError), transaction.atomic():
        tell(WebhookEvent.FILE_READ, about=user.pk, data={"file": "x", "status": "ready"})
        raise RuntimeError
    assert not WebhookDelivery.objects.exists()


def test_a_reply_is_told_of_where_it_ends(user: User, target: Target) -> None:
    _, secret = made(user, target, "reply.finished")
    answer = asyncio.run(Api(user).post("threads/new/messages/", {"content": "Hello"})).body
    wait_until_sent(lambda: target.received)
    (told,) = target.verified(secret)
    assert told["data"] == {
        "user": user.pk,
        "reply": answer["reply"]["id"],
        "thread": answer["thread"],
        "message": answer["assistant_message"]["id"],
        "status": "completed",
        "url": f"{public_address()}/api/v1/threads/{answer['thread']}/messages/",
    }


def test_it_is_tried_again_with_its_id_until_it_is_given_up(
    user: User, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "DELAYS", delivery.DELAYS[:3])
    monkeypatch.setattr(attempts, "SECONDS", 0.3)
    monkeypatch.setattr(attempts, "ANSWER_SECONDS", 0.3)
    webhook, secret = made(user, target)
    webhooks.ping(webhook)
    target.answers = [500, REDIRECT, HANG, 404]
    problems = []
    for _ in range(4):
        is_due_again()
        send_due()
        until(lambda: WebhookDelivery.objects.filter(problem__gt="").exists())
        problems.append(WebhookDelivery.objects.get().problem)
    assert problems == [
        "answered 500 in place of 2xx",
        "answered 302 in place of 2xx",
        "no answer within 0.3 s",
        "answered 404 in place of 2xx",
    ]
    row = WebhookDelivery.objects.get()
    assert (row.state, row.attempts, row.answer, row.status_code) == ("failed", 4, "no", 404)
    target.answers = [ENDLESS]
    again = webhooks.redeliver(webhook, row.id)
    Webhook.objects.update(rests_until=None)
    send_due()
    again.refresh_from_db()
    assert (again.state, again.answer) == ("delivered", "x" * 500)
    assert set(target.ids) == {f"msg_{row.id}"} and len(target.ids) == 5
    assert [told["type"] for told in target.verified(secret)] == ["ping"] * 5
    assert sum(delay.total_seconds() for delay in delivery.DELAYS) < timedelta(days=1).total_seconds()


def test_a_target_that_hangs_holds_up_no_other(
    user: User, other_user: User, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "SECONDS", 300)
    target.answers = [HANG] * 200
    slow, _ = made(user, target)
    for _ in range(40):
        webhooks.ping(slow)
    with target_server() as quick:
        fast, _ = made(other_user, quick)
        for _ in range(20):
            webhooks.ping(fast)
        wait_until_sent(lambda: len(set(quick.ids)) == 20)
        assert len(target.received) <= delivery.MOST_EACH


def test_a_new_secret_counts_beside_the_former_for_a_day(user: User, target: Target) -> None:
    webhook, former = made(user, target)
    secret = webhooks.renew_secret(webhook)
    webhooks.ping(webhook)
    send_due()
    assert target.verified(secret) == target.verified(former) != []
    Webhook.objects.update(former_until=timezone.now())
    webhooks.ping(webhook)
    target.received.clear()
    send_due()
    assert target.verified(secret)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        target.verified(former)
    assert all(secret.encode() not in bytes(row.secret) for row in Webhook.objects.all())


def test_one_that_fails_for_days_is_switched_off_and_its_owner_told(user: User, target: Target, settings: Any) -> None:
    settings.MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
    User.objects.filter(pk=user.pk).update(email="ada@example.org")
    webhook, _ = made(user, target)
    webhooks.ping(webhook)
    webhooks.ping(webhook)
    target.answers = [500, 500]
    Webhook.objects.update(failures=9, failing_since=timezone.now() - delivery.FAILING)
    send_due()
    webhook.refresh_from_db()
    assert (webhook.is_active, webhook.disabled_because) == (False, "failing")
    assert {row.state for row in WebhookDelivery.objects.all()} == {"failed"}
    assert OutgoingMail.objects.get().kind == "notice"
    tell(WebhookEvent.FILE_READ, about=user.pk, data={"file": "x", "status": "ready"})
    assert WebhookDelivery.objects.count() == 2
    webhooks.change(webhook, is_active=True)
    assert Webhook.objects.values_list("is_active", "failures", "failing_since", "disabled_because").get() == (
        True, 0, None, "",
    )  # fmt: skip
    target.answers = [410]
    webhooks.ping(webhook)
    send_due()
    assert Webhook.objects.get().disabled_because == "gone"
    kinds = AuditEvent.objects.values_list("kind", "actor_kind", "details__cause")
    assert (AuditKind.WEBHOOK_CHANGED, "system", "gone") in set(kinds)


@pytest.mark.parametrize("answers", [("127.0.0.1",), ("192.31.196.1", "127.0.0.1")])
def test_nothing_is_sent_into_inner_networks(
    user: User, settings: Any, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...]
) -> None:
    """Also where a name resolves to a public address first and to an inner one then: one look-up, one address."""
    settings.OPENBOOK_INNER_NETWORKS = ()
    for url in (
        "http://127.1/",
        "http://localhost/",
        "http://[::1]/",
        "ftp://a.example/",
        "https://u:p@a.example/",
        "x",
    ):
        with pytest.raises(InvalidWebhook):
            webhooks.check_url(url)
    left = list(answers)

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with target_server() as target:
        webhook = make_webhook(user, url=target.url.replace("127.0.0.1", "hook.example"))
        webhooks.ping(webhook)
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        monkeypatch.setattr(attempts, "CONNECT_SECONDS", 0.2)
        problems = []
        for _ in answers:
            is_due_again()
            send_due()
            problems.append(WebhookDelivery.objects.get().problem)
        assert problems[-1] == "not reached: inner_network"
        assert target.received == []


@pytest.mark.wide
def test_a_worker_that_is_killed_loses_nothing(user: User, target: Target) -> None:
    """As a process, between a request and its answer. Whoever comes next sends it with the id that it had."""
    target.answers = [200, HANG]
    webhook, secret = made(user, target)
    webhooks.ping(webhook)
    environment = {"DATABASE_URL": database_url(), "OPENBOOK_INNER_NETWORKS": "127.0.0.0/8"}
    with started("work", "--skip-checks", **environment) as victim:
        until(lambda: WebhookDelivery.objects.filter(delivered_at__isnull=False).count() == 1)
        for _ in range(3):
            webhooks.ping(webhook)
        until(lambda: len(target.received) >= 2)
        victim.kill()
    lose_connections()
    Lease.objects.update(lease_until=timezone.now())  # as seconds later
    target.let_go.set()
    is_due_again()
    wait_until_sent(lambda: WebhookDelivery.objects.filter(delivered_at__isnull=False).count() == 4)
    assert set(target.ids) == {f"msg_{row.id}" for row in WebhookDelivery.objects.all()}
    assert target.verified(secret)


def test_a_person_makes_one_on_their_page_and_sees_what_was_sent(user: User, target: Target, settings: Any) -> None:
    settings.OPENBOOK_WEBHOOKS = 1
    client = Client()
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time(), "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    form = {"name": "Tickets", "url": target.url, "events": ["file.read"]}
    page = client.post("/account/webhooks/", form).content.decode()
    assert "whsec_" in page and "whsec_" not in client.get("/account/webhooks/").content.decode()
    assert "as many webhooks as this server allows" in client.post("/account/webhooks/", form).content.decode()
    webhook = Webhook.objects.get()
    client.post(f"/account/webhooks/{webhook.id}/ping/")
    target.answers = [500]
    send_due()
    page = client.get(f"/account/webhooks/{webhook.id}/").content.decode()
    assert "answered 500 in place of 2xx" in page
    client.post(f"/account/webhooks/{webhook.id}/{WebhookDelivery.objects.get().id}/redeliver/")
    Webhook.objects.update(rests_until=None)
    send_due()
    assert WebhookDelivery.objects.get().state == "delivered"
    client.post(f"/account/webhooks/{webhook.id}/delete/")
    assert not Webhook.objects.exists()


async def test_the_api_makes_changes_and_deletes_them(user: User, target: Target) -> None:
    api = await in_database(Api)(user)
    created = (await api.post("webhooks/", {"name": "T", "url": target.url, "events": ["file.read"]})).body
    path = f"webhooks/{created['id']}/"
    assert created["secret"].startswith("whsec_") and "secret" not in (await api.get(path)).body
    assert (await api.call("PATCH", path, {"is_active": False})).body["is_active"] is False
    inner = {"name": "T", "url": "https://10.0.0.1/", "events": ["file.read"]}
    assert (await api.post("webhooks/", inner)).code == (400, "invalid_request", "invalid_webhook")
    ping = (await api.post(f"{path}ping/")).body
    listed = (await api.get(f"{path}deliveries/")).body["results"]
    assert [(each["id"], each["type"], each["state"]) for each in listed] == [(ping["id"], "ping", "waiting")]
    assert (await api.call("DELETE", path)).status == 204
    assert (await api.get(path)).code == (404, "not_found", "webhook_not_found")
