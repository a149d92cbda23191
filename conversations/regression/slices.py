"""Long work that workers do slice by slice: the others have their turn between, and a killed one goes on where it got to."""

import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from conversations.models.replays import Run
from conversations.providers.errors import place_of
from conversations.runtime import clock
from conversations.runtime.db import is_away

SLICE, SAVED_EVERY = 20.0, 1.0
"""In seconds."""
State = Run.State


class Waiting(Exception):
    """Somebody else is at what comes next: it goes on in another slice."""


class Halted(Exception):
    """Why it can't go on, in words for staff."""


class Work(Protocol):
    def steps(self) -> Iterator[UUID]:
        """Behind the place that it got to: each id once it is done."""
        ...

    def values(self) -> dict[str, Any]:
        """Columns of its row, as far as it got."""
        ...

    def keep(self) -> None:
        """Store what stands in other rows, in the same transaction."""
        ...


def running[R: Run](model: type[R]) -> QuerySet[R]:
    rows: QuerySet[R] = model._default_manager.filter(state=State.RUNNING)
    return rows


@transaction.atomic
def cancel[R: Run](model: type[R], id: UUID) -> R | None:
    """``None`` where it was not running."""
    row = running(model).select_for_update(of=("self",)).filter(pk=id).first()
    if row:
        running(model).filter(pk=id).update(state=State.CANCELLED, ended_at=clock.now())
    return row


def advance[R: Run](row: R, work: Callable[[R], Work], is_stopped: Callable[[], bool]) -> None:
    """For a slice of time."""
    try:
        _advance(row, work(row), is_stopped)
    except Exception as error:
        if not is_away(error):
            ended = {"state": State.FAILED, "problem": place_of(error)[:200], "ended_at": clock.now()}
            running(type(row)).filter(pk=row.pk).update(**ended)
        raise


def _advance(row: Run, work: Work, is_stopped: Callable[[], bool]) -> None:
    began = saved = time.monotonic()
    last = row.last
    try:
        for id in work.steps():
            last, now = id, time.monotonic()
            is_over = is_stopped() or now - began > SLICE
            if is_over or now - saved > SAVED_EVERY:
                if not _save(row, work, last=id) or is_over:
                    return
                saved = now
    except Waiting:
        _save(row, work, last=last)
        return
    except Halted as error:
        _save(row, work, last=last, state=State.FAILED, problem=str(error)[:200], ended_at=clock.now())
        return
    _save(row, work, last=last, state=State.DONE, ended_at=clock.now())


def _save(row: Run, work: Work, *, last: UUID | None, **values: object) -> bool:
    """Whether it may go on: it was not cancelled, and no other worker has it."""
    with transaction.atomic():
        mine = running(type(row)).filter(pk=row.pk, last=row.last)
        row.last = last
        is_mine = bool(mine.update(last=last, **work.values(), **values))
        if is_mine:
            work.keep()
    return is_mine
