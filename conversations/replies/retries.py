"""What another attempt at a reply is asked for, by how the one before ended. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from conversations.accounts.group_access import access_of
from conversations.context.caller_options import CallerOptions
from conversations.context.rules.fitting import Section, resumed
from conversations.context.turns.groups import whole_blocks
from conversations.context.turns.turn import Turn
from conversations.errors import ModelNotOffered
from conversations.models import Assistant, ContextSnapshot, Message, Reply
from conversations.providers import ProviderError, get_provider, model_of, provider_name, refusals
from conversations.runtime.wording import worded
from conversations.threads import model_choices

LESS = 0.7
"""How much of a request that was too large for its model the next one may take."""
MORE = 2
"""How many times as much as the one before an answer may take that ran out of room by thinking."""
TOO_LARGE, OUT_OF_ROOM = "request_too_large", "out_of_room"
WINDOW_EXCEEDED = "model_context_window_exceeded"


ModelOfProvider = tuple[str, str]
"""A provider, and the name of a model of it."""


@dataclass(frozen=True, kw_only=True)
class AskableModels:
    """Whom another attempt may be asked of: the assistant's ``own`` model and its ``fallback``, and all that are ``offered``.
    ``usual`` is the thread's, if it has one, else the assistant's own."""

    own: ModelOfProvider
    fallback: ModelOfProvider
    usual: ModelOfProvider
    offered: Sequence[ModelOfProvider]


def after(before: Reply, options: CallerOptions, model: str = "") -> CallerOptions:
    """The options of the next attempt. Where no model is named it is asked of the one that answered before. Raises
    ``ModelNotOffered`` and ``AssistantNotAllowed``."""
    models = _askable_models(before)
    last = before.snapshots.exclude(purpose=ContextSnapshot.Purpose.REWRITE).order_by("-round").first()
    chosen = _named(model, models.offered) if model else _answering_model(before, last, models)
    provider, name = chosen
    elsewhere = provider if provider != models.own[0] else ""
    model_choices.refuse_unless_allowed(before.thread.assistant, provider, name, access_of(before.user_id))
    options = replace(options, model=name if chosen != models.own else "", provider=elsewhere)
    if last is None:
        return options
    if _has_declined(last):
        other = last.model if last.model != name and chosen == models.fallback else ""
        return replace(options, fallback_for=other, fallback_cause=refusals.CODE if other else "")
    goes_on = (last.provider, last.model) == chosen and not _stood_in(last)
    return replace(
        options,
        fallback_for=last.fallback_for if goes_on else "",
        fallback_cause=last.fallback_cause if goes_on else "",
        least_output=MORE * last.max_tokens if code_of(before) == OUT_OF_ROOM else 0,
        most_input=less_than(last.total_tokens) if last.stop_reason == WINDOW_EXCEEDED else None,
    )


def _askable_models(before: Reply) -> AskableModels:
    assistant = before.thread.assistant
    provider = provider_name(assistant)
    own, fallback = (provider, _own_model(assistant)), (provider, assistant.fallback_model)
    choices = model_choices.choices_of(assistant)
    of_thread = model_choices.of_thread(before.thread, choices)
    listed = [(choice.provider, choice.name) for choice in choices]
    return AskableModels(
        own=own,
        fallback=fallback,
        usual=(of_thread.provider, of_thread.name) if of_thread else own,
        offered=list(dict.fromkeys(each for each in (own, fallback, *listed) if each[1])),
    )


def _answering_model(before: Reply, last: ContextSnapshot | None, models: AskableModels) -> ModelOfProvider:
    """The one that answered, or was to answer before it declined or another stood in for it; the usual one where that is not
    offered any more."""
    if last is None or _has_declined(last) or _stood_in(last):
        by_name = (each for each in (models.usual, *models.offered) if each[1] == before.model)
        answered = next(by_name, models.own)
    else:
        answered = (last.provider, last.model)
    return answered if answered in models.offered else models.usual


def _has_declined(request: ContextSnapshot) -> bool:
    return request.stop_reason == refusals.STOP_REASON


def _stood_in(request: ContextSnapshot) -> bool:
    """For a model that did not answer, not for one that declined."""
    return request.fallback_cause not in {"", refusals.CODE}


def _own_model(assistant: Assistant) -> str:
    """Empty where its provider can't say: whoever builds the request says what is wrong."""
    try:
        return model_of(assistant, get_provider(provider_name(assistant)))
    except ProviderError:
        return assistant.model


def _named(id: str, offered: Sequence[ModelOfProvider]) -> ModelOfProvider:
    """By name, the assistant's own provider first, or by provider and name."""
    found = next((each for each in offered if id in (each[1], "/".join(each))), None)
    if found:
        return found
    names = [name for _, name in offered]
    ids = ["/".join(each) if names.count(each[1]) > 1 else each[1] for each in offered]
    words = worded("This reply can be asked of these models alone: {names}.", names=", ".join(ids))
    raise ModelNotOffered(words, models=ids)


def less_than(tokens: int) -> int:
    return int(tokens * LESS)


def code_of(reply: Reply) -> str:
    return reply.error["code"] if reply.error else ""


def turn_to_go_on_with(before: Reply) -> Message | None:
    """Of an attempt to go on with a reply that came to nothing good: another one goes on with the same."""
    if before.continues_id is None or before.status == Reply.Status.COMPLETED:
        return None
    goes_on = Message.objects.filter(user=before.user_id, reply=before.continues_id)
    return goes_on.exclude(status=Message.Status.FORGOTTEN).first()


def so_far(turn: Message) -> Sequence[Section]:
    """What is to be gone on with, as far as a model takes it back."""
    return resumed(whole_blocks([Turn.of(turn)])[0])
