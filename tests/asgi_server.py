"""An ASGI application behind a real socket, in the test's own event loop: for clients that bring their own HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.model_server import LARGEST_BODY, ReceivedRequest, forward, read_request

Message = dict[str, Any]


@asynccontextmanager
async def serving(application: Any) -> AsyncIterator[str]:
    """The URL of a server that ends with the block, without a slash."""
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_connection(application, reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _connection(application: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    inbox, gone = asyncio.StreamReader(limit=LARGEST_BODY), asyncio.Event()
    pump = asyncio.create_task(forward(reader, inbox, gone))
    try:
        while request := await read_request(inbox, 0):
            await _answer(application, request, writer, gone)
    except ConnectionError:
        pass  # the client left in the middle
    finally:
        pump.cancel()
        writer.close()


async def _answer(
    application: Any, request: ReceivedRequest, writer: asyncio.StreamWriter, gone: asyncio.Event
) -> None:
    body: list[Message] = [{"type": "http.request", "body": request.raw_body}]

    async def receive() -> Message:
        if body:
            return body.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [name + b": " + value for name, value in message["headers"]]
            head = [b"HTTP/1.1 %d -" % message["status"], *headers, b"transfer-encoding: chunked", b"", b""]
            writer.write(b"\r\n".join(line for line in head if not line.lower().startswith(b"content-length:")))
            return
        if data := message.get("body"):
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        if not message.get("more_body"):
            writer.write(b"0\r\n\r\n")
        await writer.drain()

    path, _, query = request.path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in request.headers.items()],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 0),
    }
    await application(scope, receive, send)
