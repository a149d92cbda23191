"""A user's explicit delete of whole threads, and what was remembered of them."""

import logging

from django.contrib.auth.models import User

from conversations import forgetting
from conversations.door import door
from conversations.errors import ReplyInProgress
from conversations.models import Reply, Thread
from memory.indexing import forget_counts

__all__ = ["delete_thread", "delete_user", "door"]

log = logging.getLogger("openbook.threads")


def delete_thread(thread: Thread) -> None:
    """With its turns, replies, events, snapshots and their texts, and all that is remembered of it alone, wherever that stood.

    Raises ``ReplyInProgress`` while a reply is running in it.
    """
    with door():
        Thread.objects.select_for_update().filter(id=thread.id).first()
        if Reply.objects.filter(thread=thread, status=Reply.Status.RUNNING).exists():
            raise ReplyInProgress("A reply is still running in this thread. Stop it first, then delete.")
        thread_id = thread.id
        forgetting.leave(thread)
        thread.delete()
        forget_counts(thread.user_id)
    log.info("thread deleted", extra={"thread_id": str(thread_id)})


def delete_user(user: User) -> None:
    """With all of the user's threads. Raises ``ReplyInProgress`` while a reply is running in one."""
    with door():
        threads = Thread.objects.select_for_update().filter(user=user)
        if Reply.objects.filter(thread__in=list(threads), status=Reply.Status.RUNNING).exists():
            raise ReplyInProgress("A reply is still running for this user. Wait for it to end, then delete.")
        threads.delete()
        user.delete()
