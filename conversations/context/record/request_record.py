"""What there is of a request that was made before, to make it again: the thread as it was, what was known, and the assistant as
far as the record tells. Reads only."""

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from django.db import models

from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.files.account import PackedFiles
from conversations.context.gather.history import PathEnd
from conversations.context.query import rewriting
from conversations.context.query.contextualised_query import QUERY
from conversations.context.query.rewriting import Rewriting, RewritingOutcome
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.assistant_versions import assistant_then
from conversations.context.record.request_path import end_of_path
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.record.snapshots import NotRebuildable, RecordedTexts
from conversations.context.render.tool_sections import NO_TOOLS, ToolTexts, program_section
from conversations.context.rules.fitting import (
    CALLER,
    CITING,
    INSTRUCTION,
    INSTRUCTIONS,
    PROGRAM,
    SAID,
    TOOLS,
    Section,
    said_section,
)
from conversations.context.rules.prompt_cache import Lifetime
from conversations.context.rules.standing import Known
from conversations.context.sessions import Session
from conversations.context.sources import Fitted, Place, SourceItem, SourceQuery, item_of, sources_at
from conversations.context.tokens.budget import in_tokens
from conversations.context.tokens.estimate import turn_tokens
from conversations.context.tokens.factor import Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, ContextSnapshot, Message, Thread, text_blocks
from conversations.providers.caller_fields import CallerFields
from conversations.providers.quoting import query_in
from conversations.runtime.values import dataclass
from memory.models import Preferences
from memory.scope import recorded_scope

MARK_FIELDS = {
    "history_tokens": "history_tokens_high",
    "history_tokens_low": "history_tokens_low",
    "history_turns": "history_turns_max",
    "history_turns_min": "history_turns_min",
}
"""The marks of a budget by the columns of an assistant."""


class NotReplayable(Exception):
    """Why a request can't be made again, in words for people."""


class MemoryChoice(models.TextChoices):
    RECORDED = "recorded", "as recorded"
    OFF = "off", "switched off"
    NOW = "now", "as it is now"


class QueryChoice(models.TextChoices):
    RECORDED = "recorded", "as recorded"
    OFF = "off", "switched off"
    RULES = "rules", "by rules"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a request is made with. The assistant is a copy that is never stored."""

    assistant: Assistant
    tools: ToolTexts = NO_TOOLS
    options: CallerOptions = NO_OPTIONS
    memory: MemoryChoice = MemoryChoice.RECORDED
    query: QueryChoice = QueryChoice.RECORDED


@dataclass(frozen=True, kw_only=True)
class RecordedRound:
    """What a reply said and did between two requests. ``stayed``: all that the first of them held went out again unchanged."""

    done: Sequence[Section]
    stayed: bool


@dataclass(frozen=True, kw_only=True)
class Record:
    """What there is of a request to make it again. ``rounds`` are what its reply said and did before it."""

    snapshot: ContextSnapshot
    items: Sequence[Mapping[str, Any]]
    """What was known of the person, by tier in order, as the snapshot has it."""
    thread: Thread
    newest: Turn
    rounds: Sequence[RecordedRound]
    settings: Settings
    allowance: OutputAllowance
    program: Section | None
    query: Rewriting | None
    known: Known
    files: PackedFiles | None
    citing: str
    beside: Mapping[str, Fitted]
    """What the sources beside the message gave; empty where the record doesn't tell."""
    may_search: bool
    lifetime: Lifetime
    window: int
    """Of the model, as it was then; 0 where the record doesn't tell."""
    row: Mapping[str, int | None]
    """What the model's row said then, by the column, as far as nothing else here tells it."""
    at: datetime
    end: PathEnd | None
    """Of the path that it was built on; ``None`` is the active one."""

    @property
    def silent(self) -> bool:
        return self.snapshot.purpose == ContextSnapshot.Purpose.ARTIFACT


def record_of(snapshot: ContextSnapshot) -> Record:
    """Raises ``NotReplayable``."""
    if snapshot.quotes_turns:
        raise NotReplayable(
            "It asked a small model for something beside the reply, of a part of the conversation as it was: "
            "no budget and no switch decides what that is."
        )
    requests = _requests_of_reply(snapshot)
    if len(requests) != snapshot.round:
        raise NotReplayable("An earlier request of the same reply, on which it rests, has been deleted since.")
    first, *_ = requests = _since_built_anew(requests)
    sent = snapshots.sent_messages(first)
    started = snapshots.material_from(first, sent)
    material = started if first.pk == snapshot.pk else snapshots.material_of(snapshot)
    try:
        snapshots.rebuild_from(snapshot, material)
        if material is not started:
            snapshots.rebuild_from(first, started)
    except NotRebuildable as error:
        raise NotReplayable(str(error)) from error
    beside = {part.name: part for part in snapshots.additions_of(first) if part.name not in SAID}
    texts = {name: started.texts[part.sha256] for name, part in beside.items()}
    known = {part.name: started.texts[part.sha256] for part in snapshots.sections_of(first)}
    items = snapshots.standing_items_of(first, started)
    recalled = first.recalled or []
    # Where all that stood beside the message had to give way, no text of it was recorded. What was left out for another reason,
    # as it was said in a closed project, did not stand there.
    without_room = any(item.get("reason") == Reason.OVER_BUDGET.value for item in recalled)
    gave_way = set(beside) <= {INSTRUCTION} and (without_room or first.rewriting in rewriting.ADDED)
    thread, profile, message = snapshot.thread, known_of_record(known, items, first), _message(first, sent)
    return Record(
        snapshot=snapshot,
        items=items if material is started else snapshots.standing_items_of(snapshot, material),
        thread=thread,
        newest=Turn.of(message) if message else _instruction(first, texts),
        rounds=_rounds(requests),
        settings=_settings(
            first, known, started, assistant_then(first, thread.assistant), is_known=bool(profile.sent or recalled)
        ),
        allowance=OutputAllowance(max_tokens=first.max_tokens, thinking=snapshots.thinking_of(first)),
        program=program_section(json.loads(known[PROGRAM])) if PROGRAM in known else None,
        query=None if gave_way else _recorded_query(first, texts),
        known=profile,
        files=first.files,
        citing=known.get(CITING, ""),
        beside={} if gave_way else _given_beside(first, texts, thread, offers_tools=TOOLS in known),
        may_search=thread.remembers and not Preferences.objects.filter(user=thread.user_id, remembers=False).exists(),
        lifetime=snapshots.cache_of(first).lifetime,
        window=origin.window if (origin := snapshots.origin_of(first)) else 0,
        row=snapshots.row_of(first),
        at=first.created_at,
        end=_end_of_path(first, message),
    )


def _requests_of_reply(snapshot: ContextSnapshot) -> list[ContextSnapshot]:
    """Up to this one, in order."""
    if snapshot.round == 1:
        return [snapshot]
    earlier = ContextSnapshot.objects.filter(
        user=snapshot.user_id,
        reply=snapshot.reply_id,
        purpose=snapshot.purpose,
        round__lt=snapshot.round,
        thread=snapshot.thread_id,
    )
    return [*earlier.order_by("round"), snapshot]


def _since_built_anew(requests: list[ContextSnapshot]) -> list[ContextSnapshot]:
    """Those that rest on one another: one that tells of no more than the one before was built anew, for another model or
    smaller."""
    counts = [len(_said_sections(snapshot)) for snapshot in requests]
    anew = [index for index in range(1, len(requests)) if counts[index] <= counts[index - 1]]
    return requests[anew[-1] if anew else 0 :]


def _said_sections(request: ContextSnapshot) -> list[NamedText]:
    return [part for part in snapshots.additions_of(request) if part.name in SAID]


def _settings(
    first: ContextSnapshot, known: Mapping[str, str], started: RecordedTexts, then: Assistant, *, is_known: bool
) -> Settings:
    """The assistant as it was, or as it is today where the request names no version, corrected by what the record tells: the
    model may have been the person's choice, and the budget is one in tokens of that model."""
    assistant = _budget_then(first, then)
    assistant.system_prompt = known["base"]
    assistant.provider, assistant.model = first.provider, first.model
    plan = snapshots.thinking_of(first)
    assistant.max_output_tokens, assistant.effort = first.max_tokens - plan.room, plan.effort
    if plan.mode:
        assistant.thinking_tokens = plan.room
    if plan.display:
        shown = plan.display == "summarized"
        assistant.show_thinking = Assistant.ShowThinking.SUMMARY if shown else Assistant.ShowThinking.OFF
    assistant.uses_memory |= is_known
    assistant.filters_artifacts |= any(run.reason is Reason.FULFILLED_ARTIFACT for run in snapshots.runs_of(first))
    fields = {source.name: source.budget_field for source in sources_at(Place.STANDING)}
    for part in snapshots.sections_of(first):
        if field := fields.get(part.name):
            # One more, as the record's figure is rounded.
            setattr(assistant, field, max(getattr(assistant, field), part.tokens + 1))
    definitions = json.loads(known[TOOLS]) if TOOLS in known else ()
    return Settings(
        assistant=assistant,
        tools=ToolTexts(definitions=definitions, rules=known.get("rules", "")),
        options=CallerOptions(
            instructions=known.get(INSTRUCTIONS, ""),
            fields=CallerFields.of(known.get(CALLER, "")),
            fallback_for=first.fallback_for,
            fallback_cause=first.fallback_cause,
            rounds=[said_section(part.name, started.texts[part.sha256]) for part in _said_sections(first)],
        ),
    )


def _budget_then(first: ContextSnapshot, then: Assistant) -> Assistant:
    """The assistant with its budget in tokens, as it was as far as the record tells."""
    assistant, origin = copy.copy(then), snapshots.origin_of(first)
    assistant.budget_share = origin.share if origin else None
    assistant = in_tokens(assistant, origin.window if origin else 0)
    for name, value in snapshots.marks_of(first).items():
        setattr(assistant, MARK_FIELDS[name], value)
    in_files = first.files["tokens"] if first.files else 0
    assistant.total_tokens, assistant.hard_cap_tokens = first.budget - in_files, first.hard_cap - in_files
    return assistant


def _message(first: ContextSnapshot, sent: Sequence[Message]) -> Message | None:
    """That was answered, mostly the last of those that were sent; a preset's request has none."""
    if first.message_id is None:
        return None
    if message := next((each for each in reversed(sent) if each.id == first.message_id), None):
        return message
    return Message.objects.get(user=first.user_id, thread=first.thread_id, id=first.message_id)


def _end_of_path(first: ContextSnapshot, message: Message | None) -> PathEnd | None:
    """What leads to a message of the active path is the active path."""
    if message is None:
        return end_of_path(first)
    return None if message.is_active else PathEnd(turn=message.parent_id)


def _instruction(first: ContextSnapshot, texts: Mapping[str, str]) -> Turn:
    content = text_blocks(texts[INSTRUCTION])
    place = snapshots.runs_of(first)[-1].last + 1
    return Turn(position=place, depth=place, role="user", content=content, token_count=turn_tokens(content))


def _rounds(requests: Sequence[ContextSnapshot]) -> list[RecordedRound]:
    """What the reply said and did before the last of these requests. The first that tells of a round had most room for it."""
    steps = [
        (_said_sections(after)[len(_said_sections(before)) :], _stayed(before, after))
        for before, after in pairwise(requests)
    ]
    texts, _ = snapshots.texts_named(
        requests[0].user_id, requests[0].thread_id, [part.sha256 for new, _ in steps for part in new]
    )
    return [
        RecordedRound(done=[said_section(part.name, texts[part.sha256]) for part in new], stayed=stayed)
        for new, stayed in steps
    ]


def _stayed(before: ContextSnapshot, after: ContextSnapshot) -> bool:
    runs, again = ([run for run in snapshots.runs_of(snapshot) if run.included] for snapshot in (before, after))
    beside = snapshots.additions_of(before)
    return (
        runs == again
        and snapshots.sections_of(before) == snapshots.sections_of(after)
        and snapshots.additions_of(after)[: len(beside)] == beside
    )


def _recorded_query(first: ContextSnapshot, texts: Mapping[str, str]) -> Rewriting:
    outcome = RewritingOutcome(first.rewriting or RewritingOutcome.OFF)
    return Rewriting(query=query_in(texts.get(QUERY, "")), outcome=outcome)


def _given_beside(
    first: ContextSnapshot, texts: Mapping[str, str], thread: Thread, *, offers_tools: bool
) -> dict[str, Fitted]:
    """What each source gave that was asked then."""
    query = SourceQuery(
        user_id=thread.user_id,
        thread_id=thread.id,
        session=Session(started_at=first.created_at),
        offers_tools=offers_tools,
        silent=first.purpose == ContextSnapshot.Purpose.ARTIFACT,
        memory=recorded_scope(first.scope),
    )
    recorded = first.recalled or []
    here = [item["id"] for item in recorded if item["included"] and item.get("thread") == str(thread.id)]
    found = Message.objects.filter(user=first.user_id, id__in=here) if here else ()
    turns = {str(turn.id): Turn.of(turn) for turn in found}
    fitted = {}
    for source in sources_at(Place.BESIDE):
        if source.is_wanted(query):
            items = [item for item in recorded if source.owns(item)]
            fitted[source.name] = Fitted(
                text=texts.get(source.name, ""),
                items=[_item(item, snapshots.factor_of(first)) for item in items],
                turns=[replace(turns[item["id"]], content=[], token_count=0) for item in items if item["id"] in turns],
            )
    return fitted


def _item(recorded: Mapping[str, Any], factor: Factor) -> SourceItem:
    item = item_of(recorded)
    return replace(item, tokens=round(item.tokens / factor.value))


def known_of_record(texts: Mapping[str, str], items: Sequence[Mapping[str, Any]], first: ContextSnapshot) -> Known:
    """What was known of the person then: the tiers as they were sent, and their lines, should they have to be cut. Pure."""
    owners = _items_by_source([_item(item, snapshots.factor_of(first)) for item in items], texts)
    sent = {
        source.name: Fitted(text=texts.get(source.name, ""), items=owners[source.name])
        for source in sources_at(Place.STANDING)
        if owners.get(source.name) and (source.name in texts or _found_no_room(owners[source.name]))
    }
    candidates = {
        source.name: source.recorded(sent[source.name].text, sent[source.name].items, first.created_at)
        for source in sources_at(Place.STANDING)
        if source.name in sent and source.name in texts
    }
    return Known(began_at=first.created_at, candidates=candidates, sent=sent)


def _found_no_room(items: Sequence[SourceItem]) -> bool:
    """Of a tier that was not sent."""
    return all(item.reason is Reason.OVER_BUDGET for item in items)


def _items_by_source(items: Sequence[SourceItem], texts: Mapping[str, str]) -> dict[str, list[SourceItem]]:
    """Each with the source that it is of. Where two have items of one kind, they come in the order of the sources; of fewer
    items than sources, each is of one that was sent."""
    owners: dict[str, list[SourceItem]] = {}
    for kind in dict.fromkeys(item.kind for item in items):
        of_kind = [item for item in items if item.kind == kind]
        names = [source.name for source in sources_at(Place.STANDING) if source.owns({"kind": kind})]
        if len(names) > 1 and len(of_kind) < len(names):
            names = [name for name in names if name in texts] or names
        for name in names[:-1]:
            owners[name] = [of_kind.pop(0)]
        if names:
            owners[names[-1]] = of_kind
    return owners
