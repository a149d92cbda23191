"""A part of a conversation put to a small model: what was said, what is worth remembering, what was left open."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing

from django.conf import settings

from conversations.models import text_blocks
from conversations.providers import Provider, get_provider
from conversations.providers.base import WHOLE, Finished, Payload, ProviderError, TextDelta
from memory import asking
from memory.findings import Findings, OpenTopic, Turn
from memory.replacing import Facts

ATTEMPTS = 2
DEADLINE_SECONDS = 30.0

log = logging.getLogger("openbook.memory")


def writer() -> Provider | None:
    """The provider to ask, where there is one with a model behind it."""
    provider = get_provider(settings.OPENBOOK_PROVIDER)
    return provider if provider.rewrites else None


async def digest(
    provider: Provider,
    turns: Sequence[Turn],
    facts: Facts,
    topics: Sequence[OpenTopic],
    *,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> Findings | None:
    """What the model finds; ``None`` where it can't say it, or won't. Raises ``ProviderError`` where trying later can help."""
    said = "\n".join(turn.text for turn in turns)
    known = [(one.id, one.text) for one in facts.bearing_on(said, asking.MOST_KNOWN)]
    payload = provider.render(
        model=provider.small_model(),
        max_tokens=asking.MAX_TOKENS,
        system=text_blocks(asking.INSTRUCTIONS),
        messages=[{"role": "user", "content": text_blocks(asking.material(turns, known, topics))}],
    )
    for _ in range(ATTEMPTS):
        try:
            answer = await _answer(provider, payload, deadline_seconds)
            return asking.read(answer, turns, known, topics, made_by=payload["model"])
        except asking.Garbage as garbage:
            log.warning("the model's findings are no use", extra={"cause": str(garbage)})
        except ProviderError as error:
            if error.retryable:
                raise
            log.warning("the model can't be asked about a part", extra={"cause": error.code})
            break
    return None


async def _answer(provider: Provider, payload: Payload, deadline_seconds: float) -> str:
    """The whole text. Raises ``Garbage`` where it was cut short or has no end, ``ProviderError`` where none came."""
    answer = ""
    try:
        async with asyncio.timeout(deadline_seconds), aclosing(provider.stream(payload)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=piece):
                        answer += piece
                        if len(answer) > asking.LONGEST_ANSWER:
                            raise asking.Garbage("The answer has no end.")
                    case Finished(stop_reason=reason):
                        if reason not in WHOLE:
                            raise asking.Garbage(f"The model stopped: {reason[:40]}.")
                        return answer
    except TimeoutError:
        raise ProviderError("timeout", "It took too long.", retryable=True) from None
    raise ProviderError("cut_off", "The answer was cut off.", retryable=True)
