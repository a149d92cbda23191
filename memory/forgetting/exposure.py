"""What was said in requests that were given the fact: there one word of it is enough to tell it. Reads only.

A request was given it with the memory in a tier or recalled, with one of its turns, or with a summary of these; and so was one
that was given a turn which tells it by one word.
"""

import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import QuerySet

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.record import snapshot_codec
from conversations.context.record.snapshots import STAFF_WRITTEN
from conversations.models import ContextBlock, Message, Thread
from memory.forgetting.hints import NONE, Hints, Keys
from memory.forgetting.recorded_texts import ITEMS_START, RowKey
from memory.models import DailySummary, Memory, ThreadSummary, Topic

# Those of replies: what a worker asked answers no turn, and its texts go with the rows and turns that they are made of.
REQUESTS = """
SELECT id, thread_id, message_id, reply_id, sections, additions, runs, items
FROM conversations_contextsnapshot
WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s) AND reply_id IS NOT NULL
"""
RECALLED = """
SELECT snapshot.id, array_agg(item ->> 'id')
FROM conversations_contextsnapshot AS snapshot,
     jsonb_array_elements(CASE WHEN jsonb_typeof(recalled) = 'array' THEN recalled ELSE '[]' END) AS item
WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s) AND (item ->> 'included')::boolean AND item ->> 'id' = ANY(%(ids)s)
GROUP BY snapshot.id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExposingRequest:
    id: uuid.UUID
    thread: uuid.UUID
    message: uuid.UUID | None
    reply: uuid.UUID
    texts: str
    runs: str
    items: str


@dataclass(frozen=True, kw_only=True)
class FactMarks:
    """What tells a fact to a model that is given it: rows and turns by id, turns by their places too."""

    rows: Mapping[str, Keys] = field(default_factory=dict)
    turns: Mapping[str, Keys] = field(default_factory=dict)
    places: Mapping[uuid.UUID, Mapping[int, Keys]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.rows or self.turns)


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """What goes besides, because it gives a fact away with a word: turns, and other rows by their ids.

    ``replies`` are all that were given a fact, with those that they were given.
    """

    turns: Sequence[Message] = ()
    memories: frozenset[uuid.UUID] = frozenset()
    threads: frozenset[uuid.UUID] = frozenset()
    artifacts: frozenset[uuid.UUID] = frozenset()
    versions: frozenset[int] = frozenset()
    replies: Mapping[uuid.UUID, Keys] = field(default_factory=dict)
    blocks: Mapping[RowKey, int] = field(default_factory=dict)


def given_away(user: User, hints: Hints, rows: Mapping[uuid.UUID, Keys], turns: Mapping[Message, Keys]) -> Exposure:
    """What gives the facts away that these rows and turns tell."""
    if not hints:
        return Exposure()
    threads = list(Thread.objects.filter(user=user).values_list("id", flat=True))
    requests = _requests(user, threads)
    marks = _marks(user, turns, rows)
    exposed: dict[uuid.UUID, Keys] = {}
    turn_keys: dict[Message, Keys] = {}
    while marks:
        fresh = {
            reply: keys
            for reply, keys in _exposed_replies(user, threads, requests, marks).items()
            if not keys <= exposed.get(reply, NONE)
        }
        exposed |= {reply: keys | exposed.get(reply, NONE) for reply, keys in fresh.items()}
        new = _turns(user, {reply: exposed[reply] for reply in fresh}, requests, hints, {*turns, *turn_keys})
        turn_keys |= new
        marks = _marks(user, new, {})
    of_threads = _by_thread(requests, exposed)
    return Exposure(
        turns=list(turn_keys),
        memories=_memories(user, hints, turn_keys),
        threads=_rows_with_hints(Thread.objects.filter(user=user, id__in=of_threads), "id", "title", hints, of_threads),
        artifacts=_rows_with_hints(
            Artifact.objects.filter(user=user, thread__in=of_threads), "thread_id", "title", hints, of_threads
        ),
        versions=_rows_with_hints(
            ArtifactVersion.objects.filter(user=user, thread__in=of_threads), "thread_id", "content", hints, of_threads
        ),
        replies=exposed,
        blocks=_blocks(user, hints, [request for request in requests if request.reply in exposed], of_threads),
    )


def _requests(user: User, threads: list[uuid.UUID]) -> list[ExposingRequest]:
    with connection.cursor() as cursor:
        cursor.execute(REQUESTS, {"user": user.pk, "threads": threads})
        return [
            ExposingRequest(
                id=id,
                thread=thread,
                message=message,
                reply=reply,
                texts=f"{sections};{additions}".strip(";"),
                runs=runs,
                items=bytes(items).hex() if items else "",
            )
            for id, thread, message, reply, sections, additions, runs, items in cursor
        ]


def _marks(user: User, turns: Mapping[Message, Keys], rows: Mapping[uuid.UUID, Keys]) -> FactMarks:
    """The turns and rows with the summaries and topics that rest on the turns."""
    by_id = {turn.id: keys for turn, keys in turns.items()}
    places: dict[uuid.UUID, dict[int, Keys]] = {}
    for turn, keys in turns.items():
        places.setdefault(turn.thread_id, {})[turn.position] = keys
    resting = dict(rows)
    if turns:
        resting |= _resting(ThreadSummary.objects.filter(user=user), "sources", by_id)
        resting |= _resting(Topic.objects.filter(user=user), "sources", by_id)
        resting |= _resting(DailySummary.objects.filter(user=user), "parts", resting)
    return FactMarks(
        rows={str(id): keys for id, keys in resting.items()},
        turns={str(id): keys for id, keys in by_id.items()},
        places=places,
    )


def _resting[T: (ThreadSummary, Topic, DailySummary)](
    rows: QuerySet[T], sources: str, on: Mapping[uuid.UUID, Keys]
) -> dict[uuid.UUID, Keys]:
    found = {id: _united(on.get(one, NONE) for one in made_of) for id, made_of in rows.values_list("id", sources)}
    return {id: keys for id, keys in found.items() if keys}


def _exposed_replies(
    user: User, threads: list[uuid.UUID], requests: Sequence[ExposingRequest], marks: FactMarks
) -> dict[uuid.UUID, Keys]:
    """The replies whose requests were given one of the marks, with what that told them."""
    recalled = _recalled_keys(user, threads, {**marks.rows, **marks.turns})
    accounts = _accounts(user, threads, marks.rows)
    keys_by_reply: dict[uuid.UUID, Keys] = {}
    for request in requests:
        keys = recalled.get(request.id, NONE) | accounts.get((request.thread, request.items), NONE)
        keys |= _sent_keys(request.runs, marks.places.get(request.thread, {}))
        if keys:
            keys_by_reply[request.reply] = keys_by_reply.get(request.reply, NONE) | keys
    return keys_by_reply


def _recalled_keys(user: User, threads: list[uuid.UUID], marked: Mapping[str, Keys]) -> dict[uuid.UUID, Keys]:
    with connection.cursor() as cursor:
        cursor.execute(RECALLED, {"user": user.pk, "threads": threads, "ids": list(marked)})
        return {snapshot: _united(marked[id] for id in ids) for snapshot, ids in cursor}


def _accounts(user: User, threads: list[uuid.UUID], marked: Mapping[str, Keys]) -> dict[RowKey, Keys]:
    """What was given in the tiers, by the block that accounts for it."""
    if not marked:
        return {}
    blocks = ContextBlock.objects.filter(user=user, thread__in=threads, text__startswith=ITEMS_START)
    return {
        (thread, bytes(digest).hex()): _united(
            marked[item["id"]] for item in json.loads(text) if item["included"] and item["id"] in marked
        )
        for thread, digest, text in blocks.values_list("thread_id", "sha256", "text").iterator()
    }


def _sent_keys(runs: str, places: Mapping[int, Keys]) -> Keys:
    if not places:
        return NONE
    sent = [run for run in snapshot_codec.unpack_runs(runs) if run.included]
    return _united(keys for at, keys in places.items() if any(run.first <= at <= run.last for run in sent))


def _turns(
    user: User,
    exposed: Mapping[uuid.UUID, Keys],
    requests: Iterable[ExposingRequest],
    hints: Hints,
    known: Collection[Message],
) -> dict[Message, Keys]:
    """The turns that were answered with these replies, and those that these are, where they give it away."""
    asked = {request.reply: request.message for request in requests if request.reply in exposed and request.message}
    keys_of_turn: dict[uuid.UUID, Keys] = {}
    for reply, message in asked.items():
        keys_of_turn[message] = keys_of_turn.get(message, NONE) | exposed[reply]
    threads = {request.thread for request in requests if request.reply in exposed}
    mine = Message.objects.filter(user=user, thread__in=threads)
    turns = mine.exclude(status=Message.Status.FORGOTTEN).order_by("id")
    turns = turns.only("id", "thread_id", "position", "role", "text", "content", "created_at", "reply_id")
    messages = [turn for turn in turns.iterator() if turn.id in keys_of_turn or turn.reply_id in exposed]
    questions = {turn.id: turn.text for turn in messages if turn.id in keys_of_turn}
    revealing = {}
    for turn in messages:
        keys = keys_of_turn.get(turn.id, NONE) | (exposed.get(turn.reply_id, NONE) if turn.reply_id else NONE)
        revealed = hints.matching_keys([turn.text, turn.content], keys)
        if turn.reply_id in asked:
            revealed |= hints.answered(questions.get(asked[turn.reply_id], ""), turn.text, keys)
        if revealed and turn not in known:
            revealing[turn] = revealed
    return revealing


def _memories(user: User, hints: Hints, turns: Mapping[Message, Keys]) -> frozenset[uuid.UUID]:
    """What was made of these turns and says the word too."""
    by_id = {turn.id: keys for turn, keys in turns.items()}
    rows = Memory.objects.filter(user=user).exclude(sources=[]).values_list("id", "sources", "content")
    return frozenset(
        id for id, sources, text in rows if hints.matching_keys(text, _united(by_id.get(one, NONE) for one in sources))
    )


def _rows_with_hints(
    rows: QuerySet[Any], thread: str, text: str, hints: Hints, of_threads: Mapping[uuid.UUID, Keys]
) -> frozenset[Any]:
    values = rows.values_list("id", thread, text).iterator()
    return frozenset(id for id, where, said in values if hints.matching_keys(said, of_threads[where]))


def _blocks(
    user: User, hints: Hints, requests: Iterable[ExposingRequest], of_threads: Mapping[uuid.UUID, Keys]
) -> dict[RowKey, int]:
    """The texts of these requests, but those that staff wrote."""
    named = {
        (request.thread, part.sha256)
        for request in requests
        for part in snapshot_codec.unpack_texts(request.texts)
        if part.name not in STAFF_WRITTEN
    }
    blocks = ContextBlock.objects.filter(user=user, thread__in={thread for thread, _ in named}, forgotten_at=None)
    block_ids = {}
    for id, thread, digest, text in blocks.values_list("id", "thread_id", "sha256", "text").iterator():
        place = thread, bytes(digest).hex()
        if place in named and hints.matching_keys(text, of_threads[thread]):
            block_ids[place] = id
    return block_ids


def _by_thread(requests: Iterable[ExposingRequest], exposed: Mapping[uuid.UUID, Keys]) -> dict[uuid.UUID, Keys]:
    keys_by_thread: dict[uuid.UUID, Keys] = {}
    for request in requests:
        if request.reply in exposed:
            keys_by_thread[request.thread] = keys_by_thread.get(request.thread, NONE) | exposed[request.reply]
    return keys_by_thread


def _united(keys: Iterable[Keys]) -> Keys:
    return frozenset().union(*keys)
