"""`manage.py restore DIR`: a backup into an empty installation, with what was forgotten since forgotten again."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from config.backups import manifest
from config.backups.manifest import BackupError
from config.backups.proving import prove
from config.backups.restore import restore
from config.management.commands.backup import ProgressLine, backup_key
from config.management.output import PrintableCommand
from conversations.models import Connection
from conversations.models.connections import PURPOSE
from conversations.runtime.db import close_pool
from conversations.runtime.encryption import NotDecryptable, decrypt


class Command(PrintableCommand):
    help = (
        "Put a backup into an empty database and an empty folder of files. What OPENBOOK_ERASURE_LEDGER names is forgotten "
        "again before anything is served."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument(
            "--prove", type=int, default=0, metavar="N", help="rebuild so many recorded requests, and tell as JSON"
        )

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        progress = ProgressLine(sys.stderr)
        try:
            key = backup_key()
            made = manifest.read(folder, key)
            forgotten = restore(folder, made, key=key, progress=progress)
            unreadable = keys_unreadable()
            proof = prove(options["prove"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        finally:
            progress.clear()
            close_pool()
        self.stdout.write(
            f"Restored as of {made.snapshot_at:%Y-%m-%d %H:%M:%S} UTC: {made.rows:,} rows, {made.files_count:,} files; "
            f"forgotten again: {forgotten.total()}. Everybody has to sign in again."
        )
        if options["prove"]:
            counts = {"rows": made.rows, "files": made.files_count, "forgotten": forgotten.total()}
            self.stdout.write(json.dumps(counts | asdict(proof)))
        if not settings.OPENBOOK_ERASURE_LEDGER.is_dir():
            self.stderr.write(
                f"There is no erasure ledger in {settings.OPENBOOK_ERASURE_LEDGER}: what was forgotten since the backup is "
                "here again. If there is one elsewhere, name it in OPENBOOK_ERASURE_LEDGER and restore into an empty place."
            )
        if unreadable:
            self.stderr.write(
                f"Keys of {unreadable} connections were stored with another SECRET_KEY: name that in SECRET_KEY_FALLBACKS, "
                "or enter them again."
            )


def keys_unreadable() -> int:
    count = 0
    for secrets in Connection.objects.exclude(secrets=b"").values_list("secrets", flat=True):
        try:
            decrypt(bytes(secrets), purpose=PURPOSE)
        except NotDecryptable:
            count += 1
    return count
