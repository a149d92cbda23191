"""A part of a conversation put to a small model: what was said, what is worth remembering, what was left open.

Each attempt is in the book before the model is asked, also one that then fails or whose answer is no use (S1).
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db import transaction

from conversations.accounts import allowances
from conversations.context.turns.turn import Turn
from conversations.errors import ErrorObject, error_object
from conversations.models import Assistant, ContextBlock, ContextSnapshot, Message, Reply, Thread, TokenReservation
from conversations.providers import Provider, get_provider, learn_list_and_wait, model_catalog, model_of, provider_name
from conversations.providers.base import WHOLE, ModelCall, Payload, ProviderError, whole_text
from conversations.replies.closing import end_request
from conversations.replies.outcomes import Outcome
from conversations.runtime import clock, telemetry
from conversations.runtime.text import clean
from memory.consolidation import extraction_prompt
from memory.consolidation.findings import Findings, KnownNote, SourceTurn
from memory.consolidation.note_request import NoteRequest, PartToNote, request_about
from memory.consolidation.pending_parts import PendingPart, hold
from memory.consolidation.proposals import PROPOSAL_SECONDS, refusal_of_findings
from memory.consolidation.rule_extraction import extract
from memory.consolidation.store import open_topics_of
from memory.consolidation.supersession import Facts
from memory.models import Memory

ATTEMPTS = 2
BY_RULES = "What is noted comes from rules."
DEADLINE_SECONDS = 30.0
LASTS = timedelta(minutes=2)
"""How long tokens stay set aside for a call whose process has died."""

log = logging.getLogger("openbook.memory")


@dataclass(frozen=True, kw_only=True)
class NoteWriter:
    """A model that writes notes, and the provider that it is asked of."""

    provider: Provider
    model: str


def writer_for(assistant: Assistant) -> NoteWriter | None:
    """Who is asked about what was said to an assistant: the small model beside its own, so that no other service hears of it.
    ``None`` where no model can be asked, or only one that is too small, or one that only proposes and is away: then the rules
    do it.

    Raises ``ProviderError`` where trying later can help."""
    try:
        provider = get_provider(provider_name(assistant))
        if not (provider.rewrites or provider.proposes) or (provider.proposes and provider.obstacle()):
            return None
        learn_list_and_wait(provider, assistant.model)
        model = model_catalog.small_model(provider.name, model_of(assistant, provider))
    except ProviderError as error:
        if error.retryable:
            raise
        log.warning("no model can be asked for notes", extra={"assistant": assistant.slug, "cause": error.message})
        return None
    is_able = provider.proposes or provider.describe(model).uses_memory
    return NoteWriter(provider=provider, model=model) if is_able else None


def digest(
    runner: asyncio.Runner,
    writer: NoteWriter,
    pending: PendingPart,
    turns: Sequence[SourceTurn],
    facts: Facts,
    *,
    deadline_seconds: float | None = None,
) -> Findings | None:
    """What the model finds; ``None`` where it can't say it, or won't: then the rules have to. It is asked again where its
    answer was whole and of no use, but not where it declined, had no room for an answer beside its thinking, or only proposes:
    then what it finds is compared with what the rules find.

    Raises ``ProviderError`` where trying later can help, ``PartChanged`` where the part is no longer what was read of it,
    ``RateLimited`` where the person's day has no tokens left for it.
    """
    proposes = writer.provider.proposes
    deadline = deadline_seconds or (PROPOSAL_SECONDS if proposes else DEADLINE_SECONDS)
    for attempt in range(1, ATTEMPTS + 1):
        request = record(writer, pending, turns, facts, attempt=attempt)
        call = ModelCall(reservation=request.reservation)
        try:
            with telemetry.listener.model_request(request.snapshot, call):
                try:
                    answer = runner.run(_answer(writer.provider, request.payload, call, deadline))
                finally:
                    allowances.settle(pending.user, call)
        except ProviderError as error:
            again = error.retryable and not proposes
            problem = error.message if again else f"{error.message} {BY_RULES}"
            end_request(request.snapshot, _failed(error.code, problem, call, retryable=again))
            if again:
                raise
            log.warning("the model can't be asked about a part", extra={"cause": error.code})
            return None
        try:
            findings = _parse(answer, call, request, turns)
            if proposes:
                _compare_with_rules(findings, request, turns)
        except extraction_prompt.InvalidAnswer as garbage:
            again = attempt < ATTEMPTS and _is_whole(call) and not proposes
            problem = str(garbage) if again else f"{garbage} {BY_RULES}"
            end_request(request.snapshot, _failed("unusable_answer", problem, call, retryable=again))
            log.warning("the model's findings are no use", extra={"cause": str(garbage)})
            if not again:
                break
        else:
            end_request(request.snapshot, Outcome(status=Reply.Status.COMPLETED).after(call))
            return findings
    return None


def record(
    writer: NoteWriter,
    pending: PendingPart,
    turns: Sequence[SourceTurn],
    facts: Facts,
    *,
    attempt: int,
) -> NoteRequest:
    """Store the request about a part, whatever becomes of it, and set aside what it may take. Raises ``PartChanged`` and
    ``RateLimited``.

    Under the lock of the thread, which whoever forgets takes too: what was forgotten since it was read is told to no model,
    and stored in no block.
    """
    with transaction.atomic():
        thread, content = hold(pending, [turn.id for turn in turns])
        known = _bearing_facts(pending.user, turns, facts)
        topics = open_topics_of(pending, turns[-1].at)[: extraction_prompt.MOST_TOPICS]
        part = PartToNote(
            thread=thread,
            turns=[_place(turn) for turn in content.turns],
            excluded=[(_place(turn), reason) for turn, reason in content.excluded],
            material=extraction_prompt.material(turns, known, topics),
            known=known,
            topics=topics,
        )
        request = request_about(part, writer.provider, writer.model, attempt=attempt)
        ContextBlock.objects.bulk_create(request.blocks, ignore_conflicts=True)
        request.snapshot.save(force_insert=True)
        charge = allowances.charge_of_snapshot(request.snapshot)
        reservation = allowances.reserve(pending.user, TokenReservation.Purpose.NOTES, charge, lasts=LASTS)
    return replace(request, reservation=reservation)


def end_left_behind(user_id: int, since: datetime) -> None:
    """What a process asked that was killed before it knew the end. Nobody else may be asking about the user."""
    left = ContextSnapshot.objects.filter(
        user=user_id,
        thread__in=Thread.objects.filter(user=user_id),  # by their index
        created_at__gte=since,
        purpose=ContextSnapshot.Purpose.CONSOLIDATION,
        status=ContextSnapshot.Status.PENDING,
    )
    error = _error("interrupted", "The worker was stopped while it asked. It is asked again.", retryable=True)
    left.update(status=ContextSnapshot.Status.INTERRUPTED, error=error, ended_at=clock.now())


def _bearing_facts(user_id: int, turns: Sequence[SourceTurn], facts: Facts) -> list[KnownNote]:
    """What bears on the turns and is still remembered: the facts were read when the run began."""
    text = "\n".join(turn.text for turn in turns)
    bearing = facts.bearing_on(text, extraction_prompt.MOST_KNOWN)
    there = set(Memory.objects.filter(user=user_id, id__in=[fact.id for fact in bearing]).values_list("id", flat=True))
    return [KnownNote(id=fact.id, text=fact.text, said_at=fact.said_at) for fact in bearing if fact.id in there]


def _place(turn: Message) -> Turn:
    """What the account of a request says of a turn, which is not its text."""
    return replace(Turn.of(turn), content=[])


def _parse(answer: str | None, call: ModelCall, request: NoteRequest, turns: Sequence[SourceTurn]) -> Findings:
    """Raises ``InvalidAnswer`` also where the answer was cut short or has no end."""
    if answer is None or call.finished is None:
        raise extraction_prompt.InvalidAnswer("The answer has no end.")
    if not _is_whole(call):
        raise extraction_prompt.InvalidAnswer(f"The model stopped: {call.finished.stop_reason[:40]}.")
    known, topics = request.part.known, request.part.topics
    return extraction_prompt.parse_answer(answer, turns, known, topics, made_by=request.snapshot.model)


def _compare_with_rules(findings: Findings, request: NoteRequest, turns: Sequence[SourceTurn]) -> None:
    """Raises ``InvalidAnswer`` with the reason where the rules write no worse."""
    by_rules = extract(turns, request.part.topics, last=turns[-1].position)
    if refusal := refusal_of_findings(findings, by_rules, turns):
        raise extraction_prompt.InvalidAnswer(f"The proposal doesn't stand. {refusal}")


def _is_whole(call: ModelCall) -> bool:
    return call.finished is not None and call.finished.stop_reason in WHOLE


async def _answer(provider: Provider, payload: Payload, call: ModelCall, deadline_seconds: float) -> str | None:
    """The text, ``None`` where it was given up; raises ``ProviderError`` where none came."""
    try:
        async with asyncio.timeout(deadline_seconds):
            return await whole_text(provider, payload, lambda text: len(text) > extraction_prompt.LONGEST_ANSWER, call)
    except TimeoutError:
        raise ProviderError("timeout", "It took too long.", retryable=True) from None


def _failed(code: str, message: str, call: ModelCall, *, retryable: bool) -> Outcome:
    error = _error(code, message, retryable=retryable)
    return Outcome(status=Reply.Status.FAILED, error=error).after(call)


def _error(code: str, message: str, *, retryable: bool) -> ErrorObject:
    return error_object(type="model", code=code, message=clean(message), details={"retryable": retryable})
