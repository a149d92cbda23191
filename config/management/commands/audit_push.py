"""`manage.py audit_push`: how far audit events have been pushed, and from where they are to be pushed again."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.audit import delivery
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = (
        "Say up to where audit events have been pushed to each destination. Workers push them; with --again they begin anew "
        "behind a number."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", choices=["http", "syslog"], help="let this destination begin anew")
        parser.add_argument(
            "--after", type=int, default=0, metavar="NUMBER", help="behind this event; 0: with the oldest"
        )

    def handle(self, *args: Any, again: str | None, after: int, **options: Any) -> None:
        try:
            if again:
                self._begin_anew(again, after)
            statuses = delivery.status()
        finally:
            close_pool()
        if not statuses:
            self.stdout.write(
                "Events are pushed nowhere: OPENBOOK_AUDIT_PUSH_URL and OPENBOOK_AUDIT_SYSLOG are not set."
            )
        for each in statuses:
            self.stdout.write(
                f"{each.destination} ({each.place}): delivered up to {each.number}, {each.waiting:,} wait, "
                f"the oldest for {each.behind:,.0f} s."
            )
            if each.problem:
                self.stdout.write(
                    f"  {each.failures:,} attempts failed since {each.failed_since:%Y-%m-%d %H:%M} UTC: {each.problem}"
                )

    def _begin_anew(self, name: str, after: int) -> None:
        if name not in {each.name for each in delivery.destinations()}:
            raise CommandError(f"Events are not pushed by {name}.")
        if after < 0:
            raise CommandError("--after is the number of an event, or 0.")
        delivery.send_again(name, after)
