"""`manage.py make_token USERNAME --scopes scim`: print a new token, once."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import CommandError
from django.db import transaction

from config.management.output import PrintableCommand
from conversations.accounts import networks, service_accounts, tokens
from conversations.accounts.groups import DIRECTORY
from conversations.accounts.scopes import grantable
from conversations.models import Scope
from conversations.models.tokens import default_scopes


class Command(PrintableCommand):
    help = "Print a new token of this user. Nobody can show it a second time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", metavar="USERNAME")
        parser.add_argument("--scopes", nargs="+", choices=Scope.values, default=default_scopes(), metavar="SCOPE")
        parser.add_argument("--name", default="manage.py", help="what it is recognised by in lists")
        parser.add_argument("--days", type=int, help="how long it works; by default as long as the server allows")
        parser.add_argument("--from", nargs="+", default=[], dest="addresses", metavar="NETWORK", help="from where")
        parser.add_argument(
            "--service",
            metavar="PURPOSE",
            help="make USERNAME, which must be new, a service account for this; with the scope `scim` in the group "
            f"“{DIRECTORY}”",
        )

    def handle(self, *args: Any, username: str, service: str | None, **options: Any) -> None:
        with transaction.atomic():
            user = self._made(username, service, options["scopes"]) if service else self._known(username)
            if beyond := [scope for scope in options["scopes"] if scope not in grantable(user)]:
                raise CommandError(
                    f"{username} has not the right that the scope `{beyond[0]}` takes. Nothing was done."
                )
            try:
                addresses = networks.normalized(options["addresses"])
            except networks.NotANetwork as error:
                raise CommandError(str(error)) from None
            token = tokens.issue(
                user=user,
                name=options["name"],
                scopes=options["scopes"],
                days=options["days"],
                addresses=addresses,
            )
        self.stdout.write(token)

    def _known(self, username: str) -> User:
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise CommandError(f"Nobody active here is called {username}. With --service PURPOSE an account is made.")
        return user

    def _made(self, username: str, purpose: str, scopes: list[str]) -> User:
        if User.objects.filter(username__iexact=username).exists():
            raise CommandError(f"Somebody is called {username} already. Leave out --service, or take another name.")
        groups = Group.objects.filter(name=DIRECTORY) if Scope.SCIM in scopes else Group.objects.none()
        return service_accounts.make(username=username, purpose=purpose, groups=list(groups))
