"""Forgetting for good, at the person's wish. What it would do can be seen before.

Afterwards no table, snapshot or event holds what was forgotten, nor its wording.
"""

import logging
import uuid
from dataclasses import replace

from django.contrib.auth.models import User
from django.db.models import QuerySet

from conversations import threads
from conversations.accounts import allowances
from conversations.errors import MemoryNotFound, ReplyInProgress
from conversations.holds import coverage
from conversations.models import Reply, Thread, WebhookEvent
from conversations.models.data_map import FORGOTTEN
from conversations.models.deletion_guard import allow_deletion
from conversations.webhooks.outbox import tell
from memory.forgetting import ledger
from memory.forgetting.blanking import blank, blank_all
from memory.forgetting.on_thread_delete import cleared_from, left_by, left_by_file, left_by_notes, left_by_topic
from memory.forgetting.result import Clearing, Forgetting, ForgottenTurn, Rows
from memory.forgetting.search import ForgetTarget, find
from memory.index.index_turns import catch_up_if_possible
from memory.models import Memory, Topic

__all__ = [
    "FORGOTTEN",
    "Clearing",
    "Forgetting",
    "ForgottenTurn",
    "Rows",
    "blank",
    "cleared_from",
    "forget_all",
    "forget_memory",
    "forget_notes",
    "forget_topic",
    "forget_turn",
    "hold_off",
    "left_by",
    "left_by_file",
    "left_by_notes",
    "refuse_while_running",
    "what_all",
    "what_memory",
    "what_turn",
]

log = logging.getLogger("openbook.forgetting")

EVERYTHING = ForgetTarget(everything=True)


def what_memory(user: User, memory_id: uuid.UUID) -> Forgetting:
    """What ``forget_memory`` would do. Reads only."""
    return _told(user, find(user, _memory(user, memory_id)))


def forget_memory(user: User, memory_id: uuid.UUID) -> Forgetting:
    """A memory, what it replaced, the turns that it rests on and all that tells of it. Tells what was done.

    Raises ``ReplyInProgress`` while a reply of the person's is running, and changes nothing then.
    """
    return _forget(user, _memory(user, memory_id))


def what_turn(user: User, message_id: uuid.UUID) -> Forgetting:
    """What ``forget_turn`` would do. Reads only."""
    return _told(user, find(user, _turn(user, message_id)))


def forget_turn(user: User, message_id: uuid.UUID) -> Forgetting:
    """One turn, what rests on it alone, and where it was given to a model; its place in the thread stays.

    Tells what was done. Raises as ``forget_memory`` does.
    """
    return _forget(user, _turn(user, message_id))


def forget_topic(topic: Topic) -> None:
    """A topic alone, and where it was given to a model: the turns that opened it stay. Raises as ``forget_memory`` does."""
    with allow_deletion():
        hold_off(topic.user_id)
        refuse_while_running(topic.user_id, "delete")
        ledger.note(ledger.Kind.TOPIC, topic.id)
        blank(topic.user, left_by_topic(topic))


def forget_notes(user: User, notes: QuerySet[Memory]) -> None:
    """Notes alone, and where they were given to a model, as their project goes. Raises as ``forget_memory`` does."""
    ids = frozenset(notes.values_list("id", flat=True))
    if not ids:
        return
    with allow_deletion():
        hold_off(user.pk)
        refuse_while_running(user.pk, "delete")
        for id in ids:
            ledger.note(ledger.Kind.MEMORY, id)
        blank(user, left_by_notes(user.pk, ids))
        tell(WebhookEvent.MEMORY_CHANGED, about=user.pk, data={"change": "forgotten"})


def what_all(user: User) -> Forgetting:
    """What ``forget_all`` would do. Reads only."""
    return _told(user, find(user, EVERYTHING))


def forget_all(user: User) -> Forgetting:
    """All that is remembered of a person, with its sources and mentions. What was said besides stays, and is not remembered
    again. Tells what was done. Raises as ``forget_memory`` does."""
    return _forget(user, EVERYTHING)


def _forget(user: User, target: ForgetTarget) -> Forgetting:
    catch_up_if_possible(user.pk)  # so that no turn of before is indexed afterwards
    with allow_deletion():
        hold_off(user.pk)
        refuse_while_running(user.pk, "forget")
        _note(user, target)
        rows = find(user, target)
        done = _told(user, rows)
        blank(user, rows)
        if target.everything:
            blank_all(user)
        tell(WebhookEvent.MEMORY_CHANGED, about=user.pk, data={"change": "forgotten"})
    log.info("forgotten", extra={"user_id": user.pk, "memories": len(done.memories), "turns": len(done.turns)})
    return done


def _told(user: User, rows: Rows) -> Forgetting:
    """What goes, and what of it a legal hold keeps."""
    places = {turn.thread for turn in rows.turns} | rows.threads | rows.touched
    return replace(rows.summary(), held=coverage.notice(user.pk, threads=places))


def _note(user: User, target: ForgetTarget) -> None:
    for memory in target.memories:
        ledger.note(ledger.Kind.MEMORY, memory)
    for turn in target.turns:
        ledger.note(ledger.Kind.TURN, turn)
    if target.everything:
        ledger.note(ledger.Kind.EVERYTHING, ledger.account_id(user))


def hold_off(user_id: int) -> None:
    """Until the end of the transaction no turn and no request of the person's is stored; what was built before is built anew.
    All threads: none may come to tell what is looked for in the others."""
    list(Thread.objects.select_for_update().filter(user=user_id).order_by("id").values_list("id"))
    allowances.note_forgetting(user_id)


WAIT_TO = {
    "clear": "A reply is still running, which may come to tell of it. Wait for it to end or stop it, then clear.",
    "delete": "A reply is still running, which may come to tell of it. Wait for it to end or stop it, then delete.",
    "forget": "A reply is still running, which may come to tell of it. Wait for it to end or stop it, then forget.",
}


def refuse_while_running(user_id: int, what: str) -> None:
    """Whatever its thread was given: its model may search at any moment. Raises ``ReplyInProgress``."""
    running = Reply.objects.filter(user=user_id, thread__user=user_id, status=Reply.Status.RUNNING).first()
    if running:
        raise ReplyInProgress(
            WAIT_TO[what],
            thread=str(running.thread_id),
        )


def _memory(user: User, memory_id: uuid.UUID) -> ForgetTarget:
    if not Memory.objects.filter(user=user, id=memory_id).exists():
        raise MemoryNotFound
    return ForgetTarget(memories=[memory_id])


def _turn(user: User, message_id: uuid.UUID) -> ForgetTarget:
    return ForgetTarget(turns=[threads.message_of(user, message_id).id])
