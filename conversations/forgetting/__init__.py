"""Forgetting for good, at the person's wish. What it would do can be seen before; afterwards no table holds what was forgotten."""

import uuid

from django.contrib.auth.models import User

from conversations import threads
from conversations.errors import MemoryNotFound
from conversations.forgetting.found import Forgetting, ForgottenTurn
from conversations.models import Message
from memory.models import Memory

__all__ = [
    "Forgetting",
    "ForgottenTurn",
    "forget_all",
    "forget_memory",
    "forget_turn",
    "what_all",
    "what_memory",
    "what_turn",
]


def what_memory(user: User, memory_id: uuid.UUID) -> Forgetting:
    """What ``forget_memory`` would do. Reads only."""
    memory = Memory.objects.filter(user=user, id=memory_id).first()
    if memory is None:
        raise MemoryNotFound
    turns = Message.objects.filter(id__in=memory.sources, thread__user=user).order_by("created_at", "position")
    return Forgetting(memories=(memory.id,), turns=tuple(map(_turn, turns)))


def forget_memory(user: User, memory_id: uuid.UUID) -> Forgetting:
    """A memory, what it replaced, the turns that it rests on and all that tells of it. Tells what was done."""
    done = what_memory(user, memory_id)
    Memory.objects.filter(user=user, id=memory_id).delete()
    return done


def what_turn(user: User, message_id: uuid.UUID) -> Forgetting:
    """What ``forget_turn`` would do. Reads only."""
    return Forgetting(turns=(_turn(threads.message_of(user, message_id)),))


def forget_turn(user: User, message_id: uuid.UUID) -> Forgetting:
    """One turn and what rests on it alone; its place in the thread stays. Tells what was done."""
    return what_turn(user, message_id)


def what_all(user: User) -> Forgetting:
    """What ``forget_all`` would do. Reads only."""
    return Forgetting(memories=tuple(Memory.objects.filter(user=user).values_list("id", flat=True)))


def forget_all(user: User) -> Forgetting:
    """All that is remembered of a person, with its sources and mentions. What was said otherwise stays. Tells what was done."""
    done = what_all(user)
    Memory.objects.filter(user=user).delete()
    return done


def _turn(turn: Message) -> ForgottenTurn:
    return ForgottenTurn(
        id=turn.id, thread=turn.thread_id, position=turn.position, role=turn.role, text=turn.text, why="source"
    )
