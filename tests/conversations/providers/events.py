"""What a provider's stream says, apart from what it costs."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from conversations.providers.base import ProviderEvent, UsageSoFar


async def without_usage(stream: AsyncGenerator[ProviderEvent]) -> AsyncGenerator[ProviderEvent]:
    async with aclosing(stream):
        async for event in stream:
            if not isinstance(event, UsageSoFar):
                yield event
