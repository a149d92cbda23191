"""`manage.py demo`: a believable month of two people and a support case, to look at."""

import secrets
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from config.demo.clock import Clock
from config.demo.player import Player, scripted_model
from config.demo.screenplay import read
from config.demo.support_case import Addresses, addresses, look_into
from config.management.commands.chat import engine, quiet_log
from config.management.output import PrintableCommand
from conversations.models import Thread
from conversations.threads import deletion

MARK = "demo.invalid"
"""The domain of the addresses of the demo's own people: by it they are told from others of the same name."""
PEOPLE = ("marta", "jonas")
SUPPORT, SUPPORT_GROUP = "support", "Support lead"
DAYS = timedelta(days=31)


class Command(PrintableCommand):
    help = "Fill this installation with a month of two people who don't exist, and a support case."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--again", action="store_true", help="remove the demo's own people first")
        parser.add_argument("--yes", action="store_true", help="also where others have threads")

    def handle(self, *args: Any, again: bool, yes: bool, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        check(again=again, yes=yes)
        for user in of_the_demo():
            deletion.delete_user(user)
        until = timezone.now()
        passwords = {name: secrets.token_urlsafe(9) for name in (*PEOPLE, SUPPORT)}
        people = {name: make_user(name, password, until - DAYS) for name, password in passwords.items()}
        people[SUPPORT].groups.set(Group.objects.filter(name=SUPPORT_GROUP))
        clock = Clock(until - DAYS)
        with quiet_log(), engine() as runner, scripted_model(clock) as model, clock.in_place():
            player = Player(runner, clock, model, until)
            player.play({people[name]: read(name) for name in PEOPLE})
            look_into(people[PEOPLE[0]], staff=people[SUPPORT], clock=clock, thread=player.threads["garden"])
        self.tell(passwords, addresses(player.threads["garden"]))

    def tell(self, passwords: dict[str, str], places: Addresses) -> None:
        self.stdout.write("Sign in as (these passwords are shown this once):")
        for name, password in passwords.items():
            self.stdout.write(f"  {name:<8} {password}")
        self.stdout.write("Worth a look:")
        for who, what, path in places:
            self.stdout.write(f"  http://127.0.0.1:{settings.PORT}{path}  {what}, as {who}")


def check(*, again: bool, yes: bool) -> None:
    """Raises ``CommandError`` where nothing may be done."""
    own = of_the_demo()
    if taken := User.objects.filter(username__in=(*PEOPLE, SUPPORT)).exclude(id__in=[user.id for user in own]).first():
        raise CommandError(f"Somebody else here is called {taken}. Nothing was done.")
    if own and not again:
        raise CommandError("The demo is here already. With --again its people are removed and made anew.")
    if Thread.objects.exclude(user__in=own).exists() and not yes:
        raise CommandError("Others have threads here. With --yes the demo is put beside them. Nothing was done.")


def of_the_demo() -> list[User]:
    return list(User.objects.filter(username__in=(*PEOPLE, SUPPORT), email__endswith=f"@{MARK}"))


def make_user(name: str, password: str, joined: datetime) -> User:
    """Those of the demo are known by their addresses."""
    return User.objects.create_user(
        name, f"{name}@{MARK}", password, is_staff=name == SUPPORT, date_joined=joined, first_name=name.capitalize()
    )
