"""Django's admin history as a part of the audit record: each entry of it is an event, with the names of the fields that changed
and none of their values."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest

from conversations import audit
from conversations.audit import AuditKind
from conversations.models import ApiToken, Budget, Experiment, LintFinding, Replay, RetentionRule, Share, Thread

RECORDED_ELSEWHERE = (ApiToken, Experiment, LintFinding, Replay, Share, Thread)
"""What becomes of these is recorded where it is done, by whichever door."""
ACTS = {AuditKind.ROW_ADDED: "added", AuditKind.ROW_CHANGED: "changed", AuditKind.ROW_DELETED: "deleted"}
KINDS = {Group: AuditKind.GROUP_CHANGED, Budget: AuditKind.BUDGET_CHANGED, RetentionRule: AuditKind.RETENTION_CHANGED}
"""Of rows whose addition, change and deletion are events of one kind."""
PERMISSIONS = {"groups", "user_permissions", "is_staff", "is_superuser"}

if TYPE_CHECKING:

    class Base[M: Model](admin.ModelAdmin[M]): ...

else:
    # Django's own takes no type parameter at run time.
    class Base[M](admin.ModelAdmin):
        pass


class AuditedAdmin[M: Model](Base[M]):
    """What every admin class is. Each entry and its event are stored in the transaction of the change."""

    def log_addition(self, request: HttpRequest, obj: M, message: Any) -> Any:
        self._record(AuditKind.ROW_ADDED, request, obj, message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: M, message: Any) -> Any:
        self._record(AuditKind.ROW_CHANGED, request, obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Iterable[M]) -> Any:
        rows = list(queryset)
        for row in rows:
            if not isinstance(row, User):  # whose deletion is recorded as such
                self._record(AuditKind.ROW_DELETED, request, row, [])
        return super().log_deletions(request, rows)  # type: ignore[arg-type]  # Django's own takes lists of rows too

    def _record(self, kind: AuditKind, request: HttpRequest, row: M, message: Any) -> None:
        if isinstance(row, RECORDED_ELSEWHERE):
            return
        fields, parts = _fields(row, message), _parts(message)
        details = {"act": ACTS[kind], "fields": fields} | ({"parts": parts} if parts else {})
        for each in _kinds(kind, row, fields):
            audit.record(each, actor=audit.actor_of(request), target=row, details=details)


def _kinds(kind: AuditKind, row: Model, fields: list[str]) -> Iterator[AuditKind]:
    changed = set(fields)
    if type(row) in KINDS:
        yield KINDS[type(row)]
    elif not isinstance(row, User):
        yield kind
    elif kind is AuditKind.ROW_ADDED:
        yield AuditKind.ACCOUNT_MADE
    else:
        if changed & PERMISSIONS:
            yield AuditKind.PERMISSIONS_CHANGED
        if "is_active" in changed:
            yield AuditKind.ACCOUNT_REACTIVATED if row.is_active else AuditKind.ACCOUNT_DEACTIVATED
        if "password" in changed:
            yield AuditKind.PASSWORD_CHANGED
        if not changed or changed - PERMISSIONS - {"is_active", "password"}:
            yield AuditKind.ACCOUNT_CHANGED


def _fields(row: Model, message: Any) -> list[str]:
    """By the names that they have in the model; an entry knows their labels."""
    names = {str(getattr(field, "verbose_name", field.name)).casefold(): field.name for field in row._meta.get_fields()}
    labels = [
        label
        for entry in _entries(message)
        for act in entry.values()
        if isinstance(act, dict) and "name" not in act
        for label in act.get("fields", [])
    ]
    return [names.get(str(label).casefold(), str(label)[:60]) for label in labels]


def _parts(message: Any) -> list[str]:
    """Kinds of rows that were changed along with it, such as the limits of a user."""
    acts = [act for entry in _entries(message) for act in entry.values() if isinstance(act, dict) and "name" in act]
    return sorted({str(act["name"])[:60] for act in acts})


def _entries(message: Any) -> list[dict[str, Any]]:
    """None of an entry in words: they may quote what a service said."""
    return [entry for entry in message if isinstance(entry, dict)] if isinstance(message, list) else []
