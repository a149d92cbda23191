"""`manage.py configuration`: the configuration of the installation as one file. Secrets are named, never written."""

from typing import Any

from config.installation import document
from config.management.output import PrintableCommand
from conversations.runtime.db import close_pool


class Command(PrintableCommand):
    help = (
        "Print what staff configure here as YAML: groups and what they may use, models, connections, assistants, presets, "
        "prompts, checks, retention, sign-in. Of secrets it names the variables that are to hold them. "
        "`manage.py configure` applies it."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(document.written(document.current()), ending="")
        finally:
            close_pool()
