"""`python -m tests.upgrades.linting [MIGRATION ...]`: what the release before could not bear in these migrations, or in those
that this database lacks.

Prints a JSON object: by migration, what is wrong with it.
"""

import io
import json
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django  # noqa: PLC0415

    django.setup()
    print(json.dumps(problems(sys.argv[1:])))  # noqa: T201


NEW = ("mfa.", "socialaccount.")
"""Apps of which the last release has no table. Some of their migrations can't be shown before those before them were run."""


def problems(migrations: list[str]) -> dict[str, list[str]]:
    from django.core.management import call_command  # noqa: PLC0415
    from django_migration_linter.sql_analyser.analyser import analyse_sql_statements, get_sql_analyser_class  # noqa: PLC0415

    from config.postgres.migrations import unapplied  # noqa: PLC0415

    rules, broken = get_sql_analyser_class("postgresql"), dict[str, list[str]]()
    for name in migrations or (each for each in unapplied() if not each.startswith(NEW)):
        statements = call_command("sqlmigrate", *name.split("."), stdout=io.StringIO()).splitlines()
        errors, _, warnings = analyse_sql_statements(rules, statements)
        if errors or warnings:
            broken[name] = sorted({error.message for error in [*errors, *warnings]})
    return broken


if __name__ == "__main__":
    main()
