"""How a reply ended, and in which words that is told. Pure."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.db import DatabaseError

from conversations.accounts import spending
from conversations.context.record.usage import estimated_usage
from conversations.context.render.invariants import BrokenInvariant
from conversations.errors import (
    ErrorObject,
    ModerationUnavailable,
    RateLimited,
    RefusedByModeration,
    describe,
    error_object,
)
from conversations.models import Message, Reply
from conversations.providers import ProviderError, refusals
from conversations.providers.base import Finished, ModelCall, Usage, plain_id, plain_reason
from conversations.providers.errors import provider_error
from conversations.replies import retries
from conversations.runtime.text import clean

NOTHING_SAID = {"max_tokens": retries.OUT_OF_ROOM, retries.WINDOW_EXCEEDED: retries.TOO_LARGE}
"""What an answer without a word is told as, by its stop reason."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a reply ended. ``request_error`` is what its last request is told to have failed with where the reply has not."""

    status: Reply.Status
    message_status: Message.Status = Message.Status.COMPLETE
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    estimate: Usage | None = None
    """Of a request whose service told nothing."""
    is_free: bool = False
    """Whether nothing is billed for the last call."""
    written: int = 0
    """The tokens of what the model wrote, as estimated."""
    error: ErrorObject | None = None
    request_error: ErrorObject | None = None
    provider_request_id: str = ""
    provider_message_id: str = ""
    diagnostics: Mapping[str, Any] | None = None
    stop_details: Mapping[str, Any] | None = None
    refuses_question: bool = False
    """Whether the turn that was answered leaves later contexts."""
    thinking_ms: int | None = None
    first_token_ms: int | None = None

    def after(self, call: ModelCall) -> "Outcome":
        """With all that the provider told in the call, be it whole or not."""
        thought, heard = call.thinking_seconds, call.finished or call.so_far
        at_end = ("diagnostics", "stop_details") if call.finished else ()
        return replace(
            self,
            usage=call.usage,
            estimate=spending.estimate(call),
            is_free=spending.is_free(call),
            written=0 if call.finished else spending.written_by(call),
            stop_reason=plain_reason(call.finished.stop_reason) if call.finished else self.stop_reason,
            provider_request_id=plain_id(heard.request_id),
            provider_message_id=plain_id(heard.message_id),
            thinking_ms=None if thought is None else round(thought * 1000),
            first_token_ms=call.first_token_ms,
            **{name: getattr(call.finished, name) for name in at_end},
        )

    @property
    def question_status(self) -> Message.Status | None:
        """What becomes of the turn that was answered: one that was refused leaves later contexts, until it is answered.
        ``None`` leaves it as it is."""
        if self.refuses_question or self.stop_reason == refusals.STOP_REASON:
            return Message.Status.REFUSED
        return Message.Status.COMPLETE if self.status is Reply.Status.COMPLETED else None

    @property
    def response(self) -> dict[str, Any]:
        """How the request ended and what the provider told beside the answer, by column of the snapshot."""
        return {
            "stop_reason": self.stop_reason,
            "usage": stored_usage(self.usage, self.estimate),
            "error": self.request_error or self.error,
            "provider_request_id": self.provider_request_id,
            "provider_message_id": self.provider_message_id,
            "diagnostics": self.diagnostics,
            "stop_details": self.stop_details,
            "thinking_ms": self.thinking_ms,
            "first_token_ms": self.first_token_ms,
        }


def stopped() -> Outcome:
    return Outcome(status=Reply.Status.STOPPED, message_status=Message.Status.STOPPED)


def interruption() -> Outcome:
    error = error_object(
        type="model",
        code="interrupted",
        message="The server was restarted while it replied. What came so far is kept; retry for a whole answer.",
        details={"retryable": True},
    )
    return Outcome(status=Reply.Status.INTERRUPTED, message_status=Message.Status.INTERRUPTED, error=error)


def failed(error: ErrorObject) -> Outcome:
    return Outcome(status=Reply.Status.FAILED, message_status=Message.Status.FAILED, error=error)


def failure(error: Exception) -> Outcome:
    """Of a reply that an error ended, whatever it is."""
    match error:
        case ProviderError():
            return failed(model_error(error))
        case RateLimited() | ModerationUnavailable():
            return failed(describe(error))
        case RefusedByModeration():
            return replace(failed(describe(error)), refuses_question=True)
        case BrokenInvariant():
            details = {"rule": error.rule, "retryable": False}
            return failed(
                error_object(type="context", code="context_invariant", message=error.message, details=details)
            )
        case DatabaseError():
            code, message = "database", "The server could not reach its database."
        case _:
            code, message = "internal", "Something went wrong on the server."
    message = f"{message} Your message is saved; try again."
    details = {"retryable": True, "kind": type(error).__name__}
    return failed(error_object(type="internal", code=code, message=message, details=details))


def without_turn(outcome: Outcome) -> Outcome:
    """In the words for a preset, which sent no message."""
    if outcome.error is None:
        return outcome
    message = outcome.error["message"].replace("Your message is saved; try", "Try")
    return replace(outcome, error={**outcome.error, "message": message})


def model_error(error: ProviderError) -> ErrorObject:
    details: dict[str, Any] = {"retryable": error.retryable}
    if error.retryable and error.retry_after is not None:
        details["retry_after"] = math.ceil(error.retry_after)
    return error_object(type="model", code=error.code, message=clean(error.message), details=details)


def refusal(finished: Finished, *, begun: bool = False, silent: bool = False) -> ErrorObject:
    return error_object(
        type="model",
        code=refusals.CODE,
        message=refusals.sentence(finished.stop_details, begun=begun, silent=silent),
        details={"retryable": False, "category": refusals.category_of(finished.stop_details)},
    )


def nothing_said(finished: Finished) -> ProviderError:
    return provider_error(NOTHING_SAID.get(finished.stop_reason, "empty_reply"))


def stored_usage(usage: Usage, estimate: Usage | None) -> dict[str, int]:
    """What a service told, as it is stored: nothing where it told nothing, but what was estimated then."""
    return nonzero(usage) if estimate is None else estimated_usage(estimate)


def nonzero(usage: Usage) -> dict[str, int]:
    """What is not there takes no room."""
    return {name: tokens for name, tokens in asdict(usage).items() if tokens}
