"""Why a model declined, in plain words. Pure.

https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback names the categories. The provider's own explanation
is for staff: its words are not stable, and no person chatting asked for them.
"""

from collections.abc import Mapping
from typing import Any

CODE = "refused"
STOP_REASON = "refusal"

BECAUSE = {
    "cyber": "it looks like something that could help to break into computers or to damage them. "
    "Ordinary questions about security are caught by this now and then",
    "bio": "it touches on biology or chemistry that could be used to harm people. "
    "Ordinary questions about science are caught by this now and then",
    "frontier_llm": "it looks like help with building an AI model that competes with it, which its makers don't allow",
    "reasoning_extraction": "it asks the model to write down what it thinks to itself, which it doesn't do. "
    "Ask for the steps of an explanation instead",
    "general_harms": "it looks like something that could do harm. Harmless questions are caught by this now and then",
}
"""By the category of ``stop_details``."""
NO_REASON = "it didn't say why"
FREE_CATEGORIES = ("cyber", "general_harms", "")
"""Of these, and without one, the provider bills nothing if the model had not begun to write, though it reports tokens."""


def category_of(stop_details: Mapping[str, Any] | None) -> str | None:
    """As the provider named it, also one that isn't known here."""
    category = (stop_details or {}).get("category")
    return category if isinstance(category, str) and category else None


def is_free(*, stop_reason: str, stop_details: Mapping[str, Any] | None, usage: Mapping[str, int]) -> bool:
    """Whether what was reported is not billed."""
    return (
        stop_reason == STOP_REASON
        and not usage.get("output_tokens")
        and (category_of(stop_details) or "") in FREE_CATEGORIES
    )


def explanation_of(stop_details: Mapping[str, Any] | None) -> str:
    """The provider's own words for staff; empty where it gave none."""
    explanation = (stop_details or {}).get("explanation")
    return explanation if isinstance(explanation, str) else ""


def sentence(stop_details: Mapping[str, Any] | None, *, begun: bool = False, silent: bool = False) -> str:
    """What the person reads. ``begun``: the model had written something; ``silent``: it was asked by a preset, not by a
    message."""
    because = BECAUSE.get(category_of(stop_details) or "", NO_REASON)
    if silent:
        return f"The model declined to make this: {because}."
    declined = "The model stopped here and declined to go on" if begun else "The model declined to answer this"
    return f"{declined}: {because}. Your message stays, but later answers are not given it. You can put it another way."
