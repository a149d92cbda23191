"""The account of a context that was chosen: what became of every turn, every part of a file and every row. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from conversations.context.built_context import Context
from conversations.context.choose.choice import Choice
from conversations.context.files import account as file_account
from conversations.context.gather.material import Material
from conversations.context.reasons import Reason
from conversations.context.record.turn_account import TurnRun, account
from conversations.context.render.rendering import RequestTexts, render, sha256
from conversations.context.rules.fitting import BESIDE_SYSTEM, Parts
from conversations.context.source_problems import Problem
from conversations.context.sources import Fitted, SourceItem
from conversations.context.stopwatch import Stopwatch
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot


def context_of(material: Material, choice: Choice, watch: Stopwatch) -> Context:
    """Render the exact request, and account for it."""
    request, facts, parts, limits = material.request, material.facts, choice.parts, choice.limits
    texts = texts_of(parts, quoting=facts.quoting)
    payload = render(request.provider, facts.model, facts.allowance, texts, choice.cache)
    watch.lap("render")
    context = Context(
        purpose=ContextSnapshot.Purpose.ARTIFACT if parts.silent else ContextSnapshot.Purpose.REPLY,
        provider=request.provider.name,
        model=facts.model,
        max_tokens=facts.allowance.max_tokens,
        thinking=facts.allowance.thinking,
        parts=parts,
        runs=turn_runs(material, choice),
        files=file_account.pack(parts.turns, parts.read, material.files, facts.factor),
        turns_loaded=choice.candidates.loaded,
        budget=limits.budget,
        origin=limits.origin,
        factor=facts.factor,
        counts={turn.position: turn.counted for turn in choice.candidates.turns if turn.counted},
        items=[item.in_model_tokens(facts.factor) for tier in parts.tiers for item in tier.items],
        recalled=items_beside(material, parts),
        problems=problems_of(material),
        fallback_for=request.options.fallback_for,
        fallback_cause=request.options.fallback_cause,
        rewriting=choice.query,
        cache=choice.cache,
        quoting=facts.quoting,
        payload=payload,
        begins_after=request.scope.cleared_through,
        material=material,
        choice=choice,
    )
    watch.lap("record")
    return replace(context, timings_ms=watch.laps())


def texts_of(parts: Parts, *, quoting: int | None) -> RequestTexts:
    return RequestTexts(
        system=[section.text for section in parts.prefix if section.name not in BESIDE_SYSTEM],
        turns=parts.turns,
        additions=[section.text for section in parts.beside],
        program=parts.program.text if parts.program else "",
        tools=parts.tools.text if parts.tools else "",
        caller=parts.caller.text if parts.caller else "",
        rounds=[(section.name, section.text) for section in parts.rounds],
        results=parts.results,
        quoting=quoting,
    )


def turn_runs(material: Material, choice: Choice) -> list[TurnRun]:
    """What became of every turn of the thread (S3)."""
    parts = choice.parts
    recalled = [turn for fitted in fitted_beside(material) for turn in fitted.turns] if parts.additions else ()
    return account(
        parts.history,
        None if parts.silent else parts.newest,
        choice.left_out if len(parts.history) == len(choice.whole.history) else Reason.OVER_BUDGET,
        stand_ins(parts.turns),
        excluded=[*choice.candidates.excluded, *((turn, Reason.RECALLED) for turn in recalled)],
        begins_after=material.request.scope.cleared_through,
        factor=material.facts.factor,
    )


def items_beside(material: Material, parts: Parts) -> list[SourceItem]:
    """The account of what the sources beside the message gave: nothing of it is sent where it had to give way."""
    items = [item for fitted in fitted_beside(material) for item in fitted.items]
    factor = material.facts.factor
    gave_way = not parts.additions
    return [item.left_out() if gave_way and item.included else item.in_model_tokens(factor) for item in items]


def problems_of(material: Material) -> list[Problem]:
    beside = [problem for fitted in fitted_beside(material) for problem in fitted.problems]
    return [*material.known.problems, *beside, *material.request.options.problems]


def fitted_beside(material: Material) -> list[Fitted]:
    return [searched.fitted for searched in material.beside.values()]


def stand_ins(turns: Sequence[Turn]) -> dict[int, str]:
    """Position to digest of the turns that are sent shortened."""
    return {turn.position: sha256(turn.shortened).hex() for turn in turns if turn.shortened}
