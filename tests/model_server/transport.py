"""HTTP on a loopback socket: requests in, scripted answers out, step by step."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from tests.model_scripts import BrokenStream, Delay, Gate, Raw, Script, ScriptedRefusal, Stall, Step, ping

LARGEST_BODY = 32 * 1024 * 1024


@dataclass(eq=False)
class ReceivedRequest:
    """``hung_up`` tells whether the client left before its answer was complete; it is final once ``ended`` is set."""

    method: str
    path: str
    headers: dict[str, str]
    raw_body: bytes
    connection: int
    body: Any = None
    hung_up: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def wait_until_ended(self, seconds: float = 60) -> None:
        assert self.ended.wait(seconds), "the exchange never ended"


class CutOffError(Exception):
    """The script wants the connection broken."""


async def forward(reader: asyncio.StreamReader, inbox: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Reads on while an answer is written, which is the only way to notice that the client hung up."""
    try:
        while data := await reader.read(65536):
            inbox.feed_data(data)
    except ConnectionError:
        pass  # a reset means the same as an end
    inbox.feed_eof()
    gone.set()


async def until_gone(writing: Any, gone: asyncio.Event) -> bool:
    """Whether it was written to its end before the client left."""
    writer, leaving = asyncio.ensure_future(writing), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait({writer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not writer.done():
            return False
        try:
            writer.result()
        except ConnectionError:
            return False
        return True
    finally:
        writer.cancel()
        leaving.cancel()


async def read_request(inbox: asyncio.StreamReader, connection: int) -> ReceivedRequest | None:
    try:
        head = (await inbox.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.rstrip().split("\r\n")
        method, path, _version = request_line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw_body = await inbox.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return ReceivedRequest(method=method, path=path, headers=headers, raw_body=raw_body, connection=connection)


async def write_answer(writer: asyncio.StreamWriter, script: Script) -> None:
    if isinstance(script, ScriptedRefusal):
        headers = {"content-type": "application/json", "content-length": str(len(script.body)), **script.headers}
        writer.write(head(script.status, headers) + script.body)
        await writer.drain()
        return
    headers = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked", **script.headers}
    writer.write(head(200, headers))
    await writer.drain()
    for step in script.steps:
        async for data in rendered(step):
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def rendered(step: Step) -> AsyncIterator[bytes]:
    match step:
        case Raw(data):
            yield data
        case Delay(seconds):
            await asyncio.sleep(seconds)
        case Gate():
            await step.passed()
        case Stall(ping_seconds, ping_bytes):
            while True:
                await asyncio.sleep(ping_seconds or 3600)
                yield ping_bytes or server_sent_event(ping())
        case BrokenStream():
            raise CutOffError
        case event:
            yield server_sent_event(event)


def server_sent_event(event: dict[str, Any]) -> bytes:
    """With its type as the name of the event, where it has one."""
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def head(status: int, headers: dict[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus else "Overloaded"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "request-id: req_local", "x-request-id: req_local", "", ""]).encode("latin-1")
