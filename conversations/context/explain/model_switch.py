"""That a request went to another model than the one before in its thread, and what followed from it. From the two records;
what a model can take is as it is known today."""

import uuid
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext, gettext_noop

from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.rules.fitting import TOOLS
from conversations.context.rules.prompt_cache import CacheState
from conversations.models import ContextSnapshot, Model
from conversations.providers import model_catalog
from conversations.runtime.db import run
from conversations.runtime.ids import ids_near, lowest_since
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass
from conversations.runtime.wording import counted, filled

BEFORE = read_statements(__file__)["before"]
FOR_ROOM = frozenset({Reason.OVER_BUDGET, Reason.TURN_LIMIT})
"""Why turns are left out that would be given if there were more room."""


@dataclass(frozen=True, kw_only=True)
class ModelSwitch:
    """``request`` is the one before, ``provider`` and ``model`` whom it was asked of, ``effects`` a sentence each."""

    request: uuid.UUID
    provider: str
    model: str
    headline: str
    effects: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join([self.headline, *self.effects])


def switch_before(snapshot: ContextSnapshot) -> ModelSwitch | None:
    """``None`` where the request before went to the same model, or there is none."""
    if snapshot.quotes_turns or not snapshot.thread_id:
        return None
    nearest, until = ids_near(snapshot.id)
    # Most often it was made within days; only else all months of the thread are looked into.
    rows = _before(snapshot, nearest, until) or _before(snapshot, lowest_since(snapshot.thread_id), until)
    if not rows or rows[0][1:] == (snapshot.provider, snapshot.model):
        return None
    return switch_between(ContextSnapshot.objects.get(user=snapshot.user_id, id=rows[0][0]), snapshot)


def _before(snapshot: ContextSnapshot, since: uuid.UUID, until: uuid.UUID) -> list[Any]:
    return run(
        BEFORE,
        user=snapshot.user_id,
        thread=snapshot.thread_id,
        since=since,
        until=until,
        at=snapshot.created_at,
        reply=snapshot.reply_id,
    )


HEADLINES = {
    (True, False): gettext_noop("Answered by {now}, the turn before by {was}."),
    (True, True): gettext_noop("Answered by {now}, the attempt before by {was}."),
    (False, False): gettext_noop("To be answered by {now}, the turn before by {was}."),
    (False, True): gettext_noop("To be answered by {now}, the attempt before by {was}."),
}
"""By whether there is a reply, and whether it is to the same message."""


def switch_between(before: ContextSnapshot, after: ContextSnapshot) -> ModelSwitch | None:
    if (before.provider, before.model) == (after.provider, after.model):
        return None
    was, now = model_catalog.get(before.provider, before.model), model_catalog.get(after.provider, after.model)
    names = [str(now), str(was)]
    if names[0] == names[1]:
        names = [f"{now} ({after.provider})", f"{was} ({before.provider})"]
    again = before.message_id is not None and before.message_id == after.message_id
    return ModelSwitch(
        request=before.id,
        provider=before.provider,
        model=before.model,
        headline=filled(HEADLINES[bool(after.reply_id), again], now=names[0], was=names[1]),
        effects=tuple(_effects(before, after, was, now)),
    )


def _effects(before: ContextSnapshot, after: ContextSnapshot, was: Model, now: Model) -> Iterator[str]:
    if was.context_window != now.context_window:
        yield filled("Its window holds {now} tokens instead of {was}.", now=now.context_window, was=was.context_window)
    if before.budget != after.budget:
        yield filled("Its budget is {now} tokens instead of {was}.", now=after.budget, was=before.budget)
    if before.hard_cap != after.hard_cap:
        yield filled(
            "It is never given more than {now} tokens, instead of {was}.", now=after.hard_cap, was=before.hard_cap
        )
    if before.token_factor != after.token_factor:
        yield filled(
            "It counts {now} tokens for each that we estimate, instead of {was}.",
            now=f"{after.token_factor:.2f}",
            was=f"{before.token_factor:.2f}",
        )
    if _room(before) != _room(after):
        yield from _turns(before, after)
    if _has_tools(before) != _has_tools(after):
        yield gettext("It is given tools.") if _has_tools(after) else gettext("It is given no tools.")
    if was.uses_memory != now.uses_memory:
        yield (
            gettext("It is given what is remembered.")
            if now.uses_memory
            else gettext("It is given the conversation alone.")
        )
    if snapshots.cache_of(after).state is CacheState.OTHER_MODEL:
        yield gettext("The prompt cache starts anew.")


def _turns(before: ContextSnapshot, after: ContextSnapshot) -> Iterator[str]:
    """What became of the turns that were there for both. Answers that were asked for again are no part of it."""
    given, given_now = _given(before), _given(after)
    last = max(given, default=0)
    out = {
        place
        for run in snapshots.runs_of(after)
        if not run.included and run.reason in FOR_ROOM
        for place in given.intersection(range(run.first, run.last + 1))
    }
    back = {place for place in given_now - given if place <= last}
    if out:
        yield counted("{count} turn given before is left out.", "{count} turns given before are left out.", len(out))
    if back:
        yield counted(
            "{count} turn left out before is given again.", "{count} turns left out before are given again.", len(back)
        )


def _given(snapshot: ContextSnapshot) -> set[int]:
    runs = [run for run in snapshots.runs_of(snapshot) if run.included]
    return {place for run in runs for place in range(run.first, run.last + 1)}


def _room(snapshot: ContextSnapshot) -> tuple[int, int, float]:
    return snapshot.budget, snapshot.hard_cap, snapshot.token_factor


def _has_tools(snapshot: ContextSnapshot) -> bool:
    return any(section.name == TOOLS for section in snapshots.sections_of(snapshot))
