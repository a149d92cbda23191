"""The requests of a dataset as several versions of its assistants would have made them. Reads only."""

import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import NotRequired, TypedDict

from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.record.assistant_versions import assistant_then, at_version
from conversations.context.record.request_record import NotReplayable, Record, record_of
from conversations.datasets.expectations import EVIDENCE, SCORERS, Given, evidence_of, scores
from conversations.datasets.paired import Difference, difference
from conversations.datasets.side_by_side import ArmSum
from conversations.models import Assistant, AssistantVersion, Case, ContextSnapshot, Message
from conversations.providers.price_list import price_list
from conversations.providers.prices import PriceList
from conversations.regression.outcomes import held_by
from conversations.regression.replaying import cost_of, demand_sources, remaking
from conversations.regression.settings_at import settings_at
from conversations.runtime.text import texts_in
from conversations.runtime.values import dataclass


class VersionResult(TypedDict):
    """``cost`` in USD of the prompt without a cache, ``None`` where no price is known; ``milliseconds`` to build it."""

    version: int
    scores: Mapping[str, bool]
    tokens: int
    cost: float | None
    milliseconds: float


class CaseResult(TypedDict):
    """``problem`` says why the request can't be made again; then there are no results."""

    request: str
    problem: str
    results: list[VersionResult]


class Total(TypedDict):
    version: int
    passed: Mapping[str, int]
    tokens: int
    cost: float
    milliseconds: float


class Experiment(TypedDict):
    """``differences`` are of each further version beside the first, by the version and the scorer. ``answers`` are there where
    models were asked, by version and model."""

    dataset: str
    cases: list[CaseResult]
    totals: list[Total]
    differences: Mapping[str, Mapping[str, Difference]]
    answers: NotRequired[list[ArmSum]]


@dataclass(frozen=True, kw_only=True)
class Run:
    versions: Sequence[int]
    known: PriceList


def run(cases: Sequence[Case], versions: Sequence[int]) -> Iterator[CaseResult]:
    """Each case once it is done."""
    asked = Run(versions=versions, known=price_list())
    for case in cases:
        snapshot = ContextSnapshot.objects.select_related("thread__assistant").filter(id=case.request_id).first()
        result: CaseResult = {"request": str(case.request_id), "problem": "", "results": []}
        try:
            if snapshot is None:
                raise NotReplayable("It has been deleted since.")
            with remaking():
                result["results"] = _results(case, record_of(snapshot), asked)
        except NotReplayable as error:
            result["problem"] = str(error)
        yield result


def experiment(dataset: str, results: list[CaseResult], versions: Sequence[int]) -> Experiment:
    """Pure."""
    each = [[result["results"][place] for result in results if result["results"]] for place in range(len(versions))]
    return {
        "dataset": dataset,
        "cases": results,
        "totals": [_total(version, part) for version, part in zip(versions, each, strict=True)],
        "differences": {
            str(version): _differences(each[0], part) for version, part in zip(versions[1:], each[1:], strict=True)
        },
    }


def _results(case: Case, record: Record, asked: Run) -> list[VersionResult]:
    then = assistant_then(record.snapshot, record.thread.assistant)
    own = replay.build(record, record.settings)
    searched = own.material.beside if own.material else None
    turns = _positions(case)
    results: list[VersionResult] = []
    for number in asked.versions:
        settings = settings_at(record, then, _at(then, number))
        started = time.perf_counter()
        context = replay.build(record, settings, searched)
        milliseconds = 1000 * (time.perf_counter() - started)
        demand_sources(context, record)
        tokens = context.model_tokens
        cost = cost_of(context.provider, context.model, tokens, record, asked.known)
        results.append(
            {
                "version": number,
                "scores": scores({name: getattr(case, name) for name in SCORERS}, _given(context, turns)),
                "tokens": tokens,
                "cost": None if cost is None else float(cost),
                "milliseconds": round(milliseconds, 1),
            }
        )
    return results


def _at(then: Assistant, number: int) -> Assistant:
    version = AssistantVersion.objects.filter(assistant=then.pk, number=number).first()
    if version is None:
        raise NotReplayable(f"{then.name} has no version {number}.")
    return at_version(then, version)


def _given(context: Context, turns: Mapping[str, int]) -> Given:
    return Given(held=held_by(context), text="\n".join(texts_in(context.payload)), turns=turns)


def _positions(case: Case) -> dict[str, int]:
    ids = [uuid.UUID(each.id) for each in evidence_of(getattr(case, EVIDENCE)) if each.kind == "turn"]
    found = Message.objects.filter(thread=case.thread_id, id__in=ids).values_list("id", "position") if ids else ()
    return {str(id): position for id, position in found}


def _total(version: int, results: Sequence[VersionResult]) -> Total:
    passed: dict[str, int] = defaultdict(int)
    for name, passes in chain.from_iterable(result["scores"].items() for result in results):
        passed[name] += passes
    cost = sum((Decimal(str(result["cost"] or 0)) for result in results), Decimal(0))
    return {
        "version": version,
        "passed": dict(passed),
        "tokens": sum(result["tokens"] for result in results),
        "cost": float(cost),
        "milliseconds": round(sum(result["milliseconds"] for result in results), 1),
    }


def _differences(first: Sequence[VersionResult], other: Sequence[VersionResult]) -> dict[str, Difference]:
    pairs = [(before["scores"], after["scores"]) for before, after in zip(first, other, strict=True)]
    names = [name for name in SCORERS if any(name in before for before, _ in pairs)]
    return {
        name: difference((before[name], after[name]) for before, after in pairs if name in before) for name in names
    }
