"""`manage.py experiment`: a dataset as several versions of its assistant would have answered it."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.management.output import PrintableCommand
from conversations.datasets import runs
from conversations.datasets.experiments import Experiment as Answer
from conversations.datasets.runs import InvalidVersions
from conversations.models import Dataset, Experiment
from conversations.regression import slices
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    is_patient = True
    help = (
        "Build the requests of a dataset as versions of their assistants would have, and score what each holds. The first "
        "version is what the others are compared with. No model is asked; what comes of it is kept, as a page of the admin."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's --version says its own, as `manage.py version` does.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="its name")
        parser.add_argument(
            "--version", action="append", type=int, required=True, metavar="N", dest="versions", help="once for each"
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; - for the standard output")

    def handle(self, *args: Any, dataset: str, versions: list[int], **options: Any) -> None:
        path: Path | None = options["json"]
        try:
            row = Dataset.objects.filter(name=dataset).first()
            if row is None:
                names = ", ".join(Dataset.objects.values_list("name", flat=True))
                raise CommandError(f"There is no dataset {dataset!r}. There are: {names or 'none'}.")
            experiment = self._run(row, versions)
            answer = runs.answer_of(experiment)
        finally:
            close_pool()
        if path and str(path) == "-":
            self.stdout.write(json.dumps(answer, indent=2))
            return
        if path:
            self.write_file(path, json.dumps(answer, indent=2))
        self._say(answer)

    def _run(self, dataset: Dataset, versions: list[int]) -> Experiment:
        """Here, slice by slice; a worker that takes it up meanwhile goes on with it."""
        try:
            row = runs.start(dataset, versions, author=None)
        except InvalidVersions as error:
            raise CommandError(str(error)) from None
        while row.state == Experiment.State.RUNNING:
            slices.advance(row, runs.ExperimentWork, lambda: False)
            row.refresh_from_db()
            if row.state == Experiment.State.RUNNING:
                self.stderr.write(f"{row.results.count():,} of {row.cases:,}")
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
        for version, scorers in answer["differences"].items():
            for name, each in scorers.items():
                self.stdout.write(
                    f"version {version} beside {answer['totals'][0]['version']}: {name} {100 * each['difference']:+.1f} "
                    f"points (95 % interval {100 * each['low']:+.1f} to {100 * each['high']:+.1f}; p = {each['p']:.3g}; "
                    f"{each['gained']} gained, {each['lost']} lost of {each['cases']})"
                )
