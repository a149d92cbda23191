"""What is done beside the replies: workers, their queue, and replies that nobody runs any more."""

from collections.abc import Sequence

from config.doctor.database import SQL
from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning, wrong
from config.observability.limits import QUEUE_SECONDS
from conversations.runtime.db import run


def look_at_workers() -> Sequence[Finding]:
    with reading():
        ((alive,),) = run(SQL["workers"])
        ((waiting, oldest, failed),) = run(SQL["queue"])
    return workers(alive, waiting, oldest, failed)


def workers(alive: int, waiting: int, oldest: float, failed: int) -> list[Finding]:
    """``oldest``: for how many seconds the task has waited that waits longest."""
    found = []
    words = f"{alive} alive, {waiting} tasks wait"
    if not alive:
        advice = "Start `manage.py serve`, or `manage.py work`: docs/operate/no-worker.md."
        judged = wrong if oldest >= QUEUE_SECONDS else warning
        found.append(judged(f"{words}: no file is read, nothing is noted, nothing old goes", advice))
    elif oldest >= QUEUE_SECONDS:
        advice = "Start more `manage.py work`: docs/operate/queue-old.md."
        found.append(warning(f"{words}, the oldest for {oldest / 60:.0f} minutes", advice))
    if failed:
        advice = "See the log of the workers: docs/operate/queue-old.md."
        found.append(warning(f"{failed} tasks failed within a day", advice))
    return found or [ok(words)]


def look_at_replies() -> Sequence[Finding]:
    with reading():
        ((stuck,),) = run(SQL["stuck_replies"])
    return replies(stuck)


def replies(stuck: int) -> list[Finding]:
    if stuck:
        advice = "A server ends them as it starts, and each minute: docs/operate/lease-stuck.md."
        return [warning(f"{stuck} run, but the process that ran them is gone", advice)]
    return [ok("none is left behind")]
