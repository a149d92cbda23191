"""What a model request is given: gather, filter, window, fit, assemble. Reads, never writes (requirement C2)."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from conversations.context import caching, rewriting
from conversations.context.budget import Budget
from conversations.context.caching import CachePlan, CacheState
from conversations.context.fitting import Parts, Section, fit, history_room, memory_room, standing_room
from conversations.context.problems import Problem
from conversations.context.reasons import Reason
from conversations.context.recalling import recall
from conversations.context.rendering import render, sha256
from conversations.context.rewriting import Rewriting
from conversations.context.sources import Wanted, candidates_of, read_all
from conversations.context.tiers import MEMORY, TierItem, build_tiers, cut
from conversations.context.tokens import text_of
from conversations.context.windowing import Run, Turn, account, window
from conversations.models import Assistant, ContextSnapshot
from conversations.providers.base import Payload, Provider
from conversations.sessions import Session


@dataclass(frozen=True, kw_only=True)
class Context:
    """Everything that one model request is given, and the account of what it is not."""

    purpose: ContextSnapshot.Purpose = ContextSnapshot.Purpose.REPLY
    provider: str
    model: str
    max_tokens: int
    parts: Parts
    runs: Sequence[Run]
    turns_loaded: int
    budget: Budget
    items: Sequence[TierItem] = ()
    recalled: Sequence[TierItem] = ()
    problems: Sequence[Problem] = ()
    rewriting: Rewriting = rewriting.OFF
    cache: CachePlan = field(default_factory=CachePlan)
    payload: Payload
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def sections(self) -> list[Section]:
        """The parts of the system text, in order (C1)."""
        return self.parts.system

    @property
    def history(self) -> Sequence[Turn]:
        return self.parts.history

    @property
    def newest(self) -> Turn:
        return self.parts.newest

    @property
    def history_tokens(self) -> int:
        return self.parts.history_tokens

    @property
    def total_tokens(self) -> int:
        if self.purpose is ContextSnapshot.Purpose.REWRITE:  # there the turns stand within the material
            return self.parts.standing_tokens + sum(addition.tokens for addition in self.parts.additions)
        return self.parts.total_tokens

    @property
    def left_out(self) -> dict[str, int]:
        """How many turns were left out, by reason."""
        counts: dict[str, int] = {}
        for run in self.runs:
            if not run.included:
                counts[run.reason.value] = counts.get(run.reason.value, 0) + run.count
        return counts


class Stopwatch:
    """Milliseconds by step, and in all since it was started."""

    def __init__(self) -> None:
        self._started = self._lap = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """What has been done since the last lap was this."""
        now = time.perf_counter()
        self._laps[name] = round(self._laps.get(name, 0) + (now - self._lap) * 1000, 3)
        self._lap = now

    def read(self) -> dict[str, float]:
        return self._laps | {"total": round((time.perf_counter() - self._started) * 1000, 3)}


def build_context(
    *,
    assistant: Assistant,
    provider: Provider,
    user_id: int,
    thread_id: uuid.UUID | None,
    newest: Turn,
    session: Session,
    at: datetime,
    query: Rewriting | None = None,
) -> Context:
    """The context of the request that answers ``newest``, which may not be stored yet; ``None`` is a thread to come.

    ``at`` is the time of the request: the same rows at the same time give the same bytes. ``query`` is what a model made of
    the message. Without it the assistant's rules decide; where a model has to be asked first, ``rewriting`` says so.
    """
    watch = Stopwatch()
    model = assistant.model or provider.default_model()
    base = Section.of("base", assistant.system_prompt)
    budget = Budget.of(assistant)
    wanted = Wanted(thread_id=thread_id, before=newest.position, budget=budget, filtering=assistant.filters_artifacts)
    history, standing = read_all(wanted, user_id=user_id, session=session, memory=assistant.uses_memory)
    watch.lap("history")
    tiers = cut(build_tiers(standing, assistant), standing_room(base, budget))
    tiers = cut(tiers, memory_room(base, budget), first=[MEMORY])
    watch.lap("memory")

    parts = Parts(base=base, tiers=tiers, newest=newest)
    budget = history_room(parts.standing_tokens, budget)
    before = caching.state_before(
        history.previous,
        at=at,
        provider=provider.name,
        model=model,
        sections=_digests(parts),
    )
    begin_at = history.previous.began_at if history.previous and before is CacheState.WARM else None
    candidates = candidates_of(history, replace(wanted, budget=budget), begin_at=begin_at)
    kept, left_out = window(candidates.turns, budget, begin_at=begin_at)
    watch.lap("history")

    query = query or rewriting.decide(assistant, provider, text_of(newest.content), kept)
    watch.lap("rewrite")
    parts = replace(parts, history=kept, additions=_query_sections(query))
    recalled = recall(
        user_id=user_id,
        thread_id=thread_id,
        text=query.query or text_of(newest.content),
        at=at,
        tiers=tiers,
        room=min(assistant.recall_tokens, budget.total_tokens - parts.total_tokens),
    )
    watch.lap("memory")

    whole = replace(parts, additions=[*parts.additions, *recalled.sections])
    parts = fit(whole, budget)
    cache = caching.plan(
        before if parts.system == whole.system else before.without_system(),
        history.previous,
        cacheable_from=provider.cacheable_from(model),
        system_tokens=parts.standing_tokens,
        turns=[(-turn.position if turn.shortened else turn.position, turn.token_count) for turn in parts.turns],
    )
    payload = render(
        provider,
        model=model,
        max_tokens=assistant.max_output_tokens,
        system=[section.text for section in parts.system],
        turns=parts.turns,
        additions=[addition.text for addition in parts.additions],
        cache=cache,
    )
    runs = account(
        parts.history,
        parts.newest,
        left_out if len(parts.history) == len(kept) else Reason.OVER_BUDGET,
        _stand_ins(parts.turns),
        fulfilled=candidates.fulfilled,
        orphans=candidates.orphans,
    )
    watch.lap("tokens")
    return Context(
        provider=provider.name,
        model=model,
        max_tokens=assistant.max_output_tokens,
        parts=parts,
        runs=runs,
        turns_loaded=candidates.loaded,
        budget=Budget.of(assistant),
        items=[item for tier in parts.tiers for item in tier.items],
        recalled=recalled.items if parts.additions else [item.left_out() for item in recalled.items],
        problems=[*standing.problems, *recalled.problems],
        rewriting=query,
        cache=cache,
        payload=payload,
        timings_ms=watch.read(),
    )


def rewriting_context(context: Context, *, assistant: Assistant, provider: Provider) -> Context:
    """The request that asks a small model for the contextualised query of this context's message (Q1)."""
    watch = Stopwatch()
    told = rewriting.told_turns(context.history)
    snippet = next((tier.text for tier in context.parts.tiers if tier.name == "memory"), "")
    material = Section.of("material", rewriting.material(told, snippet, text_of(context.newest.content)))
    parts = Parts(
        base=Section.of("base", rewriting.INSTRUCTIONS), history=told, newest=context.newest, additions=[material]
    )
    model = assistant.rewriting_model or provider.small_model()
    return Context(
        purpose=ContextSnapshot.Purpose.REWRITE,
        provider=provider.name,
        model=model,
        max_tokens=rewriting.MAX_TOKENS,
        parts=parts,
        runs=account(told, context.newest, Reason.TURN_LIMIT, {}),
        turns_loaded=context.turns_loaded,
        budget=context.budget,
        payload=rewriting.rewriting_payload(
            provider, model=model, instructions=parts.base.text, material=material.text
        ),
        timings_ms=watch.read(),
    )


def _digests(parts: Parts) -> list[str]:
    return [sha256(section.text).hex() for section in parts.system]


def _query_sections(query: Rewriting) -> list[Section]:
    return [Section.of("query", rewriting.marked(query.query))] if query.query else []


def _stand_ins(turns: Sequence[Turn]) -> dict[int, str]:
    """Position to digest of the turns that are sent shortened."""
    return {turn.position: sha256(turn.shortened).hex() for turn in turns if turn.shortened}
