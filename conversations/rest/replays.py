"""Replays of past requests and experiments on datasets, for staff's programs: begun, followed and cancelled."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, NotRequired, TypedDict

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.datasets import arms, runs
from conversations.datasets.estimates import MOST_CASES, Plan
from conversations.errors import RowNotFound
from conversations.models import AssistantVersion, Dataset, Experiment, Replay, Scope
from conversations.regression import replays
from conversations.regression.conditions import InvalidCondition
from conversations.regression.lifted_rules import LIFTED
from conversations.regression.report import Report
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.rest.staff_rows import plain
from conversations.runtime import clock
from conversations.runtime.shapes import Id, Slug, Time, fill
from conversations.staff import rows

MOST_DAYS = 3_650


class NewReplay(TypedDict):
    assistant: Annotated[Slug, "Whose requests are made again."]
    version: NotRequired[
        Annotated[
            int | None,
            {"min_value": 1},
            "Number of the version that is tried. Null or left out: this release of Openbook.",
        ]
    ]
    rule: Annotated[
        str,
        {"default": "", "max_length": 20, "allow_blank": True},
        "A rule of choosing that is lifted, in place of a version, such as `over_budget`. Empty: none.",
    ]
    days: Annotated[int, {"default": 7, "min_value": 1, "max_value": MOST_DAYS}, "On requests of the last days."]
    sample: NotRequired[
        Annotated[int | None, {"min_value": 1, "max_value": 2**31 - 1}, "So many of them at most. Null: all."]
    ]
    conditions: Annotated[
        list[str],
        {"default": [], "max_length": 20},
        "Under which it fails, such as `lost.turns > 1 %` or `cost > 5 %`.",
    ]


class RunAnswer(TypedDict):
    id: Annotated[Id, "Id of the run."]
    state: Annotated[str, Replay.State, "How it stands."]
    author: Annotated[str | None, "User name of who began it; null: not known."]
    problem: Annotated[str, "Where the code failed, if it did."]
    created_at: Annotated[Time, "When it was begun."]
    ended_at: Annotated[Time | None, "When it ended; null: it runs."]
    done: Annotated[int, "How many of them are made."]


class ReplayAnswer(RunAnswer):
    """Ids and figures, never a text."""

    assistant: Annotated[Slug, "Whose requests are made again."]
    version: Annotated[int | None, "Number of the version that is tried; null: this release."]
    rule: Annotated[str, "The rule of choosing that is lifted; empty: none."]
    since: Annotated[Time, "Of requests that were made from then on."]
    sample: Annotated[int | None, "So many of them at most; null: all."]
    conditions: Annotated[list[str], "Under which it fails."]
    requests: Annotated[int, "How many there are."]
    failed: Annotated[list[str], "The conditions that it fails by, so far."]
    report: Annotated[dict[str, Any], "The figures so far, as `manage.py replay --json` writes them."]


class NewExperiment(TypedDict):
    dataset: Annotated[str, {"max_length": 100}, "Name of the dataset."]
    versions: Annotated[
        list[Annotated[int, {"max_value": 2**31 - 1}]],
        {"allow_empty": False, "max_length": runs.MOST_VERSIONS},
        "Numbers of versions. The others are compared with the first.",
    ]
    models: Annotated[
        list[Annotated[str, {"max_length": 160}]],
        {"default": [], "max_length": arms.MOST},
        "Models that answer, as `provider/model`, or `own` for that of each version. Empty: none is asked.",
    ]
    judge: Annotated[str, {"default": "", "max_length": 160}, "The model that judges answers, as `provider/model`."]
    limit: NotRequired[
        Annotated[int | None, {"min_value": 1, "max_value": MOST_CASES}, "So many cases at most. Null: all."]
    ]
    most_cost: NotRequired[
        Annotated[
            float | None,
            {"min_value": 0, "max_value": 1_000_000},
            "USD that the models may cost, which has to be said. Where the estimate is more, 400 tells it.",
        ]
    ]


class ExperimentAnswer(RunAnswer):
    dataset: Annotated[str, "Name of the dataset."]
    versions: Annotated[list[int], "Their numbers."]
    models: Annotated[list[str], "That answer; empty: no model is asked."]
    judge: Annotated[str, "The model that judges; may be empty."]
    most_cost: Annotated[float | None, "USD that the models may cost; null: no model is asked."]
    cases: Annotated[int, "How many there are."]


class ExperimentResult(ExperimentAnswer):
    result: Annotated[
        dict[str, Any],
        "`cases`, `totals`, `differences` and, where models answer, `answers` so far, without a text, as "
        "`manage.py experiment --json` writes them.",
    ]


class ReplayList(APIView):
    scopes = dict.fromkeys(("GET", "POST"), Scope.STAFF_REPLAYS)
    pagination_class = ordered_by("-id")

    @describe(responses=described(ReplayAnswer, many=True))
    def get(self, request: Request) -> Response:
        """For staff who may see replays of requests, newest first. A token needs `staff:replays`."""
        return self.page(request, _replays(request), lambda page: [replay_object(each) for each in page])

    @describe(request=described(NewReplay), responses={201: described(ReplayAnswer)})
    def post(self, request: Request) -> Response:
        """Have past requests of an assistant made again as a version, or this release, would make them. Workers do it: read
        the replay to follow it. No model is asked."""
        rows.demand_add(plain(request), Replay)
        fields = valid(NewReplay, request)
        assistant = threads.assistant_known(fields["assistant"])
        version, number = None, fields.get("version")
        if number is not None:
            version = AssistantVersion.objects.filter(assistant=assistant, number=number).first()
            if version is None:
                raise ValidationError({"version": ["The assistant has no such version."]})
        rule = next((rule for rule in LIFTED if rule.value == fields["rule"]), None)
        if rule is None and fields["rule"]:
            raise ValidationError({"rule": [f"There is no such rule. There are: {', '.join(LIFTED)}."]})
        if rule and version:
            raise ValidationError({"rule": ["Either a version is tried or a rule is lifted."]})
        try:
            row = replays.start(
                assistant,
                version,
                rule=rule,
                since=clock.now() - timedelta(days=fields["days"]),
                sample=fields.get("sample"),
                conditions=fields["conditions"],
                author=caller(request),
            )
        except InvalidCondition as error:
            raise ValidationError({"conditions": [str(error)]}) from error
        return Response(replay_object(row), status=201)


class ReplayDetail(APIView):
    scopes = {"GET": Scope.STAFF_REPLAYS}

    @describe(responses=described(ReplayAnswer))
    def get(self, request: Request, run_id: str) -> Response:
        """One replay: how far it is, and its figures so far."""
        return Response(replay_object(threads.row_with_id(_replays(request), run_id, RowNotFound)))


class ReplayCancel(APIView):
    scopes = {"POST": Scope.STAFF_REPLAYS}

    @describe(request=None, responses=described(ReplayAnswer))
    def post(self, request: Request, run_id: str) -> Response:
        """End it: what was made so far stays. Nothing happens to one that has ended."""
        row = threads.row_with_id(_replays(request), run_id, RowNotFound)
        rows.demand_add(plain(request), Replay)
        replays.cancel(row.pk)
        return Response(replay_object(threads.row_with_id(_replays(request), run_id, RowNotFound)))


class ExperimentList(APIView):
    scopes = dict.fromkeys(("GET", "POST"), Scope.STAFF_CONTENT)
    pagination_class = ordered_by("-id")

    @describe(responses=described(ExperimentAnswer, many=True))
    def get(self, request: Request) -> Response:
        """For staff who may see experiments and read content, as these tell whether a context holds a text; newest first. A
        token needs `staff:content`."""
        return self.page(request, _experiments(request), lambda page: [experiment_object(each) for each in page])

    @describe(request=described(NewExperiment), responses={201: described(ExperimentAnswer)})
    def post(self, request: Request) -> Response:
        """Have the requests of a dataset scored as versions of an assistant would make them. Workers do it: read the experiment
        to follow it. Where models are named, they answer each of them, for which the caller's limits and budgets pay."""
        rows.demand_add(plain(request), Experiment)
        fields = valid(NewExperiment, request)
        plan = Plan(
            versions=fields["versions"], models=fields["models"], judge=fields["judge"], limit=fields.get("limit")
        )
        most = fields.get("most_cost")
        dataset = Dataset.objects.filter(name=fields["dataset"]).first()
        if dataset is None:
            raise ValidationError({"dataset": ["There is no dataset of this name."]})
        try:
            row = runs.start(
                dataset, plan, author=caller(request), most_cost=None if most is None else Decimal(str(most))
            )
        except runs.InvalidVersions as error:
            raise ValidationError({"versions": [str(error)]}) from error
        except arms.InvalidModels as error:
            raise ValidationError({"models": [str(error)]}) from error
        except runs.TooCostly as error:
            raise ValidationError({"most_cost": [str(error)]}) from error
        return Response(experiment_object(_experiments(request).get(pk=row.pk)), status=201)


class ExperimentDetail(APIView):
    scopes = {"GET": Scope.STAFF_CONTENT}

    @describe(responses=described(ExperimentResult))
    def get(self, request: Request, run_id: str) -> Response:
        """One experiment: how far it is, and what came of its cases so far."""
        row = threads.row_with_id(_experiments(request), run_id, RowNotFound)
        return Response({**experiment_object(row), "result": {**runs.answer_of(row)}})


class ExperimentCancel(APIView):
    scopes = {"POST": Scope.STAFF_CONTENT}

    @describe(request=None, responses=described(ExperimentAnswer))
    def post(self, request: Request, run_id: str) -> Response:
        """End it: what was scored so far stays. Nothing happens to one that has ended."""
        row = threads.row_with_id(_experiments(request), run_id, RowNotFound)
        rows.demand_add(plain(request), Experiment)
        runs.cancel(row.pk)
        return Response(experiment_object(threads.row_with_id(_experiments(request), run_id, RowNotFound)))


def replay_object(row: Replay) -> ReplayAnswer:
    report = Report.of(row.figures)
    failed = replays.failed(row, report)
    return fill(
        ReplayAnswer,
        row,
        author=_name(row),
        done=report.requests,
        assistant=row.assistant.slug,
        version=row.version.number if row.version else None,
        failed=failed,
        report={**report.answer(failed)},
    )


def experiment_object(row: Any) -> ExperimentAnswer:
    most = None if row.most_cost is None else float(row.most_cost)
    return fill(
        ExperimentAnswer, row, author=_name(row), dataset=row.dataset.name, models=row.model_names, most_cost=most
    )


def _name(row: Replay | Experiment) -> str | None:
    return row.author.get_username() if row.author else None


def _replays(request: Request) -> QuerySet[Replay]:
    return rows.seen(plain(request), Replay).select_related("assistant", "version", "author")


def _experiments(request: Request) -> QuerySet[Experiment]:
    """With how many cases are ``done``."""
    return rows.seen(plain(request), Experiment).select_related("dataset", "author")
