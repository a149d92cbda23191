"""What calls of models used, in tokens and in money, as it counts for a person's day and for budgets.

Where a service does not tell what a request took, the estimate counts: its input as it was estimated, and the text that came.
Money is in micro-dollars (USD / 1,000,000), by the prices that the model had when the call was reserved.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from conversations.context.tokens.estimate import estimate_tokens
from conversations.models import Reply
from conversations.providers import refusals
from conversations.providers.base import COUNTED_TOKENS, NO_USAGE, ModelCall, Usage


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What the calls of a reply took that have ended: ``told`` by their services, which is all of it where ``is_whole``; with
    estimates for what was not told, ``counted``; and the ``tokens`` that count for its user's day, with what they cost."""

    told: Usage = NO_USAGE
    counted: Usage = NO_USAGE
    is_whole: bool = True
    tokens: int = 0
    money: int = 0

    def after(self, call: ModelCall, *, is_help: bool = False) -> "Spent":
        """``is_help``: it counts for the day, and in no figure of the reply."""
        tokens, money = self.tokens + tokens_of(call), self.money + money_of(call)
        if is_help:
            return replace(self, tokens=tokens, money=money)
        unknown = estimate(call)
        return Spent(
            told=self.told + call.usage,
            counted=self.counted + (unknown or call.usage),
            is_whole=self.is_whole and unknown is None,
            tokens=tokens,
            money=money,
        )


NOTHING_SPENT = Spent()


def used_by(usage: Mapping[str, int]) -> int:
    """The tokens that a request read and wrote, whether from a cache or not."""
    return sum(usage.get(name, 0) for name in COUNTED_TOKENS)


def used_last(status: str, usage: Usage, *, stop_reason: str, written: int) -> Usage | None:
    """What the last call of a reply took that has ended; ``None`` is what was set aside for it.

    Of an answer that was left before its end – it has no ``stop_reason`` – the provider has told the input only; the
    estimated tokens of what it wrote, ``written``, are the least that it took beside. One that was stopped before it wrote
    anything may have thought for long, so all that was set aside counts: else to stop would be a way around the limit.
    """
    is_told = bool(stop_reason) or status == Reply.Status.COMPLETED
    if status == Reply.Status.STOPPED and not is_told and not (usage.is_told and written):
        return None
    return usage if is_told else _at_least(usage, written)


def written_by(call: ModelCall) -> int:
    """The tokens of what the model wrote, as estimated."""
    return estimate_tokens("".join(call.written)) if call.written else 0


def estimate(call: ModelCall) -> Usage | None:
    """What a call took of which its service told nothing; ``None`` where it told, or nothing was heard of the model."""
    if call.usage.is_told or not (call.finished or call.written):
        return None
    asked = call.reservation.input_tokens if call.reservation else 0
    return Usage(input_tokens=asked, output_tokens=written_by(call))


def is_free(call: ModelCall) -> bool:
    """Whether the model declined at once, for which nothing is billed, whatever was told."""
    if not call.finished:
        return False
    counted, end = estimate(call) or call.usage, call.finished
    return refusals.is_free(stop_reason=end.stop_reason, stop_details=end.stop_details, usage=asdict(counted))


def usage_of(call: ModelCall) -> Usage:
    """What a call counts for: as told, else as estimated."""
    if is_free(call):
        return NO_USAGE
    if unknown := estimate(call):
        return unknown
    return call.usage if call.finished else _at_least(call.usage, written_by(call))


def tokens_of(call: ModelCall) -> int:
    return used_by(asdict(usage_of(call)))


def money_of(call: ModelCall) -> int:
    """What it cost; 0 where its price is not known."""
    return call.reservation.rates.cost(asdict(usage_of(call))) if call.reservation else 0


def _at_least(usage: Usage, written: int) -> Usage:
    return replace(usage, output_tokens=max(usage.output_tokens, written)) if usage.is_told else NO_USAGE
