"""Holds begun and ended."""

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from conversations import audit
from conversations.holds.coverage import current, lock
from conversations.models import AuditKind, LegalHold
from conversations.runtime import clock
from memory.forgetting import ledger

log = logging.getLogger("openbook.holds")

RESTORED = "Began before a backup was restored that does not know it; its reason is lost."


@dataclass(frozen=True, kw_only=True)
class HoldSubject:
    """Whom a hold is about, and of which project of theirs alone."""

    user: User
    project_id: uuid.UUID | None = None

    @property
    def in_ledger(self) -> str:
        return str(self.project_id) if self.project_id else ledger.account_id(self.user)


def begin(
    subject: HoldSubject, *, reason: str, by: str, tells_reason: bool = False, began_at: datetime | None = None
) -> LegalHold:
    """From now on nothing of it is lost. Deletions that run already end before. Raises ``LedgerAway``."""
    with transaction.atomic():
        lock(subject.user.pk)
        ledger.note(ledger.Kind.HOLD, subject.in_ledger)
        hold = LegalHold.objects.create(
            user=subject.user,
            user_name=subject.user.username,
            project_id=subject.project_id,
            subject=subject.in_ledger,
            reason=reason,
            tells_reason=tells_reason,
            began_at=began_at or clock.now(),
            began_by=by,
        )
        audit.record(AuditKind.HOLD_PLACED, target=hold, details=_covered(hold))
    log.info("legal hold begun", extra={"hold_id": str(hold.id), "user_id": hold.user_id})
    return hold


def end(hold: LegalHold, *, by: str) -> None:
    """A worker then deletes what no other hold keeps. Raises ``LedgerAway``."""
    with transaction.atomic():
        lock(hold.user_id)
        if not LegalHold.objects.filter(id=hold.id, ended_at=None).update(ended_at=clock.now(), ended_by=by):
            return
        if not current(hold.user_id).filter(subject=hold.subject).exists():
            ledger.note(ledger.Kind.HOLD_ENDED, hold.subject)
        audit.record(AuditKind.HOLD_LIFTED, target=hold, details=_covered(hold))
    log.info("legal hold ended", extra={"hold_id": str(hold.id), "user_id": hold.user_id})


def _covered(hold: LegalHold) -> dict[str, str | int | None]:
    """By ids alone."""
    return {"user": hold.user_id, "project": str(hold.project_id) if hold.project_id else None}
