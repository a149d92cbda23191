"""Who is asked in place of a model that could not be asked: the next of the assistant's list that may answer. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass

from conversations.context.caller_options import CallerOptions
from conversations.models import Assistant
from conversations.providers import ProviderError, get_provider, model_of, provider_name, refusals
from conversations.providers.base import Finished, ModelCall, Provider
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


def place_of(assistant: Assistant, options: CallerOptions) -> ModelPlace:
    """The model that is to be asked, where its provider can't say more; an empty one is the provider's default one."""
    return ModelPlace(options.provider or provider_name(assistant), options.model or assistant.model)


def named_place(assistant: Assistant, options: CallerOptions) -> ModelPlace:
    """The same with the name of the model, as far as it is known without asking its service."""
    place = place_of(assistant, options)
    if place.model:
        return place
    try:
        return ModelPlace(place.provider, model_of(assistant, get_provider(place.provider)))
    except ProviderError:
        return place


def entries_of(assistant: Assistant) -> list[ModelPlace]:
    """The list, where an empty model is the provider's default one."""
    return [ModelPlace(entry.provider, entry.model) for entry in assistant.fallbacks.all()]


def without_list(place: ModelPlace) -> Provider | None:
    """The provider of a model, where its service has to tell first what it offers. Raises ``ProviderError``."""
    provider = get_provider(place.provider)
    return provider if provider.lacks_list(place.model) else None


def usable(entry: ModelPlace, asked: Collection[ModelPlace]) -> ModelPlace | None:
    """The model, where it was not ``asked`` in this reply, has all it needs, and is asked by this process just now."""
    try:
        provider = get_provider(entry.provider)
        model = (not provider.has_one_model and entry.model) or provider.default_model()
    except ProviderError:
        return None
    place = ModelPlace(provider.name, model)
    return place if place not in asked and not provider.wait(model) and not provider.obstacle() else None
