"""LangGraph: ``PostgresSaver`` keeps all messages of a thread in one value, ``trim_messages`` cuts the newest from them."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, trim_messages
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

from tests.benchmarks.corpus import CorpusTurn

TOKENS = 3_000
VERSION = "00000000000000000000000000000001.0"


@contextmanager
def connected(url: str) -> Iterator[PostgresSaver]:
    """With its tables made."""
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        yield saver


def load(saver: PostgresSaver, thread: uuid.UUID, rows: list[CorpusTurn]) -> None:
    checkpoint = empty_checkpoint()
    messages = [(HumanMessage if row.role == "user" else AIMessage)(content=row.text, id=str(row.id)) for row in rows]
    checkpoint["channel_values"] = {"messages": messages}
    checkpoint["channel_versions"] = {"messages": VERSION}
    saver.put(_config(thread), checkpoint, {"source": "loop", "step": 1, "parents": {}}, {"messages": VERSION})


def reader(saver: PostgresSaver, thread: uuid.UUID) -> Callable[[], object]:
    def read() -> object:
        messages = saver.get_tuple(_config(thread)).checkpoint["channel_values"]["messages"]
        return trim_messages(
            messages, max_tokens=TOKENS, token_counter="approximate", strategy="last", start_on="human"
        )

    return read


def _config(thread: uuid.UUID) -> Any:
    return {"configurable": {"thread_id": str(thread), "checkpoint_ns": ""}}
