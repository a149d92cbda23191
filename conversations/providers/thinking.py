"""What a request says of thinking: pure, and shared by every provider that speaks the Messages API."""

from typing import Any, Literal

from conversations.runtime.values import dataclass

Mode = Literal["", "adaptive", "enabled", "disabled", "between_tools"]
"""The Messages API's own words; empty where a request says nothing."""
Display = Literal["", "summarized", "omitted"]


@dataclass(frozen=True, kw_only=True)
class ThinkingPlan:
    """``room`` are the tokens that the request has for thinking beside those for its answer.

    ``effort`` is empty for the model's default.
    """

    mode: Mode = ""
    display: Display = ""
    effort: str = ""
    room: int = 0


NO_THINKING = ThinkingPlan()
"""For a model that doesn't think, and for requests that were recorded before thinking was."""


def payload_fields(plan: ThinkingPlan) -> dict[str, Any]:
    """What the plan adds to a request of the Messages API."""
    fields: dict[str, Any] = {}
    match plan.mode:
        case "adaptive":
            fields["thinking"] = {"type": plan.mode, "display": plan.display}
        case "enabled":
            fields["thinking"] = {"type": plan.mode, "budget_tokens": plan.room, "display": plan.display}
        case "disabled" | "between_tools":  # the API takes no display with these
            fields["thinking"] = {"type": plan.mode}
    if plan.effort:
        fields["output_config"] = {"effort": plan.effort}
    return fields
