"""`manage.py backup DIR`: a consistent copy of the database and of the files."""

import os
import secrets
import sys
from argparse import ArgumentParser
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

from django.conf import settings
from django.core.management.base import CommandError

from config.backups import runs
from config.backups.backup import back_up
from config.backups.manifest import BackupError
from config.backups.sealing import SHORTEST_KEY
from config.management.output import NICENESS, PrintableCommand
from conversations.runtime.db import close_pool

SHOWN_EVERY = 0.2


@dataclass
class ProgressLine:
    """One line of a terminal that is written anew; nothing where it is none."""

    output: TextIO
    total: int = 0
    shown_at: float = field(default=0.0)

    def __call__(self, what: str, count: int) -> None:
        self.total += count
        if self.output.isatty() and monotonic() - self.shown_at > SHOWN_EVERY:
            self.shown_at = monotonic()
            self.output.write(f"\r\033[K{self.total / 1e6:,.0f} MB · {what}")
            self.output.flush()

    def clear(self) -> None:
        if self.output.isatty():
            self.output.write("\r\033[K")


class Command(PrintableCommand):
    help = (
        "Write a consistent copy of the database and of all files into a new folder, while everything runs. It is encrypted "
        "where OPENBOOK_BACKUP_KEY is set. Keep SECRET_KEY with it: keys of connections are encrypted with that."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, nargs="?", help="new, or empty")
        parser.add_argument(
            "--rate",
            type=float,
            default=20,
            metavar="MB",
            help="read at most so much a second; 0: no limit (default: 20)",
        )
        parser.add_argument("--primary", action="store_true", help="read from the primary though there is a replica")
        parser.add_argument(
            "--new-key", action="store_true", help="print a key for OPENBOOK_BACKUP_KEY, and do nothing"
        )

    def handle(
        self, *args: Any, folder: Path | None, rate: float, primary: bool, new_key: bool, **options: Any
    ) -> None:
        if new_key:
            self.stdout.write(secrets.token_urlsafe(SHORTEST_KEY))
            return
        if folder is None:
            raise CommandError("Name a folder that is new: python manage.py backup DIR")
        key, progress = backup_key(), ProgressLine(sys.stderr)
        os.nice(NICENESS)
        try:
            with runs.recorded(runs.KIND.BACKUP) as details:
                made = back_up(
                    folder.absolute(),
                    key=key,
                    bytes_a_second=rate * 1e6,
                    replica=bool(settings.OPENBOOK_REPLICA_URL) and not primary,
                    progress=progress,
                )
                details.update(rows=made.rows, bytes=made.bytes, files=made.files_count, encrypted=made.encrypted)
        except BackupError as error:
            raise CommandError(str(error)) from error
        finally:
            progress.clear()
            close_pool()
        self.stdout.write(
            f"{folder}: {made.rows:,} rows of {len(made.tables)} tables and {made.files_count:,} files, "
            f"{made.bytes / 1e6:,.1f} MB, {'encrypted' if made.encrypted else 'not encrypted'}, "
            f"as of {made.snapshot_at:%Y-%m-%d %H:%M:%S} UTC."
        )


def backup_key() -> str:
    key: str = settings.OPENBOOK_BACKUP_KEY
    if key and len(key) < SHORTEST_KEY:
        raise CommandError(
            "OPENBOOK_BACKUP_KEY is too short to be a key: python manage.py backup --new-key prints one."
        )
    return key
