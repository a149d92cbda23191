"""How replies end, and what can be done then: every ending has a way on. Pure."""

from enum import StrEnum

from conversations.providers import refusals
from conversations.providers.base import WHOLE


class NextStep(StrEnum):
    """What a reader can do after a reply. Each but the third is a call of the API."""

    RETRY = "retry"
    CONTINUE = "continue"
    REPHRASE = "rephrase"
    FALLBACK = "fallback"


ENDED = WHOLE | {"tool_use"}
"""After these there is nothing to continue: what a program's tools give comes in a message of its own."""
CHANGEABLE = frozenset({"invalid_request", "request_too_large"})
"""Errors that another message may avoid."""


def ways(
    *, status: str, stop_reason: str, error_code: str = "", silent: bool = False, fallback: bool = False
) -> list[NextStep]:
    """The ways on from a reply, the most promising first. ``silent``: a preset's, which answers no message. ``fallback``:
    there is another model to ask."""
    if status == "running":
        return []
    if stop_reason == refusals.STOP_REASON:
        # The same model declines the same words again.
        return [
            *([] if silent else [NextStep.REPHRASE]),
            *([NextStep.FALLBACK] if fallback else []),
            *([NextStep.RETRY] if silent else []),
        ]
    if status == "completed" and stop_reason and stop_reason not in ENDED and not silent:
        return [NextStep.CONTINUE, NextStep.RETRY]
    if error_code in CHANGEABLE and not silent:
        return [NextStep.REPHRASE, NextStep.RETRY]
    return [NextStep.RETRY]
