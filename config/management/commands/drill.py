"""`manage.py drill DIR`: prove that a backup can be restored, in a scratch database that goes afterwards."""

import json
import os
import secrets
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from config.backups import runs
from config.management.output import PrintableCommand
from config.postgres import embedded
from conversations.files import storage
from conversations.runtime.db import close_pool

# The scratch installation is no other's replica, and its files lie in a folder.
OWN = ("DATABASE_URL", "OPENBOOK_REPLICA_URL", "OPENBOOK_FILES_S3_BUCKET", "OPENBOOK_FILES_DIR")


class Command(PrintableCommand):
    help = (
        "Restore a backup into a scratch database on the same server and a scratch folder, rebuild random recorded requests "
        "byte for byte, and remove it all again. Exit status 1: the backup is no good."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--requests", type=int, default=200, metavar="N", help="how many to prove (default: 200)")
        parser.add_argument("--json", action="store_true", dest="as_json", help="one object instead of words")

    def handle(self, *args: Any, folder: Path, requests: int, as_json: bool, **options: Any) -> None:
        name = f"drill-{secrets.token_hex(6)}"
        try:
            with runs.recorded(runs.KIND.DRILL) as details:
                with storage.scratch(name) as files, scratch_database(name.replace("-", "_")) as url:
                    details.update(restored(folder.absolute(), url, files, requests))
                if details["different"]:
                    raise CommandError(
                        f"{details['different']} of {requests} recorded requests come out otherwise than they were sent: "
                        "the backup is no good."
                    )
        finally:
            close_pool()
        self.stdout.write(
            json.dumps(details)
            if as_json
            else f"{folder} can be restored: {details['rows']:,} rows, {details['files']:,} files; {details['proven']:,} "
            f"requests proven byte for byte, {details['not_rebuildable']:,} rest on what was deleted since."
        )


def restored(folder: Path, url: str, files: Path, requests: int) -> dict[str, Any]:
    """What a restore in a process of its own tells. Raises ``CommandError`` with its words."""
    own = {f"{name}{end}" for name in OWN for end in ("", "_FILE")}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    environment |= {
        "DATABASE_URL": url,
        "OPENBOOK_FILES_DIR": str(files),
        "OPENBOOK_ERASURE_LEDGER": str(settings.OPENBOOK_ERASURE_LEDGER),
    }
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "restore", str(folder), "--prove", str(requests)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise CommandError(done.stderr.strip().removeprefix("CommandError: "))
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@contextmanager
def scratch_database(name: str) -> Iterator[str]:
    """Its address. It goes at the end."""
    url, owner = settings.DATABASE_URL, ""
    if settings.DATABASE_IS_EMBEDDED:  # whose role owns its database alone
        folder = settings.LOCAL_DIR / "postgres"
        url, owner = embedded.url(folder, role=embedded.SUPERUSER, database="postgres"), f" OWNER {embedded.ROLE}"
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as administration:
        try:
            administration.execute(f'CREATE DATABASE "{name}"{owner}')
        except InsufficientPrivilege:
            raise CommandError(
                f"The role of DATABASE_URL may not make a scratch database: ALTER ROLE {administration.info.user} CREATEDB, "
                "or run `restore` by hand into a database that is empty."
            ) from None
        try:
            yield make_conninfo(settings.DATABASE_URL, dbname=name)
        finally:
            administration.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
