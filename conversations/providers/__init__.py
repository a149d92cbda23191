"""The model providers, chosen by name."""

import asyncio
from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from conversations.models import Assistant
from conversations.providers import connections
from conversations.providers.base import Provider, ProviderError

# By dotted name, because importing the SDK takes seconds that only those who use it should spend.
PROVIDERS = {
    "anthropic": "conversations.providers.anthropic.AnthropicProvider",
    "local": "conversations.providers.local.LocalProvider",
    "claude_cli": "conversations.providers.claude_cli.ClaudeCliProvider",
    "openai": "conversations.providers.openai.OpenAIProvider",
    "bedrock": "conversations.providers.cloud_providers.BedrockProvider",
    "vertex": "conversations.providers.cloud_providers.VertexProvider",
    "offline": "conversations.providers.offline.OfflineProvider",
}


def get_provider(name: str) -> Provider:
    """The provider of this name, one instance a process: one that the environment configures, or a connection by its slug. It
    may be used from any event loop. Raises ``ProviderError``."""
    provider = built_in(name) if name in PROVIDERS else connections.find_provider(name)
    if provider is None:
        raise ProviderError(
            "misconfigured",
            f"The provider “{name}” is not known. Whoever runs this Openbook can add a connection of this name in the "
            f"admin, or choose another one, or one of: {', '.join(PROVIDERS)}.",
            retryable=False,
        )
    return provider


def provider_name(assistant: Assistant | None = None) -> str:
    """Who is asked for what concerns an assistant, its replies and all work beside them: the provider that it names, else the
    server's default, which holds where there is no assistant, too."""
    return (assistant.provider if assistant else "") or str(settings.OPENBOOK_PROVIDER)


@cache
def built_in(name: str) -> Provider:
    provider: Provider = import_string(PROVIDERS[name])()
    return provider


def model_of(assistant: Assistant, provider: Provider) -> str:
    """The id of the model that replies as an assistant."""
    return (not provider.has_one_model and assistant.model) or provider.default_model()


def learn_list_and_wait(provider: Provider, model: str = "") -> None:
    """Have its service asked what it offers, where that tells something of the model. For pages and workers: it may take some
    seconds, so it is not for the way of a reply."""
    if provider.lacks_list(model):
        asyncio.run(provider.learn_list())


def usable_key(key: str) -> bool:
    """Whether it can stand in a header at all; what the service thinks of it is another matter."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key


__all__ = [
    "PROVIDERS",
    "Provider",
    "ProviderError",
    "built_in",
    "connections",
    "get_provider",
    "learn_list_and_wait",
    "model_of",
    "provider_name",
    "usable_key",
]
