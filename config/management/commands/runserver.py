"""``manage.py runserver``, with Daphne: Django's own serves neither sockets nor streams. ``manage.py dev`` does more."""

from daphne.management.commands.runserver import Command

__all__ = ["Command"]
