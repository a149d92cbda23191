"""The audit record: ``audit.record`` writes an event, in the transaction of what it tells of."""

from conversations.audit.recording import actor_of, record
from conversations.models import AuditEvent, AuditKind

Outcome = AuditEvent.Outcome

__all__ = ["AuditKind", "Outcome", "actor_of", "record"]
