"""The answers to a case: each version with each model is asked once, then a judge of each answer.

The row of an answer is there before its model is asked, and holds what came as soon as it came: a worker that is killed loses
no answer, and nobody asks for one that has come. What a killed worker asked for is asked again once its time is over.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypedDict
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from conversations.accounts import allowances
from conversations.context.built_context import Context
from conversations.context.record import snapshots
from conversations.context.record.request_record import NotReplayable, record_of
from conversations.datasets import answer_scorers, arms, asking, judging
from conversations.datasets.answer_scorers import COLUMNS, JUDGE
from conversations.datasets.arms import Arm, NotAsked
from conversations.datasets.asking import Answer, NewRequest, RecordedRequest
from conversations.models import Case, CaseAnswer, ContextSnapshot, Experiment, Message, Thread
from conversations.providers import ProviderError, get_provider, prices
from conversations.providers.price_list import FREE
from conversations.regression import slices
from conversations.regression.replaying import remaking
from conversations.regression.slices import Waiting
from conversations.runtime import clock
from conversations.upkeep.hourly_figures import cost_of

ATTEMPTS = 3
LONGEST_REST = 60.0
"""Seconds before a model is asked again that could not answer."""
FORGOTTEN = "Something in the request was forgotten while it was asked."
INTERRUPTED = "Each time that it was asked, the worker ended."
UNUSABLE = "What the judge answered has another shape than it was told."
COLUMN_CHARS = 300


class Figures(TypedDict, total=False):
    """Of the answer and of the verdicts on it: tokens as the service told them, USD (``None``: not known), milliseconds.
    ``tools`` are the names of those that the model called; none is run."""

    input: int
    output: int
    cost: float | None
    milliseconds: int
    tools: list[str]
    verdict_cost: float | None
    verdict_tokens: int


def ask(experiment: Experiment, case: Case) -> None:
    """For what is missing of the answers to a case, and of the verdicts on them. Raises ``Waiting`` and ``Halted``."""
    for step in (Answering(experiment, case), Judging(experiment, case)):
        while open := step.open():
            step.ask(open)


class Step(ABC):
    """One kind of request for each answer to a case that wants it."""

    def __init__(self, experiment: Experiment, case: Case) -> None:
        self.experiment, self.case = experiment, case

    def open(self) -> list[Arm]:
        """Those for which there is something to ask. Raises ``Waiting`` where somebody else asks, or it is too early."""
        if not slices.running(Experiment).filter(pk=self.experiment.pk).exists():
            raise Waiting
        rows = {(row.version, row.model): row for row in self._rows()}
        every = arms.arms_of(self.experiment.versions, self.experiment.model_names)
        open = [arm for arm in every if self.is_open(rows.get((arm.version, arm.model)))]
        now = clock.now()
        if any((row := rows.get((arm.version, arm.model))) and row.claimed_until > now for arm in open):
            raise Waiting
        return open

    def ask(self, open: Sequence[Arm]) -> None:
        """All at once. Raises ``Waiting`` and ``Halted``."""
        forgettings = allowances.forgettings_of(self.case.thread.user_id)
        asked: dict[Arm, RecordedRequest] = {}
        with self._released(asked):
            for arm, made in self.requests(open).items():
                if request := self._record(arm, made, forgettings):
                    asked[arm] = request
            for request, answer in asking.ask([*asked.values()]):
                with self._locked() as is_there:
                    is_kept = asking.end(request, answer)
                    if is_there and self.row(request.arm).filter(**self.naming(request.snapshot)).exists():
                        self.keep(request, answer, is_kept=is_kept)
                del asked[request.arm]

    @abstractmethod
    def is_open(self, row: CaseAnswer | None) -> bool: ...

    @abstractmethod
    def requests(self, open: Sequence[Arm]) -> dict[Arm, NewRequest | str]:
        """One each, or why there is none."""

    @abstractmethod
    def request_of(self, row: CaseAnswer) -> UUID | None: ...

    @abstractmethod
    def naming(self, snapshot: ContextSnapshot) -> dict[str, Any]:
        """The columns that name the request."""

    @abstractmethod
    def problem(self, words: str) -> dict[str, Any]:
        """The columns that tell why nothing came."""

    @abstractmethod
    def keep(self, request: RecordedRequest, answer: Answer, *, is_kept: bool) -> None:
        """Under the lock of the thread."""

    def row(self, arm: Arm) -> QuerySet[CaseAnswer]:
        return self._rows().filter(version=arm.version, model=arm.model)

    def fail(self, request: RecordedRequest, error: ProviderError) -> None:
        """To be asked again where that can help, and not too soon."""
        now, values = clock.now(), self.problem(error.message)
        if not error.retryable:
            self.row(request.arm).update(**values, ended_at=now)
            return
        [attempts] = self.row(request.arm).values_list("attempts", flat=True)
        rest = min(error.retry_after or 2.0**attempts, LONGEST_REST)
        self.row(request.arm).update(**values, claimed_until=now + timedelta(seconds=rest))

    def _rows(self) -> QuerySet[CaseAnswer]:
        return CaseAnswer.objects.filter(experiment=self.experiment, case=self.case)

    def _record(self, arm: Arm, made: NewRequest | str, forgettings: int) -> RecordedRequest | None:
        """The request is this worker's alone. Raises ``Halted``, and ``Waiting`` where it is another's by now or something was
        forgotten since it was made."""
        assert self.experiment.author_id
        with self._locked() as is_there:
            now = clock.now()
            if is_there:
                new = CaseAnswer(experiment=self.experiment, case=self.case, claimed_until=now, **vars_of(arm))
                CaseAnswer.objects.bulk_create([new], ignore_conflicts=True)
            row = self.row(arm).select_for_update().first()
            if row is None or not self.is_open(row) or row.claimed_until > now:
                raise Waiting
            if allowances.hold_forgettings(self.case.thread.user_id) != forgettings:
                raise Waiting
            asking.interrupt(self.request_of(row))
            if isinstance(made, str) or row.attempts >= ATTEMPTS:
                words = made if isinstance(made, str) else row.problem or row.verdict_problem or INTERRUPTED
                self.row(arm).update(**self.problem(words), ended_at=now)
                return None
            request = asking.record(arm, made, payer=self.experiment.author_id)
            claimed = {"attempts": row.attempts + 1, "claimed_until": now + asking.LASTS}
            self.row(arm).update(**claimed, **self.naming(request.snapshot))
            return request

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """A transaction under the lock of the thread, which whoever forgets takes too; whether the thread is there."""
        with transaction.atomic():
            own = Thread.objects.select_for_update(no_key=True).filter(pk=self.case.thread_id)
            yield own.values_list("pk", flat=True).first() is not None

    @contextmanager
    def _released(self, asked: Mapping[Arm, RecordedRequest]) -> Iterator[None]:
        """What is not answered when its worker has to end is open for another one at once."""
        try:
            yield
        except BaseException:
            for request in asked.values():
                allowances.settle(request.payer, request.call)
                asking.interrupt(request.snapshot.pk)
                self.row(request.arm).filter(**self.naming(request.snapshot)).update(claimed_until=clock.now())
            raise


class Answering(Step):
    def is_open(self, row: CaseAnswer | None) -> bool:
        return row is None or (row.answered_at is None and row.ended_at is None)

    def requests(self, open: Sequence[Arm]) -> dict[Arm, NewRequest | str]:
        snapshot = ContextSnapshot.objects.select_related("thread__assistant").filter(pk=self.case.request_id).first()
        try:
            if snapshot is None:
                raise NotReplayable("It has been deleted since.")
            with remaking():
                return {arm: _request(snapshot, made) for arm, made in arms.contexts(record_of(snapshot), open).items()}
        except NotReplayable as error:
            return dict.fromkeys(open, str(error))

    def request_of(self, row: CaseAnswer) -> UUID | None:
        return row.request_id

    def naming(self, snapshot: ContextSnapshot) -> dict[str, Any]:
        return {"request": snapshot}

    def problem(self, words: str) -> dict[str, Any]:
        return {"problem": words[:COLUMN_CHARS]}

    def keep(self, request: RecordedRequest, answer: Answer, *, is_kept: bool) -> None:
        now, snapshot = clock.now(), ContextSnapshot.objects.get(pk=request.snapshot.pk)
        if not is_kept:
            self.row(request.arm).update(**self.problem(FORGOTTEN), ended_at=now)
        elif answer.error:
            self.fail(request, answer.error)
        else:
            is_judged = bool(self.experiment.judge) and judging.is_wanted(self.case)
            self.row(request.arm).update(
                text=answer.text,
                problem="",
                stop_reason=snapshot.stop_reason,
                scores=answer_scorers.scores({name: getattr(self.case, name) for name in COLUMNS}, answer.text),
                figures=_figures(snapshot, answer),
                attempts=0,
                claimed_until=now,
                answered_at=now,
                ended_at=None if is_judged else now,
            )


class Judging(Step):
    def is_open(self, row: CaseAnswer | None) -> bool:
        return row is not None and row.answered_at is not None and row.ended_at is None

    def requests(self, open: Sequence[Arm]) -> dict[Arm, NewRequest | str]:
        return {arm: self._request(arm) for arm in open}

    def _request(self, arm: Arm) -> NewRequest | str:
        provider, model = arms.split(self.experiment.judge)
        row = self.row(arm).get()
        asked = ContextSnapshot.objects.filter(pk=row.request_id).first() if row.request_id else None
        question = Message.objects.filter(pk=asked.message_id).first() if asked and asked.message_id else None
        if asked is None or question is None:
            return FORGOTTEN
        try:
            return judging.request_for(self.case, asked, row.text, question.text, (get_provider(provider), model))
        except ProviderError as error:
            return error.message

    def request_of(self, row: CaseAnswer) -> UUID | None:
        return row.verdict_request_id

    def naming(self, snapshot: ContextSnapshot) -> dict[str, Any]:
        return {"verdict_request": snapshot}

    def problem(self, words: str) -> dict[str, Any]:
        return {"verdict_problem": words[:COLUMN_CHARS]}

    def keep(self, request: RecordedRequest, answer: Answer, *, is_kept: bool) -> None:
        now, row = clock.now(), self.row(request.arm).get()
        told = _figures(ContextSnapshot.objects.get(pk=request.snapshot.pk), answer)
        figures = {
            **row.figures,
            "verdict_cost": None if told["cost"] is None else told["cost"] + (row.figures.get("verdict_cost") or 0),
            "verdict_tokens": told["input"] + told["output"] + row.figures.get("verdict_tokens", 0),
        }
        self.row(request.arm).update(figures=figures, claimed_until=now)
        if not is_kept:
            self.row(request.arm).update(**self.problem(FORGOTTEN), ended_at=now)
        elif answer.error:
            self.fail(request, answer.error)
        elif verdict := judging.verdict_in(answer.text):
            scores = row.scores | {JUDGE: verdict.passes}
            self.row(request.arm).update(scores=scores, reason=verdict.reason, verdict_problem="", ended_at=now)
        else:
            self.row(request.arm).update(**self.problem(UNUSABLE))  # and it is asked again


def vars_of(arm: Arm) -> dict[str, Any]:
    return {"version": arm.version, "model": arm.model}


def _request(case: ContextSnapshot, context: Context | NotAsked) -> NewRequest | str:
    """As Openbook records any, of the thread and the message of the case."""
    if isinstance(context, NotAsked):
        return str(context)
    snapshot = snapshots.draft(context)
    snapshot.purpose, snapshot.round = ContextSnapshot.Purpose.EXPERIMENT, case.round
    snapshot.thread_id, snapshot.user_id, snapshot.message_id = case.thread_id, case.user_id, case.message_id
    snapshot.fallback_for = snapshot.fallback_cause = ""
    return NewRequest(snapshot=snapshot, blocks=snapshots.blocks(context, snapshot), payload=context.payload)


def _figures(snapshot: ContextSnapshot, answer: Answer) -> Figures:
    tokens = prices.tokens_of(snapshot.usage) or prices.Tokens()
    cost = 0 if snapshot.provider in FREE else cost_of(snapshot)
    return {
        "input": tokens.prompt,
        "output": tokens.output,
        "cost": None if cost is None else float(cost),
        "milliseconds": answer.milliseconds,
        "tools": [*answer.tools],
    }
