"""OpenAI Agents SDK: a chat whose sessions lie in PostgreSQL, on Starlette and uvicorn. Without accounts, record or resume."""

import socket
from collections.abc import Callable

import uvicorn
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    SessionSettings,
    set_tracing_disabled,
)
from agents.extensions.memory import SQLAlchemySession
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

LIMIT = 80


async def serve(database_url: str, model_url: str, tell: Callable[[str], None]) -> None:
    set_tracing_disabled(disabled=True)
    parts = conninfo_to_dict(database_url)
    where = {"host": parts["host"], "port": parts["port"], "user": parts["user"], "database": parts["dbname"]}
    engine = create_async_engine("postgresql+asyncpg://", connect_args=where)
    tables = SQLAlchemySession("tables", engine=engine, create_tables=True)
    await tables.get_items(limit=1)
    client = AsyncOpenAI(api_key="key-of-the-bench", base_url=model_url, max_retries=0)
    agent = Agent(
        name="companion",
        instructions="You are a companion.",
        model=OpenAIChatCompletionsModel(model="local-model", openai_client=client),
        model_settings=ModelSettings(max_tokens=4_096),
    )
    settings = RunConfig(session_settings=SessionSettings(limit=LIMIT))

    async def message(request: Request) -> JSONResponse:
        payload = await request.json()
        session = SQLAlchemySession(request.path_params["session"], engine=engine)
        run = Runner.run_streamed(agent, payload["content"], session=session, run_config=settings)
        text = ""
        async for event in run.stream_events():
            if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
                text += event.data.delta
        return JSONResponse({"text": text})

    async def fill(request: Request) -> JSONResponse:
        session = SQLAlchemySession(request.path_params["session"], engine=engine)
        await session.add_items(await request.json())
        return JSONResponse({})

    application = Starlette(
        routes=[Route("/{session}/", message, methods=["POST"]), Route("/{session}/fill/", fill, methods=["POST"])],
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tell(f"http://127.0.0.1:{listener.getsockname()[1]}")
        await uvicorn.Server(uvicorn.Config(application, log_level="warning")).serve(sockets=[listener])
