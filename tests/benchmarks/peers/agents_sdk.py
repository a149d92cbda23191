"""OpenAI Agents SDK: ``SQLAlchemySession`` on asyncpg, a row per item, the newest 80 by an index."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from agents.extensions.memory import SQLAlchemySession
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

LIMIT = 80
ITEM = {"role": "user", "content": "And now? The harbour lies quiet, and the lamp is lit."}

# Its own JSON of an item, and a time of its own for each: the index that it reads by is on the session and the time.
COPY = """
INSERT INTO agent_sessions (session_id) SELECT id::text FROM conversations_thread;
INSERT INTO agent_messages (session_id, message_data, created_at)
SELECT thread_id::text, json_build_object('role', role, 'content', text)::text, created_at AT TIME ZONE 'UTC'
FROM conversations_message;
VACUUM ANALYZE agent_messages
"""


class AgentsSdk:
    """Its sessions, and the event loop that they need."""

    def __init__(self, loop: asyncio.AbstractEventLoop, engine: AsyncEngine) -> None:
        self.loop = loop
        self.engine = engine

    def reader(self, thread: uuid.UUID) -> Callable[[], object]:
        session = SQLAlchemySession(str(thread), engine=self.engine)
        return lambda: self.loop.run_until_complete(session.get_items(limit=LIMIT))

    def writer(self, items: int) -> Callable[[], object]:
        """Stores so many items at once, in a session that is there already."""
        session = SQLAlchemySession(f"writing {items}", engine=self.engine)
        return lambda: self.loop.run_until_complete(session.add_items([dict(ITEM) for _ in range(items)]))

    def create_tables(self) -> None:
        session = SQLAlchemySession("tables", engine=self.engine, create_tables=True)
        self.loop.run_until_complete(session.get_items(limit=1))


@contextmanager
def connected(url: str) -> Iterator[AgentsSdk]:
    """With its tables made."""
    parts = conninfo_to_dict(url)
    where = {"host": parts["host"], "port": parts["port"], "user": parts["user"], "database": parts["dbname"]}
    with asyncio.Runner() as runner:
        engine = create_async_engine("postgresql+asyncpg://", connect_args=where)
        sdk = AgentsSdk(runner.get_loop(), engine)
        sdk.create_tables()
        yield sdk
        runner.run(engine.dispose())


def load(url: str) -> None:
    """Every turn of Openbook's table, as its own items."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in COPY.split(";"):
            connection.execute(statement)
