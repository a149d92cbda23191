"""What the checks of this server made of the reply that a request belongs to."""

from conversations.context.record.snapshot_shapes import ModerationAnswer
from conversations.models import ContextSnapshot, ModerationFinding
from conversations.runtime.shapes import fill


def findings_of(snapshot: ContextSnapshot) -> list[ModerationAnswer]:
    """In the order in which they were made; none where nothing is checked."""
    if snapshot.reply_id is None:
        return []
    findings = ModerationFinding.objects.filter(user=snapshot.user_id, reply=snapshot.reply_id).order_by("id")
    return [fill(ModerationAnswer, finding) for finding in findings]
