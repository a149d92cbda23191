"""A program that uses the API, as one would write it: it sends JSON and a token, and reads JSON and events."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.test import AsyncClient

from conversations.accounts import tokens
from conversations.runtime.wording import worded

Event = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ApiResponse:
    status: int
    body: Any
    headers: dict[str, str]

    @property
    def refusal(self) -> tuple[int, dict[str, Any]]:
        """Status and error of a call that was refused; every error must have the one shape and name its request."""
        error = dict(self.body["error"])
        assert self.body == {"error": self.body["error"]}
        if wording := error.pop("wording", None):
            assert worded(*wording["sentences"], **wording["values"]) == error["message"]
        assert set(error) == {"type", "code", "message", "details", "request_id"}
        assert error.pop("request_id") == self.headers["x-request-id"] != ""
        return self.status, error

    @property
    def code(self) -> tuple[int, str, str]:
        status, error = self.refusal
        return status, error["type"], error["code"]


class Api:
    def __init__(self, user: User | None = None, **headers: str) -> None:
        self.client = AsyncClient(raise_request_exception=False)
        self.headers = {"Authorization": f"Token {tokens.issue(user=user, name='tests')}"} if user else {}
        self.headers |= headers

    async def get(self, path: str, **headers: str) -> ApiResponse:
        return await self.call("GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> ApiResponse:
        return await self.call("POST", path, body, **headers)

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        return await self.send(method, path, b"" if body is None else json.dumps(body).encode(), **headers)

    async def send(
        self, method: str, path: str, data: bytes, content_type: str = "application/json", **headers: str
    ) -> ApiResponse:
        response = await self._response(method, path, data, content_type, headers)
        content = b"".join([part async for part in response]) if response.streaming else response.content
        is_json = content and response.headers.get("Content-Type") == "application/json"
        return ApiResponse(
            status=response.status_code,
            body=json.loads(content) if is_json else content.decode(errors="replace"),
            headers={name.lower(): value for name, value in response.headers.items()},
        )

    async def events(self, method: str, path: str, body: Any = None, **headers: str) -> AsyncIterator[Event]:
        """The events of a stream, as they come."""
        async for frame in self.frames(method, path, body, **headers):
            yield parsed(frame)

    async def frames(self, method: str, path: str, body: Any = None, **headers: str) -> AsyncIterator[str]:
        data = b"" if body is None else json.dumps(body).encode()
        response = await self._response(method, path, data, "application/json", headers)
        assert (response.status_code, response.headers["Content-Type"]) == (200, "text/event-stream")
        async for part in response:
            yield part.decode()

    async def _response(self, method: str, path: str, data: bytes, content_type: str, headers: dict[str, str]) -> Any:
        address = path if path.startswith(("/", "http")) else f"/api/v1/{path}"
        return await self.client.generic(method, address, data, content_type, headers=self.headers | headers)


def parsed(frame: str) -> Event:
    """One event of a stream; what stands before its data must say the same as the data."""
    id, event, data, *end = frame.split("\n")
    envelope: Event = json.loads(data.removeprefix("data: "))
    assert (id, event, end) == (f"id: {envelope['seq']}", f"event: {envelope['type']}", ["", ""])
    return envelope
