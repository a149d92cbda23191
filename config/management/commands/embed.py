"""`manage.py embed`: make ready for recall by meaning, and give all turns that are stored by now their points."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memory.index import embed_turns


class Command(BaseCommand):
    help = "After OPENBOOK_EMBEDDINGS was switched on: what was said before is found by its meaning too."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.OPENBOOK_EMBEDDINGS:
            raise CommandError("Set OPENBOOK_EMBEDDINGS=on first.")
        if problem := embed_turns.prepare():
            raise CommandError(f"{problem} {embed_turns.REMEDY}")
        for user_id in embed_turns.users():
            if turns := embed_turns.catch_up(user_id):
                self.stdout.write(f"User {user_id}: {turns} turns.")
