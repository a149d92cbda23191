"""What a user said, turned into summaries, facts and topics, part by part.

What is to be done is told by the rows alone, and each part is stored in one transaction. So it may be killed at any point and
run again: nothing is doubled, nothing is lost.
"""

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F

from conversations.accounts.allowances import forgettings_of
from conversations.errors import RateLimited
from conversations.models import Message, Reply, Thread
from conversations.providers.errors import place_of
from conversations.runtime import clock, leases
from conversations.runtime.leases import Lease
from memory.consolidation import consolidation_state, fact_rows, store
from memory.consolidation.findings import Findings, SourceTurn, with_made
from memory.consolidation.pending_parts import (
    LATE,
    PartChanged,
    PartContent,
    PendingPart,
    days_off,
    due_parts,
    hold,
    readable,
)
from memory.consolidation.rule_extraction import extract
from memory.consolidation.summarize import NoteWriter, digest, end_left_behind, writer_for
from memory.consolidation.supersession import Facts
from memory.models import Consolidation, Preferences
from memory.services import zone_of

log = logging.getLogger("openbook.memory")

BY_A_MODEL = timedelta(days=7)
"""Parts that ended longer ago are found by rules: to import years costs nothing."""

RECENT = timedelta(days=3)


def consolidate(
    user_id: int, *, at: datetime | None = None, alive: Callable[[], bool] | None = None, waits: bool = False
) -> int:
    """Do all that is to be done for a user. Returns how many parts that were; none where another process is at it, unless
    this ``waits`` for it to end.

    ``alive`` is asked before each part whether to go on. Raises ``ProviderError`` where a model that would be asked can't be
    reached now; what was stored by then stays.
    """
    at = at or clock.now()
    with leases.held(f"consolidation of {user_id}", waits=waits) as lease:
        if not (lease and User.objects.filter(id=user_id).exists()):
            return 0
        preferences = Preferences.objects.filter(user=user_id).first()
        zone, remembers = zone_of(preferences), preferences is None or preferences.remembers
        before = Consolidation.objects.filter(user=user_id).values_list("wanted_at", "started_at").first()
        wanted_at, began_before = before or (None, None)
        if began_before:
            end_left_behind(user_id, began_before)
        pending_parts = due_parts(user_id, zone) if remembers else []
        begun = {"started_at": at, "ended_at": None, "parts_done": 0, "parts_to_do": len(pending_parts)}
        Consolidation.objects.update_or_create(user_id=user_id, defaults=begun)
        try:
            done, whole = _do(user_id, pending_parts, zone, at, alive, lease)
            if remembers:
                with transaction.atomic():
                    store.remake_days(user_id, days_off(user_id, zone, recent=at - RECENT), zone, at)
        except Exception as error:
            if connection.is_usable():
                consolidation_state.record_failure(user_id, place_of(error))
            raise
        mine = Consolidation.objects.filter(user=user_id)
        mine.update(ended_at=clock.now(), failures=0, error="", not_before=None)
        if whole:
            _mark_done(user_id, at, wanted_at)
    log.info("consolidated", extra={"user_id": user_id, "parts_done": done, "parts_to_do": len(pending_parts)})
    return done


def _do(
    user_id: int,
    pending_parts: Sequence[PendingPart],
    zone: tzinfo,
    at: datetime,
    alive: Callable[[], bool] | None,
    lease: Lease,
) -> tuple[int, bool]:
    """How many parts were done, and whether that was all of them."""
    done = moved = limited = 0
    facts = defaultdict[uuid.UUID | None, Facts](Facts, fact_rows.facts_of(user_id) if pending_parts else {})
    projects = fact_rows.projects_of_threads(user_id)
    recent = {pending.thread for pending in pending_parts if _is_recent(pending, at)}
    threads = Thread.objects.filter(user=user_id, id__in=recent).select_related("assistant")
    writers = {thread.id: writer_for(thread.assistant) for thread in threads}
    with asyncio.Runner() if any(writers.values()) else nullcontext() as runner:
        for part in pending_parts:
            if alive and not alive():
                return done, False
            project = projects.get(part.thread)
            pending, known = replace(part, forgettings=forgettings_of(user_id), project=project), facts[project]
            content = readable(pending)
            turns = _turns(content.turns, zone)
            asked = writers.get(pending.thread) if _is_recent(pending, at) else None
            try:
                try:
                    findings = _findings(pending, turns, known, asked, runner)
                except RateLimited:
                    limited += 1
                    _note_limit(user_id, limited)
                    findings = _findings(pending, turns, known, None, runner)
                confined = extract(_turns(content.confined, zone)).facts
                findings = replace(with_made(findings, content.made), confined=confined)
                _keep(pending, content, findings, known, zone, at, lease)
                done += 1
            except PartChanged:
                moved += 1
    return done, not moved


def _note_limit(user_id: int, parts: int) -> None:
    """The person's day has no tokens left for a model. Rules say less, but nothing waits, and nothing is lost."""
    Consolidation.objects.filter(user=user_id).update(limited_at=clock.now(), parts_limited=parts)
    log.info("notes come from rules: the day has no tokens left", extra={"user_id": user_id, "parts": parts})


def _findings(
    pending: PendingPart,
    turns: Sequence[SourceTurn],
    facts: Facts,
    writer: NoteWriter | None,
    runner: asyncio.Runner | None,
) -> Findings:
    """By the model, or by rules without one and where it doesn't help. Raises ``RateLimited`` where there is no room for its
    tokens."""
    if not turns:
        return Findings()
    findings = digest(runner, writer, pending, turns, facts) if writer and runner else None
    return findings or extract(turns, store.open_topics_of(pending, turns[-1].at), last=pending.part.last)


def _is_recent(pending: PendingPart, at: datetime) -> bool:
    return at - pending.part.ended_at <= BY_A_MODEL


def _turns(turns: Sequence[Message], zone: tzinfo) -> list[SourceTurn]:
    return [
        SourceTurn(
            id=turn.id, position=turn.position, role=turn.role, text=turn.text, at=turn.created_at.astimezone(zone)
        )
        for turn in turns
    ]


def _keep(
    pending: PendingPart,
    content: PartContent,
    findings: Findings,
    facts: Facts,
    zone: tzinfo,
    at: datetime,
    lease: Lease,
) -> None:
    """All of a part in one transaction, unless what it was made of is no longer what is said. Raises ``PartChanged``, and
    ``LeaseLost`` where another process is at it by now."""
    with transaction.atomic():
        lease.confirm()
        _, now = hold(pending, content.turn_ids)
        if not now.says_as_much_as(content):
            raise PartChanged
        store.keep(pending, content, findings, facts, zone=zone, at=at)
        Consolidation.objects.filter(user=pending.user).update(parts_done=F("parts_done") + 1)


def _mark_done(user_id: int, at: datetime, wanted_at: datetime | None) -> None:
    """All until then is consolidated, but for what was said in threads where a reply still runs."""
    mine = Consolidation.objects.filter(user=user_id)
    running = Reply.objects.filter(user=user_id, thread__user=user_id, status=Reply.Status.RUNNING)
    waiting = [updated_at - timedelta(seconds=1) for updated_at in running.values_list("thread__updated_at", flat=True)]
    mine.update(through=min([at - LATE, *waiting]))
    mine.filter(wanted_at=wanted_at).update(wanted_at=None)  # unless more was wanted meanwhile
