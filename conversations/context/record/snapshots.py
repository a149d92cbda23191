"""The recorded context of a model request: written before the call, rebuilt byte for byte, proven by its digest (S1–S4)."""

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import Q

from conversations.context.built_context import Context
from conversations.context.files.account import PackedFiles, files_named, form_of, standing_in
from conversations.context.files.excerpts import FileForm, FileOutline
from conversations.context.files.in_turns import read_in_rounds, results_of_rounds, with_blocks
from conversations.context.files.results import NO_RESULTS, Results
from conversations.context.files.thread_files import PictureCounter
from conversations.context.gather.files import read_outlines, read_parts
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.record.turn_account import TurnRun
from conversations.context.render.rendering import RequestTexts, digest, render, render_material, sha256
from conversations.context.rules.fitting import BESIDE_SYSTEM, CALLER, CITING, PROGRAM, ROUND, SAID, TOOLS, Section
from conversations.context.rules.number import RULES
from conversations.context.rules.prompt_cache import CachePlan
from conversations.context.sources import Fitted, SourceItem
from conversations.context.tokens import budget, thinking
from conversations.context.tokens.budget import BudgetOrigin
from conversations.context.tokens.estimate import turn_tokens
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.tokens.thinking import OutputAllowance
from conversations.context.turns.groups import Block
from conversations.context.turns.turn import Turn
from conversations.context.turns.turn import standing_in as content_in_place
from conversations.models import ContextBlock, ContextSnapshot, Message, Reply, Thread
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import Payload
from conversations.providers.image_tokens import image_rule
from conversations.providers.thinking import ThinkingPlan
from conversations.runtime import clock
from conversations.runtime.db import columns_of, instances_of, run_often
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)

STAFF_WRITTEN = frozenset({PROGRAM, TOOLS, "base", "rules", CITING})
"""Sections whose text belongs to no thread."""
NOWHERE = Q(pk__in=())


class NotRebuildable(Exception):
    """A text that the request was made of has been deleted or forgotten since, or the provider has been removed."""

    def __init__(self, message: str, *, forgotten_at: datetime | None = None) -> None:
        super().__init__(message)
        self.forgotten_at = forgotten_at


@dataclass(frozen=True, kw_only=True)
class RecordedTexts:
    """What a snapshot refers to, read back: texts by their digest in hex, the turns that were sent, oldest first, and what the
    reply had read of files since, as ``results`` of its calls. ``files`` are those that there still are.

    What has been deleted since is missing. ``forgotten`` tells when a text was forgotten, by its digest, or a turn, by its
    position; then the turn says something else than it did, or was cleared away and is missing.
    """

    texts: dict[str, str]
    turns: Sequence[Turn]
    results: Results = NO_RESULTS
    files: Collection[str] = ()
    forgotten: Mapping[str | int, datetime] = field(default_factory=dict)

    @property
    def forgotten_at(self) -> datetime | None:
        """When the last of it was forgotten."""
        return max(self.forgotten.values(), default=None)

    def without_words(self, *, but: str = "") -> "RecordedTexts":
        """Who was told what is left: where, how much and when, and the text of this digest alone."""
        texts = {digest: text for digest, text in self.texts.items() if digest == but}
        turns = [replace(turn, content=[], shortened="", file_blocks=(), results=NO_RESULTS) for turn in self.turns]
        return replace(self, texts=texts, turns=turns, results=NO_RESULTS)


def of_reply(context: Context, reply: Reply, *, round: int = 1) -> ContextSnapshot:
    """The snapshot of a request that a reply makes, not stored yet."""
    snapshot = draft(context)
    snapshot.thread_id, snapshot.reply_id, snapshot.message_id = reply.thread_id, reply.id, reply.user_message_id
    snapshot.user_id, snapshot.round = reply.user_id, round
    return snapshot


def draft(context: Context) -> ContextSnapshot:
    """The snapshot of a context, not stored and of no reply yet."""
    return ContextSnapshot(
        purpose=context.purpose,
        created_at=clock.now(),
        provider=context.provider,
        model=context.model,
        max_tokens=context.max_tokens,
        fallback_for=context.fallback_for,
        fallback_cause=context.fallback_cause,
        thinking=thinking.pack(context.thinking),
        digest=digest(context.payload),
        budget=context.whole_budget.total_tokens,
        hard_cap=context.whole_budget.hard_cap,
        budget_origin=budget.pack(context.budget, context.origin, _row(context)),
        files=context.files,
        scope=context.material.request.scope.memory.recorded if context.material else None,
        counts=snapshot_codec.pack_counts(context.counts),
        version_id=context.material.request.assistant.version_id if context.material else None,
        rules=RULES,
        token_factor=context.factor.value,
        total_tokens=context.model_tokens,
        message_history_count=len(context.history),
        message_history_tokens=context.factor.of_estimate(context.history_tokens),
        sections=snapshot_codec.pack_texts(named_text(part, context.factor) for part in context.sections),
        additions=snapshot_codec.pack_texts(
            named_text(part, context.factor) for part in (*context.parts.beside, *context.parts.rounds)
        ),
        runs=snapshot_codec.pack_runs(context.runs),
        items=sha256(packed_items(context.items)) if context.items else None,
        recalled=[_without_empty(asdict(item)) for item in context.recalled] or None,
        rewriting=context.rewriting.outcome,
        problems=[asdict(problem) for problem in context.problems] or None,
        cache=snapshot_codec.pack_cache(context.cache),
        quoting=context.quoting,
        timings_ms=snapshot_codec.pack_timings(context.timings_ms),
        **_columns(context),
    )


def _row(context: Context) -> dict[str, int | None]:
    """What the model's row says of where marks for the cache pay, if the provider is given any."""
    if context.material is None or not context.material.request.provider.marks_cache:
        return {}
    return {name: getattr(context.material.facts.row, name) for name in budget.ROW}


def _columns(context: Context) -> dict[str, Any]:
    """What the sources of the tiers say in columns of their own."""
    columns: dict[str, Any] = {}
    for tier in context.parts.tiers:
        columns |= tier.source.columns(Fitted(text=tier.text, items=tier.items))
    return columns


def texts_of(context: Context) -> Iterator[tuple[bool, str]]:
    """Every text that the snapshot refers to, and whether the user wrote or caused it: then it goes with the thread."""
    for section in context.sections:
        yield section.name not in STAFF_WRITTEN, section.text
    for text in (
        *(addition.text for addition in context.parts.beside),
        *(part.text for part in context.parts.rounds),
        *(turn.shortened for turn in context.parts.turns),
    ):
        if text:
            yield True, text
    if context.items:
        yield True, packed_items(context.items)


def blocks(context: Context, snapshot: ContextSnapshot) -> list[ContextBlock]:
    """The texts that the snapshot names: what staff wrote belongs to no thread, what a user wrote or caused to the thread."""
    return [block_of(snapshot, text, is_users=users) for users, text in texts_of(context)]


def block_of(snapshot: ContextSnapshot, text: str, *, is_users: bool) -> ContextBlock:
    return ContextBlock(
        thread_id=snapshot.thread_id if is_users else None,
        user_id=snapshot.user_id if is_users else None,
        sha256=sha256(text),
        text=text,
    )


def rebuild(snapshot: ContextSnapshot) -> Payload:
    """The exact request. Raises ``NotRebuildable`` where a text of it has been deleted or forgotten since."""
    return rebuild_from(snapshot, material_of(snapshot))


def rebuild_from(snapshot: ContextSnapshot, material: RecordedTexts) -> Payload:
    """``rebuild`` with what it needs at hand. Pure but for looking up the provider."""
    if material.forgotten_at:
        raise NotRebuildable(
            "A text of this request has been forgotten since, at the person's wish.", forgotten_at=material.forgotten_at
        )
    sections, additions = sections_of(snapshot), additions_of(snapshot)
    expected = sum(run.count for run in runs_of(snapshot) if run.included)
    if any(part.sha256 not in material.texts for part in [*sections, *additions]) or len(material.turns) != expected:
        raise NotRebuildable("A text of this request has been deleted since.")
    if files_named(snapshot.files).difference(material.files):
        raise NotRebuildable("A file of this request has been deleted since.")
    before = [(part.name, material.texts[part.sha256]) for part in sections]
    beside = [(part.name, material.texts[part.sha256]) for part in additions]
    program = dict(before).get(PROGRAM, "")
    system = [text for name, text in before if name not in BESIDE_SYSTEM]
    try:
        provider = get_provider(snapshot.provider)
    except ProviderError as error:  # it was removed since
        raise NotRebuildable("The provider of this request has been removed since.") from error
    allowance = OutputAllowance(max_tokens=snapshot.max_tokens, thinking=thinking_of(snapshot))
    if snapshot.quotes_turns:
        return render_material(
            provider,
            snapshot.model,
            allowance,
            instructions=system[0],
            material=beside[0][1],
            program=program,
            caller=dict(before).get(CALLER, ""),
        )
    texts = RequestTexts(
        system=system,
        turns=material.turns,
        additions=[text for name, text in beside if name not in SAID],
        program=program,
        tools=dict(before).get(TOOLS, ""),
        caller=dict(before).get(CALLER, ""),
        rounds=[(name, text) for name, text in beside if name in SAID],
        results=material.results,
        quoting=snapshot.quoting,
    )
    return render(provider, snapshot.model, allowance, texts, cache_of(snapshot))


def proven(snapshot: ContextSnapshot) -> Payload | None:
    """The request as it was recorded, byte for byte; ``None`` where it can't be rebuilt, or only otherwise."""
    try:
        payload = rebuild(snapshot)
    except NotRebuildable:
        return None
    return payload if digest(payload) == bytes(snapshot.digest) else None


def proof(snapshot: ContextSnapshot) -> bool:
    """Whether the rebuilt request is the one that was recorded."""
    return proven(snapshot) is not None


def runs_of(snapshot: ContextSnapshot) -> list[TurnRun]:
    return snapshot_codec.unpack_runs(snapshot.runs)


def left_out(snapshot: ContextSnapshot) -> Counter[str]:
    """How many turns were left out, by reason."""
    counts: Counter[str] = Counter()
    for run in runs_of(snapshot):
        if not run.included and run.reason is not Reason.RECALLED:
            counts[run.reason.value] += run.count
    return counts


def sections_of(snapshot: ContextSnapshot) -> list[NamedText]:
    return snapshot_codec.unpack_texts(snapshot.sections)


def additions_of(snapshot: ContextSnapshot) -> list[NamedText]:
    return snapshot_codec.unpack_texts(snapshot.additions)


def cache_of(snapshot: ContextSnapshot) -> CachePlan:
    return snapshot_codec.unpack_cache(snapshot.cache)


def origin_of(snapshot: ContextSnapshot) -> BudgetOrigin | None:
    """Where its budget comes from; ``None`` where it was recorded without that."""
    return budget.unpack_origin(snapshot.budget_origin)


def row_of(snapshot: ContextSnapshot) -> dict[str, int | None]:
    """What the model's row said then, by the column, as far as no other column of the snapshot tells it."""
    return budget.unpack_row(snapshot.budget_origin)


def marks_of(snapshot: ContextSnapshot) -> dict[str, int]:
    """The marks of its history by their name in ``Budget``; nothing where it was recorded without them."""
    return budget.unpack_marks(snapshot.budget_origin)


def counts_of(snapshot: ContextSnapshot) -> dict[int, int]:
    """Tokens of the model that its provider had counted, by the position of the turn."""
    return snapshot_codec.unpack_counts(snapshot.counts)


def thinking_of(snapshot: ContextSnapshot) -> ThinkingPlan:
    return thinking.unpack(snapshot.thinking)


def timings_of(snapshot: ContextSnapshot) -> dict[str, float]:
    return snapshot_codec.unpack_timings(snapshot.timings_ms)


def items_of(snapshot: ContextSnapshot, material: RecordedTexts) -> list[dict[str, Any]]:
    """Memories, topics and summaries, each once: that it was recalled says more than that its tier had no place."""
    items = [*standing_items_of(snapshot, material), *(snapshot.recalled or [])]
    return list({(item["kind"], item["id"]): item for item in items}.values())


def standing_items_of(snapshot: ContextSnapshot, material: RecordedTexts) -> list[dict[str, Any]]:
    """What was known of the person, by tier in order."""
    return json.loads(material.texts.get(bytes(snapshot.items).hex(), "[]")) if snapshot.items else []


def material_of(snapshot: ContextSnapshot) -> RecordedTexts:
    return material_from(snapshot, sent_messages(snapshot))


@cache
def _sent_statement() -> str:
    return SQL["sent"].format(columns=columns_of("turn", Message))


def sent_messages(snapshot: ContextSnapshot) -> list[Message]:
    """The turns that were sent, as they are stored, oldest first."""
    sent = [run for run in runs_of(snapshot) if run.included]
    places = {"first": [run.first for run in sent], "last": [run.last for run in sent]}
    values = {"user": snapshot.user_id, "thread": snapshot.thread_id, **places}
    return instances_of(Message, run_often(_sent_statement(), values))


def material_from(snapshot: ContextSnapshot, messages: Iterable[Message]) -> RecordedTexts:
    """``material_of`` with the turns that were sent at hand, as they are stored, oldest first."""
    messages = list(messages)
    texts, gone = texts_named(snapshot.user_id, snapshot.thread_id, list(digests_of(snapshot)))
    turns = [(message.position, message.forgotten_at) for message in messages]
    # A turn that was forgotten before was sent as it is now, and a text may have been said again since it was forgotten.
    forgotten = {part: at for part, at in [*gone, *turns] if at and at > snapshot.created_at}
    forgotten |= _cleared(snapshot, {message.position for message in messages})
    texts = {digest: text for digest, text in texts.items() if digest not in forgotten}
    sent = _turns_of(snapshot, messages, texts)
    if snapshot.files is None:
        return RecordedTexts(texts=texts, turns=sent, forgotten=forgotten)
    files = read_outlines(snapshot.user_id, files_named(snapshot.files), _counter_of(snapshot, snapshot.files))
    results = _results(rounds_of(snapshot, texts), files, form_of(snapshot.files))
    sent = _with_files(sent, snapshot.files, files)
    return RecordedTexts(texts=texts, turns=sent, results=results, files=files, forgotten=forgotten)


def rounds_of(snapshot: ContextSnapshot, texts: Mapping[str, str]) -> list[list[Block]]:
    """What the reply had said and done, as far as it is there."""
    rounds = [texts.get(part.sha256) for part in additions_of(snapshot) if part.name == ROUND]
    return [json.loads(text) for text in rounds if text]


def digest_once_forgotten(digest: bytes) -> bytes:
    """What the block of a text is found by after its text was forgotten. By its own digest it can be stored again."""
    return hashlib.sha256(b"forgotten" + digest).digest()


def packed_items(items: Sequence[SourceItem]) -> str:
    """The account of the tiers as a text of its own: it is the same all session long, and so is stored once."""
    return json.dumps([asdict(item) for item in items], separators=(",", ":"))


def _without_empty(item: dict[str, Any]) -> dict[str, Any]:
    """An item without what it has nothing of: most turns are whole, and replaced by nothing."""
    return {name: value for name, value in item.items() if value is not None and value != []}


def named_text(section: Section, factor: Factor = PLAIN) -> NamedText:
    """How a snapshot names the text of a section, which takes so many tokens of the model."""
    return NamedText(name=section.name, sha256=sha256(section.text).hex(), tokens=factor.of_estimate(section.tokens))


def factor_of(snapshot: ContextSnapshot) -> Factor:
    """What the request was fitted with."""
    return Factor(value=snapshot.token_factor)


def sent_places(snapshot: ContextSnapshot) -> Q:
    """Where in the thread the turns stand that were sent."""
    places = NOWHERE
    for run in runs_of(snapshot):
        if run.included:
            places |= Q(position__range=(run.first, run.last))
    return places


def _cleared(snapshot: ContextSnapshot, there: Collection[int]) -> dict[str | int, datetime]:
    """When the turns that were sent were cleared away, by position. Nothing else takes a turn from a thread that stays."""
    sent = {place for run in runs_of(snapshot) if run.included for place in range(run.first, run.last + 1)}
    missing = sent.difference(there)
    own = Thread.objects.filter(user=snapshot.user_id, id=snapshot.thread_id)
    at = own.values_list("cleared_at", flat=True).first() if missing else None
    return dict.fromkeys(missing, at) if at else {}


def _turns_of(snapshot: ContextSnapshot, messages: Iterable[Message], texts: dict[str, str]) -> list[Turn]:
    stand_ins = {run.first: run for run in runs_of(snapshot) if run.included and run.sha256}
    counts, factor = counts_of(snapshot), factor_of(snapshot)
    return [
        _turn(message, stand_ins.get(message.position), texts, counts.get(message.position, 0), factor)
        for message in messages
    ]


def _with_files(turns: Sequence[Turn], packed: PackedFiles, files: Mapping[str, FileOutline]) -> list[Turn]:
    """With what stood of files in them, as far as these are still there."""
    standing = standing_in(packed, files)
    turns = [replace(turn, files=standing.get(turn.position, ())) for turn in turns]
    form = form_of(packed)
    return with_blocks(turns, read_parts((excerpt for turn in turns for excerpt in turn.files), form), form)


def _results(rounds: Sequence[Sequence[Block]], files: Mapping[str, FileOutline], form: FileForm) -> Results:
    read = read_in_rounds(rounds, files)
    return results_of_rounds(rounds, read, read_parts(read, form), form)


def _counter_of(snapshot: ContextSnapshot, packed: PackedFiles) -> PictureCounter:
    return PictureCounter(are_seen=packed["pictures"], factor=factor_of(snapshot), rule=image_rule(snapshot.model))


def _turn(message: Message, stand_in: TurnRun | None, texts: dict[str, str], counted: int, factor: Factor) -> Turn:
    turn = Turn.of(message)
    if stand_in is None:
        return replace(turn, token_count=factor.of_counted(counted), counted=counted) if counted else turn
    shortened = texts.get(stand_in.sha256, "")
    content = content_in_place(shortened) if shortened else message.blocks
    return replace(turn, content=content, token_count=turn_tokens(content), shortened=shortened)


def digests_of(snapshot: ContextSnapshot) -> Iterator[str]:
    """In hex, of all texts that the snapshot names."""
    yield from (part.sha256 for part in [*sections_of(snapshot), *additions_of(snapshot)])
    yield from (run.sha256 for run in runs_of(snapshot) if run.sha256)
    if snapshot.items:
        yield bytes(snapshot.items).hex()


def texts_named(
    user_id: int, thread_id: uuid.UUID, digests: Iterable[str]
) -> tuple[dict[str, str], list[tuple[str | int, datetime | None]]]:
    """The texts of these digests, and when those of them were forgotten that were."""
    named = {bytes.fromhex(digest): digest for digest in digests}
    if not named:
        return {}, []
    forgotten = {digest_once_forgotten(digest): name for digest, name in named.items()}
    values = {"user": user_id, "thread": thread_id, "digests": [*named, *forgotten]}
    rows = {bytes(digest): (text, at) for digest, text, at in run_often(SQL["texts"], values)}
    texts = {name: rows[digest][0] for digest, name in named.items() if digest in rows}
    return texts, [(name, rows[digest][1]) for digest, name in forgotten.items() if digest in rows]
