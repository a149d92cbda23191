"""Chainlit: the chat of its documentation, threads in PostgreSQL (``SQLAlchemyDataLayer``), its own server in uvicorn.

``python -m tests.benchmarks.peers.chainlit_chat``, with ``CHAT_DATABASE_URL``, ``CHAT_MODEL_URL``, ``CHAINLIT_APP_ROOT`` (a
folder that it writes to) and ``CHAINLIT_AUTH_SECRET`` set, in the environment of ``requirements-chats.txt``. People sign in at
``/chat/login`` and talk over its socket (``tests/benchmarks/chainlit_client.py``);
``/fill/{thread}/`` takes the turns before.
"""

import asyncio
import os
import uuid
from typing import Any

import chainlit as cl
from chainlit.data import get_data_layer
from chainlit.data.sql_alchemy import SQLAlchemyDataLayer
from chainlit.utils import mount_chainlit
from fastapi import FastAPI, Request
from openai import AsyncOpenAI
from psycopg.conninfo import conninfo_to_dict

from tests.benchmarks.peers.serving import serve

USER, PASSWORD = "harbour master", "benchmarks only"
LIMIT = 80
# As Chainlit's documentation has them, with the columns that its versions since have added, and an index for each key that
# it looks a thread's rows up by, which the documentation leaves out.
TABLES = """
CREATE TABLE users (
    "id" uuid PRIMARY KEY, "identifier" text NOT NULL UNIQUE, "metadata" jsonb NOT NULL, "createdAt" text);
CREATE TABLE threads (
    "id" uuid PRIMARY KEY, "createdAt" text, "name" text, "userId" uuid REFERENCES users ON DELETE CASCADE,
    "userIdentifier" text, "tags" text[], "metadata" jsonb);
CREATE TABLE steps (
    "id" uuid PRIMARY KEY, "name" text NOT NULL, "type" text NOT NULL,
    "threadId" uuid NOT NULL REFERENCES threads ON DELETE CASCADE, "parentId" uuid, "streaming" boolean NOT NULL,
    "waitForAnswer" boolean, "isError" boolean, "metadata" jsonb, "tags" text[], "input" text, "output" text,
    "createdAt" text, "command" text, "modes" jsonb, "start" text, "end" text, "generation" jsonb, "showInput" text,
    "language" text, "indent" integer, "defaultOpen" boolean, "autoCollapse" boolean, "icon" text);
CREATE TABLE elements (
    "id" uuid PRIMARY KEY, "threadId" uuid REFERENCES threads ON DELETE CASCADE, "type" text, "url" text,
    "chainlitKey" text, "name" text NOT NULL, "display" text, "objectKey" text, "size" text, "page" integer,
    "language" text, "forId" uuid, "mime" text, "props" jsonb, "autoPlay" boolean, "playerConfig" jsonb);
CREATE TABLE feedbacks (
    "id" uuid PRIMARY KEY, "forId" uuid NOT NULL, "threadId" uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
    "value" integer NOT NULL, "comment" text);
CREATE INDEX ON threads ("userId");
CREATE INDEX ON steps ("threadId");
CREATE INDEX ON elements ("threadId");
CREATE INDEX ON feedbacks ("forId")
"""
STEP = """
INSERT INTO steps ("id", "threadId", "name", "type", "streaming", "output", "createdAt", "metadata", "showInput")
VALUES (:id, :thread, :name, :type, false, :text, :created_at, '{}', 'json')
"""


client = AsyncOpenAI(api_key="key-of-the-bench", base_url=os.environ["CHAT_MODEL_URL"], max_retries=0)


@cl.data_layer
def data_layer() -> SQLAlchemyDataLayer:
    parts = conninfo_to_dict(os.environ["CHAT_DATABASE_URL"])
    where = {"host": parts["host"], "port": parts["port"], "user": parts["user"], "database": parts["dbname"]}
    return SQLAlchemyDataLayer("postgresql+asyncpg://", connect_args=where)


@cl.password_auth_callback
async def sign_in(username: str, password: str) -> cl.User | None:
    return cl.User(identifier=username) if password == PASSWORD else None


@cl.on_chat_resume
async def resume(thread: Any) -> None:
    """Chainlit itself puts the thread's messages into the chat's context; without this function it resumes nothing."""


@cl.on_message
async def answer(message: cl.Message) -> None:
    messages = [{"role": "system", "content": "You are a companion."}, *cl.chat_context.to_openai()[-LIMIT:]]
    said = cl.Message(content="")
    stream: Any = await client.chat.completions.create(
        model="local-model", messages=messages, max_tokens=4_096, stream=True
    )
    async for piece in stream:
        if piece.choices and (token := piece.choices[0].delta.content):
            await said.stream_token(token)
    await said.update()


async def main() -> None:
    application = FastAPI()
    application.add_api_route("/fill/{thread}/", fill, methods=["POST"])
    mount_chainlit(app=application, target=__file__, path="/chat")
    layer: Any = get_data_layer()
    for statement in TABLES.split(";"):
        await layer.execute_sql(statement, {})
    await serve(application)


async def fill(thread: str, request: Request) -> dict[str, Any]:
    layer: Any = get_data_layer()
    user = await layer.create_user(cl.User(identifier=USER))
    await layer.update_thread(thread_id=thread, name="The harbour", user_id=user.id)
    for number, item in enumerate(await request.json()):
        values = {
            "id": str(uuid.uuid4()),
            "thread": thread,
            "name": item["role"],
            "type": f"{item['role']}_message",
            "text": item["content"],
            "created_at": f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z",
        }
        await layer.execute_sql(STEP, values)
    return {}


if __name__ == "__main__":
    asyncio.run(main())
