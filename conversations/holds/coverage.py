"""What legal holds cover: rows that retention leaves alone, and what a person is told when they delete."""

import uuid
from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from conversations.models import LegalHold, Thread
from conversations.runtime.db import run

LOCKS = 0x686F6C64  # "hold": the other half of the lock's number is the person's


def current(user_id: int) -> QuerySet[LegalHold]:
    """Those of the person that last, of projects as well."""
    return LegalHold.objects.filter(user=user_id, ended_at=None)


def is_any_current() -> bool:
    return LegalHold.objects.filter(ended_at=None).exists()


def exempt(*, user: str = "user", project: str = "project") -> Q:
    """Rows that retention leaves alone, by the names of the columns that say whose they are and which project they are in."""
    lasting = LegalHold.objects.filter(ended_at=None)
    people = Q((f"{user}__in", lasting.filter(project_id=None).values("user")))
    if not project:
        return people
    return people | Q((f"{project}__in", lasting.filter(project_id__isnull=False).values("project_id")))


def notice(user_id: int, *, threads: Collection[uuid.UUID] = (), project: uuid.UUID | None = None) -> str:
    """What the person is told of what goes in these threads or this project; empty: no hold keeps anything of it.

    A hold on the person covers whatever they delete.
    """
    holds = list(current(user_id).order_by("began_at"))
    projects = {project}
    if threads and any(hold.project_id for hold in holds):
        projects |= {*Thread.objects.filter(user=user_id, id__in=threads).values_list("project_id", flat=True)}
    covering = [hold for hold in holds if hold.covers_person or hold.project_id in projects]
    if not covering:
        return ""
    words = gettext(
        "It is gone for you and for every model. A copy that only staff with a right of its own can read is kept until a "
        "legal hold ends, and then deleted without your doing anything."
    )
    return _with_reasons(words, covering)


def standing_notice(user_id: int) -> str:
    """What the person is told where nothing is deleted yet: that a hold lasts; empty: none does."""
    holds = list(current(user_id).order_by("began_at"))
    if not holds:
        return ""
    if any(hold.covers_person for hold in holds):
        words = gettext(
            "A legal hold lasts: of what you delete or forget a copy is kept until it ends, temporary chats too. It is gone "
            "for you and for every model at once."
        )
    else:
        words = gettext(
            "A legal hold lasts on projects of yours: of what you delete or forget in them a copy is kept until it ends. It is "
            "gone for you and for every model at once."
        )
    return _with_reasons(words, holds)


def _with_reasons(words: str, holds: Iterable[LegalHold]) -> str:
    reasons = [hold.reason for hold in holds if hold.tells_reason]
    return " ".join([words, *(gettext("Reason of the hold: %(reason)s") % {"reason": each} for each in reasons)])


def lock(user_id: int, *, shared: bool = False) -> None:
    """Until the end of the transaction no hold on the person begins or ends; ``shared``: others may delete meanwhile."""
    function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    run(f"SELECT {function}(%(locks)s, %(user)s)", locks=LOCKS, user=user_id)
