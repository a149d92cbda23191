"""`manage.py forget_again SINCE`: what was forgotten since, after a database was restored by other means than `restore`."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import CommandError

from config.backups import erasure
from config.management.output import PrintableCommand
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = (
        "Forget again what OPENBOOK_ERASURE_LEDGER names, after the database was brought back to a moment by pgBackRest, "
        "barman or the like. Run it before servers and workers are started."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "since", type=moment, metavar="SINCE", help="that moment, such as 2026-11-23T14:05:00+00:00"
        )
        parser.add_argument(
            "--keep",
            type=UUID,
            action="append",
            default=[],
            metavar="ID",
            help="of a conversation, file, turn or note that stays: what the database was brought back for",
        )

    def handle(self, *args: Any, since: datetime, keep: list[UUID], **options: Any) -> None:
        if not settings.OPENBOOK_ERASURE_LEDGER.is_dir():
            raise CommandError(
                f"There is no erasure ledger in {settings.OPENBOOK_ERASURE_LEDGER}. Nothing was forgotten."
            )
        try:
            forgotten = erasure.apply(since=since, but=keep)
        finally:
            close_pool()
        self.stdout.write(f"Forgotten again: {forgotten.total()}.")


def moment(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no time such as 2026-11-23T14:05:00+00:00") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
