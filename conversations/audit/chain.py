"""The chain of digests over all events: sealed in small batches by workers, verified, and cut at its old end by an anchor.

Whoever records an event only inserts it. A worker gives events that are committed and have no number yet the next numbers, in
the order of their ids, and each a digest over the one before it and all that the event says. An event without a number is found
by that alone, however late its transaction came to its end, so none is passed over.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from json.encoder import encode_basestring as quoted
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from conversations.audit.recording import record
from conversations.models import AuditAnchor, AuditEvent, AuditKind
from conversations.runtime import clock, interruption
from conversations.runtime.db import run
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.sql_files import read_statements

SQL = read_statements(__file__)
LOCK = 0x61756469  # "audi": PostgreSQL's advisory locks are known by number
BATCH = 500
READ_AT_ONCE = 2_000
PRUNED_AT_ONCE = 5_000
FIRST = bytes(32)
"""Stands for the digest before the first event."""
CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
SAYS = (
    "id",
    "at",
    "kind",
    "outcome",
    "actor_kind",
    "actor_id",
    "actor_name",
    "target_kind",
    "target_id",
    "address",
    "request_id",
    "details",
)
"""The columns that a digest is made of, beside the number."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """A place in the chain and its digest, which stands for everything up to there."""

    number: int
    digest: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.digest.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Head":
        """Of ``number:hex``. Raises ``ValueError``."""
        number, _, digest = text.strip().partition(":")
        head = cls(number=int(number), digest=bytes.fromhex(digest))
        if head.number < 0 or len(head.digest) != len(FIRST):
            raise ValueError("a head is a number, a colon and 64 hexadecimal digits")
        return head


START = Head(number=0, digest=FIRST)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a verification saw. ``problem`` is empty where the chain holds; else it names the first bad place."""

    first: int
    head: Head
    checked: int
    unsealed: int
    problem: str = ""


def encode(number: int, event: dict[str, Any]) -> bytes:
    """The canonical form: JSON in UTF-8 with sorted names, without blanks; times in UTC to the microsecond. Written out, as an
    encoder that is given the whole event takes 1.2 to 2 times as long."""
    actor = event["actor_id"]
    at = event["at"].astimezone(UTC).isoformat(timespec="microseconds")
    return (
        f'{{"actor_id":{"null" if actor is None else actor},"actor_kind":{quoted(event["actor_kind"])},'
        f'"actor_name":{quoted(event["actor_name"])},"address":{quoted(event["address"])},"at":"{at}",'
        f'"details":{CANONICAL.encode(event["details"])},"id":"{event["id"]}","kind":{quoted(event["kind"])},'
        f'"number":{number},"outcome":{quoted(event["outcome"])},"request_id":{quoted(event["request_id"])},'
        f'"target_id":{quoted(event["target_id"])},"target_kind":{quoted(event["target_kind"])}}}'
    ).encode()


def next_digest(before: bytes, number: int, event: dict[str, Any]) -> bytes:
    return hashlib.sha256(before + encode(number, event)).digest()


def head() -> Head:
    """The last sealed event, or where the chain begins."""
    begin = beginning()
    last = AuditEvent.objects.filter(number__gt=begin.number).order_by("-number").first()
    return Head(number=last.number, digest=bytes(last.digest)) if last and last.number and last.digest else begin


def beginning() -> Head:
    anchor = AuditAnchor.objects.order_by("-number").first()
    return Head(number=anchor.number, digest=bytes(anchor.digest)) if anchor else START


def seal() -> int:
    """Give all events that wait their place. Returns how many; 0 where another process does it just now."""
    sealed = 0
    while not interruption.is_requested() and (count := _seal_batch()):
        sealed += count
        if count < BATCH:
            break
    return sealed


def _seal_batch() -> int:
    if not AuditEvent.objects.filter(number__isnull=True).exists():
        return 0
    with transaction.atomic():
        [(is_alone,)] = run(SQL["try_lock"], lock=LOCK)
        if not is_alone:
            return 0
        last = head()
        number, digest = last.number, last.digest
        sealed: list[tuple[Any, int, bytes]] = []
        for event in _read("unsealed", most=BATCH):
            number, digest = number + 1, next_digest(digest, number + 1, event)
            sealed.append((event["id"], number, digest))
        if sealed:
            ids, numbers, digests = (list(column) for column in zip(*sealed, strict=True))
            run(SQL["seal"], ids=ids, numbers=numbers, digests=digests)
    return len(sealed)


def verify(*, expected: Head | None = None) -> Verdict:
    """Read the whole chain, in one snapshot of the database. ``expected``: a head that a witness kept."""
    with transaction.atomic(durable=True):
        run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return _verify(expected)


def verify_newest(most: int) -> Verdict:
    """As ``verify``, of the newest events alone, each on the digest of the one before it: quick enough for a page."""
    begin, number = beginning(), head().number - most
    before = AuditEvent.objects.filter(number=number).first() if number > begin.number else None
    return _verify(None, after=Head(number=number, digest=bytes(before.digest)) if before and before.digest else None)


def _verify(expected: Head | None, *, after: Head | None = None) -> Verdict:
    begin = after or beginning()
    last, checked, problem = begin, 0, "" if after else _bad_anchor(begin)
    witnessed = expected is None or expected == begin
    if not problem and expected and expected.number < begin.number:
        problem = f"what was witnessed at {expected.number} was pruned: the record begins after {begin.number}"
    for event in () if problem else _sealed_events(begin.number):
        number: int = event["number"]
        if number != last.number + 1:
            problem = f"event {last.number + 1} is missing: {number} comes next"
        elif bytes(event["digest"]) != next_digest(last.digest, number, event):
            problem = f"event {number} ({event['id']}) is not what was sealed"
        if problem:
            break
        last, checked = Head(number=number, digest=bytes(event["digest"])), checked + 1
        if expected and expected.number == number:
            witnessed = True
            if expected.digest != last.digest:
                problem = f"event {number} has another digest than was witnessed: the record was written anew"
                break
    if not problem and expected and not witnessed:
        problem = f"events after {last.number} are missing: {expected.number} was witnessed"
    unsealed = AuditEvent.objects.filter(number__isnull=True).count()
    return Verdict(first=begin.number + 1, head=last, checked=checked, unsealed=unsealed, problem=problem)


def _sealed_events(after: int) -> Iterator[dict[str, Any]]:
    while events := _read("sealed", after=after, most=READ_AT_ONCE):
        yield from events
        after = events[-1]["number"]


def _read(name: str, **values: Any) -> list[dict[str, Any]]:
    """Rows as they are, without the converters of the model's fields."""
    columns = (*SAYS, "number", "digest")
    events = [dict(zip(columns, row, strict=True)) for row in run(SQL[name], **values)]
    for event in events:
        event["details"] = json.loads(event["details"])
    return events


def _bad_anchor(begin: Head) -> str:
    """An anchor is told of by an event in the chain after it; one that is not was put there to cut events off."""
    if begin == START:
        return ""
    told = AuditEvent.objects.filter(
        kind=AuditKind.AUDIT_PRUNED, details__number=begin.number, details__digest=begin.digest.hex()
    )
    return "" if told.exists() else f"nothing in the record tells that it was pruned up to {begin.number}"


def old_events(before: datetime) -> QuerySet[AuditEvent]:
    """What `prune` would let go, the oldest first."""
    return AuditEvent.objects.filter(id__lt=lowest_uuid7(before), number__isnull=False).order_by("id")


def prune(before: datetime, *, most: int | None = None) -> None:
    """Let events from before then go, oldest first, up to the number ``most``: an anchor says where the chain begins now, and
    an event that it was cut. A worker that is killed in between leaves rows before the anchor to the next."""
    _set_anchor(before, most)
    until = beginning().number
    while not interruption.is_requested() and _delete(until) == PRUNED_AT_ONCE:
        pass


@transaction.atomic
def _set_anchor(before: datetime, most: int | None) -> None:
    run(SQL["lock"], lock=LOCK)
    [(until,)] = run(SQL["prunable"], since=lowest_uuid7(before))
    if until is not None and most is not None:
        until = min(until, most)
    if until is None or until <= beginning().number:
        return
    event = AuditEvent.objects.get(number=until)
    assert event.digest
    anchor = AuditAnchor.objects.create(number=until, digest=event.digest, at=clock.now())
    record(AuditKind.AUDIT_PRUNED, details={"number": until, "digest": bytes(anchor.digest).hex()})


@transaction.atomic
def _delete(until: int) -> int:
    return len(run(SQL["prune"], until=until, most=PRUNED_AT_ONCE))
