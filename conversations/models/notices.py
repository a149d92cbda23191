"""What staff tell people: notices to be accepted before use, and banners above pages."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Notice(models.Model):
    """A text that everybody has to accept before they go on. Ask through ``conversations.accounts.notices``.

    ``version`` is empty while it is a draft. Once published it is never changed, as people have accepted it as it is.
    """

    title = models.CharField(max_length=120, help_text="What stands above it.")
    text = models.TextField(
        max_length=20_000, help_text="Plain text. An empty line begins a new paragraph; web addresses become links."
    )
    version = models.PositiveIntegerField(null=True, unique=True, editable=False)
    published_at = models.DateTimeField(null=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(version=None, published_at=None, withdrawn_at=None)
                | Q(version__isnull=False, published_at__isnull=False),
                name="notice_published_whole",
            )
        ]

    def __str__(self) -> str:
        return self.title


class NoticeAcceptance(models.Model):
    """Who accepted which version of the notice, and when."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    version = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["user", "version"], name="notice_accepted_once")]

    def __str__(self) -> str:
        return f"acceptance of version {self.version}"


class Banner(models.Model):
    """A line above the pages of whoever is signed in, for a time. Ask through ``conversations.accounts.banners``."""

    class Level(models.TextChoices):
        INFORMATION = "information", "information"
        WARNING = "warning", "warning"

    class Audience(models.TextChoices):
        EVERYBODY = "everybody", "everybody"
        STAFF = "staff", "staff"

    text = models.CharField(max_length=300, help_text="Plain text, of a sentence or two.")
    level = models.CharField(max_length=11, choices=Level, default=Level.INFORMATION)
    audience = models.CharField("for", max_length=9, choices=Audience, default=Audience.EVERYBODY)
    starts_at = models.DateTimeField("from")
    ends_at = models.DateTimeField("until", null=True, blank=True, help_text="Empty: until it is deleted.")
    is_dismissable = models.BooleanField(
        "can be dismissed",
        default=True,
        help_text="In the browser where that is done. Once it is changed it is shown there again.",
    )
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        ordering = ["starts_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ends_at=None) | Q(ends_at__gt=F("starts_at")), name="banner_ends_after_it_starts"
            )
        ]

    def __str__(self) -> str:
        return self.text[:60]
