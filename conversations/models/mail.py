from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

PURPOSE = "mail"
"""Of the encryption of what a mail is filled with."""


class OutgoingMail(models.Model):
    """A mail that is not sent yet, or that could not be. Its text is written when it is sent. The row goes once a mail server
    has taken it.

    ``user`` is whom it is about; ``language`` that of the page that asked for it; ``content`` is what the text is filled with,
    encrypted. ``due_at`` is empty once it was given up. ``problem`` is why the last attempt failed: no text of a mail.
    """

    class Kind(models.TextChoices):
        PASSWORD_RESET = "password_reset", "new password"
        CONFIRMATION = "confirmation", "address to confirm"
        NOTICE = "notice", "notice of a change"
        INVITATION = "invitation", "invitation"
        SIGN_UP = "sign_up", "sign-up"
        PLAIN = "plain", "warning"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=40, choices=Kind)
    recipient = models.CharField(max_length=254)
    language = models.CharField(max_length=10, blank=True)
    content = models.BinaryField(help_text="What the text is filled with, encrypted.")
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    problem = models.CharField(max_length=100, blank=True)

    class Meta:
        verbose_name = "outgoing mail"
        verbose_name_plural = "outgoing mails"
        default_permissions = ("view", "change")
        indexes = [models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="outgoing_mail_due")]

    def __str__(self) -> str:
        return filled("mail {id}", id=str(self.id))
