"""The models that people may choose for an assistant: its own, and those that staff ticked for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conversations.errors import ModelNotOffered
from conversations.models import Assistant, Model
from conversations.providers import ProviderError, get_provider, model_catalog, model_of, provider_name
from conversations.providers.base import Provider


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """``provider`` is who is asked for it; the row may be another's, as the Claude CLI uses Anthropic's."""

    provider: str
    name: str
    row: Model = field(compare=False)
    takes_tools: bool

    @property
    def whole_id(self) -> str:
        return f"{self.provider}/{self.name}"


def choices_of(assistant: Assistant) -> list[ModelChoice]:
    """Its own first. Without those whose provider can't answer."""
    own = own_provider(assistant)
    found = [_own(assistant, own)]
    for row in assistant.offered_models.filter(is_active=True):
        is_of_own = model_catalog.ROWS_OF.get(own, own) == row.provider
        found.append(_choice(own if is_of_own else row.provider, row.name))
    return list({choice.whole_id: choice for choice in reversed(found) if choice}.values())[::-1]


def choices_of_all(assistants: Iterable[Assistant]) -> dict[ModelChoice, list[str]]:
    """Each with the slugs of the assistants that it can be chosen for."""
    choices: dict[str, ModelChoice] = {}
    slugs: dict[str, list[str]] = {}
    for assistant in assistants:
        for choice in choices_of(assistant):
            choices.setdefault(choice.whole_id, choice)
            slugs.setdefault(choice.whole_id, []).append(assistant.slug)
    return {choices[id]: slugs[id] for id in choices}


def ids_of(choices: Sequence[ModelChoice]) -> list[str]:
    """What each is called: its name, with its provider before it where another provider has one of that name."""
    names = [choice.name for choice in choices]
    return [choice.whole_id if names.count(choice.name) > 1 else choice.name for choice in choices]


def chosen(assistant: Assistant, id: str) -> ModelChoice:
    """By name, of the assistant's own provider first, or by provider and name. Raises ``ModelNotOffered``."""
    choices, own = choices_of(assistant), own_provider(assistant)
    named = [choice for choice in choices if id in (choice.name, choice.whole_id)]
    if named:
        return min(named, key=lambda choice: (choice.whole_id != id, choice.provider != own))
    offered = ids_of(choices)
    raise ModelNotOffered(
        f"There is no such model to choose for this assistant. There are: {', '.join(offered) or 'none'}.",
        models=offered,
    )


def own_provider(assistant: Assistant) -> str:
    return provider_name(assistant)


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
    row = model_catalog.get(name, model)
    return ModelChoice(provider=name, name=model, row=row, takes_tools=row.takes_tools and provider.calls_tools)
