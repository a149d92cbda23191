"""The request that asks a small model what to note of a part of a conversation, as the book holds it.

Pure but for the time and the ids that it gives to what it makes: nothing is stored here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from conversations.context.query.rewriting import RewritingOutcome
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.snapshots import named_text, packed_items
from conversations.context.record.turn_account import TurnRun, account
from conversations.context.render.rendering import digest, render_material, sha256
from conversations.context.render.tool_sections import program_section
from conversations.context.rules.fitting import MATERIAL, Section
from conversations.context.sources import SourceItem
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.thinking import OutputAllowance, pack
from conversations.context.turns.turn import Turn
from conversations.models import ContextBlock, ContextSnapshot, Thread
from conversations.providers.base import Payload, Provider, Reservation
from conversations.runtime import clock
from memory.consolidation import extraction_prompt
from memory.consolidation.findings import EarlierTopic


@dataclass(frozen=True, kw_only=True)
class NoteRequest:
    """A request that is to be recorded, with the texts that it names, and what its answer speaks of by number."""

    snapshot: ContextSnapshot
    blocks: Sequence[ContextBlock]
    payload: Payload
    known: Sequence[tuple[UUID, str]]
    topics: Sequence[EarlierTopic]
    reservation: Reservation | None = None
    """For its call, once it is stored."""


def noting(
    provider: Provider,
    model: str,
    thread: Thread,
    turns: Sequence[Turn],
    *,
    excluded: Sequence[tuple[Turn, Reason]] = (),
    material: str,
    known: Sequence[tuple[UUID, str]],
    topics: Sequence[EarlierTopic],
    attempt: int,
) -> NoteRequest:
    """The request about these turns of a thread. ``material`` tells them, what is known and what is open; ``excluded`` are
    turns among them that no model is given."""
    base = Section.of("base", extraction_prompt.INSTRUCTIONS)
    about = Section(name=MATERIAL, text=material, tokens=estimate_tokens(material))
    sections = [section for section in (program_section(provider.program()), base) if section]
    tokens = sum(section.tokens for section in (*sections, about))
    allowance = OutputAllowance.of_task(
        provider.describe(model),
        answer=extraction_prompt.MAX_TOKENS,
        room=extraction_prompt.THINKING_ROOM,
    )
    payload = render_material(
        provider,
        model=model,
        max_tokens=allowance.max_tokens,
        instructions=base.text,
        material=about.text,
        thinking=allowance.thinking,
        program="".join(section.text for section in sections if section is not base),
    )
    items = packed_items(list(_items(known, topics))) if known or topics else ""
    snapshot = ContextSnapshot(
        thread=thread,
        user_id=thread.user_id,
        purpose=ContextSnapshot.Purpose.CONSOLIDATION,
        round=attempt,
        created_at=clock.now(),
        provider=provider.name,
        model=model,
        max_tokens=allowance.max_tokens,
        thinking=pack(allowance.thinking),
        digest=digest(payload),
        budget=tokens,  # a part is as long as it is: there is no other
        hard_cap=tokens,
        total_tokens=tokens,
        message_history_count=len(turns),
        message_history_tokens=sum(turn.token_count for turn in turns),
        open_threads_count=len(topics),
        sections=snapshot_codec.pack_texts(map(named_text, sections)),
        additions=snapshot_codec.pack_texts([named_text(about)]),
        runs=snapshot_codec.pack_runs(runs_of_part(turns, thread, excluded)),
        items=sha256(items) if items else None,
        rewriting=RewritingOutcome.OFF,
    )
    of_thread = [
        ContextBlock(thread=thread, user_id=thread.user_id, sha256=sha256(text), text=text)
        for text in (material, items)
        if text
    ]
    of_staff = [ContextBlock(sha256=sha256(section.text), text=section.text) for section in sections]
    return NoteRequest(snapshot=snapshot, blocks=[*of_staff, *of_thread], payload=payload, known=known, topics=topics)


def runs_of_part(turns: Sequence[Turn], thread: Thread, excluded: Sequence[tuple[Turn, Reason]] = ()) -> list[TurnRun]:
    """Every position of the thread exactly once (S3), and of a part those that are told."""
    last = max([*turns, *(turn for turn, _ in excluded)], key=lambda turn: turn.position)
    runs = account(turns, None, Reason.OUTSIDE_PART, {}, excluded=excluded, begins_after=thread.cleared_through)
    after = thread.message_count - last.depth
    if after > 0:
        later = TurnRun(
            first=last.position + 1,
            last=thread.last_position,
            count=after,
            included=False,
            reason=Reason.OUTSIDE_PART,
        )
        runs.append(later)
    return runs


def _items(known: Sequence[tuple[UUID, str]], topics: Sequence[EarlierTopic]) -> Iterator[SourceItem]:
    rows = [*(("memory", id, text) for id, text in known), *(("topic", topic.id, topic.title) for topic in topics)]
    for kind, id, text in rows:
        yield SourceItem(kind=kind, id=str(id), included=True, reason=Reason.REMEMBERED, tokens=estimate_tokens(text))
