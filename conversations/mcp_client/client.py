"""The protocol itself, by its SDK: the tools of a server, and a call of one. Bounded in time, bytes and count.

What a server's name resolves to is judged as for every address that people write (``conversations.providers.http_client``); the
SDK follows a redirect only within the address's own origin.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from django.conf import settings
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, EmbeddedResource, Implementation, TextContent, TextResourceContents, Tool
from pydantic import ValidationError

from conversations.mcp_client.endpoints import Answer, CallFailed, Definition, Endpoint, ServerError
from conversations.models.mcp import DESCRIPTION_CHARS, SCHEMA_CHARS, TOOL_NAME_CHARS
from conversations.providers.http_client import connection_code, open_client
from conversations.runtime.text import clean

CONNECT_SECONDS, LIST_SECONDS = 5.0, 20.0
MOST_BYTES = 4 * 1024 * 1024
"""Of all answers of one connection."""
MOST_TOOLS, MOST_PAGES = 200, 20


class AnswerTooLarge(httpx2.TransportError):
    """A server answers with more than is read."""


class Unauthorized(httpx2.TransportError):
    """A server asks for a sign-in, and did nothing."""


async def list_tools(endpoint: Endpoint) -> list[Definition]:
    """The tools that can be offered, in the server's order. Raises ``ServerError``."""
    definitions: dict[str, Definition] = {}
    cursor: str | None = None
    try:
        async with asyncio.timeout(LIST_SECONDS), connected(endpoint) as client:
            for _ in range(MOST_PAGES):
                page = await client.list_tools(cursor=cursor)
                definitions |= {tool.name: definition for tool in page.tools if (definition := definition_of(tool))}
                cursor = page.next_cursor
                if cursor is None or len(definitions) >= MOST_TOOLS:
                    break
    except Exception as error:
        raise ServerError(problem_of(error), asks_for_sign_in=is_unauthorized(error)) from error
    return list(definitions.values())[:MOST_TOOLS]


async def call_tool(endpoint: Endpoint, name: str, input: Mapping[str, Any]) -> Answer:
    """Raises ``CallFailed``."""
    is_sent = False
    try:
        async with asyncio.timeout(settings.OPENBOOK_MCP_SECONDS), connected(endpoint) as client:
            is_sent = True
            answer = await client.call_tool(name, dict(input))
    except Exception as error:
        refused = next((each for each in leaves(error) if isinstance(each, MCPError)), None)
        unauthorized = is_unauthorized(error)
        is_unknown = is_sent and refused is None and not unauthorized
        raise CallFailed(problem_of(error), is_unknown=is_unknown, asks_for_sign_in=unauthorized) from error
    return Answer(text=text_of(answer), is_error=bool(answer.is_error))


@asynccontextmanager
async def connected(endpoint: Endpoint) -> AsyncIterator[Client]:
    async def hear_refusal(response: httpx2.Response) -> None:
        if response.status_code == 401:
            raise Unauthorized("401")

    async with open_bounded(endpoint) as http_client:
        http_client.event_hooks["response"].append(hear_refusal)
        transport = streamable_http_client(endpoint.url, http_client=http_client)
        info = Implementation(name="Openbook", version="1")
        async with Client(transport, client_info=info, cache=None) as client:
            yield client


def open_bounded(endpoint: Endpoint) -> httpx2.AsyncClient:
    left = MOST_BYTES

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise AnswerTooLarge("a compressed answer, which was not asked for")
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = CountedStream(stream, take)

    def take(count: int) -> None:
        nonlocal left
        left -= count
        if left < 0:
            raise AnswerTooLarge("more than is read")

    async def ask_plainly(request: httpx2.Request) -> None:
        request.headers["Accept-Encoding"] = "identity"

    client = open_client(settings.OPENBOOK_INNER_NETWORKS, connect_seconds=CONNECT_SECONDS)
    client.headers.update({"User-Agent": "Openbook", **endpoint.headers})
    client.event_hooks = {"request": [ask_plainly], "response": [bound]}
    client.timeout = httpx2.Timeout(settings.OPENBOOK_MCP_SECONDS)
    return client


class CountedStream(httpx2.AsyncByteStream):
    """A body of which each piece is counted before it is read."""

    def __init__(self, stream: httpx2.AsyncByteStream, take: Any) -> None:
        self._stream, self._take = stream, take

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._take(len(piece))
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def definition_of(tool: Tool) -> Definition | None:
    """``None`` for one that no model can be offered: its name or its size is none that is taken. Pure."""
    schema = tool.input_schema
    size = len(json.dumps(schema, ensure_ascii=False))
    is_named = (
        tool.name.isascii() and 0 < len(tool.name) <= TOOL_NAME_CHARS and tool.name.replace("-", "_").isidentifier()
    )
    if not is_named or size > SCHEMA_CHARS or schema.get("type") != "object":
        return None
    described = tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta", "icons"})
    text = json.dumps(described, sort_keys=True, ensure_ascii=True)
    return Definition(
        name=tool.name,
        description=clean(tool.description or "")[:DESCRIPTION_CHARS],
        schema=schema,
        read_only=bool(tool.annotations and tool.annotations.read_only_hint),
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


def text_of(answer: CallToolResult) -> str:
    """What a model can read of it; of the rest, what it is. Pure."""
    parts = []
    for content in answer.content:
        match content:
            case TextContent():
                parts.append(content.text)
            case EmbeddedResource(resource=TextResourceContents() as resource):
                parts.append(resource.text)
            case _:
                parts.append(f"[{content.type}: not shown]")
    if not parts and answer.structured_content is not None:
        parts.append(json.dumps(answer.structured_content, ensure_ascii=False))
    return clean("\n\n".join(parts)) or "(nothing)"


def problem_of(error: BaseException) -> str:
    """In words of our own: what a server says stands in no log and on no page."""
    for each in leaves(error):
        match each:
            case AnswerTooLarge():
                return "it answers with more than is read"
            case Unauthorized():
                return "it asks for a sign-in, or takes this one no more"
            case MCPError():
                return "it answered with an error"
            case httpx2.HTTPStatusError():
                return f"it answered {each.response.status_code}"
            case httpx2.TransportError() | OSError() if not isinstance(each, TimeoutError):
                return f"not reached: {connection_code(each)}"
            case ValidationError():
                return "it does not speak the Model Context Protocol"
    if any(isinstance(each, TimeoutError) for each in leaves(error)):
        return "no answer in time"
    return f"not understood: {type(error).__name__}"


def is_unauthorized(error: BaseException) -> bool:
    return any(isinstance(each, Unauthorized) for each in leaves(error))


def leaves(error: BaseException) -> list[BaseException]:
    """An error, or those of a group of them, with what they came of."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in leaves(each)]
    cause = error.__cause__ or error.__context__
    return [error, *(leaves(cause) if cause else ())]
