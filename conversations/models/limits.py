from django.conf import settings
from django.db import models
from django.db.models import F, Q


class UserLimits(models.Model):
    """What one user may use, where it differs from the settings. Empty: as in the settings; 0: no limit."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="limits")
    requests_minute = models.PositiveIntegerField(null=True, blank=True, verbose_name="requests a minute")
    running_replies = models.PositiveIntegerField(null=True, blank=True, verbose_name="replies running at once")
    tokens_day = models.PositiveBigIntegerField(null=True, blank=True, verbose_name="tokens a day (UTC)")
    files_mb = models.PositiveIntegerField(null=True, blank=True, verbose_name="MB of files kept")

    class Meta:
        verbose_name = verbose_name_plural = "limits"

    def __str__(self) -> str:
        return f"limits of {self.user_id}"


class TokenReservation(models.Model):
    """Tokens of a user's day that are set aside for one call of a model beside replies, and what it took once it has ended.

    A process that dies leaves it without an end: past ``expires_at`` it counts no more.
    """

    class Purpose(models.TextChoices):
        NOTES = "notes", "notes of a conversation"
        TITLE = "title", "title of a conversation"
        TRIAL = "trial", "trial of a connection"
        MODERATION = "moderation", "check by a moderation model"
        EXPERIMENT = "experiment", "answers in an experiment, and verdicts on them"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    purpose = models.CharField(max_length=10, choices=Purpose)
    reserved = models.PositiveBigIntegerField()
    spent = models.PositiveBigIntegerField(null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["user", "created_at"], name="reservation_of_user")]

    def __str__(self) -> str:
        return f"{self.purpose}: {self.reserved} tokens of {self.user_id}"


class Allowance(models.Model):
    """What a user has used today (UTC) and what is set aside for replies and other calls that run: one row decides.

    A token with limits of its own has a row as well, for its part of what its user uses. A sum of the rows of replies and
    reservations, and made anew from them where it is missing: the table is unlogged. The ``most_*`` are the limits as the
    latest call to begin met them; a constraint refuses one that would go beyond.

    A request is built of what was there before its reply is stored: ``forgettings`` tells whether that may be gone meanwhile.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    token = models.ForeignKey("conversations.ApiToken", models.DB_CASCADE, null=True, related_name="+", db_index=False)
    day = models.DateField()
    running = models.PositiveIntegerField(default=0)
    reserved = models.PositiveBigIntegerField(default=0)
    spent = models.PositiveBigIntegerField(default=0)
    most_running = models.PositiveIntegerField(null=True)
    most_tokens = models.PositiveBigIntegerField(null=True)
    forgettings = models.IntegerField(
        default=0,
        db_default=0,
        help_text="How often something of the user's was forgotten, cleared or deleted; -1 fails a reply that knows less.",
    )

    class Meta:
        indexes = [
            models.Index(fields=["token"], name="allowance_of_token", condition=Q(token__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["user", "token"], nulls_distinct=False, name="allowance_of_user_or_token"),
            models.CheckConstraint(condition=Q(running__lte=F("most_running")), name="allowance_running"),
            models.CheckConstraint(condition=Q(most_tokens__gte=F("spent") + F("reserved")), name="allowance_tokens"),
            models.CheckConstraint(condition=Q(forgettings__gte=0), name="allowance_forgettings"),
        ]

    def __str__(self) -> str:
        return f"allowance of {self.user_id}"
