"""Small HTTP servers on loopback that are no model: they send on, answer something else, or say nothing."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.model_server import ReceivedRequest, read_request
from tests.model_server.transport import head


@dataclass
class Elsewhere:
    """``answers`` are status, headers and body by the path; any other path is answered like ``*``."""

    answers: Mapping[str, tuple[int, Mapping[str, str], str]]
    requests: list[ReceivedRequest] = field(default_factory=list)
    url: str = ""

    @property
    def heard(self) -> str:
        """All that came, headers too."""
        return "".join(f"{each.path} {each.headers} {each.raw_body!r}" for each in self.requests)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await read_request(reader, 0)) is not None:
                self.requests.append(request)
                status, headers, body = self.answers.get(request.path.partition("?")[0], self.answers["*"])
                length = {"content-length": str(len(body.encode()))}
                writer.write(head(status, {"content-type": "application/json", **length, **headers}) + body.encode())
                await writer.drain()
        except ConnectionError:
            pass  # the client left in the middle
        finally:
            writer.close()


@contextmanager
def elsewhere(answers: Mapping[str, tuple[int, Mapping[str, str], str]], ssl: Any = None) -> Iterator[Elsewhere]:
    server, started = Elsewhere(answers), threading.Event()
    tasks: set[asyncio.Task[None]] = set()
    stop: list[Callable[[], object]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(server.answer(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def serve() -> None:
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(stopping.set))
        listening = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=ssl)
        scheme = "https" if ssl else "http"
        server.url = f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        started.set()
        await stopping.wait()
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield server
    finally:
        stop[0]()
        thread.join(30)


def model_list(*ids: str, **more: Any) -> str:
    return json.dumps({"data": [{"id": id, "type": "model", **more} for id in ids], "has_more": False})
