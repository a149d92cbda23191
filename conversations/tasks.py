"""What workers do. Arguments are ids, and never a text of a user's; what a failed task leaves behind tells no text of a user's.

A task that is stopped or killed in the middle has stored a part of its work; the rest is found again by the rows.
"""

import logging
import time
from collections.abc import Callable
from functools import wraps

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.tasks import task
from django.utils import timezone

from conversations import accounts, attempts, figures, mailing, retention, stopping, telemetry
from conversations.consolidating import consolidate
from conversations.request_ids import request_scope
from memory.backends import mirroring
from memory.backends.base import BackendError

log = logging.getLogger("openbook.worker")

SLICE_SECONDS = 60.0
"""Whoever has more to do than this goes to the end of the queue with the rest."""


class TaskFailed(Exception):
    """Says what kind of error it was and where, never what the error says."""


def unattended[**P](work: Callable[P, None]) -> Callable[P, None]:
    """The body of a task: it can be stopped, and fails with ``TaskFailed`` alone. Each run has a request id of its own."""

    @wraps(work)
    def body(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with request_scope(), telemetry.listener.task(work.__name__), stopping.interruptible():
                work(*args, **kwargs)
        except stopping.Stopped:
            return
        except Exception as error:
            raise TaskFailed(attempts.described(error)) from None

    return body


@task()
@unattended
def consolidate_user(user_id: int) -> None:
    until = time.monotonic() + SLICE_SECONDS
    consolidate(user_id, alive=lambda: not stopping.asked() and time.monotonic() < until)


@task()
@unattended
def mirror() -> None:
    """Bring another memory service up to date. Where it is down, the next task tries again."""
    for user_id in mirroring.mirror_due():
        if stopping.asked():
            return
        try:
            mirroring.mirror(user_id)
        except BackendError as error:
            log.warning("can't mirror yet", extra={"user_id": user_id, "cause": str(error)})


@task()
@unattended
def retain() -> None:
    figures.keep(timezone.now())  # before they go
    retention.apply()


@task()
@unattended
def delete_accounts() -> None:
    accounts.delete_due(timezone.now())


@task()
@unattended
def mail_password_link(user_id: int, email: str, origin: str) -> None:
    """``origin`` is the server's own address, as the person met it."""
    mailing.send_password_link(User.objects.get(id=user_id), email, origin)


@task()
@unattended
def mail_confirmation_link(address_id: int, origin: str) -> None:
    mailing.send_confirmation_link(EmailAddress.objects.get(id=address_id), origin)
