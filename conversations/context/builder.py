"""What a model request is given: gather, filter, window, fit, assemble. Reads, never writes (requirement C2)."""

import copy
import json
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from conversations.context.built_context import BuildInputs, Context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.choose.beside import RecordedBeside, search_beside
from conversations.context.files import account as file_account
from conversations.context.files.account import PackedFiles, form_of, standing_in
from conversations.context.files.citations import how_to_cite
from conversations.context.files.excerpts import READ_FILE
from conversations.context.files.ranking import sought_words
from conversations.context.gather.files import (
    NO_FILES,
    PictureCounter,
    ThreadFiles,
    in_turns,
    named_files,
    read_files,
    read_in_rounds,
)
from conversations.context.gather.history import AsOf, HistoryQuery, candidates_of, read_all
from conversations.context.gather.known import KnownQuery, complete_known
from conversations.context.query import rewriting
from conversations.context.query.rewriting import Rewriting
from conversations.context.reasons import Reason
from conversations.context.record.turn_account import account
from conversations.context.render.rendering import QUOTING, render, sha256, text_digest
from conversations.context.render.tool_sections import NO_TOOLS, ToolTexts, program_section, tools_section
from conversations.context.rules import prompt_cache
from conversations.context.rules.fitting import (
    BESIDE_SYSTEM,
    CITING,
    INSTRUCTIONS,
    ROUND,
    Parts,
    Section,
    fit,
    history_room,
    memory_room,
    tiers_room,
    without_thoughts,
)
from conversations.context.rules.prompt_cache import (
    CachePlan,
    CachePrices,
    CacheState,
    Lifetime,
    Previous,
    lifetime_for,
)
from conversations.context.rules.standing import Known, build_tiers, cut_tiers
from conversations.context.rules.windowing import window
from conversations.context.sessions import Session
from conversations.context.sources import MessageQuery, SourceQuery
from conversations.context.stopwatch import Stopwatch
from conversations.context.tokens import calibration as token_calibration
from conversations.context.tokens.budget import Budget, BudgetOrigin, in_tokens
from conversations.context.tokens.estimate import text_of
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Model
from conversations.providers import model_of
from conversations.providers.base import OFFLINE, Provider
from conversations.providers.image_tokens import image_rule
from conversations.providers.thinking import ThinkingPlan
from conversations.runtime.values import dataclass

NOTHING_PREPARED: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class RecordedInputs:
    """In the place of what would be read now, for a request that was made before: the thread as it was, and where there is
    a record of it, what was known and listed then. ``None`` is as it is now."""

    as_of: AsOf
    known: Known | None
    beside: RecordedBeside
    allowance: OutputAllowance | None
    program: Section | None
    base: str = ""
    """The system prompt as it was sent; empty where another model is asked."""
    factor: Factor | None = None
    lifetime: Lifetime | None = None
    window: int = 0
    """Of the model, as it was then; 0 is as it is now."""
    files: PackedFiles | None = None
    """What stood of files in its turns."""
    citing: str | None = None
    """What it said of citing them."""
    quoting: int | None = QUOTING
    """How its texts were told apart."""
    counts: Mapping[int, int] | None = None
    """Tokens of turns that its provider had counted, by position."""


def room_for_files(assistant: Assistant, origin: BudgetOrigin) -> int:
    """Tokens of the model that files may take: half for those of a message, half for those of earlier ones. The assistant's
    figures are in tokens."""
    return min(assistant.file_tokens, origin.room // 2)


def picture_counter(provider: Provider, row: Model, model: str, factor: Factor) -> PictureCounter:
    return PictureCounter(are_seen=provider.sends_pictures and row.takes_images, factor=factor, rule=image_rule(model))


def build_context(
    *,
    assistant: Assistant,
    provider: Provider,
    user_id: int,
    thread_id: uuid.UUID | None,
    newest: Turn,
    session: Session,
    at: datetime,
    last_reply: uuid.UUID | None = None,
    query: Rewriting | None = None,
    prepared: Mapping[str, Any] = NOTHING_PREPARED,
    tools: ToolTexts = NO_TOOLS,
    silent: bool = False,
    remembers: bool = True,
    options: CallerOptions = NO_OPTIONS,
    recorded: RecordedInputs | None = None,
    for_another_model: bool = False,
    brings_files: bool = False,
    begins_after: int = 0,
) -> Context:
    """The context of the request that answers ``newest``, which may not be stored yet; ``None`` is a thread to come.

    ``at`` is the time of the request: the same rows at the same time give the same bytes. ``last_reply`` made the turn before.
    ``query`` is what a model made of the message. Without it the assistant's rules decide; where a model has to be asked first,
    ``rewriting`` says so.
    ``prepared`` is what services said that sources were asked for, by source. ``silent``: ``newest`` is the instruction of a
    preset, and no turn of the thread (F9). Without ``remembers``, or where the person or the assistant has memory switched
    off, nothing is known or recalled. ``options`` are those of this one reply. ``recorded``: the request was made before,
    at ``at``. ``for_another_model``: the history is not for the provider alone. ``brings_files``: the message will bring
    files that are not stored yet. ``begins_after``: the last position that was cleared away, if the thread ever was.
    """
    watch = Stopwatch()
    model = options.model or model_of(assistant, provider)
    row = provider.describe(model)
    if not (row.uses_memory or (recorded and recorded.base)):
        assistant = _with_the_conversation_alone(assistant)
    memory = assistant.uses_memory and remembers
    base = (recorded.base if recorded else "") or row.system_prompt or assistant.system_prompt
    allowance = (recorded and recorded.allowance) or options.raised(
        OutputAllowance.of(row, assistant, answer=options.at_most(assistant.max_output_tokens)), row
    )
    factor = (recorded.factor if recorded else None) or token_calibration.of_model(provider.name, model)
    origin = BudgetOrigin.of(
        assistant, window=(recorded and recorded.window) or row.context_window, answer=allowance.max_tokens
    )
    assistant = in_tokens(assistant, origin.window)
    whole = options.lowered(Budget.of(assistant)).within(origin.room)
    budget = whole.estimated(factor)
    history_query = HistoryQuery(
        user_id=user_id,
        thread_id=thread_id,
        before=newest.position,
        budget=budget,
        last_reply=last_reply,
        filtering=assistant.filters_artifacts,
        keeps_offline=provider.name == OFFLINE and not for_another_model,
        as_of=recorded.as_of if recorded else None,
        provider=provider.name,
        model=model,
        factor=factor,
        counts=recorded.counts if recorded else None,
    )
    source_query = SourceQuery(
        user_id=user_id, thread_id=thread_id, session=session, offers_tools=bool(tools.definitions), silent=silent
    )
    known_query = KnownQuery(
        query=source_query,
        memory=memory and not (recorded and recorded.known),
        but=frozenset(recorded.beside.fitted if recorded else ()),
        at=recorded.as_of.at if recorded else None,
    )
    history, known = read_all(history_query, known_query)
    watch.lap("history")
    if recorded and recorded.known:
        known = replace(recorded.known, candidates={**known.candidates, **recorded.known.candidates})
    if known.remembers and not memory:
        known = replace(known, remembers=False)
    if prepared:
        known = complete_known(known, known_query, prepared)
    new_files = named_files(newest.content)
    has_files = history.has_files or bool(new_files) or brings_files
    tools = tools.with_files if has_files and tools.with_files else tools
    packed = recorded.files if recorded else None
    as_documents = provider.cites_documents(model) and (form_of(packed).documents if packed else True)
    citing = how_to_cite(by_itself=as_documents) if has_files else ""
    if recorded and recorded.citing is not None:
        citing = recorded.citing
    parts = Parts(
        program=recorded.program if recorded and recorded.program else program_section(provider.program()),
        tools=tools_section(tools.definitions) if tools.definitions else None,
        base=Section.of("base", base),
        rules=Section.of("rules", tools.rules) if tools.rules else None,
        citing=Section.of(CITING, citing) if citing else None,
        instructions=Section.of(INSTRUCTIONS, options.instructions) if options.instructions else None,
        newest=newest,
        silent=silent,
        rounds=options.rounds,
    )
    file_room = room_for_files(assistant, origin) if has_files else 0
    is_readable = has_files and any(tool["name"] == READ_FILE for tool in tools.definitions)
    read_room = file_room // 2 if is_readable else 0
    if has_files:
        whole = whole.within(origin.room - file_room - read_room)
        budget = whole.estimated(factor)
    tiers = cut_tiers(build_tiers(known, assistant, factor), tiers_room(parts.fixed_tokens, budget))
    parts = replace(parts, tiers=cut_tiers(tiers, memory_room(parts.fixed_tokens, budget), firm=True))
    watch.lap("memory")

    budget = history_room(parts.prefix_tokens, budget)
    cache_state = prompt_cache.state_before(
        history.previous,
        at=at,
        provider=provider.name,
        model=model,
        sections=_digests(parts),
        expires=provider.cache_expires,
    )
    begin_at = history.previous.began_at if history.previous and cache_state is CacheState.WARM else None
    candidates = candidates_of(history, history_query, budget=budget, begin_at=begin_at)
    turns, left_out = window(candidates.turns, budget, begin_at=begin_at, marks=candidates.marks)
    lifetime = (recorded and recorded.lifetime) or _lifetime(row, turns, newest.created_at or at, parts.prefix_tokens)
    watch.lap("history")

    query = query or (
        rewriting.OFF if silent else rewriting.decide(assistant, provider, text_of(newest.content), turns)
    )
    watch.lap("rewrite")
    message_query = MessageQuery(
        **vars(source_query),
        at=at,
        text=text_of(newest.content),
        query=query.query,
        before=turns[0].depth if turns else newest.depth,
        gone=frozenset(turn.id for turn, _ in candidates.excluded),
        filtering=assistant.filters_artifacts,
        is_past=recorded is not None,
        already_sent={tier.name: tier.items for tier in parts.tiers},
        lines_sent=[
            *(line for tier in parts.tiers for line in tier.text.splitlines()),
            *(text_of(turn.content) for turn in turns),
        ],
    )
    beside, additions = search_beside(
        known,
        message_query,
        assistant=assistant,
        factor=factor,
        room=budget.total_tokens - parts.total_tokens - sum([turn.token_count for turn in turns]),
        recorded=recorded.beside if recorded else None,
    )
    watch.lap("memory")
    files = NO_FILES
    if has_files:
        pictures = picture_counter(provider, row, model, factor)
        if packed:
            pictures = replace(pictures, are_seen=form_of(packed).pictures)
        files = read_files(
            user_id=user_id,
            thread_id=thread_id,
            position=newest.position,
            new=new_files,
            words=sought_words(user_id, message_query.query or message_query.text),
            pictures=pictures,
        )
        files = replace(
            files,
            readable=form_of(packed).readable if packed else is_readable,
            documents=as_documents,
            fenced=form_of(packed).fenced if packed else True,
            accounted=form_of(packed).accounted if packed else True,
        )
        if recorded:
            files = replace(files, standing=standing_in(recorded.files, files.outlines))
        turns, newest = in_turns(
            turns,
            newest,
            files,
            room=sys.maxsize if recorded else factor.to_estimate(file_room) // 2,
            may_choose=not silent,
        )
        parts = _with_read(parts, files)
        watch.lap("files")
    parts = replace(parts, history=turns, newest=newest, additions=additions)
    inputs = BuildInputs(
        provider=provider,
        model=model,
        allowance=allowance,
        cacheable_from=row.cacheable_from if provider.marks_cache else None,
        fitting=budget,
        budget=whole,
        origin=origin,
        factor=factor,
        lifetime=lifetime,
        candidates=candidates,
        left_out=left_out,
        before=cache_state,
        previous=history.previous,
        beside=beside,
        files=files,
        read_room=factor.to_estimate(read_room),
        problems=[
            *known.problems,
            *(problem for each in beside.values() for problem in each.fitted.problems),
            *options.problems,
        ],
        rewriting=query,
        fallback_for=options.fallback_for,
        fallback_cause=options.fallback_cause,
        begins_after=begins_after,
        quoting=recorded.quoting if recorded else QUOTING,
    )
    # What the reply thought before is bound to another request than this one.
    return _assembled(inputs, _without_bound_thinking(parts, allowance.thinking), watch, inputs.fitting)


def continue_context(context: Context, sections: Sequence[Section], *, at: datetime, may_stay: bool = True) -> Context:
    """The next request of the same reply, after this was said and done: mostly a round of tool calls and results.

    All that stood before is the same to the byte, as long as the hard cap allows it, so that it comes from the provider's
    cache and that the model takes its thinking back, which is bound to all that stood before it. Beyond the cap the context
    is fitted anew, and the reply's thinking so far is left out. Only models that think within a budget don't bind it; they
    want it back whatever else has changed.
    """
    assert context.inputs
    previous = Previous(
        at=at,
        provider=context.provider,
        model=context.model,
        sections=tuple(_digests(context.parts)),
        positions=tuple(_positions(context.parts)),
        marks=context.cache.marks,
        lifetime=context.cache.lifetime.name,
        provider_message_id="",
    )
    inputs = replace(context.inputs, before=CacheState.WARM, previous=previous)
    parts = _with_read(replace(context.parts, rounds=[*context.parts.rounds, *sections]), inputs.files)
    if may_stay and parts.total_tokens <= inputs.fitting.beside_files(parts.file_tokens).hard_cap:
        return _assembled(inputs, parts, Stopwatch(), replace(inputs.fitting, total_tokens=inputs.fitting.hard_cap))
    return _assembled(inputs, _without_bound_thinking(parts, context.thinking), Stopwatch(), inputs.fitting)


def _with_read(parts: Parts, files: ThreadFiles) -> Parts:
    """With what the reply has read of files in its rounds."""
    if not files.outlines:
        return parts
    rounds = [json.loads(part.text) for part in parts.rounds if part.name == ROUND]
    read, results = read_in_rounds(rounds, files.outlines, files.form)
    return replace(parts, read=read, results=results)


def _without_bound_thinking(parts: Parts, thinking: ThinkingPlan) -> Parts:
    is_bound = thinking.mode != "enabled"
    if is_bound and parts.rounds:
        return replace(parts, rounds=[without_thoughts(part) for part in parts.rounds])
    return parts


def _assembled(inputs: BuildInputs, whole: Parts, watch: Stopwatch, budget: Budget) -> Context:
    """Fit, plan the cache, render, account. Pure."""
    parts = fit(whole, budget.beside_files(whole.file_tokens))
    cache = _cache_plan(inputs, whole, parts)
    payload = render(
        inputs.provider,
        model=inputs.model,
        max_tokens=inputs.allowance.max_tokens,
        system=[section.text for section in parts.prefix if section.name not in BESIDE_SYSTEM],
        turns=parts.turns,
        additions=[section.text for section in parts.beside],
        tools=parts.tools.text if parts.tools else "",
        rounds=[(section.name, section.text) for section in parts.rounds],
        results=parts.results,
        cache=cache,
        thinking=inputs.allowance.thinking,
        program=parts.program.text if parts.program else "",
        quoting=inputs.quoting,
    )
    runs = account(
        parts.history,
        None if parts.silent else parts.newest,
        inputs.left_out if len(parts.history) == len(whole.history) else Reason.OVER_BUDGET,
        _stand_ins(parts.turns),
        excluded=inputs.candidates.excluded,
        recalled=[turn for each in inputs.beside.values() for turn in each.fitted.turns] if parts.additions else (),
        begins_after=inputs.begins_after,
        factor=inputs.factor,
    )
    watch.lap("tokens")
    beside = [item for each in inputs.beside.values() for item in each.fitted.items]
    return Context(
        purpose=ContextSnapshot.Purpose.ARTIFACT if parts.silent else ContextSnapshot.Purpose.REPLY,
        provider=inputs.provider.name,
        model=inputs.model,
        max_tokens=inputs.allowance.max_tokens,
        thinking=inputs.allowance.thinking,
        parts=parts,
        runs=runs,
        files=file_account.pack(parts.turns, parts.read, inputs.files, inputs.factor),
        turns_loaded=inputs.candidates.loaded,
        budget=inputs.budget,
        origin=inputs.origin,
        factor=inputs.factor,
        counts={turn.position: turn.counted for turn in inputs.candidates.turns if turn.counted},
        items=[item.in_model_tokens(inputs.factor) for tier in parts.tiers for item in tier.items],
        recalled=[item.in_model_tokens(inputs.factor) if parts.additions else item.left_out() for item in beside],
        problems=inputs.problems,
        fallback_for=inputs.fallback_for,
        fallback_cause=inputs.fallback_cause,
        rewriting=inputs.rewriting,
        cache=cache,
        quoting=inputs.quoting,
        payload=payload,
        timings_ms=watch.laps(),
        inputs=inputs,
    )


def _cache_plan(inputs: BuildInputs, whole: Parts, parts: Parts) -> CachePlan:
    if inputs.cacheable_from is None:
        return CachePlan()
    return prompt_cache.plan(
        inputs.before if parts is whole or parts.prefix == whole.prefix else inputs.before.without_system(),
        inputs.previous,
        cacheable_from=inputs.cacheable_from,
        system_tokens=inputs.factor.of_estimate(parts.prefix_tokens),
        turns=[
            (position, inputs.factor.of_estimate(turn.token_count + turn.file_tokens))
            for position, turn in zip(_positions(parts), parts.turns, strict=True)
        ],
        lifetime=inputs.lifetime,
    )


def _with_the_conversation_alone(assistant: Assistant) -> Assistant:
    """A copy for a model that nothing else is any use to."""
    alone = copy.copy(assistant)
    alone.uses_memory, alone.rewriting = False, Assistant.Rewriting.OFF
    return alone


def _lifetime(row: Model, history: Sequence[Turn], newest_at: datetime, prefix_tokens: int) -> Lifetime:
    """How long the prompt cache should keep what is sent, by the pauses between the person's messages in the window."""
    if row.cacheable_from is None:
        return Lifetime()
    times = [turn.created_at for turn in history if turn.role == "user" and turn.created_at]
    tokens = sum(turn.token_count for turn in history)
    return lifetime_for(
        [*times, newest_at],
        prefix_tokens=prefix_tokens + tokens,
        growth_tokens=tokens // max(len(times), 1),
        prices=CachePrices.of(row),
    )


def _digests(parts: Parts) -> list[str]:
    return [text_digest(section.text) for section in parts.prefix]


def _positions(parts: Parts) -> list[int]:
    """Of the turns that are sent, negative where one is shortened."""
    return [-turn.position if turn.shortened else turn.position for turn in parts.turns]


def _stand_ins(turns: Sequence[Turn]) -> dict[int, str]:
    """Position to digest of the turns that are sent shortened."""
    return {turn.position: sha256(turn.shortened).hex() for turn in turns if turn.shortened}
