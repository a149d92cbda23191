"""`manage.py work`: do what is to be done beside the replies – files, consolidation, retention – until a signal ends it."""

from argparse import ArgumentParser
from typing import Any

from django.tasks import DEFAULT_TASK_QUEUE_NAME

from config.management.output import PrintableCommand
from config.observability import telemetry
from config.worker import loop
from conversations.runtime.db import close_pool
from conversations.tasks import FILES


class Command(PrintableCommand):
    help = "Work through tasks. Any number of workers, on any number of machines, share them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--attached", action="store_true", help="end when the standard input does, as a child of serve"
        )

        parser.add_argument(
            "--queue",
            choices=[DEFAULT_TASK_QUEUE_NAME, FILES, loop.EVERY_QUEUE],
            default=loop.EVERY_QUEUE,
            help=f"take tasks of this queue only: {FILES} reads what people upload (default: all)",
        )

    def handle(self, *args: Any, attached: bool, queue: str, **options: Any) -> None:
        if attached:
            loop.end_with_standard_input()
        telemetry.begin()
        try:
            loop.work(queue, waits_for_schema=not attached)
        finally:
            telemetry.end()
            close_pool()
