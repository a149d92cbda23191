"""What a model request is given: gather, choose, render, record. Reads, never writes (requirement C2)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from conversations.context.built_context import Context
from conversations.context.choose import (
    beside,
    cache,
    exclusion,
    file_texts,
    files,
    fitted,
    fixed,
    limits,
    query,
    rounds,
    standing,
    thread,
    warmth,
    window,
)
from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.live import LiveReader
from conversations.context.gather.material import BuildRequest, Material
from conversations.context.gather.reader import Reader
from conversations.context.record.context_account import context_of
from conversations.context.rules.fitting import Section
from conversations.context.rules.prompt_cache import CacheState, Previous
from conversations.context.stopwatch import Stopwatch

STEPS: Sequence[Step] = (
    limits.STEP,
    thread.STEP,
    fixed.STEP,
    standing.STEP,
    warmth.STEP,
    exclusion.STEP,
    window.STEP,
    query.STEP,
    beside.STEP,
    files.STEP,
    file_texts.STEP,
    rounds.STEP,
    fitted.STEP,
    cache.STEP,
)
"""All that decides what a request is given, in this order."""
FURTHER_STEPS: Sequence[Step] = (rounds.STEP, fitted.STEP, cache.STEP)
"""What is decided anew for the next request of the same reply."""
LIVE = LiveReader()


def build_context(request: BuildRequest, reader: Reader = LIVE) -> Context:
    """The context of the request that answers a turn, of what the ``reader`` reads."""
    watch = Stopwatch()
    material = Material(request=request, facts=reader.facts(request))
    material, choice = gather(reader, material, Choice(), STEPS, watch)
    return context_of(material, choice, watch)


def continue_context(
    context: Context, sections: Sequence[Section], *, at: datetime, may_stay: bool = True, reader: Reader = LIVE
) -> Context:
    """The next request of the same reply, after this was said and done: mostly a round of tool calls and results. Unless it
    ``may_stay``, what stood in the request before is fitted anew."""
    watch = Stopwatch()
    assert context.material and context.choice
    before, parts = context.material, context.parts
    material = replace(before, history=replace(before.history, previous=as_previous(context, at)))
    choice = replace(
        context.choice,
        parts=replace(parts, rounds=[*parts.rounds, *sections]),
        cache_state=CacheState.WARM,
        is_further=may_stay,
    )
    material, choice = gather(reader, material, choice, FURTHER_STEPS, watch)
    return context_of(material, choice, watch)


def gather(
    reader: Reader, material: Material, choice: Choice, steps: Sequence[Step], watch: Stopwatch
) -> tuple[Material, Choice]:
    """Each step reads what it needs, and chooses. ``choose`` of the material that comes of it gives the same choice again."""
    for step in steps:
        if step.read:
            material = step.read(reader, material, choice)
        choice = step.choose(material, choice)
        watch.lap(step.name)
    return material, choice


def choose(material: Material, steps: Sequence[Step] = STEPS) -> Choice:
    """What a request is given, of material that was gathered before. Pure."""
    choice = Choice()
    for step in steps:
        choice = step.choose(material, choice)
    return choice


def as_previous(context: Context, at: datetime) -> Previous:
    """A context as the request before the next, which was made at a time."""
    return Previous(
        at=at,
        provider=context.provider,
        model=context.model,
        sections=tuple(context.parts.digests),
        positions=tuple(context.parts.positions),
        marks=context.cache.marks,
        lifetime=context.cache.lifetime.name,
        provider_message_id="",
    )
