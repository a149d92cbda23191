"""`manage.py sign_in_link USERNAME`: print a link that signs a superuser in, once, within ten minutes."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.accounts import sign_in_links


class Command(PrintableCommand):
    help = "Print a link that signs this superuser in: for when the provider is away and no password is taken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", metavar="USERNAME")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username, is_active=True, is_superuser=True).first()
        if user is None:
            raise CommandError(f"No active superuser is called {username}. `manage.py createsuperuser` makes one.")
        self.stdout.write(sign_in_links.link_for(user))
