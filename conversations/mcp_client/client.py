"""The protocol itself, by its SDK: the tools of a server, and a call of one. Bounded in time, bytes and count.

What a server's name resolves to is judged as for every address that people write (``conversations.providers.http_client``); the
SDK follows a redirect only within the address's own origin.
"""

import asyncio
import base64
import hashlib
import json
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from django.conf import settings
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    Implementation,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    TextContent,
    TextResourceContents,
    Tool,
)
from mcp_types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

from conversations.mcp_client.confined import NOT_SHUT_IN
from conversations.mcp_client.endpoints import (
    Answer,
    Argument,
    CallFailed,
    Content,
    Definition,
    Endpoint,
    Prompt,
    Resource,
    ServerError,
)
from conversations.mcp_client.programs import Program, command_for
from conversations.models.mcp import DESCRIPTION_CHARS, SCHEMA_CHARS, TOOL_NAME_CHARS, URL_CHARS
from conversations.providers.http_client import connection_code, open_client
from conversations.runtime.text import clean

CONNECT_SECONDS, LIST_SECONDS = 5.0, 20.0
MOST_BYTES = 4 * 1024 * 1024
"""Of all answers of one connection."""
MOST_LISTED, MOST_PAGES, MOST_ARGUMENTS = 200, 20, 20
NAME_CHARS = 200
ROOT = Path(__file__).parents[2]


class AnswerTooLarge(httpx2.TransportError):
    """A server answers with more than is read."""


class NotShutIn(OSError):
    """A program was not run, as this system does not shut it in."""


class Unauthorized(httpx2.TransportError):
    """A server asks for a sign-in, and did nothing."""


async def list_tools(endpoint: Endpoint) -> list[Definition]:
    """The tools that can be offered, in the server's order. Raises ``ServerError``."""
    async with asking(endpoint) as client:
        tools = [tool async for page in pages(client.list_tools) for tool in page.tools]
    definitions = {tool.name: definition for tool in tools if (definition := definition_of(tool))}
    return list(definitions.values())[:MOST_LISTED]


async def list_resources(endpoint: Endpoint) -> list[Resource]:
    """Raises ``ServerError``, as the next three do."""
    async with asking(endpoint) as client:
        has_any = client.server_capabilities.resources is not None
        rows = [row async for page in pages(client.list_resources) for row in page.resources] if has_any else []
    return [
        Resource(
            uri=row.uri,
            name=clean(row.title or row.name)[:NAME_CHARS],
            description=clean(row.description or "")[:DESCRIPTION_CHARS],
            media_type=clean(row.mime_type or "")[:NAME_CHARS],
            size=row.size,
        )
        for row in rows[:MOST_LISTED]
        if len(row.uri) <= URL_CHARS
    ]


async def read_resource(endpoint: Endpoint, uri: str) -> Content:
    async with asking(endpoint) as client:
        contents = (await client.read_resource(uri)).contents
    match contents:
        case [TextResourceContents() as first, *_]:
            return Content(data=first.text.encode(), media_type=first.mime_type or "text/plain")
        case [BlobResourceContents() as first, *_]:
            return Content(data=_decoded(first.blob), media_type=first.mime_type or "")
    raise ServerError("it holds nothing")


async def list_prompts(endpoint: Endpoint) -> list[Prompt]:
    async with asking(endpoint) as client:
        has_any = client.server_capabilities.prompts is not None
        rows = [row async for page in pages(client.list_prompts) for row in page.prompts] if has_any else []
    return [
        Prompt(
            name=row.name,
            description=clean(row.description or row.title or "")[:DESCRIPTION_CHARS],
            arguments=[
                Argument(
                    name=each.name,
                    description=clean(each.description or "")[:DESCRIPTION_CHARS],
                    required=bool(each.required),
                )
                for each in (row.arguments or ())[:MOST_ARGUMENTS]
            ],
        )
        for row in rows[:MOST_LISTED]
        if len(row.name) <= NAME_CHARS
    ]


async def get_prompt(endpoint: Endpoint, name: str, arguments: Mapping[str, str]) -> str:
    async with asking(endpoint) as client:
        answer = await client.get_prompt(name, dict(arguments))
    return text_of([message.content for message in answer.messages])


@asynccontextmanager
async def asking(endpoint: Endpoint) -> AsyncIterator[Client]:
    """For what changes nothing. What goes wrong raises ``ServerError``."""
    try:
        async with asyncio.timeout(LIST_SECONDS), connected(endpoint) as client:
            yield client
    except Exception as error:
        raise ServerError(problem_of(error), asks_for_sign_in=is_unauthorized(error)) from error


async def pages[T: (ListToolsResult, ListResourcesResult, ListPromptsResult)](
    listing: Callable[..., Awaitable[T]],
) -> AsyncIterator[T]:
    """As many as are read."""
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await listing(cursor=cursor)
        yield page
        cursor = page.next_cursor
        if cursor is None:
            break


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
    return Answer(text=text_of(answer.content, answer.structured_content), is_error=bool(answer.is_error))


@asynccontextmanager
async def connected(endpoint: Endpoint) -> AsyncIterator[Client]:
    async def hear_refusal(response: httpx2.Response) -> None:
        if response.status_code == 401:
            raise Unauthorized("401")

    info = Implementation(name="Openbook", version="1")
    if endpoint.program:
        async with Client(running(endpoint.program), client_info=info, cache=None) as client:
            yield client
        return
    async with open_bounded(endpoint) as http_client:
        http_client.event_hooks["response"].append(hear_refusal)
        transport = streamable_http_client(endpoint.url, http_client=http_client)
        async with Client(transport, client_info=info, cache=None) as client:
            yield client


@asynccontextmanager
async def running(program: Program) -> AsyncIterator[TransportStreams]:
    """A program of the operator's, shut in, for one connection. It has lines of JSON come in and go out, of so many bytes."""
    from_program, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_program = anyio.create_memory_object_stream[SessionMessage](0)
    with tempfile.TemporaryDirectory(prefix="mcp-") as folder:
        command, environment = command_for(program, folder, settings.OPENBOOK_MCP_SECONDS)
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, cwd=ROOT, env=environment, limit=MOST_BYTES
        )
        try:
            async with from_program, incoming, outgoing, to_program, anyio.create_task_group() as tasks:
                tasks.start_soon(_read_lines, process, from_program)
                tasks.start_soon(_write_lines, process, to_program)
                yield incoming, outgoing
                tasks.cancel_scope.cancel()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read_lines(
    process: asyncio.subprocess.Process, to: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    assert process.stdout
    left = MOST_BYTES
    async with to:
        while line := await _line(process.stdout):
            left -= len(line)
            if left < 0:
                raise AnswerTooLarge("more than is read")
            await to.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
    if await process.wait() == NOT_SHUT_IN:
        raise NotShutIn("this system can't")


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readline()
    except ValueError as error:
        raise AnswerTooLarge("a line of more than is read") from error


async def _write_lines(
    process: asyncio.subprocess.Process, messages: MemoryObjectReceiveStream[SessionMessage]
) -> None:
    assert process.stdin
    async for message in messages:
        line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        process.stdin.write(line.encode() + b"\n")
        await process.stdin.drain()


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


def text_of(contents: Iterable[ContentBlock], structured: Any = None) -> str:
    """What a model can read of it; of the rest, what it is. Pure."""
    parts = []
    for content in contents:
        match content:
            case TextContent():
                parts.append(content.text)
            case EmbeddedResource(resource=TextResourceContents() as resource):
                parts.append(resource.text)
            case _:
                parts.append(f"[{content.type}: not shown]")
    if not parts and structured is not None:
        parts.append(json.dumps(structured, ensure_ascii=False))
    return clean("\n\n".join(parts)) or "(nothing)"


def _decoded(blob: str) -> bytes:
    """Raises ``ServerError``."""
    try:
        return base64.b64decode(blob, validate=True)
    except ValueError as error:
        raise ServerError("what it holds is not understood") from error


def problem_of(error: BaseException) -> str:
    """In words of our own: what a server says stands in no log and on no page."""
    for each in leaves(error):
        match each:
            case AnswerTooLarge():
                return "it answers with more than is read"
            case Unauthorized():
                return "it asks for a sign-in, or takes this one no more"
            case NotShutIn():
                return "this system can't shut programs in (Linux with Landlock can)"
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
