"""`manage.py experiment`: a dataset as several versions of its assistant would have made it, and what models answer to that."""

import json
import time
from argparse import ArgumentParser
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from config.management.output import PrintableCommand
from conversations.datasets import json_lines, runs
from conversations.datasets.arms import InvalidModels
from conversations.datasets.estimates import Plan
from conversations.datasets.experiments import Experiment as Answer
from conversations.datasets.paired import Difference
from conversations.datasets.runs import InvalidVersions, TooCostly
from conversations.datasets.side_by_side import ArmSum
from conversations.models import CaseAnswer, Dataset, Experiment
from conversations.regression import slices
from conversations.runtime.db import close_pool

REST = 0.5
"""Seconds between slices: a worker may be at it, or a model asks to be left alone."""


class Command(PrintableCommand):
    is_patient = True
    help = (
        "Build the requests of a dataset as versions of their assistants would have, and score what each holds. The first "
        "version is what the others are compared with. With --model models answer, too, each version with each model side by "
        "side. What comes of it is kept, as a page of the admin."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's --version says its own, as `manage.py version` does.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="its name")
        parser.add_argument(
            "--version", action="append", type=int, required=True, metavar="N", dest="versions", help="once for each"
        )
        parser.add_argument(
            "--model",
            action="append",
            default=[],
            metavar="MODEL",
            dest="models",
            help="a model that answers, as provider/model, or own for that of each version; once for each",
        )
        parser.add_argument("--judge", default="", metavar="MODEL", help="a model that judges the answers")
        parser.add_argument("--limit", type=int, metavar="N", help="so many cases at most")
        parser.add_argument("--most-cost", type=Decimal, metavar="USD", help="what the models may cost at most")
        parser.add_argument("--user", metavar="NAME", help="of staff, whose limits and budgets pay for the models")
        parser.add_argument(
            "--answers", type=Path, metavar="FILE", help="write the answers as lines of JSON: these are words"
        )
        parser.add_argument("--format", choices=json_lines.FORMATS, default=json_lines.LANGFUSE, dest="shape")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; - for the standard output")

    def handle(self, *args: Any, dataset: str, versions: list[int], **options: Any) -> None:
        path: Path | None = options["json"]
        try:
            row = Dataset.objects.filter(name=dataset).first()
            if row is None:
                names = ", ".join(Dataset.objects.values_list("name", flat=True))
                raise CommandError(f"There is no dataset {dataset!r}. There are: {names or 'none'}.")
            plan = Plan(versions=versions, models=options["models"], judge=options["judge"], limit=options["limit"])
            experiment = self._run(row, plan, options["user"], options["most_cost"])
            answer = runs.answer_of(experiment)
            if options["answers"]:
                written = CaseAnswer.objects.filter(experiment=experiment).order_by("case_id", "id")
                texts = json_lines.answers(written, experiment, options["shape"])
                self.write_file(options["answers"], "".join(f"{text}\n" for text in texts))
        finally:
            close_pool()
        if path and str(path) == "-":
            self.stdout.write(json.dumps(answer, indent=2))
            return
        if path:
            self.write_file(path, json.dumps(answer, indent=2))
        self._say(answer)

    def _run(self, dataset: Dataset, plan: Plan, name: str | None, most_cost: Decimal | None) -> Experiment:
        """Here, slice by slice; a worker that takes it up meanwhile goes on with it."""
        author = User.objects.filter(username=name, is_staff=True).first() if name else None
        if name and author is None:
            raise CommandError(f"There is no member of staff {name!r}.")
        try:
            row = runs.start(dataset, plan, author=author, most_cost=most_cost)
        except (InvalidVersions, InvalidModels, TooCostly) as error:
            raise CommandError(str(error)) from None
        while row.state == Experiment.State.RUNNING:
            slices.advance(row, runs.ExperimentWork, lambda: False)
            row.refresh_from_db()
            if row.state == Experiment.State.RUNNING:
                self.stderr.write(f"{row.results.count():,} of {row.cases:,}")
                time.sleep(REST)
        if row.state != Experiment.State.DONE:
            raise CommandError(f"It was {row.state}. {row.problem}".strip())
        return row

    def _say(self, answer: Answer) -> None:
        made = [case for case in answer["cases"] if case["results"]]
        self.stdout.write(f"{len(answer['cases']):,} cases, {len(made):,} made again.")
        for case in answer["cases"]:
            if case["problem"]:
                self.stdout.write(f"  {case['request']}: {case['problem']}")
        for total in answer["totals"]:
            passed = ", ".join(f"{name} {number:,}" for name, number in total["passed"].items())
            self.stdout.write(
                f"version {total['version']}: passed {passed or 'nothing'}; {total['tokens']:,} tokens, "
                f"${total['cost']:.4f}, {total['milliseconds']:,} ms"
            )
        for arm in answer.get("answers", ()):
            self._say_arm(arm)
        for version, scorers in answer["differences"].items():
            for name, each in scorers.items():
                self.stdout.write(f"version {version} beside {answer['totals'][0]['version']}: {name} {_points(each)}")

    def _say_arm(self, arm: ArmSum) -> None:
        passed = ", ".join(
            f"{name} {arm['passed'][name]:,} of {count:,}" for name, count in arm["scored"].items() if count
        )
        cost = f"${arm['cost']:.4f}" + ("" if arm["is_cost_known"] else " and what has no known price")
        self.stdout.write(
            f"version {arm['version']} with {arm['model']}: {arm['answered']:,} answered, {arm['unanswered']:,} not; passed "
            f"{passed or 'nothing'}; {cost}, {arm['milliseconds']:,.0f} ms in the median"
        )
        for name, told in arm["differences"].items():
            self.stdout.write(f"  beside the first: {name} {_points(told)}")


def _points(told: Difference) -> str:
    return (
        f"{100 * told['difference']:+.1f} points (95 % interval {100 * told['low']:+.1f} to {100 * told['high']:+.1f}; "
        f"p = {told['p']:.3g}; {told['gained']} gained, {told['lost']} lost of {told['cases']})"
    )
