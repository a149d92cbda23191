"""Whole chats of others that are asked beside Openbook: the same model, the same answer, as many turns before it.

The OpenAI Agents SDK's lies in the environment of the benchmarks, LangGraph's and Chainlit's in one of their own
(``requirements-chats.txt``). What is not installed is left out.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.chainlit_client import resumed, signed_in
from tests.benchmarks.served import Served, connected, post, running, served
from tests.services import fresh_database

PYTHON = Path(".local/chats/bin/python")
USER, PASSWORD = "harbour master", "benchmarks only"
SECRET = "long enough for a signature, and of no use elsewhere"

Call = Callable[[HTTPConnection, int], None]
Item = Mapping[str, str]


def start(
    stack: ExitStack, *, words: int, at_once: int, turns: Sequence[Item], question: str
) -> dict[str, tuple[Served, Call]]:
    """By name, the server and how it is asked by each of so many at once."""
    model = stack.enter_context(served("chats", words))
    sessions = [str(uuid.uuid4()) for _ in range(at_once)]

    def database() -> str:
        return stack.enter_context(fresh_database())

    def over_http(chat: Served) -> tuple[Served, Call]:
        fill(chat, "/{}/fill/")
        body = {"content": question}
        return chat, lambda connection, number: post(connection, f"/{sessions[number]}/", body)

    def over_sockets(chat: Served) -> tuple[Served, Call]:
        fill(chat, "/fill/{}/")
        cookie = signed_in(chat.url, USER, PASSWORD)
        sockets = [stack.enter_context(resumed(chat.url, session, cookie)) for session in sessions]

        def ask(_: HTTPConnection, number: int) -> None:
            assert len(sockets[number].ask(question).split()) == words

        return chat, ask

    def fill(chat: Served, path: str) -> None:
        for session in sessions:
            with closing(connected(chat)) as connection:
                post(connection, path.format(session), turns)

    candidates: dict[str, tuple[Served, Call]] = {}
    if find_spec("agents"):
        agents = stack.enter_context(served("agents", database(), model.url))
        candidates["OpenAI Agents SDK, sessions in PostgreSQL, on uvicorn"] = over_http(agents)
    if PYTHON.exists():
        langgraph = stack.enter_context(
            running(PYTHON, "-m", "tests.benchmarks.peers.langgraph_chat", database(), model.url)
        )
        candidates["LangGraph, AsyncPostgresSaver, on uvicorn"] = over_http(langgraph)
        chainlit = stack.enter_context(
            running(
                "env",
                f"CHAT_DATABASE_URL={database()}",
                f"CHAT_MODEL_URL={model.url}",
                f"CHAINLIT_APP_ROOT={stack.enter_context(TemporaryDirectory(prefix='chainlit-'))}",
                f"CHAINLIT_AUTH_SECRET={SECRET}",
                *(PYTHON, "-m", "tests.benchmarks.peers.chainlit_chat"),
            )
        )
        candidates["Chainlit, SQLAlchemyDataLayer, over its socket"] = over_sockets(chainlit)
    return candidates
