"""The context of one thread: Openbook beside its peers, on the same PostgreSQL, in the same run."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import psycopg

from conversations.models import Thread
from tests.benchmarks.corpus import rows_of
from tests.benchmarks.measuring import doing, side_by_side, table
from tests.benchmarks.peers import agents_sdk, langgraph, pydantic_ai

OPENBOOK = "Openbook, the whole context in its read-only transaction"
AGENTS_SDK = "OpenAI Agents SDK, SQLAlchemySession(limit=80)"
LANGGRAPH = "LangGraph, PostgresSaver and trim_messages"
PYDANTIC_AI = "PydanticAI, stored history in a JSONB row"
SECONDS = 5.0

Readers = dict[str, Callable[[], object]]


def main(url: str, threads: Mapping[int, Thread], build: Callable[[Thread], object]) -> None:
    """``threads`` by their length; ``build`` makes Openbook's context of one."""
    with newest_only(url) as some, whole_threads(url, threads.values()) as all_of_it:
        for length, thread in threads.items():
            with doing(f"reading {length:,} turns"):
                # Apart from those that load whole threads: the garbage that they leave would be cleared at others' cost.
                taken = side_by_side({OPENBOOK: partial(build, thread)} | some(thread))
                taken |= side_by_side(all_of_it(thread), seconds=SECONDS)
            table(f"the context of a thread of {length:,} turns, beside peers", taken, limit=OPENBOOK)


@contextmanager
def newest_only(url: str) -> Iterator[Callable[[Thread], Readers]]:
    with agents_sdk.connected(url) as sdk:
        with doing("copying every turn into the Agents SDK's tables"):
            agents_sdk.load(url)
        yield lambda thread: {AGENTS_SDK: sdk.reader(thread.id)}


@contextmanager
def whole_threads(url: str, threads: Iterable[Thread]) -> Iterator[Callable[[Thread], Readers]]:
    with langgraph.connected(url) as saver, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(pydantic_ai.TABLE)
        for thread in threads:
            with doing(f"giving LangGraph and PydanticAI a thread of {thread.message_count:,} turns"):
                rows = rows_of(thread)
                langgraph.load(saver, thread.id, rows)
                pydantic_ai.load(connection, thread.id, rows)
        connection.execute("VACUUM ANALYZE checkpoint_blobs, pydantic_ai_thread")
        yield lambda thread: {
            LANGGRAPH: langgraph.reader(saver, thread.id),
            PYDANTIC_AI: pydantic_ai.reader(connection, thread.id),
        }
