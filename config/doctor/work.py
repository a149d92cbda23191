"""What is done beside the replies: workers, their queue, and replies that nobody runs any more."""

from collections.abc import Sequence

from django.utils.translation import gettext

from config.doctor.database import SQL
from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning, wrong
from config.observability.limits import AUDIT_SECONDS, MAIL_SECONDS, QUEUE_SECONDS
from conversations.audit import delivery
from conversations.audit.delivery import DeliveryStatus
from conversations.runtime.db import run
from conversations.runtime.wording import filled


def look_at_workers() -> Sequence[Finding]:
    with reading():
        ((alive,),) = run(SQL["workers"])
        ((waiting, oldest, failed),) = run(SQL["queue"])
    return workers(alive, waiting, oldest, failed)


def workers(alive: int, waiting: int, oldest: float, failed: int) -> list[Finding]:
    """``oldest``: for how many seconds the task has waited that waits longest."""
    found = []
    words = filled("{alive} alive, {waiting} tasks wait", alive=alive, waiting=waiting)
    if not alive:
        advice = gettext("Start `manage.py serve`, or `manage.py work`: docs/operate/no-worker.md.")
        judged = wrong if oldest >= QUEUE_SECONDS else warning
        found.append(
            judged(filled("{words}: no file is read, nothing is noted, nothing old goes", words=words), advice)
        )
    elif oldest >= QUEUE_SECONDS:
        advice = gettext("Start more `manage.py work`: docs/operate/queue-old.md.")
        found.append(
            warning(
                filled("{words}, the oldest for {minutes} minutes", words=words, minutes=f"{oldest / 60:.0f}"), advice
            )
        )
    if failed:
        advice = gettext("See the log of the workers: docs/operate/queue-old.md.")
        found.append(warning(filled("{number} tasks failed within a day", number=failed), advice))
    return found or [ok(words)]


def look_at_mails() -> Sequence[Finding]:
    with reading():
        ((waiting, oldest, failed, problem),) = run(SQL["mails"])
    return mails(waiting, oldest, failed, problem)


def mails(waiting: int, oldest: float, failed: int, problem: str) -> list[Finding]:
    """``oldest``: for how many seconds the mail has waited that waits longest. ``problem``: of the newest that failed."""
    found = []
    advice = gettext("See the outgoing mails in the admin, and the log: docs/operate/mail.md.")
    if oldest >= MAIL_SECONDS:
        words = filled(
            "{waiting} wait, the oldest for {minutes} minutes", waiting=waiting, minutes=f"{oldest / 60:.0f}"
        )
        found.append(warning(f"{words}: {problem}" if problem else words, advice))
    if failed:
        found.append(warning(filled("{number} were given up: {problem}", number=failed, problem=problem), advice))
    return found or [ok(filled("{waiting} wait to be sent", waiting=waiting))]


def look_at_replies() -> Sequence[Finding]:
    with reading():
        ((stuck,),) = run(SQL["stuck_replies"])
    return replies(stuck)


def replies(stuck: int) -> list[Finding]:
    if stuck:
        advice = gettext("A server ends them as it starts, and each minute: docs/operate/lease-stuck.md.")
        return [warning(filled("{number} run, but the process that ran them is gone", number=stuck), advice)]
    return [ok(gettext("none is left behind"))]


def look_at_deliveries() -> Sequence[Finding]:
    with reading():
        statuses = delivery.status()
    return [delivered(each) for each in statuses] or [ok(gettext("pushed nowhere; the record itself is kept"))]


def delivered(status: DeliveryStatus) -> Finding:
    words = filled(
        "{destination} ({place}): {waiting} wait, the oldest for {minutes} minutes",
        destination=status.destination,
        place=status.place,
        waiting=status.waiting,
        minutes=f"{status.behind / 60:.0f}",
    )
    advice = gettext("See to the destination, nothing is lost meanwhile: docs/operate/audit-behind.md.")
    if status.problem:
        words = filled("{words}; {problem}", words=words, problem=status.problem)
    if status.behind >= AUDIT_SECONDS:
        return wrong(words, advice)
    return warning(words, advice) if status.problem else ok(words)
