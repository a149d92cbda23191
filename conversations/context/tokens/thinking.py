"""How much a request lets its model think, and what it is told of it. Pure.

Thinking counts in ``max_tokens``. So a request has room for it beside its answer, that thinking can't eat the answer.
"""

from typing import cast

from django.utils.translation import gettext

from conversations.models import Assistant, Effort, Model
from conversations.providers.thinking import NO_THINKING, Display, Mode, ThinkingPlan
from conversations.runtime.values import dataclass
from conversations.runtime.wording import filled

SMALLEST_BUDGET = 1_024
"""The API refuses a smaller one."""
SMALLEST_ROOM = 1_024
"""For a model that thinks whatever it is told, where staff give it no room."""
OFF_EFFORTS = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
"""Those that every model takes with thinking off."""


def plan_for(model: Model, assistant: Assistant, *, without_thoughts: bool = False) -> ThinkingPlan:
    """What a reply's request says. Without tokens for thinking it is off, where the model allows that. ``without_thoughts``: it
    goes on from calls of tools, and what was thought before them is not there, without which no budget for more is taken.

    ``display`` is always said: what a model does unasked differs from one to the next, and has changed before.
    """
    effort = assistant.effort if assistant.effort in model.efforts else ""
    shown = assistant.show_thinking == Assistant.ShowThinking.SUMMARY
    display: Display = "summarized" if shown else "omitted"
    room = min(assistant.thinking_tokens, max(model.max_output - assistant.max_output_tokens, 0))
    match model.thinking:
        case Model.Thinking.ADAPTIVE if assistant.thinking_tokens:
            return ThinkingPlan(mode="adaptive", display=display, effort=effort, room=room)
        case Model.Thinking.ADAPTIVE:
            return _off(model, effort, display, SMALLEST_ROOM)
        case Model.Thinking.BUDGET if room >= SMALLEST_BUDGET and not without_thoughts:
            return ThinkingPlan(mode="enabled", display=display, effort=effort, room=room)
    return ThinkingPlan(effort=effort)


def plan_without(model: Model, room: int) -> ThinkingPlan:
    """What the request of a helping task says, which is to be answered at once. A model that can't but think is told to
    think as little as it can, and has ``room`` tokens more for it."""
    if model.thinking != Model.Thinking.ADAPTIVE:
        return NO_THINKING  # a budget thinks only where it is given
    lowest = next((effort for effort in Effort.values if effort in model.efforts), "")
    return _off(model, "" if _can_be_off(model) else lowest, "omitted", room)


@dataclass(frozen=True, kw_only=True)
class OutputAllowance:
    """What a request may write: ``max_tokens`` are for its answer and for thinking together."""

    max_tokens: int
    thinking: ThinkingPlan

    @classmethod
    def of(
        cls, model: Model, assistant: Assistant, *, answer: int, without_thoughts: bool = False
    ) -> "OutputAllowance":
        plan = plan_for(model, assistant, without_thoughts=without_thoughts)
        return cls(max_tokens=min(answer + plan.room, model.max_output), thinking=plan)

    @classmethod
    def of_task(cls, model: Model, *, answer: int, room: int) -> "OutputAllowance":
        """Of a helping task. ``room`` is for a model that can't but think."""
        plan = plan_without(model, room)
        return cls(max_tokens=min(answer + plan.room, model.max_output), thinking=plan)


def pack(plan: ThinkingPlan) -> str:
    """As a snapshot keeps it, for example ``adaptive omitted medium 8192``; nothing where there is nothing to tell."""
    if plan == NO_THINKING:
        return ""
    return f"{plan.mode or '-'} {plan.display or '-'} {plan.effort or '-'} {plan.room}"


def unpack(text: str) -> ThinkingPlan:
    if not text:
        return NO_THINKING
    mode, display, effort, room = ("" if part == "-" else part for part in text.split(" "))
    return ThinkingPlan(mode=cast("Mode", mode), display=cast("Display", display), effort=effort, room=int(room))


def in_words(plan: ThinkingPlan) -> str:
    """For staff: whether the model thinks, how much, and what is shown of it."""
    shown = gettext("shown as a summary") if plan.display == "summarized" else gettext("not shown")
    match plan.mode:
        case "adaptive":
            return filled("as much as it decides, with room for {room} tokens, {shown}", room=plan.room, shown=shown)
        case "enabled":
            return filled("within {room} tokens, {shown}", room=plan.room, shown=shown)
        case "between_tools":
            return gettext("only between tool calls")
        case "disabled":
            return gettext("switched off")
    return gettext("not asked for")


def _off(model: Model, effort: str, display: Display, room: int) -> ThinkingPlan:
    if not _can_be_off(model):
        return ThinkingPlan(mode="adaptive", display=display, effort=effort, room=room)
    if effort and effort not in OFF_EFFORTS:
        effort = Effort.HIGH.value
    return ThinkingPlan(mode=cast("Mode", model.thinking_off if model.thinks_unasked else ""), effort=effort)


def _can_be_off(model: Model) -> bool:
    return not model.thinks_unasked or bool(model.thinking_off)
