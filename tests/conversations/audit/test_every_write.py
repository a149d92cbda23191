"""Whatever staff write, in the admin or over the API, leaves an event. A model, action or address that is new and not listed
here fails."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from conversations.holds import actions
from conversations.holds.actions import HoldSubject
from conversations.models import AuditEvent, OutgoingMail
from memory.forgetting import ledger
from tests.belongings import Row, belongings
from tests.conversations.factories import make_dataset, make_user
from tests.test_authorisation import methods_of, routes

pytestmark = pytest.mark.django_db(transaction=True)

FORMS: dict[str, dict[str, Any]] = {
    "artifacts.Preset": {"slug": "tables", "name": "Tables", "prompt": "Make a table.", "order": 9, "kind": "document"},
    "auth.Group": {"name": "Readers"},
    "auth.User": {"username": "new", "password1": "Tr0ub4dor-and-3", "password2": "Tr0ub4dor-and-3", "usable_password": "true"},
    "conversations.Assistant": {"slug": "second", "name": "Second", "system_prompt": "You help."},
    "conversations.Banner": {"text": "Maintenance at six.", "level": "warning"},
    "conversations.Budget": {"tokens_day": 5},
    "conversations.Connection": {"slug": "own", "label": "Own", "base_url": "http://models.example/v1", "kind": "openai"},
    "conversations.Dataset": {"name": "Follow-ups"},
    "conversations.Experiment": {"numbers": "1"},
    "conversations.LegalHold": {"person": "grace", "reason": "A lawsuit"},
    "conversations.Model": {
        "provider": "offline", "name": "another", "label": "Another", "context_window": 9_000, "max_output": 900,
    },
    "conversations.Moderator": {
        "name": "Words", "kind": "patterns", "patterns": "secret", "action": "mark", "examines_messages": "on",
    },
    "conversations.Notice": {"title": "Rules", "text": "Be kind."},
    "conversations.Replay": {},
    "conversations.RetentionRule": {"kind": "files", "days": 9_000, "_seen": "1"},
    "conversations.ServiceAccount": {"username": "robot", "purpose": "A directory"},
    "conversations.SharedPrompt": {"name": "Letter", "text": "Write a letter."},
    "socialaccount.SocialApp": {
        "provider": "openid_connect", "provider_id": "company", "name": "Company", "secret": "x",
        "details": 'client_id = "book"\nserver = "https://login.example"',
    },
}  # fmt: skip
"""What a new row of each model that staff may add is made of, beside what its page offers."""
CHANGED_BY_ACTIONS = {
    "conversations.ContextSnapshot",
    "conversations.OutgoingMail",
    "conversations.Invitation",
    "conversations.Feedback",
    "memory.Consolidation",
    "conversations.ApiToken",
    "conversations.Share",
}
ONLY_DELETED = {"conversations.Thread"}
READ_BY_ACTIONS = {"compare_selected"}


STAFF_TABLES = ("assistants", "presets", "models", "connections", "groups", "budgets")
OVER_THE_API = {
    "prompts/": "POST",
    "prompts/<str:prompt_id>/": "PATCH DELETE",
    "leavers/<str:leaver_id>/shares/": "POST",
    "notice/": "POST",
    "assistants/<str:slug>/versions/": "POST",
    "assistants/<str:slug>/versions/<str:number>/publish/": "POST",
    **{f"staff/{table}/": "POST" for table in STAFF_TABLES},
    **{f"staff/{table}/<str:row_id>/": "PATCH DELETE" for table in STAFF_TABLES},
    **{f"staff/connections/<str:row_id>/{act}/": "POST" for act in ("test", "models")},
    **{f"staff/{runs}/": "POST" for runs in ("replays", "experiments")},
    **{f"staff/{runs}/<str:run_id>/cancel/": "POST" for runs in ("replays", "experiments")},
    "staff/requests/<str:request_id>/look/": "POST",
    "feedback/<str:feedback_id>/": "PATCH",
    "findings/<str:finding_id>/": "PATCH",
    "invitations/": "POST",
    "invitations/<str:invitation_id>/": "DELETE",
    "auth/token/": "POST",
    "embed/token/": "POST",
    **{f"{name}tokens/": "POST" for name in ("", "auth/")},
    **{f"{name}tokens/<str:token_id>/": "DELETE" for name in ("", "auth/")},
    "import/": "POST",
    **{f"{name}/<str:{name[:-1]}_id>/shares/": "POST" for name in ("threads", "artifacts")},
    "shares/<str:share_id>/": "DELETE",
    "mcp-servers/": "POST",
    "mcp-servers/<str:server_id>/": "PATCH DELETE",
    "mcp-servers/<str:server_id>/sign-in/": "DELETE",
    "mcp-calls/<str:call_id>/answer/": "POST",
    "webhooks/": "POST",
    "webhooks/<str:webhook_id>/": "PATCH DELETE",
    "webhooks/<str:webhook_id>/secret/": "POST",
}
"""Writes that leave an event, beside deletions and what is forgotten, and beside SCIM, all of whose writes do. Of prompts those
that are for everybody."""
THEIR_OWN = {
    "account/instructions/": "PATCH",
    "artifacts/<str:artifact_id>/": "PATCH",
    "artifacts/<str:artifact_id>/restore/": "POST",
    "files/": "POST",
    "files/<str:file_id>/": "PATCH",
    "memories/": "POST",
    "memories/<str:memory_id>/": "PATCH",
    "memories/<str:memory_id>/restore/": "POST",
    "messages/<str:message_id>/feedback/": "POST DELETE",
    "preferences/": "PATCH",
    "projects/": "POST",
    "projects/<str:project_id>/": "PATCH",
    **{f"replies/<str:reply_id>/{act}/": "POST" for act in ("continue", "retry", "stop")},
    "schedules/": "POST",
    "schedules/<str:schedule_id>/": "PATCH",
    "threads/": "POST PATCH",
    "threads/<str:thread_id>/": "PATCH",
    **{
        f"threads/<str:thread_id>/{part}/": "POST"
        for part in ("artifacts", "context", "fork", "messages", "messages/stream")
    },
    **{f"threads/<str:thread_id>/presets/<str:slug>/{part}": "POST" for part in ("", "stream/")},
    "topics/<str:topic_id>/": "PATCH",
    **{f"mcp-servers/<str:server_id>/{part}/": "POST" for part in ("refresh", "sign-in", "resources/attach")},
    "mcp-servers/<str:server_id>/prompts/<str:prompt_name>/": "POST",
    "webhooks/<str:webhook_id>/ping/": "POST",
    "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/redeliver/": "POST",
}
"""Writes to rows that the caller alone has, staff or not: conversations, and no act of staff."""
DELETIONS = {
    "artifacts/<str:artifact_id>/": "",
    "files/<str:file_id>/": "FILE",
    "memories/<str:memory_id>/": "MEMORY",
    "messages/<str:message_id>/": "TURN",
    "projects/<str:project_id>/": "PROJECT",
    "schedules/<str:schedule_id>/": "SCHEDULE",
    "threads/<str:thread_id>/": "THREAD",
    "topics/<str:topic_id>/": "TOPIC",
}
"""What the erasure ledger calls them, which writes their events. A deleted artifact can be restored, and has none."""
FORGETTING = {"memories/forget/", "threads/<str:thread_id>/clear/"} | {
    f"{name}/<str:{one}_id>/forget/" for name, one in (("memories", "memory"), ("messages", "message"))
}


@pytest.fixture
def staff(admin_user: User) -> Client:
    client = Client()
    client.force_login(admin_user)
    return client


def events_since(seen: set[Any]) -> set[str]:
    new = AuditEvent.objects.exclude(id__in=seen)
    kinds = {event.kind for event in new if event.actor_kind == "staff"}
    seen |= {event.id for event in new}
    return kinds


def filled_form(answer: Any, values: dict[str, Any]) -> dict[str, Any]:
    """As a browser would send the page that was got, with these values."""
    context = answer.context
    forms = [
        context["adminform"].form,
        *(form for each in context["inline_admin_formsets"] for form in each.formset.forms),
    ]
    forms += [each.formset.management_form for each in context["inline_admin_formsets"]]
    sent: dict[str, Any] = {}
    for form in forms:
        for field in form:
            value = field.value()
            sent |= _as_sent(field, value)
    return {name: value for name, value in (sent | values).items() if value is not None and value is not False}


def _as_sent(field: Any, value: Any) -> dict[str, Any]:
    widget = field.field.widget
    if value is not None and hasattr(widget, "widgets"):
        parts = widget.decompress(value) if not isinstance(value, list) else value
        return {f"{field.html_name}_{number}": part for number, part in enumerate(parts)}
    return {field.html_name: field.field.prepare_value(value)}


def _errors(answer: Any) -> list[Any]:
    context = answer.context
    return [context["adminform"].form.errors, *(each.formset.errors for each in context["inline_admin_formsets"])]


def models_of(request: HttpRequest) -> Iterator[tuple[type[Model], Any]]:
    yield from sorted(admin.site._registry.items(), key=lambda each: each[0]._meta.label)


def test_every_model_that_staff_write_is_listed(rf: RequestFactory, admin_user: User) -> None:
    request = rf.get("/")
    request.user = admin_user
    request.session = {}  # type: ignore[assignment]
    may = {"add": set(), "delete": set(), "act": set()}  # type: ignore[var-annotated]
    for model, its in models_of(request):
        label = model._meta.label
        if its.has_add_permission(request):
            may["add"].add(label)
        elif its.has_delete_permission(request):
            may["delete"].add(label)
        elif set(its.get_actions(request)) - READ_BY_ACTIONS:
            may["act"].add(label)
    assert may["add"] == FORMS.keys()
    assert may["delete"] == ONLY_DELETED
    assert may["act"] == CHANGED_BY_ACTIONS


@pytest.mark.wide
def test_what_staff_write_in_the_admin_leaves_an_event(staff: Client) -> None:
    """Each row is added, changed and deleted by its own pages, as far as staff may."""
    make_user("grace")
    make_dataset()
    seen: set[Any] = set()
    events_since(seen)
    silent: list[str] = []
    for label, values in FORMS.items():
        model = next(model for model in admin.site._registry if model._meta.label == label)
        name = label.lower().replace(".", "_")
        before = set(model._default_manager.values_list("pk", flat=True))
        page = reverse(f"admin:{name}_add")
        sent = filled_form(staff.get(page), values)
        answer = staff.post(page, sent)
        if answer.status_code != 302:
            silent.append(f"{label} not added: {_errors(answer)}")
            continue
        (pk,) = set(model._default_manager.values_list("pk", flat=True)) - before
        silent += [f"{label} added"] if not events_since(seen) else []
        page = reverse(f"admin:{name}_change", args=[pk])
        answer = staff.post(page, filled_form(staff.get(page), {"_seen": "1"}))
        if answer.status_code != 302:
            silent.append(f"{label} not changed: {_errors(answer)}")
            continue
        silent += [f"{label} changed"] if not events_since(seen) else []
        answer = staff.post(reverse(f"admin:{name}_delete", args=[pk]), {"post": "yes"})
        if model._default_manager.filter(pk=pk).exists():
            assert answer.status_code == 403, label
            continue
        silent += [f"{label} deleted"] if not events_since(seen) else []
    assert not silent, "\n".join(silent)


def test_what_staff_do_to_rows_by_actions_leaves_an_event(staff: Client, admin_user: User, rf: RequestFactory) -> None:
    person = make_user("grace")
    rows: Row = belongings(person)
    rows["auth_user"] = person.pk
    rows["conversations_legalhold"] = actions.begin(HoldSubject(user=person), reason="A lawsuit", by="root").pk
    mail = OutgoingMail.objects.create(kind="password", recipient="g@x.example", content=b"", created_at=timezone.now())
    rows["conversations_outgoingmail"] = mail.pk
    Authenticator.objects.create(user=person, type=Authenticator.Type.TOTP, data={})
    request = rf.get("/")
    request.user = admin_user
    request.session = {}  # type: ignore[assignment]
    seen: set[Any] = set()
    events_since(seen)
    silent: list[str] = []
    for model, its in models_of(request):
        for action in set(its.get_actions(request)) - READ_BY_ACTIONS - {"delete_selected"}:
            row = rows.get(model._meta.label_lower.replace(".", "_")) or model._default_manager.first()
            if row is None:
                silent.append(f"{model._meta.label} has no row")
                continue
            pk = getattr(row, "pk", row)
            page = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
            data = {"action": action, "_selected_action": [str(pk)], "confirmed": "yes", "post": "yes"}
            staff.post(page, data)
            silent += [] if events_since(seen) else [f"{model._meta.label} {action}"]
    assert not silent, "\n".join(silent)


def test_every_write_over_the_api_is_listed() -> None:
    writes = {
        (route.removeprefix("api/v1/"), method)
        for route, view in routes()
        for method in {*methods_of(route, view)} - {"GET", "HEAD", "OPTIONS"}
        if route.startswith("api/")
    }
    listed = {
        (route, method)
        for table in (OVER_THE_API, THEIR_OWN)
        for route, names in table.items()
        for method in names.split()
    }
    listed |= {(route, "DELETE") for route in DELETIONS} | {(route, "POST") for route in FORGETTING}
    assert writes == listed
    assert {ledger.Kind[name] for name in DELETIONS.values() if name} <= ledger.EVENTS.keys()


def test_what_staff_write_for_everybody_over_the_api_leaves_an_event(staff: Client) -> None:
    def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return staff.generic(method, f"/api/v1/{path}", json.dumps(body or {}), "application/json")

    seen: set[Any] = set()
    events_since(seen)
    prompt = call("POST", "prompts/", {"name": "Letter", "text": "Write.", "shared": True}).json()["id"]
    assert events_since(seen) == {"row_added"}
    assert call("PATCH", f"prompts/{prompt}/", {"text": "Write it."}).status_code == 200
    assert events_since(seen) == {"row_changed"}
    assert AuditEvent.objects.get(kind="row_changed").details == {"fields": ["text"]}
    assert call("DELETE", f"prompts/{prompt}/").status_code == 204
    assert events_since(seen) == {"row_deleted"}
