"""A thread that is here already, and what a newer export of it brings: turns behind its end, and other branches."""

from collections.abc import Callable, Sequence

from django.contrib.auth.models import User

from conversations.import_export.insertion import ImportCounts, LongerThread, copy_turns, insert, insert_files, placed
from conversations.import_export.records import LeftOut, ThreadRecord
from conversations.import_export.rows import last_session, said_turns, turn_rows
from conversations.import_export.turn_feedback import feedback_rows
from conversations.import_export.turn_tree import Continuation, StoredTurn, TurnKey, branch_count, continuation
from conversations.models import Feedback, File, Reply, Thread
from conversations.runtime import clock
from conversations.threads import every_message_of, paths
from memory.index import word_index

STORED = ("id", "parent_id", "position", "depth", "token_total", "is_active")
"""What is read of the turns that a thread has."""


def extend_thread(user: User, record: ThreadRecord, stored: ImportCounts, read_later: Callable[[File], object]) -> None:
    """Add the turns that are new, each behind the one that it follows. The path here stays the active one where it has gone on
    by itself."""
    thread = Thread.objects.select_for_update().filter(id=record.id, user=user).first()
    if thread is None or Reply.objects.filter(user=user, thread=thread, status=Reply.Status.RUNNING).exists():
        words = "a conversation that is being written to in this moment: import it again"
        stored.left_out.append(LeftOut(place=record.place, what=words))
        return
    here = [StoredTurn(*row) for row in every_message_of(thread).values_list(*STORED)]
    brought = continuation(placed(record), here, last=thread.last_position, known=_known_turns(thread, here, record))
    if not brought.new:
        stored.known["threads"] += 1
        return
    _add_turns(thread, record, brought, here)
    insert_files(user, record, brought.new, stored, read_later)
    stored.longer.append(LongerThread(thread.id, thread.message_count, len(brought.new)))
    stored.branches += branch_count(brought.new)


def _known_turns(thread: Thread, here: Sequence[StoredTurn], record: ThreadRecord) -> dict[TurnKey, int]:
    """What each turn here says, where a document gives no turn an id that is here."""
    places = {turn.id: turn.position for turn in here}
    if not places or any(each.turn.id in places for each in placed(record)):
        return {}
    texts = every_message_of(thread).values_list("parent_id", "role", "text", "position").iterator()
    return {(places.get(parent, 0), role, text): position for parent, role, text, position in texts}


def _add_turns(thread: Thread, record: ThreadRecord, brought: Continuation, here: Sequence[StoredTurn]) -> None:
    """Behind the end of the path here, or on another branch, to which the path moves if that is the one to follow."""
    new = brought.new if brought.goes_on else [turn._replace(is_active=False) for turn in brought.new]
    before = {turn.position: turn for turn in here}
    copy_turns(turn_rows(new, thread.id, user_id=thread.user_id, before=before))
    insert(Feedback, feedback_rows(new, thread.id, user_id=thread.user_id, assistant_id=thread.assistant_id))
    word_index.store(thread.user_id, said_turns(new, thread.id))
    thread.last_position += len(new)
    thread.save(update_fields=["last_position"])
    path = [turn for turn in brought.new if turn.is_active]
    if brought.goes_on:
        thread.message_count += len(path)
        thread.updated_at = max(thread.updated_at, min(path[-1].turn.created_at, clock.now()))
        thread.save(update_fields=["message_count", "updated_at"])
    elif path:
        paths.end_at(thread, path[-1].turn.id)
    if path and (session := last_session(record.turns)):
        thread.session_started_at, thread.away_since = session.started_at, session.away_since
        thread.save(update_fields=["session_started_at", "away_since"])
