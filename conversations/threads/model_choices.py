"""The models that people may choose for an assistant: its own, and those that staff ticked for it."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from conversations.accounts.group_access import ALL, Access, access_of
from conversations.context.tokens.budget import BudgetOrigin
from conversations.errors import AssistantNotAllowed, ModelNotOffered
from conversations.models import Assistant, Model, Thread
from conversations.providers import (
    ProviderError,
    get_provider,
    learn_list_and_wait,
    model_catalog,
    model_of,
    provider_name,
)
from conversations.providers.base import Provider
from conversations.runtime.wording import worded


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """``provider`` is who is asked for it; the row may be another's, as the Claude CLI uses Anthropic's."""

    provider: str
    name: str
    row: Model = field(compare=False)
    takes_tools: bool
    takes_images: bool

    @property
    def whole_id(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def label(self) -> str:
        return self.row.label or self.name


@dataclass(frozen=True, kw_only=True)
class Offer:
    """For whom a model can be chosen: the slug of an assistant, whether it is that one's own, and whether its window is too
    small for the hard cap of that one beside an answer."""

    assistant: str
    is_own: bool
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class ThreadModel:
    """The ``id`` of the model of a thread as ``GET models/`` has it, empty where it is the assistant's own. ``note`` is for
    people: that it is offered no longer, and who answers instead; else empty."""

    id: str = ""
    note: str = ""


OWN = ThreadModel()


def choices_of(assistant: Assistant, access: Access = ALL) -> list[ModelChoice]:
    """Its own first. Without those whose provider can't answer, and those that the person's groups don't allow."""
    return choices_among(assistant, _offered_to([assistant]).get(assistant.pk, ()), access)


def choices_among(assistant: Assistant, offered: Iterable[str], access: Access = ALL) -> list[ModelChoice]:
    """The same of the rows that staff ticked, as ``provider/name``."""
    own = provider_name(assistant)
    found = [_own(assistant, own)]
    for id in offered:
        provider, _, name = id.partition("/")
        is_of_own = model_catalog.ROWS_OF.get(own, own) == provider
        found.append(_choice(own if is_of_own else provider, name))
    allowed = [choice for choice in found if choice and access.allows_model(choice.provider, choice.name)]
    return list({choice.whole_id: choice for choice in reversed(allowed)}.values())[::-1]


def choices_of_all(assistants: Iterable[Assistant], access: Access = ALL) -> dict[ModelChoice, list[Offer]]:
    """Each with the assistants that it can be chosen for."""
    offers: dict[ModelChoice, list[Offer]] = {}
    listed = list(assistants)
    offered = _offered_to(listed)
    for assistant in listed:
        with suppress(ProviderError):
            learn_list_and_wait(get_provider(provider_name(assistant)), assistant.model)
        own = _own(assistant, provider_name(assistant))
        for choice in choices_among(assistant, offered.get(assistant.pk, ()), access):
            is_cut = BudgetOrigin.with_model(assistant, choice.row).is_cut
            offers.setdefault(choice, []).append(Offer(assistant=assistant.slug, is_own=choice == own, is_cut=is_cut))
    return offers


def of_thread(thread: Thread, choices: Iterable[ModelChoice]) -> ModelChoice | None:
    """The one that its person chose for it, as long as that is among the choices of its assistant."""
    return next((choice for choice in choices if thread.model == choice.whole_id), None)


def model_for_thread(assistant: Assistant, id: str, access: Access = ALL) -> str:
    """``Thread.model`` where this is chosen for it; empty for the assistant's own. Raises ``ModelNotOffered``."""
    if not id:
        return ""
    choice, own = chosen(assistant, id, access), provider_name(assistant)
    return "" if choice == _own(assistant, own) else choice.whole_id


def of_threads(page: Sequence[Thread]) -> Mapping[uuid.UUID, ThreadModel]:
    """Of those that have a model of their own, by their ids: of one person. Four statements, and none where no thread has."""
    chosen_for = [thread for thread in page if thread.model]
    if not chosen_for:
        return {}
    access = access_of(chosen_for[0].user_id)
    ids = listed_ids(access)
    offered = _offered_to({thread.assistant for thread in chosen_for})
    models: dict[uuid.UUID, ThreadModel] = {}
    for thread in chosen_for:
        choices = choices_among(thread.assistant, offered.get(thread.assistant_id, ()), access)
        note = "" if of_thread(thread, choices) else _missing(thread)
        models[thread.id] = ThreadModel(id=ids.get(thread.model, thread.model), note=note)
    return models


def listed_ids(access: Access = ALL) -> dict[str, str]:
    """What ``GET models/`` calls each model that can be chosen, by ``provider/name``."""
    everywhere = list(choices_of_all(Assistant.objects.filter(is_active=True), access))
    return dict(zip((choice.whole_id for choice in everywhere), ids_of(everywhere), strict=True))


def _missing(thread: Thread) -> str:
    own = _own(thread.assistant, provider_name(thread.assistant))
    answers = f"{own.label} answers instead" if own else f"{thread.assistant}’s own model answers instead"
    provider, _, name = thread.model.partition("/")
    return f"{model_catalog.get(provider, name or provider)} is not offered here any more: {answers}."


def ids_of(choices: Sequence[ModelChoice]) -> list[str]:
    """What each is called: its name, with its provider before it where another provider has one of that name."""
    names = [choice.name for choice in choices]
    return [choice.whole_id if names.count(choice.name) > 1 else choice.name for choice in choices]


def chosen(assistant: Assistant, id: str, access: Access = ALL) -> ModelChoice:
    """By name, of the assistant's own provider first, or by provider and name. Raises ``ModelNotOffered``."""
    choices, own = choices_of(assistant, access), provider_name(assistant)
    named = [choice for choice in choices if id in (choice.name, choice.whole_id)]
    if named:
        return min(named, key=lambda choice: (choice.whole_id != id, choice.provider != own))
    offered = ids_of(choices)
    raise ModelNotOffered(
        worded(
            "There is no such model to choose for this assistant.",
            "There are: {names}." if offered else "There are none.",
            names=", ".join(offered),
        ),
        models=offered,
    )


def refuse_unless_allowed(assistant: Assistant, provider: str, model: str, access: Access) -> None:
    """Raise ``AssistantNotAllowed`` or ``ModelNotOffered`` where the server or the person's groups don't allow this
    call."""
    if not access.allows_assistant(assistant.slug):
        raise AssistantNotAllowed(
            worded(
                "Your groups don't allow the assistant {name}.",
                "What was said here stays: choose another assistant, or ask whoever manages your group.",
                name=assistant.name,
            ),
            assistant=assistant.slug,
        )
    if access.allows_model(provider, model):
        return
    offered = ids_of(choices_of(assistant, access))
    is_here = access.server is None or access.server.allows_model(provider, model)
    what = (
        "Choose one of these: {models}." if offered else "Choose another assistant, or ask whoever manages your group."
    )
    raise ModelNotOffered(
        worded(
            "Your groups don't allow {model} through {provider}."
            if is_here
            else "This server doesn't allow {model} through {provider}.",
            what,
            model=model or "?",
            provider=provider,
            models=", ".join(offered),
        ),
        models=offered,
    )


def _offered_to(assistants: Iterable[Assistant]) -> Mapping[int, Sequence[str]]:
    """What staff ticked for each of them, as ``provider/name`` in their order. In one statement."""
    rows = Assistant.offered_models.through.objects.filter(assistant__in=assistants, model__is_active=True)
    rows = rows.order_by("model__provider", "model__order", "model__name")
    found: dict[int, list[str]] = defaultdict(list)
    for assistant, provider, name in rows.values_list("assistant_id", "model__provider", "model__name"):
        found[assistant].append(f"{provider}/{name}")
    return found


def _own(assistant: Assistant, provider: str) -> ModelChoice | None:
    try:
        return _choice(provider, model_of(assistant, get_provider(provider)))
    except ProviderError:
        return None


def _choice(name: str, model: str) -> ModelChoice | None:
    try:
        provider: Provider = get_provider(name)
    except ProviderError:
        return None
    if provider.obstacle():
        return None
    row = provider.describe(model)
    return ModelChoice(
        provider=name,
        name=model,
        row=row,
        takes_tools=row.takes_tools and provider.calls_tools,
        takes_images=row.takes_images and provider.sends_pictures,
    )
