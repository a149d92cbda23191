"""What an experiment asks: each version with each model, and the requests that a case makes with them."""

import copy
from collections.abc import Iterable, Sequence
from itertools import product

from conversations.accounts.group_access import ALL, Access, access_of
from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.record.assistant_versions import assistant_then, at_version
from conversations.context.record.request_record import NotReplayable, Record, Settings
from conversations.context.render.tool_sections import NO_TOOLS
from conversations.context.tokens.budget import in_tokens
from conversations.models import Assistant, AssistantVersion, Dataset
from conversations.providers import ProviderError, get_provider, model_of, provider_name
from conversations.providers.base import Provider
from conversations.regression.replaying import demand_sources
from conversations.regression.settings_at import BUDGET, settings_at
from conversations.runtime.values import dataclass
from conversations.runtime.wording import worded

OWN = "own"
"""In place of a model: that of the version."""
MOST = 10
"""Versions with models."""


class InvalidPlan(ValueError):
    """What is not run as it is planned; ``message`` says what is wrong, in words that pages translate."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidModels(InvalidPlan):
    """No models to ask."""


class NotAsked(Exception):
    """Why a model is not asked for an answer: ``message``, in words for staff that pages translate."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    version: int
    model: str
    """As the experiment names it."""


def arms_of(versions: Sequence[int], models: Sequence[str]) -> list[Arm]:
    return [Arm(version=version, model=model) for version, model in product(versions, models)]


def split(name: str) -> tuple[str, str]:
    """Provider and model."""
    provider, _, model = name.partition("/")
    return provider, model


def checked(dataset: Dataset, versions: Sequence[int], names: Sequence[str], *, author: int) -> list[str]:
    """The models, each once. Raises ``InvalidModels`` where one can't be asked."""
    if len(versions) * len(names) > MOST:
        raise InvalidModels(worded("At most {count} versions with models are asked side by side.", count=MOST))
    if len({*names}) < len(names):
        raise InvalidModels(worded("Name each model once."))
    for name in names:
        if name == OWN:
            _demand_own(dataset, versions)
        else:
            demand_model(name, access_of(author))
    return [*names]


def demand_model(name: str, access: Access) -> Provider:
    """Raises ``InvalidModels``."""
    provider, model = split(name)
    if not model:
        words = "“{name}”: write PROVIDER/MODEL, such as anthropic/claude-haiku-4-5, or {own}."
        raise InvalidModels(worded(words, name=name, own=OWN))
    try:
        return _demand(provider, model, access)
    except NotAsked as error:
        raise InvalidModels(error.message) from None


def _demand_own(dataset: Dataset, versions: Sequence[int]) -> None:
    """Raises ``InvalidModels`` where no version of an assistant has a model that can be asked."""
    assistants = Assistant.objects.filter(threads__in=dataset.cases.values("thread")).distinct()
    problems = []
    for assistant, number in product(assistants, versions):
        try:
            _demand(*own_model(version_at(assistant, number)), ALL)
        except NotReplayable:
            continue
        except NotAsked as error:
            problems.append(error.message)
        else:
            return
    if problems:
        raise InvalidModels(problems[0])


def _demand(provider_name: str, model: str, access: Access) -> Provider:
    """Raises ``NotAsked``."""
    try:
        provider = get_provider(provider_name)
    except ProviderError as error:
        raise NotAsked(error.message) from None
    if not provider.rewrites:
        words = "No model stands behind the provider “{provider}”: connect one to have it answer."
        raise NotAsked(worded(words, provider=provider_name))
    if obstacle := provider.obstacle():
        raise NotAsked(obstacle.message)
    if not access.allows_model(provider_name, model):
        words = "This server, or a group, does not allow {model} through {provider}."
        raise NotAsked(worded(words, model=model, provider=provider_name))
    return provider


def own_model(assistant: Assistant) -> tuple[str, str]:
    """Its provider and model. Raises ``NotAsked``."""
    name = provider_name(assistant)
    try:
        return name, model_of(assistant, get_provider(name))
    except ProviderError as error:
        raise NotAsked(error.message) from None


def version_at(assistant: Assistant, number: int) -> Assistant:
    """Raises ``NotReplayable``."""
    version = AssistantVersion.objects.filter(assistant=assistant.pk, number=number).first()
    if version is None:
        raise NotReplayable(f"{assistant.name} has no version {number}.")
    return at_version(assistant, version)


def contexts(record: Record, arms: Iterable[Arm]) -> dict[Arm, Context | NotAsked]:
    """What each is given. Must run within ``remaking``. Raises ``NotReplayable`` and ``ProviderError``."""
    if record.silent:
        raise NotReplayable("It is the silent request of a preset: its context is compared, and no model asked.")
    then, access = assistant_then(record.snapshot, record.thread.assistant), access_of(record.thread.user_id)
    own = replay.build(record, record.settings)
    searched = own.material.beside if own.material else None
    made: dict[Arm, Context | NotAsked] = {}
    for arm in arms:
        wanted = version_at(then, arm.version)
        try:
            model = own_model(wanted) if arm.model == OWN else split(arm.model)
            _demand(*model, access)
        except NotAsked as problem:
            made[arm] = problem
            continue
        settings = settings_at(record, then, wanted)
        if model != (settings.assistant.provider, settings.assistant.model):
            settings = _with_model(settings, wanted, *model)
        context = replay.build(record, settings, searched)
        demand_sources(context, record)
        made[arm] = context
    return made


def _with_model(settings: Settings, wanted: Assistant, provider_name: str, model: str) -> Settings:
    """A share of the window is one of the model's own. Raises ``ProviderError``."""
    assistant, provider = copy.copy(settings.assistant), get_provider(provider_name)
    row = provider.describe(model)
    assistant.provider, assistant.model = provider_name, model
    if wanted.budget_share:
        scaled = in_tokens(wanted, row.context_window)
        for name in BUDGET - {"budget_share"}:
            setattr(assistant, name, getattr(scaled, name))
    takes_tools = row.takes_tools and provider.calls_tools
    return Settings(
        assistant=assistant,
        tools=settings.tools if takes_tools else NO_TOOLS,
        options=settings.options,
        query=settings.query,
    )
