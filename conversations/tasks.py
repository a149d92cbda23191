"""What workers do. Arguments are ids, and never a text of a user's; what a failed task leaves behind tells no text of a user's.

A task that is stopped or killed in the middle has stored a part of its work; the rest is found again by the rows.
"""

import uuid
from collections.abc import Callable
from functools import wraps

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.tasks import task
from django.utils.translation import override

from conversations.accounts import budget_warnings, invitations, lifecycle, mailing
from conversations.datasets import runs
from conversations.files import progress, storage
from conversations.holds import release
from conversations.linter import lint
from conversations.models import Budget, File
from conversations.providers.errors import place_of
from conversations.regression import replays
from conversations.runtime import clock, interruption, telemetry
from conversations.runtime.request_ids import request_scope
from conversations.threads import temporary
from conversations.upkeep import hourly_figures, key_renewal, retention

FILES = "files"
"""The queue of what people wait for: it has a worker of its own beside each server, which nothing long can take."""
LONG_FILES = "long_files"
"""The queue of files that take long, after all else that the other worker does."""
SHORT, LONG, IMPORTED = 0, -50, -10
"""The priority of reading a file; each that its person has waiting already puts it behind others by one more."""
MOST_BEHIND = 39


class TaskFailed(Exception):
    """Says what kind of error it was and where, never what the error says."""


def unattended[**P](work: Callable[P, None]) -> Callable[P, None]:
    """The body of a task: it can be stopped, and fails with ``TaskFailed`` alone. Each run has a request id of its own."""

    @wraps(work)
    def body(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with request_scope(), telemetry.listener.task(work.__name__), interruption.interruptible():
                work(*args, **kwargs)
        except interruption.Stopped:
            return
        except Exception as error:
            raise TaskFailed(place_of(error)) from None

    return body


@task()
@unattended
def retain() -> None:
    hourly_figures.keep(clock.now())  # before they go
    retention.apply()
    invitations.forget_ended(clock.now())
    key_renewal.renew()


@task()
@unattended
def delete_accounts() -> None:
    lifecycle.delete_due(clock.now())


@task()
@unattended
def release_holds() -> None:
    release.release_due(interruption.is_requested)


@task()
@unattended
def warn_of_budgets() -> None:
    budget_warnings.look(lambda reached: announce_limit.enqueue(reached.budget.pk, reached.period, reached.level))


@task()
@unattended
def announce_limit(budget_id: int, period: str, level: int) -> None:
    budget = Budget.objects.select_related("group").get(id=budget_id)
    budget_warnings.announce(budget_warnings.LimitReached(budget=budget, period=period, level=level))


@task()
@unattended
def lint_context() -> None:
    lint.lint(clock.now())


@task()
@unattended
def advance_replays() -> None:
    replays.advance(interruption.is_requested)


@task()
@unattended
def advance_experiments() -> None:
    runs.advance(interruption.is_requested)


@task()
@unattended
def close_temporary() -> None:
    temporary.close_due(clock.now())


@task(queue_name=FILES)
@unattended
def read_file(file_id: str) -> None:
    if again := progress.read_file(uuid.UUID(file_id)):
        enqueue_reading(again)


def enqueue_reading(file: File, *, is_import: bool = False) -> None:
    """People take turns, whoever gave how many: the second file of one comes after the first of everybody else. What is large,
    or did not end within a short time, has a queue of its own."""
    others = File.objects.filter(user=file.user_id, state=File.State.READING).exclude(id=file.id)
    is_long = progress.takes_long(file)
    behind = min(others.count(), MOST_BEHIND) + (-IMPORTED if is_import else 0)
    queue, priority = (LONG_FILES, LONG) if is_long else (FILES, SHORT)
    read_file.using(queue_name=queue, priority=priority - behind).enqueue(str(file.id))


@task()
@unattended
def remove_bytes() -> None:
    while not interruption.is_requested() and storage.remove_due(clock.now()):
        pass


@task(queue_name=FILES)
@unattended
def send_mail() -> None:
    mailing.send_due(interruption.is_requested)
    mailing.forget_failed(clock.now())


# Queued by earlier versions, which had no table of outgoing mails.


@task(queue_name=FILES)
@unattended
def mail_password_link(user_id: int, email: str, origin: str = "", language: str = "") -> None:
    with override(language or None):
        mailing.post("password_reset", email, user=User.objects.get(id=user_id))


@task(queue_name=FILES)
@unattended
def mail_confirmation_link(address_id: int, origin: str = "", language: str = "") -> None:
    address = EmailAddress.objects.get(id=address_id)
    with override(language or None):
        mailing.post("confirmation", address.email, user=address.user)
