from django.conf import settings
from django.db import models

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class ContentAccess(models.Model):
    """That a member of staff was shown what a person wrote or was told. Written before it is shown, and never changed.

    It names people and things by their ids and holds nothing of the content, so that it can outlive both.
    """

    class Action(models.TextChoices):
        READ = "read", "read"
        EXPORT = "export", "downloaded"
        WATCH = "watch", "watched as it was written"
        SIGN_IN = "signin", "could sign in as them"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    staff = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    staff_name = models.CharField(max_length=150, help_text="The user name at that time.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, related_name="content_accesses", help_text="Whose content it was.", **UNCHECKED
    )
    action = models.CharField(max_length=6, choices=Action)
    what = models.CharField(max_length=40, help_text="What kind of page or file it was.")
    object_id = models.CharField(max_length=40)
    thread_id = models.UUIDField(null=True, help_text="The thread that it belongs to, if to one.")
    reason = models.CharField(max_length=300)
    request_id = models.CharField(max_length=64)

    class Meta:
        verbose_name = "access to content"
        verbose_name_plural = "accesses to content"
        default_permissions = ("view",)
        permissions = [
            ("read_content", "Can read what people wrote and were told, for a stated reason"),
            ("export_content", "Can download it, for a stated reason"),
        ]
        indexes = [models.Index(fields=["user", "id"], name="access_by_user")]

    def __str__(self) -> str:
        return filled("access {id}", id=str(self.id))
