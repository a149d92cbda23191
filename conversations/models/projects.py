from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

LONGEST_INSTRUCTIONS = 1_500
"""Characters of each field of instructions."""


class Project(models.Model):
    """A folder of a person's: threads and files that belong together, with a memory of their own. Ask for it through
    ``conversations.threads.projects``, which knows whose it is."""

    class Colour(models.TextChoices):
        GREY = "grey"
        RED = "red"
        ORANGE = "orange"
        YELLOW = "yellow"
        GREEN = "green"
        TEAL = "teal"
        BLUE = "blue"
        PURPLE = "purple"
        PINK = "pink"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="projects", db_index=False)
    name = models.CharField(max_length=100)
    colour = models.CharField(max_length=6, choices=Colour, default=Colour.GREY)
    instructions = models.TextField(blank=True, help_text="What its person wants of every answer in its threads.")
    assistant = models.ForeignKey(
        "conversations.Assistant",
        models.DB_SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="That its new threads are opened with; empty: the default one.",
    )
    model = models.CharField(
        max_length=121,
        blank=True,
        default="",
        help_text="That its new threads are opened with, as provider/name. Empty: the assistant's own.",
    )
    presets = ArrayField(
        models.SlugField(),
        default=list,
        blank=True,
        help_text="Presets that its threads offer beside those of their assistants.",
    )
    uses_outside_memory = models.BooleanField(
        default=False, help_text="Its threads are given what is remembered outside of it."
    )
    shares_memory = models.BooleanField(
        default=False, help_text="What is remembered in it is given to threads outside of it."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "name", "id"], name="project_list")]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="project_has_a_name"),
        ]

    def __str__(self) -> str:
        return filled("project {id}", id=str(self.id))


class Instructions(models.Model):
    """What a person wants each model to know and do in all threads. Without a row there is nothing."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")
    about = models.TextField(blank=True, help_text="About the person, in their own words.")
    style = models.TextField(blank=True, help_text="How they want to be answered.")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "instructions"

    def __str__(self) -> str:
        return f"instructions of {self.user_id}"
