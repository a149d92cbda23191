"""Which moderators are active, and what they make of a text: asked one after the other, until one stops it."""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from conversations import audit
from conversations.audit import AuditKind
from conversations.models import ModerationFinding, Moderator, Reply, Stage
from conversations.moderation.checks import CHECKS, CheckFailed, Examined
from conversations.moderation.verdicts import Opinion, Verdict, failed_verdict, verdict_of
from conversations.runtime import clock
from conversations.runtime.ids import uuid7

log = logging.getLogger("openbook.moderation")

KEEP_SECONDS = 5.0
"""How long the rows are kept in memory, as every message asks for them."""


@dataclass
class CachedModerators:
    rows: Sequence[Moderator] = ()
    until: float = 0.0


_cached = CachedModerators()


def active() -> Sequence[Moderator]:
    """Those that are asked, in their order. Reads the database once in a few seconds."""
    if time.monotonic() >= _cached.until:
        _cached.rows = tuple(Moderator.objects.filter(is_active=True))
        _cached.until = time.monotonic() + KEEP_SECONDS
    return _cached.rows


def known() -> Sequence[Moderator] | None:
    """The same without reading; ``None`` where they have to be read again."""
    return _cached.rows if time.monotonic() < _cached.until else None


def reread() -> None:
    """Staff have changed one."""
    _cached.until = 0.0


def at_stage(moderators: Iterable[Moderator], stage: Stage) -> list[Moderator]:
    return [
        moderator
        for moderator in moderators
        if (moderator.examines_replies if stage is Stage.REPLY else moderator.examines_messages)
    ]


async def examine(moderators: Sequence[Moderator], examined: Examined) -> list[Verdict]:
    """What each makes of a text, up to the first that stops it. Pictures alone are shown to those that see them."""
    verdicts: list[Verdict] = []
    for moderator in moderators:
        if not examined.text and not moderator.sees_pictures:
            continue
        verdicts.append(await _asked(moderator, examined))
        if verdicts[-1].stops:
            break
    return verdicts


async def _asked(moderator: Moderator, examined: Examined) -> Verdict:
    start = time.monotonic()
    opinion, problem = Opinion(), ""
    try:
        async with asyncio.timeout(moderator.seconds):
            opinion = await CHECKS[moderator.kind](moderator, examined)
    except TimeoutError:
        problem = f"It did not answer within {moderator.seconds:g} s."
    except CheckFailed as error:
        problem = str(error)
    except Exception as error:  # whatever a check does, its row says what happens then
        log.exception("a check failed", extra={"moderator": moderator.name})
        problem = f"It failed ({type(error).__name__})."
    milliseconds = round((time.monotonic() - start) * 1000)
    if problem:
        log.warning("a check could not be made", extra={"moderator": moderator.name, "cause": problem})
        return failed_verdict(moderator, problem, milliseconds=milliseconds)
    return verdict_of(moderator, examined.stage, opinion, milliseconds=milliseconds)


@transaction.atomic
def record(examined: Examined, verdicts: Sequence[Verdict]) -> None:
    """Note what was decided, of a reply of the person's, in this order. What was refused is in the audit record, too."""
    now, ids = clock.now(), sorted(uuid7() for _ in verdicts)
    ModerationFinding.objects.bulk_create(
        ModerationFinding(
            id=id,
            at=now,
            user_id=examined.user_id,
            thread_id=examined.thread_id,
            reply_id=examined.reply_id,
            stage=examined.stage,
            moderator=verdict.moderator,
            result=verdict.result,
            labels=list(verdict.labels),
            problem=verdict.problem,
            milliseconds=verdict.milliseconds,
        )
        for id, verdict in zip(ids, verdicts, strict=True)
    )
    for verdict in verdicts:
        if verdict.stops:
            audit.record(
                AuditKind.MODERATION_REFUSED,
                actor=audit.current_actor() or User.objects.filter(pk=examined.user_id).first(),
                target=(Reply._meta.label, examined.reply_id),
                outcome=audit.Outcome.DENIED,
                details={
                    "moderator": verdict.moderator,
                    "stage": examined.stage.value,
                    "result": verdict.result.value,
                    "thread": examined.thread_id,
                },
            )
