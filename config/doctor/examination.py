"""The checks, one after the other, each with a time of its own: one that hangs or fails says so, and the rest go on."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.db import connections, transaction
from django.utils.translation import get_language, gettext, override

from config.doctor.findings import Finding, Result, Status, skipped, wrong
from conversations.runtime.db import run
from conversations.runtime.wording import filled

SECONDS = 15.0
STATEMENT_MILLISECONDS = 5_000


@dataclass(frozen=True, kw_only=True)
class Check:
    """``look`` gives what it finds; nothing where it does not apply. ``needs``: the name of a check before it, without which
    being well it is left out."""

    group: str
    name: str
    look: Callable[[], Sequence[Finding]]
    needs: str = ""


def hung() -> Finding:
    advice = gettext("See whether what it asks is overloaded, or cut off by a firewall, then run it again.")
    return wrong(gettext("no answer in time"), advice)


@dataclass
class Attempt:
    findings: Sequence[Finding] = ()
    done: threading.Event = field(default_factory=threading.Event)


def examine(checks: Sequence[Check], *, seconds: float = SECONDS) -> Iterator[Result]:
    """Each check's result as it comes, without those that have nothing to say. ``seconds`` is the most that one may take."""
    unwell: set[str] = set()
    for check in checks:
        left_out = [skipped(filled("not looked at: see {check}", check=check.needs))] if check.needs in unwell else None
        findings = left_out or _looked(check, seconds)
        if any(each.status in {Status.WRONG, Status.SKIPPED} for each in findings):
            unwell.add(check.name)
        if hung() in findings:
            unwell |= {check.needs} - {""}  # others would wait as long
        if findings:
            yield Result(group=check.group, check=check.name, findings=findings)


@contextmanager
def reading() -> Iterator[None]:
    """A short transaction on Django's connection, of statements that may not take long."""
    with transaction.atomic():
        run(f"SET LOCAL statement_timeout = {STATEMENT_MILLISECONDS}")
        yield


def _looked(check: Check, seconds: float) -> Sequence[Finding]:
    attempt = Attempt()
    values = (check, attempt, get_language())  # the language belongs to a thread
    threading.Thread(target=_run, args=values, daemon=True, name=f"doctor {check.name}").start()
    return attempt.findings if attempt.done.wait(seconds) else [hung()]


def _run(check: Check, attempt: Attempt, language: str | None) -> None:
    try:
        with override(language):
            attempt.findings = _found_by(check)
    finally:
        connections.close_all()
        attempt.done.set()


def _found_by(check: Check) -> Sequence[Finding]:
    try:
        return check.look()
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        words = filled("the check itself failed: {problem}", problem=f"{type(error).__name__}: {lines[0]}")
        return [wrong(words, gettext("See to what it names, then run it again."))]
