"""The audit record: who did what to whom, when, as rows that are chained by digest and never changed."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class AuditKind(models.TextChoices):
    """What events there are. Each has its class of OCSF in ``conversations.audit.ocsf``."""

    SIGN_IN = "sign_in", _("sign-in")
    SIGN_OUT = "sign_out", _("sign-out")
    SIGN_UP = "sign_up", _("account made by signing up")
    SESSIONS_ENDED = "sessions_ended", _("sign-ins ended")
    REAUTHENTICATION = "reauthentication", _("proof of who one is, again")
    PASSWORD_CHANGED = "password_changed", _("password changed")
    PASSWORD_LINK_MADE = "password_link_made", _("link for a new password made")
    EMAIL_CHANGED = "email_changed", _("mail address changed")
    SECOND_FACTOR_ADDED = "second_factor_added", _("second factor added")
    SECOND_FACTOR_REMOVED = "second_factor_removed", _("second factor removed")
    RECOVERY_CODES_MADE = "recovery_codes_made", _("recovery codes made")
    PROVIDER_LINKED = "provider_linked", _("sign-in by a provider linked")
    PROVIDER_UNLINKED = "provider_unlinked", _("sign-in by a provider unlinked")
    STAFF_ADDRESS_REFUSED = "staff_address_refused", _("staff refused because of their address")
    TOKEN_MADE = "token_made", _("access token made")
    TOKEN_REVOKED = "token_revoked", _("access token revoked")
    ACCOUNT_MADE = "account_made", _("account made")
    ACCOUNT_CHANGED = "account_changed", _("account changed")
    ACCOUNT_DEACTIVATED = "account_deactivated", _("account deactivated")
    ACCOUNT_REACTIVATED = "account_reactivated", _("account activated again")
    ACCOUNT_LEAVES = "account_leaves", _("deletion of an account asked for")
    ACCOUNT_STAYS = "account_stays", _("deletion of an account taken back")
    ACCOUNT_DELETED = "account_deleted", _("account deleted")
    INVITATION_MADE = "invitation_made", _("invitation made")
    INVITATION_USED = "invitation_used", _("invitation used")
    INVITATION_REVOKED = "invitation_revoked", _("invitation revoked")
    PERMISSIONS_CHANGED = "permissions_changed", _("permissions changed")
    GROUP_CHANGED = "group_changed", _("group changed")
    MEMBERSHIP_CHANGED = "membership_changed", _("members of a group changed")
    ROW_ADDED = "row_added", _("row added by staff")
    ROW_CHANGED = "row_changed", _("row changed by staff")
    ROW_DELETED = "row_deleted", _("row deleted by staff")
    SETTINGS_CHANGED = "settings_changed", _("settings changed")
    BUDGET_CHANGED = "budget_changed", _("budget changed")
    BUDGET_EXCEEDED = "budget_exceeded", _("budget used up")
    CONTENT_ACCESSED = "content_accessed", _("content accessed by staff")
    EXPORTED = "exported", _("data exported")
    IMPORTED = "imported", _("data imported")
    SHARE_MADE = "share_made", _("link shared")
    SHARE_REVOKED = "share_revoked", _("shared link revoked")
    WEBHOOK_MADE = "webhook_made", _("webhook made")
    WEBHOOK_CHANGED = "webhook_changed", _("webhook changed")
    WEBHOOK_DELETED = "webhook_deleted", _("webhook deleted")
    SERVER_CONNECTED = "server_connected", _("MCP server connected")
    SERVER_CHANGED = "server_changed", _("MCP server changed")
    SERVER_REMOVED = "server_removed", _("MCP server removed")
    CALL_ANSWERED = "call_answered", _("call of a tool allowed or refused")
    HANDED_OVER = "handed_over", _("handed over to somebody else")
    THREAD_DELETED = "thread_deleted", _("conversation deleted")
    THREAD_CLEARED = "thread_cleared", _("conversation cleared")
    FILE_DELETED = "file_deleted", _("file deleted")
    FORGOTTEN = "forgotten", _("forgotten on a person’s wish")
    HOLD_PLACED = "hold_placed", _("legal hold placed")
    HOLD_LIFTED = "hold_lifted", _("legal hold lifted")
    RETENTION_CHANGED = "retention_changed", _("retention changed")
    MODERATION_REFUSED = "moderation_refused", _("refused by moderation")
    FINDING_CHANGED = "finding_changed", _("finding of the linter opened, accepted or mended")
    REPLAY_CHANGED = "replay_changed", _("replay of requests started or cancelled")
    NOTICE_ACCEPTED = "notice_accepted", _("notice accepted")
    BACKUP_MADE = "backup_made", _("backup made")
    BACKUP_RESTORED = "backup_restored", _("backup restored")
    AUDIT_EXPORTED = "audit_exported", _("audit record exported")
    AUDIT_PRUNED = "audit_pruned", _("audit record pruned")


class AuditEvent(models.Model):
    """Something that somebody did, or was refused. Names people and things by id, and holds nothing of any content.

    Inserted by ``conversations.audit.record``. A worker gives it its place in the chain some seconds later (``number`` and
    ``digest``, see ``conversations.audit.chain``); a trigger refuses any other change.
    """

    class Outcome(models.TextChoices):
        SUCCESS = "success", _("done")
        FAILURE = "failure", _("failed")
        DENIED = "denied", _("refused")

    class Actor(models.TextChoices):
        PERSON = "person", _("person")
        STAFF = "staff", _("staff")
        TOKEN = "token", _("access token")
        SYSTEM = "system", _("the installation itself")
        UNKNOWN = "unknown", _("not known")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    kind = models.CharField(max_length=40, help_text="One of AuditKind, or of an earlier release.")
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.SUCCESS)
    actor_kind = models.CharField(max_length=7, choices=Actor)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", null=True, **UNCHECKED)
    actor_name = models.CharField(max_length=150, help_text="The user name of staff, as it was then.")
    target_kind = models.CharField(max_length=60, help_text="Label of the model, such as `auth.User`.")
    target_id = models.CharField(max_length=64)
    address = models.CharField(max_length=45, help_text="Network address that the request came from.")
    request_id = models.CharField(max_length=64)
    details = models.JSONField(default=dict, help_text="Ids, names of fields, counts. Never content, never a secret.")
    number = models.BigIntegerField(null=True, help_text="Place in the chain, from 1. Empty: not sealed yet.")
    digest = models.BinaryField(null=True, help_text="SHA-256 of the digest before it and of this event.")

    class Meta:
        verbose_name = "audit event"
        verbose_name_plural = "audit events"
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["number"], name="audit_event_number"),
            models.CheckConstraint(
                condition=Q(number__isnull=True, digest__isnull=True) | Q(number__isnull=False, digest__isnull=False),
                name="audit_event_sealed_whole",
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(number__isnull=True), name="audit_event_unsealed"),
            models.Index(fields=["actor", "id"], name="audit_event_by_actor"),
            models.Index(fields=["target_kind", "target_id", "id"], name="audit_event_by_target"),
            models.Index(fields=["kind", "id"], name="audit_event_by_kind"),
        ]

    def __str__(self) -> str:
        return filled("audit event {id}", id=str(self.id))


class AuditAnchor(models.Model):
    """Where the chain begins after old events were pruned: the last number that went, and its digest. Never changed."""

    number = models.BigIntegerField(primary_key=True)
    digest = models.BinaryField()
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"anchor at {self.number}"


class AuditDelivery(models.Model):
    """Up to where the sealed events have been pushed to a destination, and what became of the last attempt."""

    destination = models.CharField(max_length=10, primary_key=True, help_text="`http` or `syslog`.")
    number = models.BigIntegerField(default=0, help_text="The last event that it has taken, by its place in the chain.")
    delivered_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0, help_text="Attempts that failed since then.")
    failed_since = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True, help_text="Not tried again before then.")
    problem = models.CharField(max_length=300, help_text="Why the last attempt failed. Without a secret.")

    class Meta:
        verbose_name_plural = "audit deliveries"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.destination}: delivered up to {self.number}"
