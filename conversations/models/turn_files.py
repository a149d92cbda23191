from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from conversations.models.indexes import UNCHECKED


class TurnFile(models.Model):
    """What of a file stands in a user turn: chosen when the turn was first sent, and the same in each later request that holds
    the turn. It goes with the file."""

    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    position = models.PositiveIntegerField(help_text="Of the turn.")
    place = models.PositiveSmallIntegerField(help_text="Among the files of the turn.")
    file = models.ForeignKey("conversations.File", models.DB_CASCADE, related_name="turns")
    numbers = ArrayField(models.PositiveIntegerField(), help_text="Of the parts.")
    outlined = models.BooleanField(help_text="With a list of all parts.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["thread", "position", "file"], name="turn_file_once")]

    def __str__(self) -> str:
        return f"file {self.file_id} in turn {self.position}"
