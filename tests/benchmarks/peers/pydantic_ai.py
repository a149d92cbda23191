"""PydanticAI: the history as its documentation stores it, one JSON value a thread, here in a JSONB column."""

import uuid
from collections.abc import Callable

import psycopg
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, TextPart, UserPromptPart

from tests.benchmarks.corpus import CorpusTurn

NEWEST = 80
TABLE = "CREATE TABLE pydantic_ai_thread (id uuid PRIMARY KEY, messages jsonb NOT NULL)"
INSERT = "INSERT INTO pydantic_ai_thread (id, messages) VALUES (%s, %s)"
SELECT = "SELECT messages::text FROM pydantic_ai_thread WHERE id = %s"


def load(connection: psycopg.Connection, thread: uuid.UUID, rows: list[CorpusTurn]) -> None:
    messages = [
        ModelRequest(parts=[UserPromptPart(content=row.text, timestamp=row.created_at)])
        if row.role == "user"
        else ModelResponse(parts=[TextPart(content=row.text)], timestamp=row.created_at)
        for row in rows
    ]
    connection.execute(INSERT, (thread, ModelMessagesTypeAdapter.dump_json(messages).decode()))


def reader(connection: psycopg.Connection, thread: uuid.UUID) -> Callable[[], object]:
    cursor = connection.cursor(binary=True)

    def read() -> object:
        row = cursor.execute(SELECT, (thread,), prepare=True).fetchone()
        assert row is not None
        return ModelMessagesTypeAdapter.validate_json(row[0])[-NEWEST:]

    return read
