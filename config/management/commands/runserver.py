"""``manage.py runserver``, with Daphne: Django's own serves neither sockets nor streams. ``manage.py dev`` does more."""

from daphne.management.commands.runserver import Command as DaphneCommand

from config.management.output import PrintableCommand


class Command(PrintableCommand, DaphneCommand):  # type: ignore[misc]  # Daphne is untyped
    pass
