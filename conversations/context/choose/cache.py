"""Where marks for the provider's prompt cache pay, and how long its entries should live."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules import prompt_cache
from conversations.context.rules.prompt_cache import CachePrices, Lifetime, lifetime_for


def choose(material: Material, choice: Choice) -> Choice:
    facts, whole, parts = material.facts, choice.whole, choice.parts
    lifetime = choice.lifetime or facts.lifetime or lifetime_of(material, choice)
    if facts.row.cacheable_from is None or not material.request.provider.marks_cache:
        return replace(choice, lifetime=lifetime)
    state = choice.cache_state
    cache = prompt_cache.plan(
        state if parts is whole or parts.prefix == whole.prefix else state.without_system(),
        material.history.previous,
        cacheable_from=facts.row.cacheable_from,
        system_tokens=facts.factor.of_estimate(parts.prefix_tokens),
        turns=[
            (position, facts.factor.of_estimate(turn.token_count + turn.file_tokens))
            for position, turn in zip(parts.positions, parts.turns, strict=True)
        ],
        lifetime=lifetime,
    )
    return replace(choice, cache=cache, lifetime=lifetime)


def lifetime_of(material: Material, choice: Choice) -> Lifetime:
    """How long the prompt cache should keep what is sent, by the pauses between the person's messages in the window, unless
    the assistant says."""
    row, request, whole = material.facts.row, material.request, choice.whole
    if row.cacheable_from is None:
        return Lifetime()
    wanted = request.assistant.cache_lifetime
    times = [turn.created_at for turn in whole.history if turn.role == "user" and turn.created_at]
    tokens = whole.history_tokens
    lifetime = lifetime_for(
        [*times, request.newest.created_at or request.at],
        prefix_tokens=whole.prefix_tokens + tokens,
        growth_tokens=tokens // max(len(times), 1),
        prices=CachePrices.of(row),
    )
    return replace(lifetime, name=wanted) if wanted else lifetime


STEP = Step(name="cache", label="Prompt cache planned", choose=choose)
