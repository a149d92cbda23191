"""The model that the ways to Claude answer with where an assistant names none."""

from django.conf import settings

from conversations.providers import model_catalog
from conversations.providers.base import ProviderError


def default_model() -> str:
    """The server's, or the first that staff are offered. Raises ``ProviderError`` where there is none."""
    if settings.OPENBOOK_MODEL:
        return str(settings.OPENBOOK_MODEL)
    if offered := model_catalog.offered("anthropic"):
        return offered[0].name
    raise ProviderError(
        "misconfigured",
        "No model is offered. Whoever runs this Openbook can tick one in the admin, or set OPENBOOK_MODEL.",
        retryable=False,
    )
