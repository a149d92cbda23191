"""What stands between the SDK of the protocol and everything else: where a server is, what it describes and answers.

The SDK takes two seconds and much memory to import, which only who uses it should pay: it is reached by ``list_tools`` and
``call_tool`` here.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from django.utils.module_loading import import_string

from conversations.models import McpServer
from conversations.models.mcp import PURPOSE
from conversations.runtime import encryption
from conversations.runtime.values import dataclass

CLIENT = "conversations.mcp_client.client"


class ServerError(Exception):
    """Why a server's tools can't be read, in words without anything that it said."""


class CallFailed(Exception):
    """``is_unknown``: whether the call was made can't be told."""

    def __init__(self, message: str, *, is_unknown: bool) -> None:
        super().__init__(message)
        self.is_unknown = is_unknown


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a server is, with the headers that it is sent."""

    url: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, server: McpServer) -> "Endpoint":
        """Raises ``ServerError``."""
        if not server.secret:
            return cls(url=server.url, headers={})
        try:
            secret = encryption.decrypt(bytes(server.secret), purpose=PURPOSE)
        except encryption.NotDecryptable:
            raise ServerError("its secret was encrypted with another SECRET_KEY; write it anew") from None
        return cls(url=server.url, headers={server.header: secret})


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A tool as a server describes it. ``digest`` is that of everything that it said of it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: bool
    digest: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool answered, as a model can read it."""

    text: str
    is_error: bool


async def list_tools(endpoint: Endpoint) -> list[Definition]:
    """The tools that can be offered, in the server's order. Raises ``ServerError``."""
    listed: list[Definition] = await (await _imported("list_tools"))(endpoint)
    return listed


async def call_tool(endpoint: Endpoint, name: str, input: Mapping[str, Any]) -> Answer:
    """Raises ``CallFailed``."""
    answer: Answer = await (await _imported("call_tool"))(endpoint, name, input)
    return answer


async def _imported(name: str) -> Any:
    return await asyncio.to_thread(import_string, f"{CLIENT}.{name}")
