"""The audit record: ``audit.record`` writes an event, in the transaction of what it tells of."""

from conversations.audit.recording import Details, actor_of, current_actor, record
from conversations.models import AuditEvent, AuditKind

Outcome = AuditEvent.Outcome

__all__ = ["AuditKind", "Details", "Outcome", "actor_of", "current_actor", "record"]
