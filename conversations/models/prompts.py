"""Texts to write messages with: a person's own, and those that staff wrote for everybody."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.runtime.ids import uuid7

NAME_CHARS, TEXT_CHARS = 100, 10_000


class PromptText(models.Model):
    """``text`` may hold variables such as ``{{topic}}``, which a person is asked for."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=NAME_CHARS)
    text = models.TextField(
        max_length=TEXT_CHARS, help_text="With variables such as {{topic}}, which people are asked for."
    )
    created_at = models.DateTimeField(editable=False)
    updated_at = models.DateTimeField(editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"prompt {self.id}"


class Prompt(PromptText):
    """A person's own. Ask for it through ``conversations.threads.prompts``, which knows whose it is."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="prompts", db_index=False)

    class Meta:
        indexes = [models.Index(fields=["user", "name", "id"], name="prompt_list")]
        constraints = [models.CheckConstraint(condition=~Q(name="") & ~Q(text=""), name="prompt_says_something")]


class SharedPrompt(PromptText):
    """Of the installation: staff write it, everybody uses it."""

    is_active = models.BooleanField(default=True, help_text="Off: it is offered to nobody.")

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.CheckConstraint(condition=~Q(name="") & ~Q(text=""), name="shared_prompt_says_something")]

    def __str__(self) -> str:
        return self.name
