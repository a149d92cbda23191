"""What changed from one model request to another, and where the provider's prompt cache stops to help."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from conversations.context.explain.section_names import HISTORY, MESSAGE, section_names
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.record.snapshots import additions_of, proven, runs_of, sections_of, thinking_of
from conversations.context.record.turn_account import TurnRun
from conversations.context.rules.fitting import ROUND
from conversations.context.tokens.estimate import TURN_OVERHEAD, estimate_tokens
from conversations.context.tokens.thinking import in_words
from conversations.models import ContextSnapshot
from conversations.providers.base import Payload
from conversations.providers.request_parts import in_messages_api
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class SnapshotPart:
    """A part of the context by its name in the snapshot body. ``digest`` is empty for turns, which have their own account."""

    name: str
    tokens: int
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a comparison needs of a model request. ``payload`` is ``None`` where the exact request can't be had any more."""

    thread: uuid.UUID | None
    settings: Mapping[str, str | int]
    tiers: Sequence[SnapshotPart]
    runs: Sequence[TurnRun]
    payload: Payload | None


@dataclass(frozen=True, kw_only=True, order=True)
class TurnSpan:
    """Neighbouring turns of a thread: positions ``first`` to ``last``, both included."""

    thread: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Change[Value]:
    """A value before and after; ``None`` where there is none on that side."""

    name: str
    before: Value
    after: Value


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """What two requests have in common from their beginning, in the order of the prompt cache.

    ``breaks_at`` says in words where they part; it is empty where one request only goes on where the other ends.
    ``is_all`` means that neither goes on.
    """

    blocks: int
    tokens: int
    breaks_at: str
    is_all: bool = False


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """``rewritten`` names the tiers whose text is another, ``tiers`` tells the tokens of all, before and after.

    ``shortened`` are turns of both requests that had to become shorter in the second, ``restored`` the other way round.
    ``summarised`` are those of the removed that a summary stands in for by now.
    """

    same_thread: bool
    settings: tuple[Change[str | int | None], ...]
    tiers: tuple[Change[int | None], ...]
    rewritten: tuple[str, ...]
    added: tuple[TurnSpan, ...]
    removed: tuple[TurnSpan, ...]
    shortened: tuple[TurnSpan, ...]
    restored: tuple[TurnSpan, ...]
    prefix: Prefix | None
    summarised: tuple[TurnSpan, ...] = ()

    @property
    def is_empty(self) -> bool:
        changed = (self.settings, self.rewritten, self.added, self.removed, self.shortened, self.restored)
        same_tokens = all(tier.before == tier.after for tier in self.tiers)
        return not any(changed) and same_tokens and (self.prefix is None or self.prefix.is_all)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A step of the prompt cache. ``place`` sorts as the cache reads; ``content`` is what must be the same."""

    place: tuple[int, ...]
    where: str
    content: str
    tokens: int


def compare(a: ContextSnapshot, b: ContextSnapshot) -> Comparison:
    """From ``a`` to ``b``. They may belong to different threads. The prefix is ``None`` where one can't be rebuilt."""
    return compare_pages(page_of(a), page_of(b))


def page_of(snapshot: ContextSnapshot) -> Page:
    return page_with(snapshot, proven(snapshot))


def page_with(snapshot: ContextSnapshot, payload: Payload | None) -> Page:
    """The page of a request whose exact bytes are at hand. Pure."""
    plan = thinking_of(snapshot)
    return Page(
        thread=snapshot.thread_id,
        settings={
            "provider": snapshot.provider,
            "model": snapshot.model,
            "max_tokens": snapshot.max_tokens,
            "thinking": in_words(plan),
            "effort": plan.effort or "the model's default",
            # Of a request that asks for something beside the reply it is its own size.
            **({} if snapshot.quotes_turns else _budget(snapshot)),
        },
        tiers=[
            *map(_tier, sections_of(snapshot)),
            *_turn_parts(snapshot),
            *map(_tier, _numbered(additions_of(snapshot))),
        ],
        runs=runs_of(snapshot),
        payload=payload,
    )


def _budget(snapshot: ContextSnapshot) -> dict[str, str | int]:
    origin = snapshots.origin_of(snapshot)
    words = {"budget_origin": origin.words} if origin else {}
    return {"budget": snapshot.budget, "hard_cap": snapshot.hard_cap, **words}


def _tier(part: NamedText) -> SnapshotPart:
    return SnapshotPart(name=part.name, tokens=part.tokens, digest=part.sha256)


def _turn_parts(snapshot: ContextSnapshot) -> list[SnapshotPart]:
    """Of turns. Where they are quoted they stand within the material, and a preset's instruction beside them."""
    if snapshot.quotes_turns:
        return []
    history = SnapshotPart(name=HISTORY, tokens=snapshot.message_history_tokens)
    if snapshot.purpose == ContextSnapshot.Purpose.ARTIFACT:
        return [history]
    return [history, SnapshotPart(name=MESSAGE, tokens=runs_of(snapshot)[-1].tokens)]


def _numbered(additions: Sequence[NamedText]) -> Iterator[NamedText]:
    """What a reply did in its rounds, told apart."""
    number = 0
    for part in additions:
        number += part.name == ROUND
        yield replace(part, name=f"{ROUND} {number}") if part.name == ROUND else part


def compare_pages(a: Page, b: Page, *, summaries: Sequence[TurnSpan] = ()) -> Comparison:
    """``summaries`` are the parts of the first request's thread that are summarised by now."""
    before, after = _sent_sizes(a), _sent_sizes(b)
    both, removed = before.keys() & after.keys(), before.keys() - after.keys()
    places = {name: place for place, name in enumerate(section_names())}
    tiers = sorted(
        _matched({tier.name: tier for tier in a.tiers}, {tier.name: tier for tier in b.tiers}),
        key=lambda tier: places.get(tier.name, len(places)),
    )
    return Comparison(
        same_thread=a.thread == b.thread,
        settings=tuple(change for change in _matched(a.settings, b.settings) if change.before != change.after),
        tiers=tuple(Change(name=tier.name, before=_tokens(tier.before), after=_tokens(tier.after)) for tier in tiers),
        rewritten=tuple(t.name for t in tiers if t.before and t.after and t.before.digest != t.after.digest),
        added=_joined(after.keys() - before.keys()),
        removed=_joined(removed),
        shortened=_joined({turn for turn in both if after[turn] < before[turn]}),
        restored=_joined({turn for turn in both if before[turn] < after[turn]}),
        prefix=None if a.payload is None or b.payload is None else common_prefix(a.payload, b.payload),
        summarised=_joined({turn for turn in removed if any(_holds(part, turn) for part in summaries)}),
    )


def written_anew(payload: Payload, prefix: Prefix) -> int:
    """Estimated tokens of a request that no cache can hold, as they come after what it has in common with another."""
    return sum(block.tokens for block in list(blocks_of(payload))[prefix.blocks :])


def common_prefix(a: Payload, b: Payload) -> Prefix:
    """Walk both requests as the cache does, whole blocks at a time: model, tools, system, messages."""
    first, second = list(blocks_of(a)), list(blocks_of(b))
    pairs = list(zip(first, second, strict=False))
    common = next((index for index, (x, y) in enumerate(pairs) if _key(x) != _key(y)), len(pairs))
    parting = pairs[common : common + 1]
    return Prefix(
        blocks=common,
        tokens=sum(block.tokens for block in first[:common]),
        breaks_at=min(parting[0], key=lambda block: block.place).where if parting else "",
        is_all=common == len(first) == len(second),
    )


def blocks_of(payload: Payload) -> Iterator[Block]:
    """The request in the order of the cache. Where cache marks stand does not matter: they are no content."""
    payload = in_messages_api(payload)
    yield Block(place=(0,), where="the model", content=payload["model"], tokens=0)
    for index, tool in enumerate(payload.get("tools", [])):
        yield _block((1, index), f"tool {index + 1}", tool)
    for index, block in enumerate(payload["system"]):
        yield _block((2, index), f"system block {index + 1}", block)
    for index, message in enumerate(payload["messages"]):
        for part, block in enumerate(message["content"]):
            where = f"message {index + 1}, block {part + 1}"
            yield _block((3, index, part), where, block, role=message["role"], overhead=0 if part else TURN_OVERHEAD)


def _block(place: tuple[int, ...], where: str, block: Mapping[str, Any], *, role: str = "", overhead: int = 0) -> Block:
    bare = {name: value for name, value in block.items() if name != "cache_control"}
    content = json.dumps([role, bare], ensure_ascii=False, sort_keys=True)
    text = bare["text"] if bare.get("type") == "text" else content
    return Block(place=place, where=where, content=content, tokens=overhead + estimate_tokens(text))


def _key(block: Block) -> tuple[tuple[int, ...], str]:
    return block.place, block.content


def _sent_sizes(page: Page) -> dict[tuple[str, int], tuple[bool, int, str]]:
    """Each turn that was sent with a size that orders its forms: any shortened one before the whole."""
    return {
        (str(page.thread), position): (False, run.tokens, run.sha256)
        if run.reason == Reason.SHORTENED
        else (True, 0, "")
        for run in page.runs
        if run.included
        for position in range(run.first, run.last + 1)
    }


def _holds(part: TurnSpan, turn: tuple[str, int]) -> bool:
    return part.thread == turn[0] and part.first <= turn[1] <= part.last


def _joined(turns: set[tuple[str, int]]) -> tuple[TurnSpan, ...]:
    """Neighbours as one range: along a run of them, position and rank grow alike."""
    ranks = enumerate(sorted(turns))
    runs = groupby(ranks, key=lambda ranked: (ranked[1][0], ranked[1][1] - ranked[0]))
    ranges = [[turn for _, turn in run] for _, run in runs]
    return tuple(TurnSpan(thread=run[0][0], first=run[0][1], last=run[-1][1]) for run in ranges)


def _matched[Value](a: Mapping[str, Value], b: Mapping[str, Value]) -> Iterator[Change[Value | None]]:
    for name in sorted({*a, *b}):
        yield Change(name=name, before=a.get(name), after=b.get(name))


def _tokens(tier: SnapshotPart | None) -> int | None:
    return tier.tokens if tier else None
