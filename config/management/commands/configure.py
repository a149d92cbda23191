"""`manage.py configure FILE`: make the installation what the file says, or show how it differs."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config.installation import applying, document
from config.installation.document import InvalidConfiguration
from config.management.output import PrintableCommand
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = (
        "Apply a file as `manage.py configuration` prints it, all of it or nothing. Settings and rows that it does not name "
        "stay as they are. The values of secrets are read from the variables and files that it names."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="YAML or JSON; - for the standard input")
        parser.add_argument("--dry-run", action="store_true", help="only show what would change")
        parser.add_argument(
            "--delete", action="store_true", help="delete rows that it does not name, in the sections that it has"
        )

    def handle(self, *args: Any, file: str, dry_run: bool, delete: bool, **options: Any) -> None:
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
            changes = applying.apply(document.read(text), deletes=delete, dry_run=dry_run)
        except OSError as error:
            raise CommandError(f"{file} can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is no text in UTF-8.") from error
        except InvalidConfiguration as error:
            problems = "\n".join(f"  {each}" for each in error.problems)
            raise CommandError(f"Nothing was changed:\n{problems}") from error
        finally:
            close_pool()
        for change in changes:
            for line in change.lines():
                self.stdout.write(line)
        count = f"{len(changes)} {'change' if len(changes) == 1 else 'changes'}"
        self.stdout.write(f"{count}{', none of them made' if dry_run and changes else ''}.")
