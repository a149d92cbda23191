"""Which texts of recorded requests hold what is to be forgotten: by the rows and turns that they were made of, and by what they
say. Reads only."""

import json
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.db import connection
from django.db.models import Q

from conversations.context.query.contextualised_query import QUERY
from conversations.context.record import snapshot_codec
from conversations.context.rules.fitting import MATERIAL, ROUND
from conversations.context.sources import Place, source_of, sources_at
from conversations.models import ContextBlock
from memory.forgetting.matcher import Needles
from memory.forgetting.normalization import read_json
from memory.forgetting.result import ForgottenTurn

MOST_STARTS = 30
MADE_OF_TURNS = {QUERY, MATERIAL}
ITEMS_START = '[{"kind":'

# Of what was recalled only as much comes as tells its source.
SNAPSHOTS = """
SELECT id, thread_id, message_id, reply_id, sections, additions, runs, items,
       (
           SELECT jsonb_agg(DISTINCT CASE
               WHEN item ? 'score' THEN jsonb_build_object('kind', item -> 'kind', 'score', 0)
               ELSE jsonb_build_object('kind', item -> 'kind')
           END)
           FROM jsonb_array_elements(CASE WHEN jsonb_typeof(recalled) = 'array' THEN recalled ELSE '[]' END) AS item
           WHERE (item ->> 'included')::boolean
             AND (%(everything)s OR item ->> 'id' = ANY(%(ids)s) OR item ->> 'thread' = %(thread)s)
       )::text
FROM conversations_contextsnapshot WHERE user_id = %(user)s AND thread_id = ANY(%(threads)s)
"""

type RowKey = tuple[uuid.UUID, str]
"""Where a block lies: its thread, and its digest in hex."""


@dataclass(frozen=True, kw_only=True)
class RemovedRows:
    """What goes besides: turns, the rows that tiers are made of, the replies that wrote the turns, all of a thread.

    With ``everything`` whatever was remembered or recalled goes, of whichever row.
    """

    turns: Sequence[ForgottenTurn] = ()
    rows: Collection[uuid.UUID] = ()
    replies: Collection[uuid.UUID] = ()
    thread: uuid.UUID | None = None
    everything: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordedTexts:
    """The blocks that go, the threads that they lie in, and the requests that can't be rebuilt any more, with their replies."""

    blocks: frozenset[int] = frozenset()
    threads: frozenset[uuid.UUID] = frozenset()
    requests: frozenset[uuid.UUID] = frozenset()
    replies: frozenset[uuid.UUID] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRequest:
    """A snapshot, and what it sent: turns that go, texts that go with what they were made of."""

    id: uuid.UUID
    thread: uuid.UUID
    reply: uuid.UUID | None
    noted: str
    goes: frozenset[str] = frozenset()
    sent_a_turn: bool = False


def find_recorded(
    user_id: int,
    threads: Sequence[uuid.UUID],
    removed: RemovedRows,
    needles: Needles,
    also: Mapping[RowKey, int] = MappingProxyType({}),
) -> RecordedTexts:
    """What was recorded of requests in these threads, which are all of the person's. ``also`` are blocks that go too."""
    requests = list(_requests(user_id, threads, removed))
    block_ids = {**_telling(user_id, threads, needles), **also}
    places = {(request.thread, digest) for request in requests for digest in request.goes} | block_ids.keys()
    blocks = block_ids | _blocks(user_id, places - block_ids.keys())
    digests: dict[uuid.UUID, list[str]] = {}
    for thread, digest in blocks:
        digests.setdefault(thread, []).append(snapshot_codec.short(digest))
    given = [
        one for one in requests if one.sent_a_turn or any(digest in one.noted for digest in digests.get(one.thread, ()))
    ]
    return RecordedTexts(
        blocks=frozenset(blocks.values()),
        threads=frozenset(thread for thread, _ in blocks) | {one.thread for one in requests if one.sent_a_turn},
        requests=frozenset(one.id for one in given),
        replies=frozenset(one.reply for one in given if one.reply),
    )


def _requests(user_id: int, threads: Sequence[uuid.UUID], removed: RemovedRows) -> Iterator[RecordedRequest]:
    tiers = {} if removed.everything else _tiers(user_id, threads, removed.rows)
    positions: dict[uuid.UUID, list[int]] = {}
    for turn in removed.turns:
        positions.setdefault(turn.thread, []).append(turn.position)
    turns = {turn.id for turn in removed.turns}
    values: dict[str, Any] = {
        "user": user_id,
        "threads": list(threads),
        "ids": [str(id) for id in {*turns, *removed.rows}],
        "thread": str(removed.thread) if removed.thread else None,
        "everything": removed.everything,
    }
    with connection.cursor() as cursor:
        cursor.execute(SNAPSHOTS, values)
        for id, thread, message, reply, sections, additions, runs, items, recalled in cursor:
            places = positions.get(thread, ())
            sent = [run for run in snapshot_codec.unpack_runs(runs) if run.included] if places else []
            mine = [at for at in places if any(run.first <= at <= run.last for run in sent)]
            names = _every_tier() if removed.everything else set(tiers.get((thread, _hex(items)), ()))
            names |= _names_of(json.loads(recalled or "[]"), everything=removed.everything)
            names |= MADE_OF_TURNS if mine or message in turns else set()
            names |= {ROUND} if reply in removed.replies else set()
            parts = snapshot_codec.unpack_texts(f"{sections};{additions}".strip(";")) if names else []
            yield RecordedRequest(
                id=id,
                thread=thread,
                reply=reply,
                noted=f"{sections};{additions};{runs}",
                goes=frozenset(
                    [part.sha256 for part in parts if part.name in names]
                    + [run.sha256 for run in sent if run.sha256 and run.first in mine]
                ),
                sent_a_turn=bool(mine),
            )


def _tiers(user_id: int, threads: Sequence[uuid.UUID], rows: Collection[uuid.UUID]) -> dict[RowKey, set[str]]:
    """The tiers in which one of the rows was given, by the block that accounts for them."""
    ids = {str(id) for id in rows}
    if not ids:
        return {}
    holding = Q()
    if len(ids) <= MOST_STARTS:
        for id in ids:
            holding |= Q(text__contains=id)
    accounts = ContextBlock.objects.filter(holding, user=user_id, thread__in=threads, text__startswith=ITEMS_START)
    sections_by_key: dict[RowKey, set[str]] = {}
    for thread, digest, text in accounts.values_list("thread_id", "sha256", "text").iterator():
        kinds = {item["kind"] for item in json.loads(text) if item["included"] and item["id"] in ids}
        sections_by_key[thread, _hex(digest)] = {
            source.name for source in sources_at(Place.STANDING) for kind in kinds if source.owns({"kind": kind})
        } | ({MATERIAL} if kinds else set())
    return sections_by_key


def _every_tier() -> set[str]:
    return {source.name for source in sources_at(Place.STANDING)} | {MATERIAL}


def _names_of(items: Sequence[Mapping[str, Any]], *, everything: bool) -> set[str]:
    """The sections beside the message in which these items were given, and the material of a request about an answer that was
    made with them; with ``everything`` those that tell what is remembered."""
    sources = [source_of(item) for item in items]
    names = {source.name for source in sources if source and (source.is_memory or not everything)}
    return names | {MATERIAL} if names else names


def _telling(user_id: int, threads: Sequence[uuid.UUID], needles: Needles) -> dict[RowKey, int]:
    """The blocks that tell one of the facts. Those that are JSON are looked at text by text."""
    if not needles:
        return {}
    starts, holding = needles.starts(), Q()
    if len(starts) <= MOST_STARTS:
        for start in starts:
            holding |= Q(text__icontains=start)
    blocks = ContextBlock.objects.filter(holding, user=user_id, thread__in=threads).exclude(
        text__startswith=ITEMS_START
    )
    return {
        (thread, _hex(digest)): id
        for id, thread, digest, text in blocks.values_list("id", "thread_id", "sha256", "text").iterator()
        if needles.tell(read_json(text))
    }


def _blocks(user_id: int, places: Collection[RowKey]) -> dict[RowKey, int]:
    digests = {bytes.fromhex(digest) for _, digest in places}
    threads = {thread for thread, _ in places}
    blocks = ContextBlock.objects.filter(user=user_id, thread__in=threads, sha256__in=digests)
    ids_by_key = {
        (thread, _hex(digest)): id for id, thread, digest in blocks.values_list("id", "thread_id", "sha256").iterator()
    }
    return {place: id for place, id in ids_by_key.items() if place in places}


def _hex(digest: Any) -> str:
    return bytes(digest).hex() if digest else ""
