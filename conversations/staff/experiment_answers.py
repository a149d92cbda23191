"""What models answered in an experiment, side by side: in sum, by case, and the words of one case. Without a reason the words
are masked; figures and scores are for all who see experiments."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from conversations.datasets import runs, side_by_side
from conversations.datasets.answer_scorers import COLUMNS, SCORERS
from conversations.datasets.arms import OWN, arms_of
from conversations.datasets.paired import Difference, MedianDifference
from conversations.datasets.side_by_side import ArmSum
from conversations.models import Case, CaseAnswer, ContextSnapshot, Experiment
from conversations.runtime.wording import filled
from conversations.staff import display

MOST_CASES = 200
FEW = 20
"""Cases below which a page says that they are few."""
LABELS = {
    "answer_contains": gettext_noop("Contains"),
    "answer_patterns": gettext_noop("Patterns"),
    "answer_schema": gettext_noop("JSON Schema"),
    "judge": gettext_noop("Judge"),
}
EXPECTED = {name: LABELS[name] for name in COLUMNS if name in LABELS} | {
    "answer": gettext_noop("A good answer"),
    "criterion": gettext_noop("What the judge is asked"),
}


@dataclass(frozen=True, kw_only=True)
class ArmScore:
    """How many answers pass a scorer, and by how much that differs from the first."""

    label: str
    passed: int
    cases: int
    difference: str = ""
    interval: str = ""
    is_clear: bool = True
    """Whether the interval leaves out that there is no difference."""


@dataclass(frozen=True, kw_only=True)
class ArmRow:
    version: int
    model: str
    answered: int
    unanswered: int
    scores: Sequence[ArmScore]
    cost: str
    cost_difference: str
    took: str
    time_difference: str


@dataclass(frozen=True, kw_only=True)
class CaseCell:
    """What one version with one model came to in a case: how many of its scorers pass."""

    words: str
    cost: str = ""
    took: str = ""


@dataclass(frozen=True, kw_only=True)
class CaseLine:
    request: UUID
    url: str
    cells: Sequence[CaseCell]


@dataclass(frozen=True, kw_only=True)
class AnswersPage:
    arms: Sequence[ArmRow]
    lines: Sequence[CaseLine]
    more: int
    doubts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class AnswerCard:
    """``text``, ``reason`` and ``problems`` are empty where they are masked."""

    version: int
    model: str
    text: str
    stop_reason: str
    tools: Sequence[str]
    scores: Sequence[tuple[str, bool]]
    reason: str
    problems: Sequence[str]
    input: int
    output: int
    cost: str
    took: str
    request: str
    verdict_request: str


def page_of(row: Experiment) -> AnswersPage:
    answers = runs.answers_of(row)
    told = side_by_side.sums(answers, arms_of(row.versions, row.model_names))
    by_case: dict[UUID, dict[tuple[int, str], CaseAnswer]] = {}
    for answer in answers:
        by_case.setdefault(answer.case_id, {})[answer.version, answer.model] = answer
    arms = [(arm["version"], arm["model"]) for arm in told]
    ordered = sorted(by_case.items(), key=lambda entry: not _differs([*entry[1].values()]))
    shown = ordered[:MOST_CASES]
    requests = dict(Case.objects.filter(pk__in=[id for id, _ in shown]).values_list("pk", "request_id"))
    return AnswersPage(
        arms=[_arm(arm) for arm in told],
        lines=[
            CaseLine(
                request=requests[id],
                url=reverse("admin:conversations_experiment_case", args=[row.pk, id]),
                cells=[_cell(cells.get(arm)) for arm in arms],
            )
            for id, cells in shown
        ],
        more=len(ordered) - len(shown),
        doubts=[*_doubts(told)],
    )


def model_label(name: str) -> str:
    return gettext("its own model") if name == OWN else name


def cards(row: Experiment, case: Case, *, shown: bool) -> list[AnswerCard]:
    answers = {
        (answer.version, answer.model): answer for answer in CaseAnswer.objects.filter(experiment=row, case=case)
    }
    arms = [(version, model) for version in row.versions for model in row.model_names]
    return [_card(answers[arm], shown=shown) for arm in arms if arm in answers]


def expected_of(case: Case) -> list[tuple[str, str]]:
    return [(gettext(label), text) for name, label in EXPECTED.items() if (text := getattr(case, name))]


def _arm(arm: ArmSum) -> ArmRow:
    cost = _money(arm["cost"])
    return ArmRow(
        version=arm["version"],
        model=model_label(arm["model"]),
        answered=arm["answered"],
        unanswered=arm["unanswered"],
        scores=[
            _score(name, arm["passed"][name], cases, arm["differences"].get(name))
            for name, cases in arm["scored"].items()
            if cases
        ],
        cost=cost if arm["is_cost_known"] else filled("{cost}, and what has no known price", cost=cost),
        cost_difference=_median(arm["cost_difference"], _money),
        took=display.milliseconds(arm["milliseconds"]),
        time_difference=_median(arm["time_difference"], display.milliseconds),
    )


def _score(name: str, passed: int, cases: int, told: Difference | None) -> ArmScore:
    row = ArmScore(label=gettext(LABELS[name]), passed=passed, cases=cases)
    if told is None:
        return row
    middle, interval = in_points(told)
    is_clear = told["low"] > 0 or told["high"] < 0
    return replace(row, difference=middle, interval=interval, is_clear=is_clear)


def in_points(told: Difference) -> tuple[str, str]:
    """The difference, and its interval with what was gained and lost."""
    low, middle, high = (f"{100 * told[part]:+.1f}".replace("-", "−") for part in ("low", "difference", "high"))
    interval = filled(
        "{low} to {high}; {gained} gained, {lost} lost",
        low=low, high=high, gained=told["gained"], lost=told["lost"],
    )  # fmt: skip
    return middle, interval


def _median(told: MedianDifference | None, shown: Callable[[float], str]) -> str:
    if told is None:
        return ""
    if told["low"] is None or told["high"] is None:
        return gettext("too few cases to tell")
    low, middle, high = (_signed(told[part] or 0.0, shown) for part in ("low", "median", "high"))
    return filled("{middle} ({low} to {high})", middle=middle, low=low, high=high)


def _signed(value: float, shown: Callable[[float], str]) -> str:
    return ("−" if value < 0 else "+") + shown(abs(value))


def _money(usd: float) -> str:
    return display.money(Decimal(str(usd)))


def _doubts(told: Sequence[ArmSum]) -> Iterator[str]:
    """What keeps the figures from telling which is better."""
    if len(told) > 1 and (fewest := min(arm["answered"] for arm in told)) < FEW:
        yield filled("Few cases: with {count} of each, only large differences show.", count=fewest)
    unclear = [each for arm in told[1:] for each in arm["differences"].values() if each["low"] <= 0 <= each["high"]]
    if unclear:
        yield gettext("Where an interval holds 0, these cases do not tell which is better.")
    if len(told) > 2:
        yield gettext("Of many comparisons some look clear by chance: one in twenty where nothing differs.")
    if any(arm["unanswered"] for arm in told):
        yield gettext("What was not answered counts in no difference.")


def _differs(answers: Sequence[CaseAnswer]) -> bool:
    return any(answer.scores != answers[0].scores for answer in answers)


def _cell(answer: CaseAnswer | None) -> CaseCell:
    if answer is None:
        return CaseCell(words=gettext("waits"))
    if answer.answered_at is None:
        return CaseCell(words=gettext("no answer") if answer.ended_at else gettext("is asked"))
    passed = filled("{done} of {count}", done=sum(answer.scores.values()), count=len(answer.scores))
    cost = side_by_side.cost_of(answer)
    return CaseCell(
        words=passed if answer.scores else gettext("answered"),
        cost=display.NOTHING if cost is None else _money(cost),
        took=display.milliseconds(answer.figures["milliseconds"]),
    )


def _card(answer: CaseAnswer, *, shown: bool) -> AnswerCard:
    cost = side_by_side.cost_of(answer) if answer.answered_at else None
    problems = [words for words in (answer.problem, answer.verdict_problem) if words]
    return AnswerCard(
        version=answer.version,
        model=model_label(answer.model),
        text=answer.text if shown else "",
        stop_reason=display.stop_reason(answer.stop_reason),
        tools=answer.figures.get("tools", []),
        scores=[(gettext(LABELS[name]), answer.scores[name]) for name in SCORERS if name in answer.scores],
        reason=answer.reason if shown else "",
        problems=problems if shown else [gettext("no answer")] if answer.problem else [],
        input=answer.figures.get("input", 0),
        output=answer.figures.get("output", 0),
        cost=display.NOTHING if cost is None else _money(cost),
        took=display.milliseconds(answer.figures.get("milliseconds")),
        request=_page(answer.request_id),
        verdict_request=_page(answer.verdict_request_id),
    )


def _page(request: UUID | None) -> str:
    there = request and ContextSnapshot.objects.filter(pk=request).exists()
    return reverse("admin:conversations_contextsnapshot_change", args=[request]) if there else ""
