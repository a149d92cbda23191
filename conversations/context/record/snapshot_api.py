"""A model request as the contract describes it: what it was given, what was left out and why."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple, cast

from django.db.models import Q

from conversations.context.built_context import Context
from conversations.context.explain.model_switch import switch_before
from conversations.context.explain.quoted_turns import quoted_turns
from conversations.context.explain.section_names import FILES
from conversations.context.files import account as file_account
from conversations.context.files.account import KnownFile
from conversations.context.files.citations import Citation
from conversations.context.files.excerpts import PartKey, text_in
from conversations.context.files.part_words import PartName
from conversations.context.files.unread import unread
from conversations.context.query.contextualised_query import QUERY
from conversations.context.reasons import Reason
from conversations.context.record import fates, memory_scope, snapshots
from conversations.context.record.assistant_versions import number_of_version
from conversations.context.record.moderation_findings import findings_of
from conversations.context.record.request_path import off_path
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.record.snapshot_shapes import (
    BudgetOriginAnswer,
    CacheAnswer,
    DuplicatesAnswer,
    FateAnswer,
    FileInRequestAnswer,
    ItemAnswer,
    SectionAnswer,
    SnapshotAnswer,
    SwitchAnswer,
    ThinkingAnswer,
    TimingsAnswer,
)
from conversations.context.record.snapshots import NotRebuildable, RecordedTexts, runs_of
from conversations.context.record.turn_account import TurnRun
from conversations.context.record.usage import usage_answer
from conversations.context.render.rendering import sha256
from conversations.context.rules.fitting import SAID, TOOLS
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.groups import Block
from conversations.context.turns.sources import sources_of
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot, File, FilePart, Message
from conversations.providers.base import Payload
from conversations.providers.errors import words_instead
from conversations.runtime import db
from conversations.runtime.shapes import fill
from conversations.runtime.sql_files import read_statements

NEAR = 20
"""How many of the turns that were left out are named one by one, next to those that were included."""

SQL = read_statements(__file__)

GROWN_OLD = (Reason.OVER_BUDGET, Reason.TURN_LIMIT)
"""Why turns are before the window."""

NO_TIMINGS = dict.fromkeys(TimingsAnswer.__annotations__, 0)


class NearTurn(NamedTuple):
    """A turn that was left out and is named by itself."""

    id: uuid.UUID
    position: int
    token_count: int


def body(snapshot: ContextSnapshot) -> SnapshotAnswer:
    """The snapshot body of the contract."""
    return _body(snapshot, snapshots.material_of(snapshot))


def preview(context: Context, thread_id: uuid.UUID | None, *, user_id: int) -> SnapshotAnswer:
    """The snapshot body of a request that is not made: nothing is stored, no model is called."""
    snapshot = snapshots.draft(context)
    snapshot.thread_id = thread_id  # type: ignore[assignment]  # a thread to come has none
    snapshot.user_id = user_id
    texts = {sha256(text).hex(): text for _, text in snapshots.texts_of(context)}
    material = RecordedTexts(
        texts=texts,
        turns=context.parts.turns,
        results=context.parts.results,
        files=file_account.files_named(context.files),
    )
    return _body(snapshot, material) | {"id": None}


def _body(snapshot: ContextSnapshot, material: RecordedTexts) -> SnapshotAnswer:
    body = account(snapshot, material, _near(snapshot))
    switch = switch_before(snapshot)
    return body | {
        "sections": _with_quotes(body["sections"], snapshot),
        "request": rebuilt(snapshot, material),
        "switch": fill(SwitchAnswer, switch, request=str(switch.request)) if switch else None,
    }


def _near(snapshot: ContextSnapshot) -> list[NearTurn]:
    """The turns at ``near_places``, oldest first."""
    ranges = _near_ranges(snapshot) if snapshot.thread_id else []
    if not ranges:
        return []
    first, last = zip(*ranges, strict=True)
    rows = db.run(SQL["near"], user=snapshot.user_id, thread=snapshot.thread_id, first=list(first), last=list(last))
    return [NearTurn(*row) for row in rows]


def _with_quotes(sections: list[SectionAnswer], snapshot: ContextSnapshot) -> list[SectionAnswer]:
    """The sections, with where the earlier turns stand that the message brings along."""
    recalled = [item for item in snapshot.recalled or [] if "thread" in item and item["included"]]
    if not recalled:
        return sections
    texts = dict(db.run(SQL["quoted"], user=snapshot.user_id, turns=[item["id"] for item in recalled]))
    return [
        section | {"quotes": quoted_turns(section["text"] or "", recalled, texts)}
        if section["name"] == "message"
        else section
        for section in sections
    ]


def rebuilt(snapshot: ContextSnapshot, material: RecordedTexts) -> Payload | None:
    """The exact request, where it can still be had."""
    try:
        return snapshots.rebuild_from(snapshot, material)
    except NotRebuildable:
        return None


def account(snapshot: ContextSnapshot, material: RecordedTexts, near: Iterable[NearTurn | Message]) -> SnapshotAnswer:
    """The body but for the exact request, and without what another model before changed. ``near``: the turns at
    ``near_places``, oldest first."""
    items = _items(snapshot, material, list(near))
    files = file_account.answer(snapshot.files, there := _files_there(snapshot), citations_of(snapshot))
    return {
        "id": str(snapshot.id),
        "thread": _id(snapshot.thread_id),
        "message": _id(snapshot.message_id),
        "reply": _id(snapshot.reply_id),
        "purpose": snapshot.purpose,
        "round": snapshot.round,
        "created_at": snapshot.created_at,
        "provider": snapshot.provider,
        "model": snapshot.model,
        "fallback_for": snapshot.fallback_for or None,
        "fallback_cause": snapshot.fallback_cause or None,
        "fallback_text": words_instead(snapshot.fallback_cause) if snapshot.fallback_for else None,
        "switch": None,
        "max_tokens": snapshot.max_tokens,
        "thinking": fill(ThinkingAnswer, snapshots.thinking_of(snapshot)),
        "digest": bytes(snapshot.digest).hex(),
        "message_history_count": snapshot.message_history_count,
        "message_history_tokens": snapshot.message_history_tokens,
        "today_summary_present": snapshot.today_summary_present,
        "open_threads_count": snapshot.open_threads_count,
        "last_conversation_present": snapshot.last_conversation_present,
        "total_tokens": snapshot.total_tokens,
        "token_factor": snapshot.token_factor,
        "budget": snapshot.budget,
        "hard_cap": snapshot.hard_cap,
        "budget_origin": _origin(snapshot),
        "version": number_of_version(snapshot),
        "rules": snapshot.rules,
        "sections": list(_sections(snapshot, material)),
        "items": items,
        "window_begins": _window_begins(snapshot, material),
        "fates": _fates(snapshot, items, files, there),
        "files": files,
        "rewriting": {"outcome": snapshot.rewriting, "query": query_of(snapshot, material)},
        "memory": memory_scope.answer(snapshot),
        "against_duplicates": _against_duplicates(snapshot),
        "moderation": findings_of(snapshot),
        "problems": snapshot.problems or [],
        "cache": cast("CacheAnswer | None", snapshots.cache_of(snapshot).as_dict()),
        "diagnostics": snapshot.diagnostics,
        "request": None,
        "forgotten_at": material.forgotten_at,
        "timings_ms": cast("TimingsAnswer", NO_TIMINGS | snapshots.timings_of(snapshot)),
        "thinking_ms": snapshot.thinking_ms,
        "first_token_ms": snapshot.first_token_ms,
        "usage": usage_answer(snapshot.usage),
        "stop_reason": snapshot.stop_reason,
        "stop_details": snapshot.stop_details,
        "status": snapshot.status,
        "error": snapshot.error,
    }


def _fates(
    snapshot: ContextSnapshot, items: list[ItemAnswer], files: list[FileInRequestAnswer], there: Mapping[str, KnownFile]
) -> list[FateAnswer]:
    return [
        *fates.item_fates(items, thread=_id(snapshot.thread_id)),
        *_file_fates(snapshot, files, {id: file.kind for id, file in there.items()}),
        *fates.beyond_fates(file_account.beyond_of(snapshot.files)),
    ]


def _items(snapshot: ContextSnapshot, material: RecordedTexts, near: Sequence[NearTurn | Message]) -> list[ItemAnswer]:
    known = (item for item in snapshots.items_of(snapshot, material) if not _is_here(item, snapshot))
    return [*_turn_items(snapshot, material, near), *(cast("ItemAnswer", item) for item in known)]


def _id(id: uuid.UUID | None) -> str | None:
    return str(id) if id else None


def _files_there(snapshot: ContextSnapshot) -> dict[str, KnownFile]:
    """The files that there still are, by id."""
    packed = snapshot.files
    if packed is None:
        return {}
    named = File.objects.filter(user=snapshot.user_id, id__in=file_account.all_files(packed))
    rows = named.values_list("id", "name", "kind", "left_out", "error")
    return {str(id): KnownFile(name, kind, unread(left_out, error)) for id, name, kind, left_out, error in rows}


def _file_fates(
    snapshot: ContextSnapshot, files: Sequence[FileInRequestAnswer], kinds: Mapping[str, str]
) -> list[FateAnswer]:
    if not files:
        return []
    groups = fates.part_groups(files, newest=_newest_position(snapshot))
    return fates.file_fates(groups, kinds, _part_names(snapshot.user_id, fates.wanted_names(groups, kinds)))


def _part_names(user_id: int, wanted: Mapping[str, Sequence[int]]) -> dict[PartKey, PartName]:
    if not wanted:
        return {}
    parts = Q(pk__in=())
    for id, numbers in wanted.items():
        parts |= Q(file=id, number__in=numbers)
    rows = FilePart.objects.filter(parts, user=user_id).values_list("file_id", "number", "page", "label")
    return {(str(id), number): PartName(page, label) for id, number, page, label in rows}


def _newest_position(snapshot: ContextSnapshot) -> int | None:
    """Of the message that was answered; ``None`` of a preset's request, which has none in the thread."""
    silent = snapshot.purpose == ContextSnapshot.Purpose.ARTIFACT
    return None if silent or snapshot.quotes_turns else runs_of(snapshot)[-1].last


def _window_begins(snapshot: ContextSnapshot, material: RecordedTexts) -> str | None:
    """The first turn that was sent, where older ones of the thread had no place in the window."""
    runs = runs_of(snapshot)
    if not any(run.reason in GROWN_OLD for run in runs):
        return None
    first = next((run.first for run in runs if run.included), None)
    return next((str(turn.id) for turn in material.turns if turn.position == first and turn.id), None)


def citations_of(snapshot: ContextSnapshot) -> list[Citation]:
    """What the text of the reply cites, once that has ended."""
    if snapshot.files is None or snapshot.reply_id is None:
        return []
    wrote = Message.objects.filter(user=snapshot.user_id, reply=snapshot.reply_id)
    return wrote.values_list("citations", flat=True).first() or []


def _origin(snapshot: ContextSnapshot) -> BudgetOriginAnswer | None:
    origin = snapshots.origin_of(snapshot)
    if origin is None:
        return None
    return {
        "share": origin.share,
        "context_window": origin.window,
        "wanted": origin.wanted,
        "is_cut": origin.is_cut,
        "text": origin.words,
    }


def _sections(snapshot: ContextSnapshot, material: RecordedTexts) -> Iterator[SectionAnswer]:
    """In the order in which they are sent."""
    for part in snapshots.sections_of(snapshot):
        yield _section(material, part.name, [part]) | {"text": material.texts.get(part.sha256)}
    added = snapshots.additions_of(snapshot)
    beside = _section(material, "message", [part for part in added if part.name not in SAID])
    if snapshot.quotes_turns:
        yield beside
        return
    newest = _newest_position(snapshot)
    yield _history(snapshot, material, newest)
    if snapshot.files and file_account.files_named(snapshot.files):
        yield _section(material, FILES, []) | {"text": _text_of_files(material), "tokens": snapshot.files["tokens"]}
    yield _message(snapshot, material, newest, beside)
    if rounds := [part for part in added if part.name in SAID]:
        said = chain.from_iterable(snapshots.rounds_of(snapshot, material.texts))
        yield _with_sources(_section(material, "reply", rounds), said)


def _with_sources(section: SectionAnswer, content: Iterable[Block]) -> SectionAnswer:
    """With the pages of the web that tools brought, where they brought any."""
    sources = sources_of(content)
    return section | {"sources": sources} if sources else section


def _section(material: RecordedTexts, name: str, parts: Sequence[NamedText], *turns: int) -> SectionAnswer:
    """Of these texts, as far as they are there. It may also be made of ``turns``, by their positions."""
    texts = (material.texts.get(part.sha256) for part in parts)
    made_of: list[str | int] = [*(part.sha256 for part in parts), *turns]
    times = [at for part in made_of if (at := material.forgotten.get(part))]
    return {
        "name": name,
        "tokens": sum(part.tokens for part in parts),
        "text": "\n\n".join(filter(None, texts)),
        "forgotten_at": max(times, default=None),
    }


def _history(snapshot: ContextSnapshot, material: RecordedTexts, newest: int | None) -> SectionAnswer:
    places = [part for part in material.forgotten if isinstance(part, int) and part != newest]
    lines = _turn_lines([turn for turn in material.turns if turn.position != newest])
    said = (block for turn in material.turns if turn.role == "assistant" for block in turn.content)
    told = _with_sources(_section(material, "history", [], *places), said)
    return told | {"text": "\n\n".join(lines), "tokens": snapshot.message_history_tokens}


def _message(
    snapshot: ContextSnapshot, material: RecordedTexts, newest: int | None, beside: SectionAnswer
) -> SectionAnswer:
    """The person's words, and what stands beside them."""
    lines = _turn_lines([turn for turn in material.turns if turn.position == newest])
    own = 0 if snapshot.purpose == ContextSnapshot.Purpose.ARTIFACT else runs_of(snapshot)[-1].tokens
    times = [at for at in (beside["forgotten_at"], material.forgotten.get(newest or 0)) if at]
    return {
        "name": "message",
        "tokens": own + beside["tokens"],
        "text": "\n\n".join([*lines, *filter(None, [beside["text"]])]),
        "forgotten_at": max(times, default=None),
    }


def _text_of_files(material: RecordedTexts) -> str:
    in_turns = [turn.file_blocks for turn in material.turns]
    results = [*(turn.results for turn in material.turns), material.results]
    read = [blocks for each in results for blocks in each.values()]
    return "\n\n".join(filter(None, map(text_in, [*in_turns, *read])))


def _against_duplicates(snapshot: ContextSnapshot) -> DuplicatesAnswer:
    """Which of the four layers acted that keep an artifact from being made twice (F9)."""
    sections = {section.name for section in snapshots.sections_of(snapshot)}
    return {
        "rules": "rules" in sections,
        "tool_wording": TOOLS in sections,
        "filtered_turns": sum(run.count for run in runs_of(snapshot) if run.reason is Reason.FULFILLED_ARTIFACT),
        "silent": snapshot.purpose == ContextSnapshot.Purpose.ARTIFACT,
    }


def _turn_lines(turns: Sequence[Turn]) -> list[str]:
    return [f"{turn.role}: {text_of(turn.content)}" for turn in turns]


def query_of(snapshot: ContextSnapshot, material: RecordedTexts) -> str | None:
    """The contextualised query with the mark before it, as it stood beside the message."""
    parts = (addition for addition in snapshots.additions_of(snapshot) if addition.name == QUERY)
    return next((material.texts.get(addition.sha256) for addition in parts), None)


def _turn_items(
    snapshot: ContextSnapshot, material: RecordedTexts, near: Sequence[NearTurn | Message]
) -> Iterator[ItemAnswer]:
    """Each turn exactly once: those around the window one by one, what lies far before it as a range."""
    counts, factor = snapshots.counts_of(snapshot), snapshots.factor_of(snapshot)
    sent = {turn.position: turn for turn in material.turns}
    recalled = {item["position"]: item for item in snapshot.recalled or [] if _is_here(item, snapshot)}
    left = off_path(snapshot, [message.position for message in near])
    for run in runs_of(snapshot):
        if run.reason is Reason.RECALLED:
            yield from (recalled[position] for position in range(run.first, run.last + 1))
            continue
        if run.included:
            for position in range(run.first, run.last + 1):
                if turn := sent.get(position):
                    tokens = run.tokens if run.sha256 else turn.counted or factor.of_estimate(turn.token_count)
                    yield _item(turn.id, position, run, tokens, exact=bool(turn.counted))
            continue
        messages = [message for message in near if run.first <= message.position <= run.last]
        first_listed = messages[0].position if messages else run.last + 1
        if run.first < first_listed:
            count = run.count - sum(message.position not in left for message in messages)
            yield {
                "kind": "range",
                "first": run.first,
                "last": first_listed - 1,
                "count": count,
                "included": False,
                "reason": run.reason.value,
            }
        for message in messages:
            counted = counts.get(message.position)
            tokens = counted or factor.of_estimate(message.token_count)
            own = replace(run, reason=Reason.OTHER_BRANCH) if message.position in left else run
            yield _item(message.id, message.position, own, tokens, exact=bool(counted))


def _is_here(item: Mapping[str, Any], snapshot: ContextSnapshot) -> bool:
    """Whether this is a recalled turn of the thread itself, which stands among its turns."""
    return bool(snapshot.thread_id) and item.get("thread") == str(snapshot.thread_id)


def _item(id: uuid.UUID | None, position: int, run: TurnRun, tokens: int, *, exact: bool) -> ItemAnswer:
    item: ItemAnswer = {
        "kind": "message",
        "id": str(id) if id else None,
        "position": position,
        "included": run.included,
        "reason": run.reason.value,
        "tokens": tokens,
    }
    return item | {"exact": True} if exact else item


def near_places(snapshot: ContextSnapshot) -> Q:
    """Where in the thread the turns stand that were left out and are named one by one."""
    places = snapshots.NOWHERE
    for places_of_run in _near_ranges(snapshot):
        places |= Q(position__range=places_of_run)
    return places


def _near_ranges(snapshot: ContextSnapshot) -> list[tuple[int, int]]:
    """The same places, from the first to the last of each run."""
    return [
        (max(run.first, run.last - NEAR + 1), run.last)
        for run in runs_of(snapshot)
        if not run.included and run.reason is not Reason.RECALLED
    ]
