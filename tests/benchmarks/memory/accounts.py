"""Conversations stored in bulk, as threads of one user, and indexed."""

import uuid
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import connection

from conversations.models import Message, Thread
from memory.index import index_turns, word_index
from memory.index.word_index import SaidTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.conversations.factories import chain, make_thread

BATCH = 1_000


def store(user: User, conversations: Sequence[Conversation]) -> dict[str, uuid.UUID]:
    """A thread for each; their ids by the conversations'."""
    threads = {conversation.id: store_thread(user, conversation) for conversation in conversations}
    index_turns.catch_up(user.pk)  # counts the words
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message, conversations_thread, memory_indexedpassage")
    return {conversation_id: thread.id for conversation_id, thread in threads.items()}


def store_thread(user: User, conversation: Conversation) -> Thread:
    messages = conversation.messages
    thread = make_thread(
        user,
        title=conversation.id,
        message_count=len(messages),
        last_position=len(messages),
        created_at=messages[0].created_at,
        updated_at=messages[-1].created_at,
    )
    turns = chain(thread, [message.content for message in messages])
    for turn, message in zip(turns, messages, strict=True):
        turn.role, turn.created_at = message.role, message.created_at
    Message.objects.bulk_create(turns, batch_size=BATCH)
    word_index.store(user.pk, map(said_turn, turns))  # as an import does: whoever catches up looks at new threads only
    return thread


def said_turn(turn: Message) -> SaidTurn:
    return SaidTurn(
        thread=turn.thread_id,
        depth=turn.depth,
        position=turn.position,
        role=turn.role,
        text=turn.text,
        at=turn.created_at,
    )
