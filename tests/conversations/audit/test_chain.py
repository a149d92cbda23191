"""The chain of the audit record: nothing that is committed is passed over, and whatever is done to it afterwards is seen."""

import hashlib
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conversations import audit
from conversations.audit import chain
from conversations.models import AuditAnchor, AuditEvent, AuditKind
from conversations.runtime.db import run
from conversations.runtime.request_ids import request_scope
from tests.conversations.factories import make_user
from tests.emptying import unguarded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.oldest_postgres]


def some_events(count: int) -> None:
    for number in range(count):
        audit.record(AuditKind.SIGN_IN, target=("auth.User", number), details={"way": "password", "fields": ["a", "b"]})


def tampered(statement: str, **values: Any) -> chain.Verdict:
    """What is verified after somebody with power over the database did this; it is taken back afterwards."""
    kept = list(AuditEvent.objects.values()), list(AuditAnchor.objects.values())
    with transaction.atomic(), connection.cursor() as cursor:
        unguarded(cursor)
        cursor.execute(statement, values)
    verdict = chain.verify()
    with transaction.atomic(), connection.cursor() as cursor:
        unguarded(cursor)
        cursor.execute("DELETE FROM conversations_auditevent; DELETE FROM conversations_auditanchor")
        AuditEvent.objects.bulk_create(AuditEvent(**row) for row in kept[0])
        AuditAnchor.objects.bulk_create(AuditAnchor(**row) for row in kept[1])
    return verdict


def test_whatever_is_done_to_the_chain_is_seen() -> None:
    some_events(6)
    assert chain.seal() == 6
    assert chain.seal() == 0
    whole = chain.verify()
    assert (whole.problem, whole.checked, whole.head.number) == ("", 6, 6)
    third = AuditEvent.objects.get(number=3)
    changes = {
        column: f"UPDATE conversations_auditevent SET {column} = {value} WHERE number = 3"  # noqa: S608
        for column, value in {
            "at": "at + interval '1 microsecond'",
            "kind": "'sign_out'",
            "outcome": "'denied'",
            "actor_kind": "'staff'",
            "actor_id": "7",
            "actor_name": "'eve'",
            "target_kind": "'x'",
            "target_id": "'9'",
            "address": "'10.0.0.1'",
            "request_id": "'r'",
            "details": "'{}'",
            "id": "gen_random_uuid()",
            "digest": "decode(repeat('00', 32), 'hex')",
        }.items()
    }
    assert changes.keys() == {field.column for field in AuditEvent._meta.concrete_fields} - {"number"}
    for column, statement in changes.items():
        assert tampered(statement).problem.startswith("event 3 ("), column
    others = {
        "DELETE FROM conversations_auditevent WHERE number = 4": "event 4 is missing: 5 comes next",
        "DELETE FROM conversations_auditevent WHERE number = 1": "event 1 is missing: 2 comes next",
        "UPDATE conversations_auditevent SET number = 99 WHERE number = 2": "event 2 is missing: 3 comes next",
        "; ".join(
            f"UPDATE conversations_auditevent SET number = {to} WHERE number = {of}"  # noqa: S608
            for of, to in ((4, -5), (5, 4), (-5, 5))
        ): "event 4 (",
        "INSERT INTO conversations_auditevent SELECT gen_random_uuid(), at, kind, outcome, actor_kind, actor_id, "
        "actor_name, target_kind, target_id, address, request_id, details, 7, digest "
        "FROM conversations_auditevent WHERE number = 6": "event 7 (",
        f"INSERT INTO conversations_auditanchor VALUES (3, '\\x{bytes(third.digest or b'').hex()}', now())": (  # noqa: S608
            "nothing in the record tells that it was pruned up to 3"
        ),
    }
    for statement, problem in others.items():
        statement = statement.replace("SELECT gen_random_uuid(), at", "SELECT gen_random_uuid() AS id, at")
        assert tampered(_named(statement)).problem.startswith(problem), statement
    assert chain.verify() == whole


def _named(statement: str) -> str:
    names = (
        "id, at, kind, outcome, actor_kind, actor_id, actor_name, target_kind, target_id, address, request_id, details"
    )
    return statement.replace("auditevent SELECT", f"auditevent ({names}, number, digest) SELECT").replace(
        "auditanchor VALUES", "auditanchor (number, digest, at) VALUES"
    )


def test_a_witness_sees_what_was_cut_or_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    some_events(4)
    chain.seal()
    kept = StringIO()
    call_command("audit_verify", "--head", stdout=kept)
    witnessed = kept.getvalue().strip()
    assert chain.Head.parse(witnessed) == chain.head()
    some_events(1)
    chain.seal()
    told = StringIO()
    call_command("audit_verify", "--expect", witnessed, "--json", stdout=told)
    answer = json.loads(told.getvalue())
    assert (answer["ok"], answer["verified"], answer["first"]) == (True, 5, 1)
    with transaction.atomic(), connection.cursor() as cursor:
        unguarded(cursor)
        cursor.execute("DELETE FROM conversations_auditevent WHERE number > 3")
    assert chain.verify().problem == ""  # the chain alone can't tell
    with pytest.raises(CommandError, match="events after 3 are missing: 4 was witnessed") as failed:
        call_command("audit_verify", "--expect", witnessed, stdout=StringIO())
    assert failed.value.returncode == 1
    some_events(2)
    chain.seal()
    with pytest.raises(CommandError, match="event 4 has another digest than was witnessed"):
        call_command("audit_verify", "--expect", witnessed, stdout=StringIO())


def test_the_canonical_form_is_as_documented() -> None:
    """As docs/operate/audit.md tells it, so that others can verify an export."""
    with request_scope("req-1", address="192.0.2.7"):
        user = make_user("märta", is_staff=True)
        event = audit.record(AuditKind.TOKEN_MADE, actor=user, target=user, details={"scopes": ["read"], "days": 3})
    chain.seal()
    event.refresh_from_db()
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds")
    text = (
        f'{{"actor_id":{user.pk},"actor_kind":"staff","actor_name":"märta","address":"192.0.2.7","at":"{at}",'
        f'"details":{{"days":3,"scopes":["read"]}},"id":"{event.id}","kind":"token_made","number":1,'
        f'"outcome":"success","request_id":"req-1","target_id":"{user.pk}","target_kind":"auth.User"}}'
    )
    assert bytes(event.digest or b"") == hashlib.sha256(bytes(32) + text.encode()).digest()
    odd = {
        name: f'{name} "\\\n\x7f\u2028\x01é😀' for name in chain.SAYS if name not in ("id", "at", "actor_id", "details")
    }
    strange = odd | {
        "id": str(event.id),
        "at": at,
        "actor_id": None,
        "details": {"ü\t": ["é😀", None, True, 10**20], "a": {}},
    }
    plain = json.dumps(strange | {"number": 7}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert chain.encode(7, strange | {"at": event.at}) == plain.encode()


def test_events_are_kept_as_they_are() -> None:
    some_events(2)
    chain.seal()
    some_events(1)
    AuditAnchor.objects.create(number=0, digest=bytes(32), at=timezone.now())
    refused = [
        "UPDATE conversations_auditevent SET kind = 'x'",
        "UPDATE conversations_auditevent SET number = 9, digest = '', actor_name = 'x' WHERE number IS NULL",
        "UPDATE conversations_auditevent SET number = 9 WHERE number = 2",
        "DELETE FROM conversations_auditevent WHERE number IS NULL",
        "DELETE FROM conversations_auditevent WHERE number = 1",
        "TRUNCATE conversations_auditevent",
        "UPDATE conversations_auditanchor SET number = 2",
        "DELETE FROM conversations_auditanchor",
        "TRUNCATE conversations_auditanchor",
    ]
    for statement in refused:
        with pytest.raises(DatabaseError, match="the audit record stays as it is"), transaction.atomic():
            run("SELECT set_config('openbook.door', 'open', true)")
            run(statement)


@pytest.mark.parametrize("details", [{"text": "x" * 201}, {"cost": 1.5}, {"rows": [{"a": 1}]}, {"body": b"x"}])
def test_details_take_ids_and_names_alone(details: Any) -> None:
    with pytest.raises(ValueError, match="details of an audit event"):
        audit.record(AuditKind.SIGN_IN, details=details)


def test_no_event_is_passed_over_however_late_it_is_committed() -> None:
    """Writers whose transactions end in any order, and several who seal at once."""
    writers, each, done = 4, 25, threading.Event()
    barrier = threading.Barrier(writers)

    def in_thread(work: Callable[[], None]) -> threading.Thread:
        def body() -> None:
            try:
                work()
            finally:
                connection.close()

        thread = threading.Thread(target=body)
        thread.start()
        return thread

    def write() -> None:
        for number in range(each):
            with transaction.atomic():
                audit.record(AuditKind.SIGN_IN, target=("auth.User", number))
                if number == 0:  # all have an id before any commits
                    barrier.wait()

    def seal() -> None:
        while not done.is_set():
            chain.seal()

    sealers = [in_thread(seal) for _ in range(2)]
    late = transaction.atomic()
    late.__enter__()
    first = audit.record(AuditKind.SIGN_OUT)  # the lowest id, and committed last
    for thread in [in_thread(write) for _ in range(writers)]:
        thread.join()
    late.__exit__(None, None, None)
    done.set()
    for thread in sealers:
        thread.join()
    chain.seal()
    verdict = chain.verify()
    assert (verdict.problem, verdict.checked, verdict.unsealed) == ("", writers * each + 1, 0)
    first.refresh_from_db()
    assert first.number is not None


def test_what_is_old_goes_and_the_chain_goes_on() -> None:
    now = datetime.now(UTC)
    some_events(3)
    chain.seal()
    chain.prune(now - timedelta(days=1))
    assert (AuditAnchor.objects.count(), AuditEvent.objects.count()) == (0, 3)
    chain.prune(now + timedelta(hours=1))
    assert list(AuditEvent.objects.values_list("kind", "number")) == [("audit_pruned", None)]
    some_events(1)
    chain.seal()
    chain.prune(now - timedelta(days=1))
    verdict = chain.verify()
    assert (verdict.problem, verdict.first, verdict.checked, verdict.head.number) == ("", 4, 2, 5)
    chain.prune(now + timedelta(hours=1))  # once more, what told of the first time goes, too
    chain.seal()
    verdict = chain.verify()
    assert (verdict.problem, verdict.first, verdict.checked) == ("", 6, 1)
    assert chain.verify(expected=chain.START).problem == "what was witnessed at 0 was pruned: the record begins after 5"
