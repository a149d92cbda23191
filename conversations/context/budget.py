"""Token budgets, and texts cut to fit them. Pure."""

from dataclasses import dataclass, replace

from conversations.context.token_calibration import Factor
from conversations.context.token_estimate import estimate_tokens
from conversations.models import Assistant

SHORTENED_MARK = "\n\n[… {count} characters left out here to fit the context …]\n\n"
SMALLEST_MARK = " […] "
"""Where the other would take all the room."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a context may take: tokens of the model as staff set them, or as many estimated ones, and turns.

    The history grows up to ``history_tokens`` or ``history_turns``, then drops in one step to the two others.
    """

    history_tokens: int
    history_tokens_low: int
    history_turns: int
    history_turns_min: int
    total_tokens: int
    hard_cap: int

    def estimated(self, factor: Factor) -> "Budget":
        """The same in estimated tokens, for a model that counts by this factor."""
        return replace(
            self,
            history_tokens=factor.to_estimate(self.history_tokens),
            history_tokens_low=factor.to_estimate(self.history_tokens_low),
            total_tokens=factor.to_estimate(self.total_tokens),
            hard_cap=factor.to_estimate(self.hard_cap),
        )

    @classmethod
    def of(cls, assistant: Assistant) -> "Budget":
        return cls(
            history_tokens=assistant.history_tokens_high,
            history_tokens_low=assistant.history_tokens_low,
            history_turns=assistant.history_turns_max,
            history_turns_min=assistant.history_turns_min,
            total_tokens=assistant.total_tokens,
            hard_cap=assistant.hard_cap_tokens,
        )

    def within(self, tokens: int) -> "Budget":
        """The same, where a model's window has no more room than this beside its answer."""
        cap = max(0, min(self.hard_cap, tokens))
        return replace(self, hard_cap=cap, total_tokens=min(self.total_tokens, cap))


def shorten(text: str, tokens: int) -> str:
    """The beginning and the end of a text, with a visible mark between them, in at most so many tokens (W6)."""
    if estimate_tokens(text) <= tokens:
        return text
    mark = SHORTENED_MARK if estimate_tokens(_without_middle(text, 0, SHORTENED_MARK)) <= tokens else SMALLEST_MARK
    low, high = 0, len(text)
    while low < high:
        kept = (low + high + 1) // 2
        low, high = (kept, high) if estimate_tokens(_without_middle(text, kept, mark)) <= tokens else (low, kept - 1)
    return _without_middle(text, low, mark)


def _without_middle(text: str, kept: int, mark: str) -> str:
    head = kept * 2 // 3
    tail = kept - head
    return text[:head] + mark.format(count=f"{len(text) - kept:,}") + (text[-tail:] if tail else "")
