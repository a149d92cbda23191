"""What staff keep, by their programs: with the rights, the checks and the records of the admin's pages."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client, RequestFactory

from conversations.accounts import tokens
from conversations.models import AuditEvent, Connection, ContentAccess, Message, Model, Scope
from conversations.providers.connections import endpoint_of
from conversations.regression import replays
from conversations.rest import openapi
from conversations.rest.staff_tables import TABLES
from tests.conversations.connections import CANARY, HEADER, make_connection
from tests.conversations.factories import (
    make_dataset,
    make_feedback,
    make_lint_finding,
    make_snapshot,
    make_thread,
    make_user,
)
from tests.conversations.rest.test_schema import validated
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_sdk")]

type Call = Callable[..., Any]
NEW: dict[str, dict[str, Any]] = {
    "assistants": {"slug": "second", "name": "Second", "system_prompt": "You help.", "fallbacks": []},
    "presets": {"slug": "tables", "name": "Tables", "prompt": "Make a table.", "assistants": ["companion"]},
    "models": {
        "provider": "offline", "name": "vendor/another", "label": "Another", "context_window": 9_000, "max_output": 900,
        "efforts": ["low"], "prices": [],
    },
    "connections": {"slug": "own", "label": "Own", "kind": "openai", "base_url": "https://models.example/v1", "key": CANARY},
    "groups": {"name": "Readers", "permissions": ["conversations/view_thread"], "access": {"assistants": ["companion"]}},
    "budgets": {"group": None, "tokens_day": 5, "money_day": "2.5"},
}  # fmt: skip
CHANGES: dict[str, dict[str, Any]] = {
    "assistants": {
        "description": "Answers.", "fallbacks": [{"provider": "offline"}], "offered_models": ["anthropic/claude-haiku-4-5"],
    },
    "presets": {"is_active": False},
    "models": {
        "max_output": 800,
        "prices": [{
            "input": "1", "output": "2.5", "cache_write": "1", "cache_write_hour": "1", "cache_read": "0.1",
            "since": None, "above": 0,
        }],
    },
    "connections": {"label": "Ours", "headers": {"X-Project": HEADER}},
    "groups": {"access": {"sharing": False}, "sign_in": {"session_hours": 4}, "managers": [{"user": "root"}]},
    "budgets": {"money_day": "3"},
}  # fmt: skip
SHAPES = {"groups": "Group", "budgets": "Budget", "models": "Model", "presets": "Preset"} | {
    "assistants": "Assistant",
    "connections": "Connection",
}


def calling(user: User, *scopes: Scope) -> Call:
    """A program of theirs."""
    token, client = tokens.issue(user=user, name="program", scopes=scopes or tuple(Scope)), Client()

    def call(method: str, path: str, body: Any = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Token {token}"}
        return client.generic(method, f"/api/v1/{path}", data, "application/json", headers=headers)

    return call


@pytest.fixture
def root() -> User:
    return make_user("root", is_staff=True, is_superuser=True)


@pytest.mark.parametrize("table", NEW)
def test_a_row_is_made_read_changed_and_deleted_and_each_is_on_record(root: User, table: str) -> None:
    call, before = calling(root), AuditEvent.objects.count()

    def kinds() -> list[tuple[str, str]]:
        rows = AuditEvent.objects.order_by("id")[before:]
        return [(event.actor_kind, event.details.get("act", "")) for event in rows]

    made = call("POST", f"staff/{table}/", NEW[table])
    assert made.status_code == 201, made.content
    row = made.json()
    validated({"$ref": f"#/components/schemas/Saved{SHAPES[table]}Row"}, row)
    path = f"staff/{table}/{row.get('slug', row['id'])}/"
    assert {name: row[name] for name in NEW[table] if name not in ("key", "access")} | {
        name: NEW[table][name] for name in ("key", "access") if name in NEW[table]
    } == NEW[table]
    changed = call("PATCH", path, CHANGES[table])
    assert changed.status_code == 200, changed.content
    read = call("GET", path).json()
    assert read in call("GET", f"staff/{table}/?page_size=200").json()["results"]
    assert {**changed.json(), "warnings": None} == {**read, "warnings": None}
    for name, value in CHANGES[table].items():
        if name != "headers":
            assert _within(value, read[name]), (name, read[name])
    same = {name: value for name, value in CHANGES[table].items() if name != "headers"}
    assert call("PATCH", path, same).status_code == 200
    assert kinds() == [("token", "added"), ("token", "changed")], "what changes nothing leaves no record"
    assert LogEntry.objects.filter(user=root).count() == 2
    assert call("DELETE", path).status_code == 204
    assert (call("GET", path).status_code, kinds()[2:]) == (404, [("token", "deleted")])


def _within(wanted: Any, value: Any) -> bool:
    """Whether all that was asked for stands in it."""
    if isinstance(wanted, dict):
        return all(_within(each, value[name]) for name, each in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(value) and all(map(_within, wanted, value))
    return bool(wanted == value)


def test_what_the_pages_refuse_is_refused(root: User) -> None:
    call = calling(root)
    assert call("DELETE", "staff/assistants/companion/").json()["error"]["code"] == "row_in_use"
    for path, body, field in [
        ("assistants/companion/", {"is_default": False}, "is_default"),
        ("assistants/companion/", {"effort": "max", "model": "gemma-3-1b"}, "effort"),
        ("assistants/companion/", {"offered_models": ["anthropic/none"]}, "offered_models"),
        ("assistants/companion/", {"fallbacks": [{"provider": "offline"}] * 2}, "fallbacks"),
        ("assistants/companion/", {"fallbacks": [{"provider": "nobody"}]}, "fallbacks"),
    ]:
        refused = call("PATCH", f"staff/{path}", body)
        assert (refused.status_code, list(refused.json()["error"]["details"]["fields"])) == (400, [field]), body
    assert call("PATCH", "staff/models/0/", {}).status_code == call("GET", "staff/models/x%00/").status_code == 404


def test_nobody_gives_a_group_what_they_do_not_have(root: User) -> None:
    keeper = make_user("keeper", is_staff=True)
    keeper.user_permissions.set(Permission.objects.filter(codename__in=["view_group", "add_group", "change_group"]))
    call = calling(keeper, Scope.STAFF_GROUPS)
    mine = call("POST", "staff/groups/", {"name": "Readers", "permissions": ["auth/view_group"]}).json()
    refused = call("PATCH", f"staff/groups/{mine['id']}/", {"permissions": ["conversations/read_content"]})
    assert (refused.status_code, list(refused.json()["error"]["details"]["fields"])) == (400, ["permissions"])
    theirs = calling(root)("POST", "staff/groups/", {"name": "Leads", "permissions": ["auth/view_user"]}).json()
    assert call("GET", f"staff/groups/{theirs['id']}/").status_code == 200
    assert call("PATCH", f"staff/groups/{theirs['id']}/", {"name": "Mine"}).status_code == 403
    assert call("DELETE", f"staff/groups/{mine['id']}/").status_code == 403, "that takes a right of its own"


@pytest.mark.usefixtures("opened")
def test_a_key_is_only_written_and_the_service_is_asked(root: User, model_server: ModelServer) -> None:
    call, row = calling(root), make_connection(model_server.url)
    answers = [call("GET", "staff/connections/team/")]
    assert (answers[0].json()["has_key"], answers[0].json()["header_names"]) == (True, ["X-Project"])
    answers += [call("GET", "staff/connections/"), call("POST", "staff/connections/team/test/")]
    assert answers[-1].json()["is_working"], answers[-1].content
    offered = call("GET", "staff/connections/team/models/").json()["results"]
    added = call("POST", "staff/connections/team/models/", {"models": [offered[0]["id"]]})
    assert added.status_code == 201 and added.json()["results"][0]["added"]
    assert [each.name for each in Model.objects.filter(provider="team")] == [offered[0]["id"]]
    moved = call("PATCH", "staff/connections/team/", {"base_url": "https://other.example"})
    assert (moved.status_code, {*moved.json()["error"]["details"]["fields"]}) == (400, {"key", "headers"})
    answers += [added, moved, call("PATCH", "staff/connections/team/", {"key": None, "label": "Ours"})]
    endpoint = endpoint_of(Connection.objects.get(pk=row.pk))
    assert (endpoint.key, endpoint.headers, answers[-1].status_code) == ("", {"X-Project": HEADER}, 200)
    refused = call("PATCH", "staff/connections/team/", {"kind": "openai"})
    assert refused.status_code == 400
    text = "".join(each.content.decode() for each in [*answers, refused])
    assert CANARY not in text and HEADER not in text


def test_a_replay_is_begun_followed_and_cancelled(root: User) -> None:
    call = calling(root, Scope.STAFF_REPLAYS)
    for _ in range(2):
        make_snapshot(make_thread(turns=["Hello?"]))
    body = {"assistant": "companion", "version": None, "conditions": ["lost.turns > 1 %"]}
    begun = call("POST", "staff/replays/", body)
    assert (begun.status_code, begun.json()["state"], begun.json()["requests"]) == (201, "running", 2)
    path = f"staff/replays/{begun.json()['id']}/"
    replays.advance(lambda: True)
    assert (call("GET", path).json()["done"], call("GET", path).json()["state"]) == (1, "running")
    replays.advance(lambda: False)
    done = call("GET", path).json()
    assert (done["state"], done["report"]["identical"], done["failed"]) == ("done", 2, [])
    validated({"$ref": "#/components/schemas/ReplayAnswer"}, done)
    again = call("POST", "staff/replays/", body).json()["id"]
    assert call("POST", f"staff/replays/{again}/cancel/").json()["state"] == "cancelled"
    for wrong in ({"version": 99}, {"conditions": ["nothing"]}, {"assistant": "nobody"}):
        assert call("POST", "staff/replays/", body | wrong).status_code == 400
    acts = AuditEvent.objects.filter(kind="replay_changed").order_by("id").values_list("actor_kind", "details__act")
    assert list(acts) == [("token", "started"), ("token", "started"), ("token", "cancelled")]


def test_an_experiment_is_for_who_may_read_content(root: User) -> None:
    dataset = make_dataset(make_snapshot(make_thread(turns=["Hello?"])), contains="Hello?")
    call = calling(root, Scope.STAFF_CONTENT)
    begun = call("POST", "staff/experiments/", {"dataset": dataset.name, "versions": [1]})
    assert (begun.status_code, begun.json()["cases"]) == (201, 1)
    path = f"staff/experiments/{begun.json()['id']}/"
    assert call("POST", f"{path}cancel/").json()["state"] == "cancelled"
    assert call("GET", path).json()["result"]["dataset"] == dataset.name
    assert call("POST", "staff/experiments/", {"dataset": "none", "versions": [1]}).status_code == 400
    without = make_user("support", is_staff=True)
    without.user_permissions.set(Permission.objects.filter(codename__in=["view_experiment", "add_experiment"]))
    browser = Client()
    browser.force_login(without)
    assert browser.get("/api/v1/staff/experiments/").status_code == 403


def test_feedback_and_findings_are_worked_through(root: User) -> None:
    thread = make_thread(turns=["Hello?", "Hi."])
    row = make_feedback(thread.messages.get(role=Message.Role.ASSISTANT), text="not for everybody")
    call = calling(root, Scope.STAFF, Scope.STAFF_FEEDBACK)
    answer = call("PATCH", f"feedback/{row.pk}/", {"state": "in_work", "assignee": "root", "notes": "Looking."}).json()
    assert (answer["state"], answer["assignee"], answer["notes"], answer["text"]) == (
        "in_work",
        "root",
        "Looking.",
        None,
    )
    refused = call("PATCH", f"feedback/{row.pk}/", {"assignee": thread.user.username})
    assert refused.status_code == 400, "only staff work on it"
    finding = make_lint_finding()
    accepted = call("PATCH", f"findings/{finding.pk}/", {"reason": "On purpose."}).json()
    assert (accepted["state"], accepted["reason"]) == ("accepted", "On purpose.")
    assert call("PATCH", f"findings/{finding.pk}/", {"reason": ""}).json()["state"] == "open"
    assert {*AuditEvent.objects.values_list("actor_kind", "kind")} >= {
        ("token", "row_changed"),
        ("token", "finding_changed"),
    }


def test_requests_are_figures_until_somebody_looks_for_a_reason(root: User) -> None:
    thread = make_thread(turns=["A canary sings.", "Yes."])
    snapshot = make_snapshot(thread)
    call = calling(root, Scope.STAFF)
    listed = call(
        "GET", f"staff/requests/?user={thread.user_id}&thread={thread.pk}&status=completed&assistant=companion"
    )
    assert [each["id"] for each in listed.json()["results"]] == [str(snapshot.pk)]
    validated({"$ref": "#/components/schemas/PaginatedStaffRequestList"}, listed.json())
    assert call("GET", f"staff/requests/?user={root.pk}").json()["results"] == []
    assert call("GET", "staff/requests/?user=x").status_code == 400
    assert "canary" not in listed.content.decode()
    path = f"staff/requests/{snapshot.pk}/look/"
    assert call("POST", path, {"reason": "Because."}).status_code == 403
    read = calling(root, Scope.STAFF_CONTENT)
    assert read("POST", path, {"reason": ""}).status_code == 400 and not ContentAccess.objects.exists()
    looked = read("POST", path, {"reason": "Ticket 7"})
    assert looked.status_code == 200 and "canary" in looked.content.decode()
    access = ContentAccess.objects.get()
    assert (access.reason, access.user_id, access.object_id, access.staff_id) == (
        "Ticket 7", thread.user_id, str(snapshot.pk), root.pk,
    )  # fmt: skip
    told = calling(thread.user, Scope.READ)("GET", "accesses/").json()["results"]
    assert [each["reason"] for each in told] == ["Ticket 7"]


def test_each_field_of_a_form_can_be_written() -> None:
    """What a page of the admin has, its call has too."""
    shapes = openapi.whole_schema()["components"]["schemas"]
    request = RequestFactory().get("/")
    request.user = make_user("root", is_staff=True, is_superuser=True)
    for table in TABLES:
        pages = admin.site.get_model_admin(table.model)
        fields = {*pages.get_form(request).base_fields} - {"forget_key", "forget_headers"}
        parts = {formset.get_default_prefix() for formset, _ in pages.get_formsets_with_inlines(request)}
        assert {*shapes[f"New{table.model.__name__}Row"]["properties"]} == fields | parts, table.name
