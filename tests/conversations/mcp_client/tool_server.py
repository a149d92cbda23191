"""A server of the Model Context Protocol, by the official SDK over streamable HTTP, whose tools a test chooses and changes."""

import asyncio
import base64
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from tests.asgi_server import serving

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}


def tool(name: str, description: str = "", *, read_only: bool = False, **schema: Any) -> Tool:
    return Tool(
        name=name,
        description=description or f"Does {name}.",
        input_schema=schema or SCHEMA,
        annotations=ToolAnnotations(read_only_hint=True) if read_only else None,
    )


@dataclass
class ToolServer:
    """``calls`` are names and inputs as they came. ``reached`` is set by each; while ``held``, none is answered."""

    tools: Sequence[Tool]
    answer: str = "It is done."
    held: bool = False
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    resources: dict[str, str | bytes] = field(default_factory=dict)
    """By address: what is read there."""

    async def list_tools(self, _: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(self.tools))

    async def call_tool(self, _: Any, params: CallToolRequestParams) -> CallToolResult:
        self.calls.append((params.name, params.arguments or {}))
        self.reached.set()
        while self.held:  # noqa: ASYNC110  (until the client leaves, or the test lets it go on)
            await asyncio.sleep(0.02)
        return CallToolResult(content=[TextContent(text=self.answer)])

    async def list_resources(self, _: Any, __: PaginatedRequestParams | None) -> ListResourcesResult:
        rows = [Resource(uri=uri, name=uri, description="To be read.") for uri in self.resources]
        return ListResourcesResult(resources=rows)

    async def read_resource(self, _: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        held, uri = self.resources[params.uri], params.uri
        if isinstance(held, str):
            return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type="text/markdown", text=held)])
        blob = base64.b64encode(held).decode()
        return ReadResourceResult(contents=[BlobResourceContents(uri=uri, mime_type="image/png", blob=blob)])

    async def list_prompts(self, _: Any, __: PaginatedRequestParams | None) -> ListPromptsResult:
        prompt = Prompt(name="review", arguments=[PromptArgument(name="ticket", required=True)])
        return ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, _: Any, params: GetPromptRequestParams) -> GetPromptResult:
        text = f"Review {(params.arguments or {})['ticket']}."
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        server: Server[Any] = Server(
            "tickets",
            version="1",
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_read_resource=self.read_resource,
            on_list_prompts=self.list_prompts,
            on_get_prompt=self.get_prompt,
        )
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


@asynccontextmanager
async def tool_server(*tools: Tool) -> AsyncIterator[ToolServer]:
    server = ToolServer(tools)
    async with serving(server.application) as url:
        server.url = f"{url}/mcp"
        yield server


@contextmanager
def tool_server_aside(*tools: Tool) -> Iterator[ToolServer]:
    """In a thread, with an event loop of its own: for tests that have none."""
    ready, over = threading.Event(), asyncio.Event()
    loop, running = asyncio.new_event_loop(), list[ToolServer]()

    async def serve() -> None:
        async with tool_server(*tools) as server:
            running.append(server)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield running[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
