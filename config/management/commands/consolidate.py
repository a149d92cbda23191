"""`manage.py consolidate USERNAME…`: turn what these people said into notes and summaries now, however recent it is."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.providers import ProviderError
from memory.consolidation.consolidate import consolidate
from memory.models import Consolidation, Memory, Preferences


class Command(PrintableCommand):
    help = "Turn what these people said into notes and summaries now. A worker does it once nothing is said for ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("usernames", nargs="+", metavar="USERNAME")

    def handle(self, *args: Any, usernames: list[str], **options: Any) -> None:
        people = {user.get_username(): user for user in User.objects.filter(username__in=usernames)}
        unknown = [name for name in usernames if name not in people]
        if unknown:
            raise CommandError(f"Nobody here is called {' or '.join(unknown)}. Nothing was done.")
        failures = [problem for name in dict.fromkeys(usernames) if (problem := self._consolidate(people[name]))]
        if failures:
            raise CommandError(" ".join(failures))

    def _consolidate(self, user: User) -> str:
        """What went wrong, in words."""
        name = user.get_username()
        if Preferences.objects.filter(user=user, remembers=False).exists():
            self.stdout.write(f"{name}: memory is switched off, so nothing is noted.")
            return ""
        Consolidation.objects.filter(user=user).update(not_before=None)
        try:
            parts = consolidate(user.pk, waits=True)
        except ProviderError as error:
            return f"{name}: the model can't be asked now ({error.code}). A worker tries again; what was done stays."
        notes = Memory.objects.filter(user=user).count()
        self.stdout.write(
            f"{name}: {parts} part{'s' * (parts != 1)} of conversations consolidated, {notes} note{'s' * (notes != 1)} in all."
        )
        return ""
