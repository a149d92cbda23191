"""`manage.py translations`: the catalogues are compiled, brought up to date with the code, or checked."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from config.languages import catalogues, check, extraction
from config.management.output import PrintableCommand


class Command(PrintableCommand):
    help = "Compile the translations, bring the catalogues up to date with the code, or check them."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["compile", "update", "check"])
        parser.add_argument("--allow-missing", action="store_true", help="Check those alone that there are.")

    def handle(self, *args: Any, action: str, allow_missing: bool, **options: Any) -> None:
        match action:
            case "compile":
                catalogues.compile_stale()
            case "update":
                self.update()
            case _:
                problems = list(check.problems(allow_missing=allow_missing))
                if problems:
                    raise CommandError("\n".join([*problems, f"{len(problems)} problems with translations."]))

    def update(self) -> None:
        templates = {domain: extraction.extracted(domain) for domain in catalogues.DOMAINS}
        for source in catalogues.sources():
            catalog = source.read()
            catalog.update(templates[source.domain], no_fuzzy_matching=True)
            source.write(catalog)
            waiting = sum(1 for message in catalog if message.id and not catalogues.is_translated(message))
            self.stdout.write(f"{source.language}/{source.domain}: {len(catalog)} texts, {waiting} to translate")
        catalogues.compile_stale()
