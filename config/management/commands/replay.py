"""`manage.py replay`: what a draft of an assistant, another version of it or this release would have given to past requests."""

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from config.management.output import PrintableCommand
from conversations.context.reasons import Reason
from conversations.context.record.assistant_versions import at_version
from conversations.models import Assistant, AssistantVersion
from conversations.regression.conditions import Condition, InvalidCondition, parse
from conversations.regression.lifted_rules import LIFTED
from conversations.regression.replaying import Change, count_of, replay_requests, requests_of
from conversations.regression.report import Report, junit
from conversations.runtime import clock
from conversations.runtime.db import close_pool

UNITS = {"h": "hours", "d": "days", "w": "weeks"}
TOLD_EVERY = 500


def duration(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,5})([hdw])", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is no time: write for example 12h, 7d or 4w")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def condition(text: str) -> Condition:
    try:
        return parse(text)
    except InvalidCondition as error:
        raise ArgumentTypeError(str(error)) from None


class Command(PrintableCommand):
    is_patient = True
    help = (
        "Build past requests of an assistant again, as its draft, another version or this release of the code would have "
        "built them, or without a rule, and compare. No model is asked, nothing is written. Exit 1 where a condition fails."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's --version says its own, as `manage.py version` does.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--assistant", required=True, metavar="SLUG", help="whose requests")
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--draft", action="store_true", help="as its newest draft would have built them")
        which.add_argument("--version", type=int, metavar="N", dest="number", help="as this version would have")
        which.add_argument(
            "--without",
            choices=[rule.value for rule in LIFTED],
            metavar="RULE",
            help="as they would be had it not held",
        )
        parser.add_argument(
            "--since", type=duration, default=timedelta(days=7), metavar="TIME", help="such as 7d; 12h, 4w"
        )
        parser.add_argument("--sample", type=int, metavar="N", help="so many of them at most")
        parser.add_argument(
            "--fail-on", action="append", default=[], type=condition, metavar="RULE", help="such as 'lost.turns > 1 %%'"
        )
        parser.add_argument("--junit", type=Path, metavar="FILE", help="write each condition as a test")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; - for the standard output")

    def handle(self, *args: Any, assistant: str, fail_on: list[Condition], **options: Any) -> None:
        try:
            row = Assistant.objects.filter(slug=assistant).first()
            if row is None:
                slugs = ", ".join(Assistant.objects.values_list("slug", flat=True))
                raise CommandError(f"There is no assistant {assistant!r}. There are: {slugs}.")
            wanted = self._wanted(row, **options)
            now = clock.now()
            asked = {"since": now - options["since"], "until": now, "sample": options["sample"]}
            rule = Reason(options["without"]) if options["without"] else None
            change = Change(assistant=row, wanted=at_version(row, wanted) if wanted else None, rule=rule)
            report = self._replayed(requests_of(row, **asked), count_of(row, **asked), change)
        finally:
            close_pool()
        failed = [each.text for each in fail_on if each.fails(report)]
        answer = json.dumps(report.answer(failed), indent=2)
        if options["junit"]:
            self.write_file(
                options["junit"], junit(assistant, [(each.text, each.why_it_fails(report)) for each in fail_on])
            )
        if options["json"] and str(options["json"]) == "-":
            self.stdout.write(answer)
        else:
            if options["json"]:
                self.write_file(options["json"], answer)
            self._say(report, failed)
        if failed:
            sys.exit(1)

    def _wanted(
        self, assistant: Assistant, *, draft: bool, number: int | None, **options: Any
    ) -> AssistantVersion | None:
        versions = AssistantVersion.objects.filter(assistant=assistant)
        if draft:
            newest = versions.filter(published_at=None).first()
            if newest is None:
                raise CommandError(
                    f"{assistant.name} has no draft. Write one in the admin, or by POST assistants/…/versions/."
                )
            return newest
        if number is None:
            return None
        version = versions.filter(number=number).first()
        if version is None:
            raise CommandError(f"{assistant.name} has no version {number}.")
        return version

    def _replayed(self, ids: Iterable[UUID], count: int, change: Change) -> Report:
        report = Report()
        for done, _ in enumerate(replay_requests(ids, change, report), 1):
            if done % TOLD_EVERY == 0:
                self.stderr.write(f"{done:,} of {count:,}")
        return report

    def _say(self, report: Report, failed: list[str]) -> None:
        answer = report.answer(failed)
        self.stdout.write(
            f"{report.requests:,} requests: {report.identical:,} identical, {report.changed:,} changed, "
            f"{report.not_replayable:,} can't be made again."
        )
        if report.inexact:
            self.stdout.write(f"{report.inexact:,} do not come out as they were sent with their own version.")
        self.stdout.write(f"{report.same_items:,} of the changed hold the same in the same places.")
        for name in ("lost", "gained", "moved"):
            figures = ", ".join(f"{number:,} {kind}" for kind, number in answer[name].items() if number)
            self.stdout.write(f"{name}: {figures or 'nothing'}")
        tokens, cost = answer["tokens"], answer["cost"]
        self.stdout.write(
            f"tokens: {tokens['before']:,} before, {tokens['after']:,} after ({report.tokens.growth:+.1f} %)"
        )
        self.stdout.write(
            f"cost: ${cost['before']:.4f} before, ${cost['after']:.4f} after ({report.cost.growth:+.1f} %)"
        )
        for why, number in answer["why_not_replayable"].items():
            self.stdout.write(f"can't be made again: {number:,} × {why}")
        for each in answer["worst"]:
            self.stdout.write(f"  {each['request']}: {each['lost']} lost, {each['gained']} gained")
        for text in failed:
            self.stdout.write(f"FAILED {text}", self.style.ERROR)
