"""`manage.py staff_networks [ADDRESS…]`: from where staff may work, and whether these addresses are there.

To be asked before a server starts with new networks, and by whoever is kept out: `OPENBOOK_STAFF_NETWORKS` and a restart let
them in again.
"""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from config.management.output import PrintableCommand
from conversations.accounts import networks, staff_networks


class Command(PrintableCommand):
    help = "Say from which networks staff may work, and whether these addresses are in them. Exits with 1 where one is not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="*", metavar="ADDRESS")

    def handle(self, *args: Any, addresses: list[str], **options: Any) -> None:
        for address in addresses:
            if not networks.contain(["0.0.0.0/0", "::/0"], address):
                raise CommandError(f"{address!r} is no address. Write one such as 192.0.2.7 or 2001:db8::7.")
        allowed = ", ".join(map(str, settings.OPENBOOK_STAFF_NETWORKS))
        self.stdout.write(f"Staff work from {allowed}." if allowed else "Staff work from anywhere.")
        for address in addresses:
            self.stdout.write(f"{address}: {'yes' if staff_networks.hold(address) else 'no'}")
        if outside := [address for address in addresses if not staff_networks.hold(address)]:
            raise CommandError(f"Staff can't work from {', '.join(outside)}. Set OPENBOOK_STAFF_NETWORKS and restart.")
