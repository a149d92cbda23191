"""How long a request took, step by step, as a waterfall on one axis. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from conversations.context.builder import STEPS
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot
from conversations.runtime.wording import counted, filled, inside

AXIS = 1_000
QUICK = 0.02
"""Of the time of building: steps that took less are told together."""
SEEN = 4
"""No bar is narrower, in units of ``AXIS``: a step of a millisecond beside a reply of ten seconds."""
LABELS = {step.name: step.label for step in STEPS} | {
    "render": gettext_noop("Request written"),
    "record": gettext_noop("Account made"),
}


@dataclass(frozen=True, kw_only=True)
class TimingStep:
    """``after`` and ``took`` in milliseconds from the beginning of the building; ``x`` and ``width`` in units of ``AXIS``."""

    name: str
    label: str
    after: float
    took: float
    x: float
    width: float


def waterfall(snapshot: ContextSnapshot) -> list[TimingStep]:
    """The steps of building come one after the other, each with all that it took; then the wait and the writing."""
    measured = snapshots.timings_of(snapshot)
    built = measured.pop("total", sum(measured.values()))
    ended = None if snapshot.ended_at is None else (snapshot.ended_at - snapshot.created_at).total_seconds() * 1000
    answered = answering(built, snapshot.first_token_ms, ended, thought=snapshot.thinking_ms)
    return placed([*building(measured, built), *answered])


def building(measured: Mapping[str, float], built: float) -> list[tuple[str, str, float, float]]:
    """Name, label, beginning and duration of each step that took its time, and of the quick ones together."""
    steps, quick, after = [], [], 0.0
    for name in sorted(measured, key=lambda name: [*LABELS, name].index(name)):
        if measured[name] < built * QUICK:
            quick.append(measured[name])
        else:
            steps.append(
                (name, filled("Context: {step}", step=inside(gettext(LABELS.get(name, name)))), after, measured[name])
            )
        after += measured[name]
    if quick:
        label = counted("Context: {count} quicker step", "Context: {count} quicker steps", len(quick))
        steps.append(("quick", label, 0.0, sum(quick)))
    return [*steps, ("built", gettext("Context in all"), 0.0, built)] if built else steps


def answering(
    built: float, first: int | None, ended: float | None, *, thought: int | None = None
) -> list[tuple[str, str, float, float]]:
    steps: list[tuple[str, str, float, float]] = []
    if thought is not None:  # mostly right before the first word; what was thought later has no place of its own
        steps.append(("thought", gettext("Thinking"), built + max((first or 0) - thought, 0), thought))
    if first is not None:
        steps.append(("wait", gettext("Until the first visible word"), built, first))
    if ended is not None:
        begun = min(first or 0, ended)
        steps.append(
            (
                "answer",
                gettext("Until the end") if first is None else gettext("From there to the end"),
                built + begun,
                ended - begun,
            )
        )
    return steps


def placed(steps: Sequence[tuple[str, str, float, float]]) -> list[TimingStep]:
    end = max((after + took for _, _, after, took in steps), default=0) or 1
    steps_placed = []
    for name, label, after, took in steps:
        width = max(SEEN, took / end * AXIS)
        x = min(after / end * AXIS, AXIS - width)
        steps_placed.append(
            TimingStep(name=name, label=label, after=after, took=took, x=round(x, 1), width=round(width, 1))
        )
    return steps_placed
