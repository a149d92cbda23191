"""The recorded context of a model request: written before the call, read back whole, proven by its digest (S1–S4)."""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db.models import Q
from django.utils import timezone

from conversations.context.builder import Context, api_messages, canonical, sha256, system_blocks
from conversations.context.reasons import Reason
from conversations.context.tokens import text_of
from conversations.context.windowing import Run, Turn
from conversations.models import ContextBlock, ContextSnapshot, Message, Reply, text_blocks
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import Payload, Usage

NEAR = 20
"""How many of the turns that were left out are named one by one, next to those that were included."""


NO_TIMINGS = dict.fromkeys(("history", "memory", "rewrite", "tokens", "total"), 0)


class NotRebuildable(Exception):
    """A text that the request was made of has been deleted since, or the provider has been removed."""


def record(context: Context, reply: Reply, *, round: int = 1) -> ContextSnapshot:
    """Store what the model is about to be given."""
    store_blocks(reply.thread_id, context)
    snapshot = draft(context)
    snapshot.thread_id, snapshot.reply_id, snapshot.message_id = reply.thread_id, reply.id, reply.user_message_id
    snapshot.round = round
    snapshot.save(force_insert=True)
    return snapshot


def draft(context: Context) -> ContextSnapshot:
    """The snapshot of a context, not stored and of no reply yet."""
    return ContextSnapshot(
        created_at=timezone.now(),
        provider=context.provider,
        model=context.model,
        max_tokens=context.max_tokens,
        digest=hashlib.sha256(canonical(context.payload)).digest(),
        budget=context.budget.total_tokens,
        hard_cap=context.budget.hard_cap,
        total_tokens=context.total_tokens,
        message_history_count=len(context.history),
        message_history_tokens=context.history_tokens,
        sections=[
            {"name": section.name, "sha256": sha256(section.text).hex(), "tokens": section.tokens}
            for section in context.sections
        ],
        runs=[_packed(run) for run in context.runs],
        timings_ms=context.timings_ms,
    )


def store_blocks(thread_id: uuid.UUID, context: Context) -> None:
    """Each text once: what staff wrote belongs to no thread, what a user wrote or caused to the thread."""
    texts = [(None if section.name == "base" else thread_id, section.text) for section in context.sections]
    texts += [(thread_id, turn.shortened) for turn in [*context.history, context.newest] if turn.shortened]
    known = _texts(thread_id, [sha256(text).hex() for _, text in texts])
    ContextBlock.objects.bulk_create(
        (
            ContextBlock(thread_id=owner, sha256=sha256(text), text=text)
            for owner, text in texts
            if sha256(text).hex() not in known
        ),
        ignore_conflicts=True,
    )


def rebuild(snapshot: ContextSnapshot) -> Payload:
    """The exact request. Raises ``NotRebuildable`` where a text of it has been deleted since."""
    texts = _texts_of(snapshot)
    return _request(snapshot, texts, _turns_of(snapshot, texts))


def proof(snapshot: ContextSnapshot) -> bool:
    """Whether the rebuilt request is the one that was recorded, byte for byte."""
    try:
        return hashlib.sha256(canonical(rebuild(snapshot))).digest() == bytes(snapshot.digest)
    except NotRebuildable:
        return False


def body(snapshot: ContextSnapshot) -> dict[str, Any]:
    """The snapshot body of the contract."""
    texts = _texts_of(snapshot)
    return _body(snapshot, texts, _turns_of(snapshot, texts))


def preview(context: Context, thread_id: uuid.UUID | None) -> dict[str, Any]:
    """The snapshot body of a request that is not made: nothing is stored, no model is called."""
    snapshot = draft(context)
    snapshot.thread_id = thread_id  # type: ignore[assignment]  # a thread to come has none
    texts = {sha256(section.text).hex(): section.text for section in context.sections}
    return _body(snapshot, texts, [*context.history, context.newest]) | {"id": None, "reply": None}


def runs_of(snapshot: ContextSnapshot) -> list[Run]:
    return [Run(**{**run, "reason": Reason(run["reason"])}) for run in snapshot.runs]


def _packed(run: Run) -> dict[str, Any]:
    return {name: value for name, value in asdict(run).items() if value or name == "included"}


def _body(snapshot: ContextSnapshot, texts: dict[str, str], turns: Sequence[Turn]) -> dict[str, Any]:
    try:
        request: Payload | None = _request(snapshot, texts, turns)
    except NotRebuildable:
        request = None
    return {
        "id": str(snapshot.id),
        "thread": str(snapshot.thread_id) if snapshot.thread_id else None,
        "message": str(snapshot.message_id) if snapshot.message_id else None,
        "reply": str(snapshot.reply_id),
        "round": snapshot.round,
        "created_at": snapshot.created_at,
        "provider": snapshot.provider,
        "model": snapshot.model,
        "digest": bytes(snapshot.digest).hex(),
        "message_history_count": snapshot.message_history_count,
        "message_history_tokens": snapshot.message_history_tokens,
        "today_summary_present": snapshot.today_summary_present,
        "open_threads_count": snapshot.open_threads_count,
        "last_conversation_present": snapshot.last_conversation_present,
        "total_tokens": snapshot.total_tokens,
        "budget": snapshot.budget,
        "hard_cap": snapshot.hard_cap,
        "sections": list(_sections(snapshot, texts, turns)),
        "items": list(_items(snapshot, turns)),
        "request": request,
        "timings_ms": NO_TIMINGS | snapshot.timings_ms,
        "usage": asdict(Usage(**snapshot.usage)),
        "stop_reason": snapshot.stop_reason,
        "status": snapshot.status,
        "error": snapshot.error,
    }


def _request(snapshot: ContextSnapshot, texts: dict[str, str], turns: Sequence[Turn]) -> Payload:
    sections = [texts.get(section["sha256"]) for section in snapshot.sections]
    expected = sum(run.count for run in runs_of(snapshot) if run.included)
    if None in sections or len(turns) != expected:
        raise NotRebuildable
    try:
        provider = get_provider(snapshot.provider)
    except ProviderError as error:  # it was removed since
        raise NotRebuildable from error
    return provider.render(
        model=snapshot.model,
        max_tokens=snapshot.max_tokens,
        system=system_blocks([text for text in sections if text is not None]),
        messages=api_messages(turns),
    )


def _sections(snapshot: ContextSnapshot, texts: dict[str, str], turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    for section in snapshot.sections:
        yield {"name": section["name"], "tokens": section["tokens"], "text": texts.get(section["sha256"])}
    newest = runs_of(snapshot)[-1].last
    for name, part in (
        ("history", [turn for turn in turns if turn.position != newest]),
        ("message", [turn for turn in turns if turn.position == newest]),
    ):
        yield {
            "name": name,
            "tokens": sum(turn.token_count for turn in part),
            "text": "\n\n".join(f"{turn.role}: {text_of(turn.content)}" for turn in part),
        }


def _items(snapshot: ContextSnapshot, turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    """Each turn exactly once: those around the window one by one, what lies far before it as a range."""
    sent = {turn.position: turn for turn in turns}
    near = _near(snapshot)
    for run in runs_of(snapshot):
        if run.included:
            for position in range(run.first, run.last + 1):
                if turn := sent.get(position):
                    yield _item(turn.id, position, run, turn.token_count)
            continue
        listed = [message for message in near if run.first <= message.position <= run.last]
        first_listed = listed[0].position if listed else run.last + 1
        if run.first < first_listed:
            count = run.count - sum(message.is_active or run.reason == Reason.SUPERSEDED for message in listed)
            yield {
                "kind": "range",
                "first": run.first,
                "last": first_listed - 1,
                "count": count,
                "included": False,
                "reason": run.reason.value,
            }
        for message in listed:
            yield _item(message.id, message.position, run, message.token_count)


def _item(id: uuid.UUID | None, position: int, run: Run, tokens: int) -> dict[str, Any]:
    return {
        "kind": "message",
        "id": str(id) if id else None,
        "position": position,
        "included": run.included,
        "reason": run.reason.value,
        "tokens": tokens,
    }


def _near(snapshot: ContextSnapshot) -> list[Message]:
    ranges = Q()
    for run in runs_of(snapshot):
        if not run.included:
            ranges |= Q(position__range=(max(run.first, run.last - NEAR + 1), run.last))
    if not ranges:
        return []
    listed = Message.objects.filter(ranges, thread_id=snapshot.thread_id).order_by("position")
    return list(listed.only("id", "position", "token_count", "is_active"))


def _turns_of(snapshot: ContextSnapshot, texts: dict[str, str]) -> list[Turn]:
    """The turns that were sent, in order; those that have been deleted since are missing."""
    runs = [run for run in runs_of(snapshot) if run.included]
    ranges = Q()
    for run in runs:
        ranges |= Q(position__range=(run.first, run.last))
    stand_ins = {run.first: run for run in runs if run.sha256}
    messages = Message.objects.filter(ranges, thread_id=snapshot.thread_id).order_by("position")
    return [
        _turn(message, stand_ins.get(message.position), texts)
        for message in messages.only("id", "position", "depth", "role", "content", "token_count")
    ]


def _turn(message: Message, stand_in: Run | None, texts: dict[str, str]) -> Turn:
    turn = Turn.of(message)
    if stand_in is None:
        return turn
    shortened = texts.get(stand_in.sha256, "")
    content = text_blocks(shortened) if shortened else message.content
    return replace(turn, content=content, token_count=stand_in.tokens, shortened=shortened)


def _texts_of(snapshot: ContextSnapshot) -> dict[str, str]:
    named = [section["sha256"] for section in snapshot.sections]
    return _texts(snapshot.thread_id, named + [run.sha256 for run in runs_of(snapshot) if run.sha256])


def _texts(thread_id: uuid.UUID, digests: Iterable[str]) -> dict[str, str]:
    blocks = ContextBlock.objects.filter(
        Q(thread_id=thread_id) | Q(thread_id=None), sha256__in=[bytes.fromhex(digest) for digest in digests]
    )
    return {bytes(block.sha256).hex(): block.text for block in blocks}
