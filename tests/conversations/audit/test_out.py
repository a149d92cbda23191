"""How the record is read by others: over the API, as JSON lines in the shape of OCSF, and on the page for auditors."""

import json
from collections.abc import Iterator
from io import StringIO
from itertools import cycle, product
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

from conversations import audit
from conversations.accounts import groups
from conversations.audit import chain, ocsf
from conversations.models import AuditEvent, AuditKind
from conversations.runtime.ids import time_of, uuid7
from conversations.runtime.request_ids import request_scope
from tests.conversations.factories import make_user
from tests.emptying import unguarded

CLASSES = (ocsf.ACCOUNT_CHANGE, ocsf.AUTHENTICATION, ocsf.ENTITY_MANAGEMENT)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def auditor() -> Client:
    groups.make_groups(using="default")
    user = make_user("auditor", is_staff=True)
    user.groups.set(Group.objects.filter(name="Auditors"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def marta() -> User:
    """Who did one of everything."""
    user = make_user("marta")
    with request_scope("asked", address="192.0.2.7"):
        for kind in AuditKind:
            audit.record(AuditKind(kind), actor=user, target=user, details={"way": "password"})
    return user


def test_auditors_read_it_over_the_api(auditor: Client, marta: User) -> None:
    denied = audit.record(AuditKind.SIGN_IN, actor=None, target=("auth.User", 77), outcome=audit.Outcome.DENIED)
    chain.seal()

    def ids(query: str) -> list[str]:
        answer = auditor.get(f"/api/v1/audit/?{query}")
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["results"]]

    assert ids("outcome=denied") == ids("target=77") == [str(denied.id)]
    (token_made,) = auditor.get("/api/v1/audit/?kind=token_made").json()["results"]
    assert token_made["actor_name"] == "marta" and token_made["address"] == "192.0.2.7"
    assert len(token_made["digest"]) == 64 and token_made["number"]
    assert set(ids(f"actor={marta.pk}&page_size=200")) == {
        str(each.id) for each in AuditEvent.objects.filter(actor=marta)
    }
    assert ids("since=2100-01-01T00:00:00Z") == ids("until=2020-01-01T00:00:00Z") == []
    first = auditor.get("/api/v1/audit/?page_size=3").json()
    second = auditor.get(first["next"]).json()
    assert len({row["id"] for row in first["results"] + second["results"]}) == 6
    for wrong in ("kind=nonsense", "actor=x", "since=yesterday", "unknown=1"):
        assert auditor.get(f"/api/v1/audit/?{wrong}").status_code == 400
    pk, _ = marta.pk, marta.delete()
    (token_made,) = auditor.get("/api/v1/audit/?kind=token_made").json()["results"]
    assert (token_made["actor"], token_made["actor_name"]) == (pk, "")


def test_every_kind_has_the_shape_of_ocsf(marta: User) -> None:
    chain.seal()
    output = StringIO()
    call_command("audit_export", stdout=output)
    events = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [event["unmapped"]["number"] for event in events] == list(range(1, len(AuditKind) + 1))
    for event in events:
        assert (event["metadata"]["version"], event["src_endpoint"]["ip"]) == ("1.7.0", "192.0.2.7")
        assert event["actor"]["user"] == {"uid": str(marta.pk), "name": "marta", "type_id": 1, "type": "User"}
    assert {event["metadata"]["event_code"] for event in events} == set(AuditKind.values)
    rest = StringIO()
    call_command("audit_export", "--after", str(len(AuditKind) - 2), stdout=rest)
    assert len(rest.getvalue().splitlines()) == 2
    assert AuditEvent.objects.filter(kind=AuditKind.AUDIT_EXPORTED, actor_kind="system").count() == 2


def validators() -> dict[int, Draft202012Validator]:
    """Of OCSF's own schema, by the number of a class."""
    schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(version=ocsf.VERSION))
    names = {uid: schema.lookup_class_name_from_uid(class_uid=uid) for uid in CLASSES}
    return {
        uid: Draft202012Validator(schema.get_class_schema(class_name=name, profiles=[])) for uid, name in names.items()
    }


def events_of_every_sort() -> Iterator[AuditEvent]:
    """Not stored: every kind with every outcome, by all sorts of actors, with and without a target and an address."""
    actors = [("person", 7), ("staff", 8), ("token", 8), ("system", None), ("unknown", None)]
    targets = [("auth.User", "5"), ("conversations.Thread", "0190"), ("", "")]
    others = cycle(product(actors, targets, ["", "192.0.2.1", "2001:db8::1"]))
    for kind, outcome in product([*AuditKind, "of_an_earlier_release"], AuditEvent.Outcome):
        (actor_kind, actor), (target_kind, target), address = next(others)
        id = uuid7()
        yield AuditEvent(
            id=id, at=time_of(id), kind=kind, outcome=outcome, actor_kind=actor_kind, actor_id=actor, target_kind=target_kind,
            target_id=target, address=address, request_id="asked", details={"fields": ["days"]}, number=4, digest=bytes(32),
        )  # fmt: skip


def test_every_event_is_valid_by_the_schema_of_ocsf() -> None:
    judges = validators()
    for event in events_of_every_sort():
        shape = json.loads(json.dumps(ocsf.as_ocsf(event, {7: "marta"})))
        assert [error.message for error in judges[shape["class_uid"]].iter_errors(shape)] == [], shape
    wrong = {**shape, "activity_id": 1_234, "nonsense": 1}
    assert len([*judges[shape["class_uid"]].iter_errors(wrong)]) == 2


def test_the_page_says_up_to_where_it_holds(auditor: Client, marta: User) -> None:
    chain.seal()
    page = reverse("admin:conversations_auditevent_changelist")
    text = auditor.get(page).text
    assert "Verified just now: events 1 to" in text and "access token made" in text and "marta" in text
    assert "access token revoked" not in auditor.get(f"{page}?kind=token_made").text.partition('id="result_list"')[2]
    event = AuditEvent.objects.get(kind=AuditKind.TOKEN_MADE)
    assert str(event.id) in auditor.get(reverse("admin:conversations_auditevent_change", args=[event.id])).text
    answer: Any = auditor.get(reverse("admin:conversations_auditevent_download") + "?kind=token_made")
    (line,) = answer.content.splitlines()
    assert json.loads(line)["metadata"]["uid"] == str(event.id)
    with transaction.atomic(), connection.cursor() as cursor:
        unguarded(cursor)
        cursor.execute("UPDATE conversations_auditevent SET actor_name = 'eve' WHERE id = %s", [event.id])
    assert f"event {event.number} (" in auditor.get(page).text


def test_the_newest_are_verified_on_what_stands_before() -> None:
    for _ in range(5):
        audit.record(AuditKind.SIGN_IN)
    chain.seal()
    newest = chain.verify_newest(2)
    assert (newest.first, newest.checked, newest.head.number, newest.problem) == (4, 2, 5, "")
    assert chain.verify_newest(50).checked == 5
