"""`manage.py deactivate USERNAME…`: shut these accounts, and end all that they have open, within seconds."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.accounts.deactivation import deactivate


class Command(PrintableCommand):
    help = "Shut these accounts: sessions, sockets, streams, tokens and running replies end. What they have stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("usernames", nargs="+", metavar="USERNAME")

    def handle(self, *args: Any, usernames: list[str], **options: Any) -> None:
        people = {user.get_username(): user for user in User.objects.filter(username__in=usernames)}
        if unknown := [name for name in usernames if name not in people]:
            raise CommandError(f"Nobody here is called {' or '.join(unknown)}. Nothing was done.")
        for name, user in people.items():
            self.stdout.write(f"{name}: {'deactivated' if deactivate(user) else 'was not active'}.")
