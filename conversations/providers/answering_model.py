"""The row of the model that answers, where an assistant or an entry of its list names one or leaves it to the provider."""

from conversations.models import Assistant, Model
from conversations.providers import ProviderError, get_provider, model_of, provider_name


def own_row(assistant: Assistant) -> Model | None:
    """``None`` while its provider can't tell which model it is."""
    return row_of(provider_name(assistant), assistant.model)


def row_of(provider: str, model: str) -> Model | None:
    """Of the provider's default where no model is named. ``None`` where that can't be told."""
    try:
        asked = get_provider(provider)
        return asked.describe(model_of(Assistant(model=model), asked))
    except ProviderError:
        return None
