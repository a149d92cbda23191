"""Replies: the model's attempts to answer. ``start`` is the only way in, ``follow`` the only way to read along."""

from conversations.replies.follow import follow, watch
from conversations.replies.generate import retry, start, stop
from conversations.replies.leases import drain, startup

__all__ = ["drain", "follow", "retry", "start", "startup", "stop", "watch"]
