"""The audit record of 1,000,000 events: how quickly it is verified, beside reading it by COPY and hashing alone, and in how
much memory. Alone: ``make bench ONLY=audit_chain``; ``python -m tests.benchmarks audit_chain 5000`` takes another number."""

import hashlib
import json
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from conversations.audit import chain
from conversations.models import AuditEvent
from conversations.runtime.ids import uuid7
from tests.benchmarks.measuring import doing

EVENTS = 1_000_000
FEW = 50_000
COLUMNS = (*chain.SAYS, "number", "digest")
START = datetime(2026, 1, 1, tzinfo=UTC)
READ = f"SELECT {', '.join(COLUMNS)} FROM conversations_auditevent WHERE number > 0 ORDER BY number"  # noqa: S608


def main(events: int = EVENTS) -> None:
    few = min(FEW, events)
    fill(1, few)
    verify(few)
    before = peak()
    fill(few + 1, events)
    filled = peak()
    seconds, copied, hashed = verify(events), copy(), hash_alone(events)
    print(f"\n== {events:,} audit events: events a second")
    print(f"verified {events / seconds:>12,.0f}   {seconds:6.1f} s")
    print(f"COPY out {events / copied:>12,.0f}   {copied:6.1f} s, {seconds / copied:.1f} x")
    print(f"SHA-256  {events / hashed:>12,.0f}   {hashed:6.1f} s, {seconds / hashed:.1f} x")
    print(
        f"peak of memory: {before:,} MB once {few:,} were verified; {filled:,} MB before, {peak():,} MB after {events:,}"
    )


def peak() -> int:
    """Megabytes that this process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def fill(first: int, last: int) -> None:
    """Sealed, as workers seal them."""
    begin = chain.head()
    with doing(f"filling events {first:,} to {last:,}"), connection.cursor() as cursor:
        with cursor.copy(f"COPY conversations_auditevent ({', '.join(COLUMNS)}) FROM STDIN") as copy_in:
            for row in rows(begin.digest, first, last):
                copy_in.write_row(row)
        cursor.execute("VACUUM ANALYZE conversations_auditevent")


def rows(digest: bytes, first: int, last: int) -> Iterator[list[Any]]:
    for number in range(first, last + 1):
        event: dict[str, Any] = {
            "id": uuid7(),
            "at": START + timedelta(seconds=number),
            "kind": "row_changed",
            "outcome": "success",
            "actor_kind": "staff",
            "actor_id": number % 100,
            "actor_name": f"staff{number % 100}",
            "target_kind": "conversations.Assistant",
            "target_id": str(number % 1_000),
            "address": "192.0.2.7",
            "request_id": uuid7().hex,
            "details": {"act": "changed", "fields": ["name", "system_prompt"]},
        }
        digest = chain.next_digest(digest, number, event)
        yield [json.dumps(value) if name == "details" else value for name, value in event.items()] + [number, digest]


def verify(events: int) -> float:
    began = time.perf_counter()
    verdict = chain.verify()
    assert (verdict.problem, verdict.checked) == ("", events)
    return time.perf_counter() - began


def copy() -> float:
    began = time.perf_counter()
    with connection.cursor() as cursor, cursor.copy(f"COPY ({READ}) TO STDOUT (FORMAT binary)") as out:
        for _ in out:
            pass
    return time.perf_counter() - began


def hash_alone(events: int) -> float:
    """As many digests over as many bytes, one on the other."""
    text = chain.encode(events, next(AuditEvent.objects.filter(number=events).values(*chain.SAYS).iterator()))
    began, digest = time.perf_counter(), bytes(32)
    for _ in range(events):
        digest = hashlib.sha256(digest + text).digest()
    return time.perf_counter() - began
