"""Replies: the model's attempts to answer. ``start`` and ``start_preset`` are the only ways in, ``follow`` the only one to read
along."""

from conversations.replies.follow import follow, watch
from conversations.replies.generate import go_on, retry, start, start_preset, stop
from conversations.replies.leases import are_running, drain, startup

__all__ = ["are_running", "drain", "follow", "go_on", "retry", "start", "start_preset", "startup", "stop", "watch"]
