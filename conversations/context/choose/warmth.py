"""Whether the provider's prompt cache still holds the request before: then the window begins where it began (W1)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules import prompt_cache
from conversations.context.rules.prompt_cache import CacheState


def choose(material: Material, choice: Choice) -> Choice:
    request, previous = material.request, material.history.previous
    state = prompt_cache.state_before(
        previous,
        at=request.at,
        provider=request.provider.name,
        model=material.facts.model,
        sections=choice.parts.digests,
        expires=request.provider.cache_expires,
    )
    begin_at = previous.began_at if previous and state is CacheState.WARM else None
    return replace(choice, cache_state=state, begin_at=begin_at)


STEP = Step(name="warmth", label="Prompt cache before", choose=choose)
