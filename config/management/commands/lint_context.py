"""`manage.py lint_context`: what of the requests of the last thirty days is paid for and of no use."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from config.management.output import PrintableCommand
from conversations.linter import findings, lint
from conversations.runtime import clock
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    is_patient = True
    help = (
        "Look through the requests of the last thirty days for what costs tokens and is of no use, as workers do each night, "
        "and keep what is found for the admin. No model is asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings; - for the standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path | None = options["json"]
        try:
            lint.lint(clock.now())
            found = [findings.finding_object(row) for row in findings.present()]
        finally:
            close_pool()
        if path and str(path) == "-":
            self.stdout.write(json.dumps(found, indent=2))
            return
        if path:
            self.write_file(path, json.dumps(found, indent=2))
        for each in found:
            self.stdout.write(line_of(each))
        if not found:
            self.stdout.write("Nothing was found.")


def line_of(finding: findings.FindingAnswer) -> str:
    name = f"{finding['finding']} ({finding['subject']})" if finding["subject"] else finding["finding"]
    cost = "" if finding["cost_month"] is None else f", ${finding['cost_month']:.2f}"
    return (
        f"{finding['assistant']}: {name}: {finding['count']:,} times, {finding['tokens_month']:,} tokens a month{cost}; "
        f"{finding['state']}; mended by {finding['setting']}; such as {finding['example']}"
    )
