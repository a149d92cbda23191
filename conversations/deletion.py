"""A user's explicit delete: the one door through which stored turns and snapshots leave (requirement T3)."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import connection, transaction

from conversations.errors import ReplyInProgress
from conversations.models import Reply, Thread
from memory.indexing import forget_counts

log = logging.getLogger("openbook.threads")


@contextmanager
def door() -> Iterator[None]:
    """Open the guards of the database until the end of this transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('openbook.door', 'open', true)")
        yield
        cursor.execute("SELECT set_config('openbook.door', '', true)")


def delete_thread(thread: Thread) -> None:
    """With its turns, replies, events, snapshots and their texts. Raises ``ReplyInProgress`` while one is running."""
    with door():
        Thread.objects.select_for_update().filter(id=thread.id).first()
        if Reply.objects.filter(thread=thread, status=Reply.Status.RUNNING).exists():
            raise ReplyInProgress("A reply is still running in this thread. Stop it first, then delete.")
        thread_id = thread.id
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
