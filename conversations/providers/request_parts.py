"""What stands in a request, whatever its shape. Pure."""

from conversations.providers.base import Payload
from conversations.providers.chat_completions import as_messages_api


def in_messages_api(payload: Payload) -> Payload:
    """``model``, ``system``, ``messages`` and perhaps ``tools``, as the Messages API has them. Where the provider speaks Chat
    Completions the system text is a message of the request itself."""
    return payload if "system" in payload else as_messages_api(payload)
