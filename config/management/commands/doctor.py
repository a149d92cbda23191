"""`manage.py doctor`: say what is wrong with this installation, and what to do. Changes nothing, sends nothing."""

import json
import logging
import os
import shutil
import sys
import textwrap
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from config.doctor.checklist import GROUPS, wanted
from config.doctor.examination import examine
from config.doctor.findings import Result, Status, is_well, wrong
from config.management.output import PrintableCommand
from config.postgres import embedded
from conversations.runtime.db import close_pool
from conversations.runtime.wording import filled, lazy

SIGNS = {Status.OK: lazy("ok"), Status.WARNING: lazy("warning"), Status.WRONG: lazy("WRONG"), Status.SKIPPED: "-"}
NAME_COLUMNS, SIGN_COLUMNS, MOST_COLUMNS = 17, 10, 110


class Command(PrintableCommand):
    help = "Say what is wrong with this installation, and what to do. Exit code 1 where something is wrong."
    requires_system_checks: list[str] = []  # they are one of the checks

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("groups", nargs="*", metavar="GROUP", choices=[*GROUPS, []], help=f"of {', '.join(GROUPS)}")
        parser.add_argument("--json", action="store_true", help="for programs")
        parser.add_argument("--strict", action="store_true", help="exit code 1 for warnings, too")
        parser.add_argument("--servers", type=int, default=1, help="how many `serve` share the database (default: 1)")

    def handle(self, *args: Any, **options: Any) -> None:
        """In the language of the process, for programs in English."""
        with translation.override("en" if options["json"] else process_language()):
            self.examine(**options)

    def examine(self, *, groups: list[str], strict: bool, servers: int, **options: Any) -> None:
        results: list[Result] = []
        with quiet(), database() as problem:
            for result in examine(wanted(groups, servers=servers)):
                if problem and result.check == "reachable":
                    advice = gettext("Repair what it names: docs/operate/database-down.md.")
                    result = Result(group=result.group, check=result.check, findings=[wrong(problem, advice)])
                results.append(result)
                if not options["json"]:
                    self.show(result)
            close_pool()
        if options["json"]:
            told = [row for result in results for row in result.rows()]
            self.stdout.write(json.dumps({"well": is_well(results, strict=strict), "checks": told}, indent=2))
        else:
            self.stdout.write(f"\n{summary(results)}")
        if not is_well(results, strict=strict):
            sys.exit(1)

    def show(self, result: Result) -> None:
        styles = {Status.OK: self.style.SUCCESS, Status.WARNING: self.style.WARNING, Status.WRONG: self.style.ERROR}
        width = min(shutil.get_terminal_size().columns, MOST_COLUMNS) - NAME_COLUMNS - SIGN_COLUMNS
        for finding in result.findings:
            first, *rest = textwrap.wrap(finding.words, max(width, 20)) or [""]
            advice = textwrap.wrap(finding.advice, max(width - 3, 20))
            self.stdout.write(str(SIGNS[finding.status]).ljust(SIGN_COLUMNS), styles.get(finding.status), ending="")
            self.stdout.write(f"{result.check:{NAME_COLUMNS}}{first}")
            for line in (*rest, *(f"{'   ' if number else '-> '}{line}" for number, line in enumerate(advice))):
                self.stdout.write(" " * (NAME_COLUMNS + SIGN_COLUMNS) + line)
        self.stdout.flush()


def summary(results: list[Result]) -> str:
    statuses = [finding.status for result in results for finding in result.findings]
    wrongs, warnings, skips = (statuses.count(each) for each in (Status.WRONG, Status.WARNING, Status.SKIPPED))
    if not (wrongs or warnings or skips):
        return gettext("All is well.")
    return filled(
        "{wrongs} wrong, {warnings} to look at, {skips} not looked at.", wrongs=wrongs, warnings=warnings, skips=skips
    )


def process_language() -> str:
    """That of the environment, English where there is none or no translation into it."""
    locale = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    try:
        return translation.get_supported_language_variant(locale.partition(".")[0].replace("_", "-").lower())
    except LookupError:
        return settings.LANGUAGE_CODE


@contextmanager
def quiet() -> Iterator[None]:
    """Without the log's lines of what the checks meet, which they tell themselves."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def database() -> Iterator[str]:
    """The embedded one runs meanwhile, where it is ours; gives why it can't."""
    if not settings.DATABASE_IS_EMBEDDED:
        yield ""
        return
    held = embedded.running(settings.LOCAL_DIR / "postgres")
    try:
        held.__enter__()
    except (embedded.EmbeddedPostgresError, OSError) as error:
        yield str(error).splitlines()[0]
        return
    try:
        yield ""
    finally:
        held.__exit__(None, None, None)
