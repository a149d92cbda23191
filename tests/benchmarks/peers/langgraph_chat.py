"""LangGraph: a chat whose threads lie in PostgreSQL (``AsyncPostgresSaver``), on uvicorn. Without accounts, record or resume.

``python -m tests.benchmarks.peers.langgraph_chat DATABASE_URL MODEL_URL``, in the environment of ``requirements-chats.txt``.
``/{thread}/`` answers with the whole text, ``/{thread}/fill/`` takes the turns before.
"""

import asyncio
import sys
from typing import Any

from langchain_core.messages import SystemMessage, trim_messages
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, MessagesState, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.benchmarks.peers.serving import serve

LIMIT = 80
CONNECTIONS = 16
NODE = "companion"


async def main(database_url: str, model_url: str) -> None:
    model = ChatOpenAI(
        model="local-model",
        api_key="key-of-the-bench",
        base_url=model_url,
        max_retries=0,
        streaming=True,
        extra_body={
            "max_tokens": 4_096
        },  # its own field is called max_completion_tokens, which the model server refuses
    )
    instructions = SystemMessage("You are a companion.")

    async def answer(state: MessagesState) -> dict[str, Any]:
        newest = trim_messages(
            state["messages"], max_tokens=LIMIT, token_counter=len, strategy="last", start_on="human"
        )
        return {"messages": [await model.ainvoke([instructions, *newest])]}

    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(database_url, max_size=CONNECTIONS, kwargs=settings) as pool:
        saver = AsyncPostgresSaver(pool)
        await saver.setup()
        graph = StateGraph(MessagesState).add_node(NODE, answer).add_edge(START, NODE).compile(checkpointer=saver)

        async def message(request: Request) -> JSONResponse:
            asked = {"messages": [{"role": "user", "content": (await request.json())["content"]}]}
            text = ""
            async for piece, _ in graph.astream(asked, thread_of(request), stream_mode="messages"):
                text += piece.content
            return JSONResponse({"text": text})

        async def fill(request: Request) -> JSONResponse:
            await graph.aupdate_state(thread_of(request), {"messages": await request.json()}, as_node=NODE)
            return JSONResponse({})

        routes = [Route("/{thread}/", message, methods=["POST"]), Route("/{thread}/fill/", fill, methods=["POST"])]
        await serve(Starlette(routes=routes))


def thread_of(request: Request) -> Any:
    return {"configurable": {"thread_id": request.path_params["thread"]}}


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
