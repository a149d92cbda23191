"""How much would be deleted now, counted up to a bound, so that it is quick beside millions of rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, IntegerField, Min, Model, QuerySet, Sum
from django.db.models.expressions import Combinable, RawSQL

from conversations.models import Thread
from conversations.runtime.db import run
from conversations.runtime.ids import time_of
from conversations.upkeep.partitions import Partition, PartitionedTable

MOST_COUNTED = 100_000
MOST_THREADS = 2_000
"""Their turns are added up."""
BYTES_OF_THREAD = """
(SELECT coalesce(sum(pg_column_size(turn.*)), 0) FROM conversations_message AS turn
 WHERE turn.thread_id = conversations_thread.id)
+ (SELECT coalesce(sum(file.size), 0) FROM conversations_file AS file WHERE file.thread_id = conversations_thread.id)
"""


@dataclass(frozen=True, kw_only=True)
class Expired:
    """``bytes`` of rows without indexes, of whole tables with them, of files as they lie in the storage.

    Where it ``is_bounded`` there are more than were counted.
    """

    count: int
    oldest: datetime | None
    bytes: int
    is_bounded: bool


def rows(found: QuerySet[Model], *, at: str, size: Combinable | None = None, most: int = MOST_COUNTED) -> Expired:
    """The oldest come first. ``at`` names the column of their time."""
    size = size or RawSQL(f'pg_column_size("{found.model._meta.db_table}".*)', [], IntegerField())  # noqa: S611
    counted = found.annotate(bytes_of_row=size)[:most].aggregate(
        count=Count("*"), oldest=Min(at), bytes=Sum("bytes_of_row", default=0)
    )
    return Expired(**counted, is_bounded=counted["count"] == most)


def threads(found: QuerySet[Thread]) -> Expired:
    """With the bytes of their turns and files."""
    size = RawSQL(BYTES_OF_THREAD, [], IntegerField())  # noqa: S611
    return rows(found, at="updated_at", size=size, most=MOST_THREADS)


def tables(of: PartitionedTable, over: Iterable[Partition]) -> Expired:
    """Whole partitions, the oldest first."""
    count, oldest, taken = 0, None, 0
    for each in over:
        first = run(f"SELECT {of.key} FROM {each.name} ORDER BY 1 LIMIT 1")  # noqa: S608
        if not first:
            continue
        left = f"SELECT FROM {each.name} LIMIT {MOST_COUNTED - count}"
        [(found, size)] = run(
            f"SELECT count(*), pg_total_relation_size('{each.name}') FROM ({left}) AS counted"  # noqa: S608
        )
        count, oldest, taken = count + found, oldest or time_of(first[0][0]), taken + size
    return Expired(count=count, oldest=oldest, bytes=taken, is_bounded=count == MOST_COUNTED)
