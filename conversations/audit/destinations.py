"""Where events are pushed, by the operator's settings: one interface, a function that takes events and raises."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conversations.models import AuditEvent

SECONDS = 10.0
"""That an attempt may take."""


class DeliveryFailed(Exception):
    """It can't be said that the destination has taken them. Its text says why, for staff, without a secret."""


@dataclass(frozen=True, kw_only=True)
class Destination:
    """``name`` is what its cursor is known by, ``place`` where it leads, for staff. ``send`` returns once the destination has
    taken all events, and raises ``DeliveryFailed``; it may be given the same ones again."""

    name: str
    place: str
    send: Callable[[Sequence[AuditEvent]], None]
