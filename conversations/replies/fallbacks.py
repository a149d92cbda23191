"""Who is asked in place of a model that could not be asked: the next of the assistant's list that may answer. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass

from conversations.models import Assistant
from conversations.providers import ProviderError, get_provider, refusals
from conversations.providers.base import Finished, ModelCall
from conversations.providers.errors import ELSEWHERE
from conversations.replies.transcript import ReplyTranscript


@dataclass(frozen=True)
class ModelPlace:
    """A model, and the provider that it is asked of."""

    provider: str
    model: str


def cause_of(answered: Finished | ProviderError, assistant: Assistant) -> str:
    """The code of why another model may be asked; empty where it may not. One that declines does so for the assistant's own
    reasons, so that staff decide whether another one answers unasked."""
    if isinstance(answered, ProviderError):
        return answered.code if answered.code in ELSEWHERE else ""
    declined = answered.stop_reason == refusals.STOP_REASON
    return refusals.CODE if declined and assistant.fallback_automatic else ""


def is_unheard(call: ModelCall, transcript: ReplyTranscript) -> bool:
    """Whether readers have seen nothing of the reply: no text, no thinking, no tool call, nor an earlier part of it."""
    return (
        call.first_token_ms is None
        and call.thinking_seconds is None
        and not (transcript.before or transcript.rounds or transcript.current)
    )


def next_place(assistant: Assistant, asked: Collection[ModelPlace]) -> ModelPlace | None:
    """The first of the list that was not ``asked`` in this reply, has all it needs, and is asked by this process just now."""
    for entry in assistant.fallbacks.all():
        try:
            provider = get_provider(entry.provider)
            model = (not provider.has_one_model and entry.model) or provider.default_model()
        except ProviderError:
            continue
        place = ModelPlace(provider.name, model)
        if place not in asked and not provider.wait() and not provider.obstacle():
            return place
    return None
