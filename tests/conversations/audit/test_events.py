"""What is recorded, by the doors through which people do it: who, to what, from where; and nothing that anybody typed."""

import json
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client, RequestFactory
from django.urls import reverse

from conversations.accounts import lifecycle
from conversations.models import ApiToken, AuditEvent
from conversations.runtime import rate_counters
from conversations.staff.audited import AuditedAdmin
from conversations.threads import deletion
from memory import forgetting
from tests.conversations.factories import make_thread, make_user

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "Tr0ub4dor-and-3"


@pytest.fixture
def recorded() -> Any:
    """The events since the last look, sorted: kind, outcome, who, what. Ids of one millisecond have no order."""
    seen: set[Any] = set()

    def look() -> list[tuple[str, str, str, str, str]]:
        events = [event for event in AuditEvent.objects.order_by("id") if event.id not in seen]
        seen.update(event.id for event in events)
        return sorted(
            (
                event.kind,
                event.outcome,
                event.actor_kind,
                event.actor_name,
                f"{event.target_kind} {event.target_id}".strip(),
            )
            for event in events
        )

    return look


def everything() -> str:
    return json.dumps(list(AuditEvent.objects.values()), default=str)


def test_every_class_of_the_admin_is_audited(rf: RequestFactory, admin_user: User) -> None:
    request = rf.get("/")
    request.user = admin_user
    may_change = [
        its
        for its in admin.site._registry.values()
        if its.has_add_permission(request) or its.has_change_permission(request) or its.has_delete_permission(request)
    ]
    assert [type(its) for its in may_change if not isinstance(its, AuditedAdmin)] == []


def test_sign_ins_and_failures(client: Client, recorded: Any) -> None:
    rate_counters.HERE.clear()
    user = make_user("marta", password=SECRET)
    me = f"auth.User {user.pk}"
    client.post(reverse("account_login"), {"username": "marta", "password": "wrong-guess"}, REMOTE_ADDR="192.0.2.9")
    client.post(reverse("account_login"), {"username": "wrong-name", "password": "wrong-guess"})
    assert recorded() == [
        ("sign_in", "failure", "unknown", "", ""),
        ("sign_in", "failure", "unknown", "", me),
    ]
    client.post(reverse("account_login"), {"username": "marta", "password": SECRET})
    assert recorded() == [("sign_in", "success", "person", "", me)]
    client.post(reverse("account_logout"))
    assert recorded() == [("sign_out", "success", "person", "", me)]
    answer = client.post(
        "/api/v1/auth/token/", {"username": "marta", "password": SECRET, "name": "robot"}, "application/json"
    )
    token = ApiToken.objects.get()
    assert recorded() == [("token_made", "success", "person", "", f"conversations.ApiToken {token.pk}")]
    headers = {"Authorization": f"Token {answer.json()['token']}"}
    thread = make_thread(user, ["My cat is called Fidibus.", "Nice."])
    assert client.delete(f"/api/v1/threads/{thread.id}/", headers=headers).status_code == 204
    client.delete(f"/api/v1/tokens/{token.pk}/", headers=headers)
    assert recorded() == [
        ("thread_deleted", "success", "token", "", f"conversations.Thread {thread.id}"),
        ("token_revoked", "success", "token", "", f"conversations.ApiToken {token.pk}"),
    ]
    event = AuditEvent.objects.order_by("id").last()
    assert event and event.details == {"user": user.pk, "token": token.pk}
    for text in (SECRET, "wrong-guess", "wrong-name", "Fidibus", "robot", answer.json()["token"]):
        assert text not in everything()


def test_what_staff_change(admin_user: User, admin_client: Client, recorded: Any) -> None:
    person, group = make_user("jonas"), Group.objects.create(name="Readers")
    recorded()
    form = {
        "username": "jonas", "email": "", "groups": [group.pk], "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00",
        "limits-TOTAL_FORMS": 0, "limits-INITIAL_FORMS": 0, "first_name": "Fidibus",
    }  # fmt: skip
    answer = admin_client.post(reverse("admin:auth_user_change", args=[person.pk]), form)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    me, them = ("staff", "admin"), f"auth.User {person.pk}"
    assert recorded() == [
        ("account_changed", "success", *me, them),
        ("account_deactivated", "success", *me, them),
        ("permissions_changed", "success", *me, them),
    ]
    fields = AuditEvent.objects.get(kind="account_changed").details["fields"]
    assert {"groups", "is_active", "first_name"} <= set(fields)
    assert "Fidibus" not in everything()
    admin_client.post(reverse("admin:conversations_contentaccess_open"), {"user": person.pk, "reason": "Fidibus"})
    thread = make_thread(person, ["Hello?", "Hello."])
    admin_client.get(reverse("admin:conversations_thread_change", args=[thread.pk]))
    assert ("content_accessed", "success", *me, them) in recorded()
    admin_client.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})
    assert recorded() == [("group_changed", "success", *me, f"auth.Group {group.pk}")]
    admin_client.post(reverse("admin:auth_user_delete", args=[person.pk]), {"post": "yes"})
    assert recorded() == [("account_deleted", "success", *me, them)]
    assert "Fidibus" not in everything()


def test_what_is_deleted_and_forgotten_by_nobody_in_a_request(recorded: Any) -> None:
    """As workers and commands do it: the installation itself."""
    user = make_user("eve")
    thread = make_thread(user, ["My cat is called Fidibus.", "Nice."])
    turn = thread.messages.earliest("position")
    forgetting.forget_turn(user, turn.id)
    deletion.clear_thread(thread)
    lifecycle.ask_deletion(user)
    lifecycle.keep(user)
    system, me = ("success", "system", ""), f"auth.User {user.pk}"
    assert recorded() == [
        ("account_leaves", *system, me),
        ("account_stays", *system, me),
        ("forgotten", *system, f"conversations.Message {turn.id}"),
        ("thread_cleared", *system, f"conversations.Thread {thread.id}"),
    ]
    assert "Fidibus" not in everything()
