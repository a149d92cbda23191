"""Which turns were left out, why, and by which rule."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.context.query import rewriting
from conversations.context.reasons import Reason
from conversations.context.record.fates import TURN
from conversations.context.record.snapshots import marks_of
from conversations.context.turns.filtering import ARTIFACT_CORRELATION_WINDOW
from conversations.models import Assistant, ContextSnapshot
from conversations.runtime.wording import filled
from conversations.staff.snapshot.evidence import Evidence, Item, is_turn_of_thread


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    what: str
    message: str | None
    count: int
    tokens: int | None
    exact: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class Cause:
    """How many turns were left out for one reason, and the rule that says so."""

    code: str
    reason: str
    rule: str
    count: int


@dataclass(frozen=True, kw_only=True)
class WindowMarks:
    """Those that cut the window, in tokens of the model and turns, and since when they are known: ``as_of`` ends a sentence."""

    high: int
    low: int
    turns: int
    turns_min: int
    as_of: str

    @classmethod
    def of(cls, snapshot: ContextSnapshot, assistant: Assistant) -> "WindowMarks":
        if marks := marks_of(snapshot):
            high, low, turns, turns_min = marks.values()
            return cls(high=high, low=low, turns=turns, turns_min=turns_min, as_of=gettext("was set"))
        return cls(
            high=assistant.history_tokens_high,
            low=assistant.history_tokens_low,
            turns=assistant.history_turns_max,
            turns_min=assistant.history_turns_min,
            as_of=gettext("is set today"),
        )


def causes(evidence: Evidence) -> list[Cause]:
    missing = [fate for fate in evidence.body["fates"] if fate["kind"] == TURN and not fate["included"]]
    return [
        Cause(
            code=reason.value, reason=gettext(reason.label), rule=rule(reason, evidence.snapshot), count=fate["count"]
        )
        for fate in sorted(missing, key=lambda fate: -fate["count"])
        for reason in [Reason(fate["reason"])]
    ]


def left_out_rows(evidence: Evidence) -> list[LeftOut]:
    return [_row(item) for item in evidence.items if is_turn_of_thread(item) and not item["included"]]


def rule(reason: Reason, snapshot: ContextSnapshot) -> str:
    """The rule behind a reason, with its numbers. Older records hold the budget and the hard cap alone; then the numbers of the
    window are the assistant's, as of now."""
    tell = RULES.get(reason)
    return tell(snapshot, snapshot.thread.assistant) if tell else gettext(reason.rule)


def _over_budget(snapshot: ContextSnapshot, assistant: Assistant) -> str:
    marks = WindowMarks.of(snapshot, assistant)
    return filled(
        "The window holds at most {high} tokens of the newest turns as {assistant} {as_of}; when it is "
        "full, or the provider's cache is cold, it drops to the low mark of {low} in one step. The whole "
        "request had a budget of {budget} and a hard cap of {hard_cap}: over it, the oldest turns go "
        "first.",
        high=marks.high,
        assistant=assistant,
        as_of=marks.as_of,
        low=marks.low,
        budget=snapshot.budget,
        hard_cap=snapshot.hard_cap,
    )


def _turn_limit(snapshot: ContextSnapshot, assistant: Assistant) -> str:
    if snapshot.purpose == ContextSnapshot.Purpose.REWRITE:
        return filled(
            "A request for a contextualised query is told the newest {most} turns of the window.",
            most=rewriting.MOST_TURNS,
        )
    marks = WindowMarks.of(snapshot, assistant)
    return filled(
        "The window holds at most {turns} turns as {assistant} {as_of}; when it is full, or the "
        "provider's cache is cold, it drops in one step to what the low mark of {low} tokens needs, and "
        "no fewer than {turns_min} turns.",
        turns=marks.turns,
        assistant=assistant,
        as_of=marks.as_of,
        low=marks.low,
        turns_min=marks.turns_min,
    )


def _fulfilled(snapshot: ContextSnapshot, assistant: Assistant) -> str:
    seconds = int(ARTIFACT_CORRELATION_WINDOW.total_seconds())
    return filled(
        "An answer that made an artifact is left out with the request before it, so that it is not made "
        "again: by what the artifact records, else where it was made within {seconds} seconds after the "
        "answer. They come back once the artifact is deleted. The window is cut after that, so it holds "
        "as many other turns as it can.",
        seconds=seconds,
    )


RULES: dict[Reason, Callable[[ContextSnapshot, Assistant], str]] = {
    Reason.OVER_BUDGET: _over_budget,
    Reason.TURN_LIMIT: _turn_limit,
    Reason.FULFILLED_ARTIFACT: _fulfilled,
}
"""Those that have numbers to tell."""


def _row(item: Item) -> LeftOut:
    reason = gettext(Reason(item["reason"]).label)
    if item["kind"] == "range":
        first, last = item["first"], item["last"]
        what = (
            filled("turns {first} to {last}", first=first, last=last)
            if first < last
            else filled("turn {first}", first=first)
        )
        return LeftOut(what=what, message=None, count=item["count"], tokens=None, exact=False, reason=reason)
    return LeftOut(
        what=filled("turn {position}", position=item["position"]),
        message=item["id"],
        count=1,
        tokens=item["tokens"],
        exact=item.get("exact", False),
        reason=reason,
    )
