"""A request of an experiment: recorded before the model is asked, asked, ended. Whoever began the experiment pays for it, not
the person whose conversation it is about."""

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from conversations.accounts import allowances
from conversations.datasets.arms import Arm
from conversations.errors import OpenbookError
from conversations.models import ContextBlock, ContextSnapshot, Reply, TokenReservation
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import ModelCall, Payload, Provider, ToolCalled, whole_text
from conversations.regression.slices import Halted
from conversations.replies.closing import end_request
from conversations.replies.outcomes import Outcome, failure
from conversations.runtime import clock, telemetry
from conversations.runtime.text import clean
from conversations.runtime.values import dataclass

DEADLINE_SECONDS = 300.0
LASTS = timedelta(seconds=DEADLINE_SECONDS + 60)
"""How long a request is its worker's alone, and its tokens are set aside, where that worker has died."""
LONGEST = 200_000
"""Characters of an answer."""


@dataclass(frozen=True, kw_only=True)
class NewRequest:
    """That is not recorded yet, with the texts that it names."""

    snapshot: ContextSnapshot
    blocks: Sequence[ContextBlock]
    payload: Payload


@dataclass(frozen=True, kw_only=True)
class RecordedRequest:
    """``payer`` began the experiment."""

    arm: Arm
    snapshot: ContextSnapshot
    payload: Payload
    provider: Provider
    call: ModelCall
    payer: int


@dataclass(frozen=True, kw_only=True)
class Answer:
    """``error`` says why there is no ``text``. ``tools`` are those that the model wanted to call instead, or before."""

    text: str = ""
    tools: Sequence[str] = ()
    milliseconds: int = 0
    error: ProviderError | None = None


def record(arm: Arm, request: NewRequest, *, payer: int) -> RecordedRequest:
    """Store it and set aside what it may take, in a transaction that holds the lock of its thread. Raises ``Halted`` where the
    limits of the payer leave no room."""
    ContextBlock.objects.bulk_create(request.blocks, ignore_conflicts=True)
    request.snapshot.save(force_insert=True)
    charge = allowances.charge_of_snapshot(request.snapshot)
    try:
        reservation = allowances.reserve(payer, TokenReservation.Purpose.EXPERIMENT, charge, lasts=LASTS)
    except OpenbookError as error:
        raise Halted(error.message) from None
    return RecordedRequest(
        arm=arm,
        snapshot=request.snapshot,
        payload=request.payload,
        provider=get_provider(request.snapshot.provider),
        call=ModelCall(reservation=reservation),
        payer=payer,
    )


def ask(requests: Collection[RecordedRequest]) -> Iterator[tuple[RecordedRequest, Answer]]:
    """All at once; each as soon as it is answered. Those that are left are not asked to the end."""
    with asyncio.Runner() as runner:
        running = {runner.get_loop().create_task(_answer(request)): request for request in requests}
        while running:
            done, _ = runner.run(asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED))
            for task in done:
                yield running.pop(task), task.result()


def end(request: RecordedRequest, answer: Answer) -> bool:
    """In a transaction that holds the lock of its thread: whether what came may be kept. It may not where something in the
    request was forgotten meanwhile."""
    pending = ContextSnapshot.objects.filter(pk=request.snapshot.pk, status=ContextSnapshot.Status.PENDING)
    may_be_kept = pending.exists()
    outcome = failure(answer.error) if answer.error else Outcome(status=Reply.Status.COMPLETED)
    allowances.settle(request.payer, request.call)
    end_request(request.snapshot, outcome.after(request.call))
    return may_be_kept


def interrupt(id: UUID | None) -> None:
    """End a request that nobody asks any more."""
    if id:
        left = ContextSnapshot.objects.filter(pk=id, status=ContextSnapshot.Status.PENDING)
        left.update(status=ContextSnapshot.Status.INTERRUPTED, ended_at=clock.now())


async def _answer(request: RecordedRequest) -> Answer:
    began, call = time.perf_counter(), request.call
    error, text = None, None
    try:
        with telemetry.listener.model_request(request.snapshot, call):
            async with asyncio.timeout(DEADLINE_SECONDS):
                text = await whole_text(request.provider, request.payload, lambda text: len(text) > LONGEST, call)
        if text is None:
            error = ProviderError("too_long", f"The answer is longer than {LONGEST} characters.", retryable=False)
    except TimeoutError:
        error = ProviderError("timeout", "It took too long.", retryable=True)
    except ProviderError as problem:
        error = problem
    return Answer(
        text=clean(text or ""),
        tools=[event.name for event in call.answer if isinstance(event, ToolCalled)],
        milliseconds=round((time.perf_counter() - began) * 1000),
        error=error,
    )
