"""`manage.py dataset`: requests into a dataset, by id or as lines of JSON, and out again."""

import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.datasets import json_lines
from conversations.datasets.cases import add_cases
from conversations.models import Case, Dataset
from conversations.runtime import clock
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = "Add requests to a dataset, which is made where there is none, or write it as lines of JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="its name")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--add", nargs="+", type=uuid.UUID, metavar="REQUEST", help="the ids of model requests")
        what.add_argument("--import", type=Path, dest="source", metavar="FILE", help="lines of Langfuse or Phoenix")
        what.add_argument("--export", type=Path, dest="target", metavar="FILE", help="- for the standard output")
        parser.add_argument("--format", choices=json_lines.FORMATS, default=json_lines.LANGFUSE, dest="shape")

    def handle(self, *args: Any, dataset: str, **options: Any) -> None:
        try:
            if options["target"]:
                self._export(dataset, options["target"], options["shape"])
            else:
                self._add(dataset, options["add"], options["source"])
        finally:
            close_pool()

    def _export(self, name: str, target: Path, shape: str) -> None:
        row = Dataset.objects.filter(name=name).first()
        if row is None:
            raise CommandError(f"There is no dataset {name!r}.")
        text = "\n".join(json_lines.lines(Case.objects.filter(dataset=row), name, shape))
        if str(target) == "-":
            self.stdout.write(text)
            return
        self.write_file(target, f"{text}\n")

    def _add(self, name: str, ids: list[uuid.UUID] | None, source: Path | None) -> None:
        try:
            texts = source.read_text("utf-8").splitlines() if source else []
            expected = json_lines.read(texts) if source else {id: {} for id in ids or ()}
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{source} can't be read: {error}") from None
        except json_lines.InvalidLine as error:
            raise CommandError(str(error)) from None
        row, _ = Dataset.objects.get_or_create(name=name, defaults={"created_at": clock.now()})
        added = add_cases(row, expected)
        self.stdout.write(f"{added:,} added; {row.cases.count():,} cases.")
