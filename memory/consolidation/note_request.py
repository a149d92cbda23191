"""The request that asks a small model what to note of a part of a conversation, as the book holds it.

Pure but for the time and the ids that it gives to what it makes: nothing is stored here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from memory.consolidation.findings import EarlierTopic, KnownNote


@dataclass(frozen=True, kw_only=True)
class PartToNote:
    """Turns of a thread that a model is asked about. ``material`` tells them, what is known and what is open; ``excluded`` are
    turns among them that no model is given."""

    thread: Thread
    turns: Sequence[Turn]
    excluded: Sequence[tuple[Turn, Reason]] = ()
    material: str
    known: Sequence[KnownNote]
    topics: Sequence[EarlierTopic]


@dataclass(frozen=True, kw_only=True)
class NoteRequest:
    """A request that is to be recorded, with the texts that it names. Its answer speaks of what is known of the ``part``, and
    of its topics, by number."""

    part: PartToNote
    snapshot: ContextSnapshot
    blocks: Sequence[ContextBlock]
    payload: Payload
    reservation: Reservation | None = None
    """For its call, once it is stored."""


def request_about(part: PartToNote, provider: Provider, model: str, *, attempt: int) -> NoteRequest:
    base = Section.of("base", extraction_prompt.INSTRUCTIONS)
    about = Section(name=MATERIAL, text=part.material, tokens=estimate_tokens(part.material))
    sections = [section for section in (program_section(provider.program()), base) if section]
    tokens = sum(section.tokens for section in (*sections, about))
    allowance = OutputAllowance.of_task(
        provider.describe(model),
        answer=extraction_prompt.MAX_TOKENS,
        room=extraction_prompt.THINKING_ROOM,
    )
    payload = render_material(
        provider,
        model,
        allowance,
        instructions=base.text,
        material=about.text,
        program="".join(section.text for section in sections if section is not base),
    )
    items = packed_items(list(_items(part.known, part.topics))) if part.known or part.topics else ""
    snapshot = ContextSnapshot(
        thread=part.thread,
        user_id=part.thread.user_id,
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
        message_history_count=len(part.turns),
        message_history_tokens=sum(turn.token_count for turn in part.turns),
        open_threads_count=len(part.topics),
        sections=snapshot_codec.pack_texts(map(named_text, sections)),
        additions=snapshot_codec.pack_texts([named_text(about)]),
        runs=snapshot_codec.pack_runs(runs_of_part(part.turns, part.thread, part.excluded)),
        items=sha256(items) if items else None,
        rewriting=RewritingOutcome.OFF,
    )
    blocks = [*_blocks_of_staff(sections), *_blocks_of_thread(part, items)]
    return NoteRequest(part=part, snapshot=snapshot, blocks=blocks, payload=payload)


def _blocks_of_staff(sections: Sequence[Section]) -> Iterator[ContextBlock]:
    for section in sections:
        yield ContextBlock(sha256=sha256(section.text), text=section.text)


def _blocks_of_thread(part: PartToNote, items: str) -> Iterator[ContextBlock]:
    for text in filter(None, (part.material, items)):
        yield ContextBlock(thread=part.thread, user_id=part.thread.user_id, sha256=sha256(text), text=text)


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


def _items(known: Sequence[KnownNote], topics: Sequence[EarlierTopic]) -> Iterator[SourceItem]:
    rows = [
        *(("memory", note.id, note.text) for note in known),
        *(("topic", topic.id, topic.title) for topic in topics),
    ]
    for kind, id, text in rows:
        yield SourceItem(kind=kind, id=str(id), included=True, reason=Reason.REMEMBERED, tokens=estimate_tokens(text))
