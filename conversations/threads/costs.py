"""What a thread cost: by what services reported of its requests, as far as these are kept, and the prices of their days."""

from decimal import Decimal

from conversations.models import ContextSnapshot, Thread
from conversations.upkeep.hourly_figures import cost_of

TOLD = ("provider", "model", "created_at", "usage", "stop_reason", "stop_details")
EXPERIMENTAL = (ContextSnapshot.Purpose.EXPERIMENT, ContextSnapshot.Purpose.JUDGE)
"""They are staff's, who pay for them."""


def cost_of_thread(thread: Thread) -> Decimal | None:
    """USD of all its requests whose price is known, those beside replies too, but not those of staff's experiments; ``None``
    where none is."""
    requests = ContextSnapshot.objects.filter(user=thread.user_id, thread=thread).exclude(purpose__in=EXPERIMENTAL)
    requests = requests.only(*TOLD)
    known = [cost for request in requests.iterator() if (cost := cost_of(request)) is not None]
    return sum(known, Decimal(0)) if known else None
