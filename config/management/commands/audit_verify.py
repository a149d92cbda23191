"""`manage.py audit_verify`: whether the audit record is what was written. Exit 1 where it is not."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.audit import chain
from conversations.audit.chain import Head
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = (
        "Read the audit record from its beginning and work out each digest again. Exits with 1 and names the first event "
        "that was changed, removed, inserted or moved."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--head",
            action="store_true",
            help="print the head alone, NUMBER:DIGEST, once the record has been verified: keep it where nobody who "
            "administers this installation can change it",
        )
        parser.add_argument(
            "--expect",
            type=kept_head,
            metavar="NUMBER:DIGEST",
            help="a head that was kept: fails as well where the record was cut or written anew since",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="an object instead of words")

    def handle(self, *args: Any, head: bool, expect: Head | None, as_json: bool, **options: Any) -> None:
        try:
            verdict = chain.verify(expected=expect)
        finally:
            close_pool()
        if as_json:
            self.stdout.write(
                json.dumps(
                    {
                        "ok": not verdict.problem,
                        "problem": verdict.problem,
                        "first": verdict.first,
                        "head": str(verdict.head),
                        "verified": verdict.checked,
                        "unsealed": verdict.unsealed,
                    }
                )
            )
        elif head and not verdict.problem:
            self.stdout.write(str(verdict.head))
        elif not verdict.problem:
            self.stdout.write(
                f"The audit record is whole: {verdict.checked:,} events from {verdict.first} to {verdict.head.number}; "
                f"{verdict.unsealed:,} wait to be sealed.\nHead: {verdict.head}"
            )
        if verdict.problem:
            raise CommandError(f"The audit record does not hold: {verdict.problem}. Verified up to {verdict.head}.")


def kept_head(text: str) -> Head:
    try:
        return Head.parse(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no head such as 12:{'0' * 63}…") from None
