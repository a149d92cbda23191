"""A notice that has to be accepted before use, at every door; and banners above pages."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from conversations.accounts import banners, notices, service_accounts, tokens
from conversations.models import AuditEvent, Banner, Notice, NoticeAcceptance
from conversations.runtime import clock
from conversations.runtime.db import in_database
from tests.conversations.factories import make_user
from tests.conversations.web.sockets import Socket

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
TEXT = "Be kind.\n\nNo <b>secrets</b>: https://rules.example/"


def published(title: str = "House rules") -> Notice:
    notice = Notice.objects.create(title=title, text=TEXT)
    with transaction.atomic():
        notices.publish(notice)
    return notice


def code_of(answer: Any) -> tuple[int, str]:
    """Of the Messages API, the type."""
    error = answer.json().get("error", {}) if answer.status_code >= 400 else {}
    return answer.status_code, error.get("code") or error.get("type", "")


async def doors(client: AsyncClient, token: str) -> dict[str, Any]:
    """What each answers."""
    headers = {"Authorization": f"Token {token}", "X-Api-Key": token}
    session = client.cookies["sessionid"].value
    message = {"model": "companion", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    by_session, by_token = Socket(session=session), Socket(token=token)
    told = []
    for socket in (by_session, by_token):
        assert (await socket.connect())[0]
        await socket.send("message.send", content="")
        told.append((await socket.receive())["data"]["code"])
        await socket.leave()
    page = await client.get("/projects/?of=me")
    return {
        "page": (page.status_code, page.headers.get("Location", "")),
        "call": code_of(await client.get("/api/v1/threads/")),
        "program": code_of(await AsyncClient().get("/api/v1/threads/", headers=headers)),
        "messages": code_of(await AsyncClient().post("/v1/messages", message, "application/json", headers=headers))[0],
        "sockets": told,
        "account": (await client.get("/account/delete/")).status_code,
        "second factor": (await client.get("/accounts/2fa/")).status_code,
        "static": (await client.get("/robots.txt")).status_code,
    }


OPEN = {
    "page": (200, ""),
    "call": (200, ""),
    "program": (200, ""),
    "messages": 200,
    "sockets": ["invalid_message"] * 2,
    "account": 200,
    "second factor": 200,
    "static": 200,
}
SHUT = OPEN | {
    "page": (302, "/notice/?next=%2Fprojects%2F%3Fof%3Dme"),
    "call": (403, "notice_not_accepted"),
    "program": (403, "notice_not_accepted"),
    "messages": 403,
    "sockets": ["notice_not_accepted"] * 2,
}


@pytest.mark.wide
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
async def test_nobody_goes_on_before_they_have_accepted_the_newest_version() -> None:
    user, client = await in_database(make_user)("ada"), AsyncClient()
    await client.aforce_login(user)
    token = await in_database(tokens.issue)(user=user, name="program")
    robot = await in_database(service_accounts.make)(username="robot", purpose="a program")
    robots = {"Authorization": f"Token {await in_database(tokens.issue)(user=robot, name='robot')}"}
    assert await doors(client, token) == OPEN
    await in_database(published)()
    assert await doors(client, token) == SHUT
    assert (await AsyncClient().get("/api/v1/threads/", headers=robots)).status_code == 200

    page = (await client.get("/notice/?next=/projects/")).content.decode()
    assert '<a href="https://rules.example/"' in page and "<p>No &lt;b&gt;secrets" in page
    read = (await client.get("/api/v1/notice/")).json()
    assert (read["notice"]["version"], read["notice"]["text"], read["accepted_at"]) == (1, TEXT, None)
    await in_database(published)("Other rules")
    stale = await client.post("/api/v1/notice/", {"version": 1}, "application/json")
    assert (code_of(stale), stale.json()["error"]["details"]) == ((409, "notice_changed"), {"version": 2})
    assert (await client.post("/notice/", {"version": "1", "next": "/projects/"})).status_code == 409
    assert await doors(client, token) == SHUT

    accepted = await client.post("/notice/", {"version": "2", "next": "/projects/?of=me"})
    assert (accepted.status_code, accepted["Location"]) == (302, "/projects/?of=me")
    assert await doors(client, token) == OPEN
    again = await client.post("/api/v1/notice/", {"version": 2}, "application/json")
    assert again.status_code == 200 and again.json()["accepted_at"]
    event = await AuditEvent.objects.aget(kind="notice_accepted")
    assert (event.actor_id, event.details) == (user.pk, {"version": 2})
    elsewhere = await client.post("/notice/", {"version": "2", "next": "https://evil.example/"})
    assert elsewhere["Location"] == "/"

    await in_database(published)("Third rules")
    assert await doors(client, token) == SHUT
    answer: Any = await AsyncClient().get("/api/v1/export/", headers={"Authorization": f"Token {token}"})
    document = json.loads(b"".join([part async for part in answer]))
    assert [each["version"] for each in document["accepted_notices"]] == [2]
    await in_database(transaction.atomic(notices.withdraw_all))()
    assert await doors(client, token) == OPEN


@pytest.mark.django_db
def test_who_accepted_costs_no_further_statement(client: Client) -> None:
    user = make_user("ada")
    client.force_login(user)
    secret = tokens.issue(user=user, name="program")

    def statements() -> list[int]:
        counts = []
        for path, headers in (("/prompts/", {}), ("/api/v1/tags/", {"Authorization": f"Token {secret}"})):
            with CaptureQueriesContext(connection) as context:
                assert client.get(path, headers=headers).status_code == 200
            counts.append(len(context))
        return counts

    statements()
    without = statements()
    notices.accept(user, published().version or 0)
    assert statements() == without


@pytest.mark.django_db
def test_staff_write_preview_publish_and_withdraw_it(admin_client: Client, admin_user: User) -> None:
    add, listed = reverse("admin:conversations_notice_add"), reverse("admin:conversations_notice_changelist")
    admin_client.post(add, {"title": "House rules", "text": TEXT})
    notice = Notice.objects.get()
    preview = reverse("admin:conversations_notice_preview", args=[notice.pk])
    assert "<p>No &lt;b&gt;secrets" in admin_client.get(preview).content.decode()
    assert not notices.is_lacking(admin_user)
    assert admin_client.post(preview).status_code == 302
    notice.refresh_from_db()
    assert (notice.version, AuditEvent.objects.latest("id").details["fields"]) == (1, ["version"])
    # Its superusers are asked as everybody is, and still reach it.
    assert admin_client.get("/admin/")["Location"] == "/notice/?next=%2Fadmin%2F"
    page = reverse("admin:conversations_notice_change", args=[notice.pk])
    assert admin_client.post(page, {"title": "Others", "text": "Changed."}).status_code == 403
    assert admin_client.post(reverse("admin:conversations_notice_delete", args=[notice.pk])).status_code == 403
    assert TEXT.split("\n", maxsplit=1)[0] in admin_client.get(add).content.decode()
    admin_client.post(preview)
    assert (notices.newest(), admin_client.get("/admin/").status_code) == (None, 200)
    assert "withdrawn" in admin_client.get(listed).content.decode()
    with pytest.raises(IntegrityError):
        NoticeAcceptance.objects.bulk_create([NoticeAcceptance(user=admin_user, version=1, at=clock.now())] * 2)


def test_a_banner_is_shown_in_its_time_to_whom_it_is_for() -> None:
    hour = timedelta(hours=1)
    staffs = Banner(text="staff", starts_at=NOW, audience=Banner.Audience.STAFF)
    timed = Banner(text="timed", starts_at=NOW, ends_at=NOW + hour)
    rows = [staffs, timed]
    assert banners.chosen(rows, now=NOW - hour, is_staff=True) == []
    assert banners.chosen(rows, now=NOW, is_staff=True) == rows
    assert banners.chosen(rows, now=NOW, is_staff=False) == [timed]
    assert banners.chosen(rows, now=NOW + hour, is_staff=True) == [staffs]


@pytest.mark.django_db
def test_a_banner_stands_above_pages_escaped_and_is_new_once_it_is_changed(
    admin_client: Client, client: Client
) -> None:
    values = {"text": "<b>At six</b>", "level": "warning", "audience": "everybody", "starts_at_0": "2026-01-01"}
    admin_client.post(reverse("admin:conversations_banner_add"), values | {"starts_at_1": "00:00"})
    banner = Banner.objects.get()
    client.force_login(make_user("ada"))
    for path in ("/", "/prompts/"):
        assert "&lt;b&gt;At six&lt;/b&gt;" in client.get(path).content.decode(), path
    assert "At six" not in Client().get("/accessibility/").content.decode()
    page = reverse("admin:conversations_banner_change", args=[banner.pk])
    assert 'ob-banner-warning"><strong>' in admin_client.get(page).content.decode()
    admin_client.post(page, values | {"starts_at_1": "00:00", "is_dismissable": "on"})
    assert client.get("/api/v1/banners/").json() == {
        "results": [
            {
                "id": banner.pk, "version": 2, "text": "<b>At six</b>", "level": "warning",
                "is_dismissable": True, "ends_at": None,
            }
        ]
    }  # fmt: skip
    with CaptureQueriesContext(connection) as context:
        banners.shown_to(User.objects.get(username="ada"))
    assert len(context) == 1  # the user alone
    admin_client.post(reverse("admin:conversations_banner_delete", args=[banner.pk]), {"post": "yes"})
    assert client.get("/api/v1/banners/").json() == {"results": []}
