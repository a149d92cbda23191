"""The server: it takes requests, refuses what its kind would refuse, and keeps what came for the test to look at."""

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chat_server.kinds import KINDS
from tests.chat_server.scripts import ChatAnswer, ChatResponder, ChatScript, echo, error, refusal
from tests.model_scripts import Script
from tests.model_server.server import ModelServer
from tests.model_server.transport import ReceivedRequest


class ChatServer(ModelServer):
    """``kind`` can change from one request to the next. ``models`` are the ids that it names, ``told`` what else it tells of
    them; ``listing`` is its answer in place of that list."""

    def __init__(self, *, port: int = 0, api_key: str = "") -> None:
        super().__init__(port=port, api_key=api_key)
        self.kind = KINDS["openai"]
        self.models = ["text-embedding-local", "local-model"]
        self.told: dict[str, dict[str, Any]] = {}
        self.listing: Script | None = None
        self.chat_responder: ChatResponder = echo
        self._chat_scripts: deque[ChatScript] = deque()

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def listings(self) -> int:
        """How often it was asked for its models."""
        return sum(request.method == "GET" for request in self.requests)

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the requests for an answer."""
        return [request.body for request in self.requests if request.method == "POST"]

    def say(self, *scripts: ChatScript | ChatResponder) -> None:
        """Answer the next requests with these, in order; a function becomes the answer to all that have no script."""
        for script in scripts:
            if callable(script):
                self.chat_responder = script
            else:
                self._chat_scripts.append(script)

    def _answer(self, request: ReceivedRequest) -> Script:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        if (self.kind.needs_key and not key) or (self.api_key and key != self.api_key):
            return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")
        match request.method, request.path:
            case "GET", "/v1/models":
                rows = [{"id": id, "object": "model", **self.told.get(id, {})} for id in self.models]
                return self.listing or refusal(200, {"object": "list", "data": rows})
            case "POST", "/v1/chat/completions":
                return self._chat(request)
            case "POST", "/tokenize":
                return self._tokenized(request)
        return error(404, f"{request.method} {request.path}")

    def _tokenized(self, request: ReceivedRequest) -> Script:
        """As vLLM does for a ``prompt`` and llama.cpp for a ``content``."""
        body = request.body = json.loads(request.raw_body)
        if self.count_scripts:
            return self.count_scripts.popleft()
        ids = list(range(self.tokens_of(body.get("prompt", body.get("content")))))
        said = {"count": len(ids), "max_model_len": 8_192, "tokens": ids} if "prompt" in body else {"tokens": ids}
        return refusal(200, said)

    def _chat(self, request: ReceivedRequest) -> Script:
        try:
            body = request.body = json.loads(request.raw_body)
        except ValueError:
            return error(400, "We could not parse the JSON body of your request.")
        if (objection := self.kind.objection(body)) is not None:
            return objection
        script = self._chat_scripts.popleft() if self._chat_scripts else self.chat_responder(body)
        return self.kind.stream(script, body) if isinstance(script, ChatAnswer) else script


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server
