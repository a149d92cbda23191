"""A request's settings as another version of its assistant would have had them."""

import copy

from conversations.context.record.assistant_versions import shaping_fields
from conversations.context.record.request_record import QueryChoice, Record, Settings
from conversations.context.tokens.budget import TOKEN_FIELDS, in_tokens
from conversations.models import Assistant
from conversations.providers import get_provider, model_of, provider_name
from conversations.tools import tools_for

MODEL = frozenset({"provider", "model"})
BUDGET = frozenset({*TOKEN_FIELDS, "budget_share", "history_turns_min", "history_turns_max"})


def settings_at(record: Record, then: Assistant, wanted: Assistant) -> Settings:
    """What ``wanted`` has otherwise than ``then``, the version that the request was made with, is changed in the request's own
    settings. All else stays as recorded: what the person chose, what the model's row said. Raises ``ProviderError``."""
    names = [field.attname for field in shaping_fields().values()]
    changed = {name for name in names if getattr(then, name) != getattr(wanted, name)}
    if not changed:
        return record.settings
    assistant, window = copy.copy(record.settings.assistant), record.window
    if changed & MODEL and _is_own_model(record, then):
        assistant.provider = provider_name(wanted)
        provider = get_provider(assistant.provider)
        assistant.model = model_of(wanted, provider)
        window = provider.describe(assistant.model).context_window
    if changed & BUDGET:
        scaled = in_tokens(wanted, window)
        for name in BUDGET - {"budget_share"}:
            setattr(assistant, name, getattr(scaled, name))
    for name in changed - MODEL - BUDGET:
        if name != "system_prompt" or record.settings.assistant.system_prompt == then.system_prompt:
            setattr(assistant, name, getattr(wanted, name))
    tools, query = record.settings.tools, record.settings.query
    if "tools" in changed:
        tools = tools_for(assistant, get_provider(assistant.provider), assistant.model)
    if "rewriting" in changed:
        off = Assistant.Rewriting.OFF
        query = QueryChoice.OFF if wanted.rewriting == off else QueryChoice.RULES if then.rewriting == off else query
    return Settings(assistant=assistant, tools=tools, options=record.settings.options, query=query)


def _is_own_model(record: Record, then: Assistant) -> bool:
    """Whether the assistant's own model replied, and not one that a person or a fallback chose."""
    provider = get_provider(provider_name(then))
    own = provider_name(then), model_of(then, provider)
    return own == (record.settings.assistant.provider, record.settings.assistant.model)
