"""Replies: the model's attempts to answer. ``start`` and ``start_preset`` are the only ways in, ``follow`` the only one to read
along."""

from conversations.replies.follow import follow, follow_ticking, watch
from conversations.replies.generate import begin, go_on, retry, start, start_preset, stop
from conversations.replies.leases import are_running, drain, startup

__all__ = [
    "are_running",
    "begin",
    "drain",
    "follow",
    "follow_ticking",
    "go_on",
    "retry",
    "start",
    "start_preset",
    "startup",
    "stop",
    "watch",
]
