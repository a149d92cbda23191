"""A collector of audit events over HTTP that fails, hangs and breaks off as a test says."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BREAK_OFF, HANG = 0, -1
"""In place of a status: end the connection without an answer; answer once the test lets it."""


@dataclass
class Delivered:
    """A request: all that came."""

    headers: dict[str, str]
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        text = self.body.decode()
        events: list[dict[str, Any]] = (
            json.loads(text) if text.startswith("[") else [*map(json.loads, text.splitlines())]
        )
        return events

    @property
    def numbers(self) -> list[int]:
        return [event["unmapped"]["number"] for event in self.events]


@dataclass
class CollectorServer:
    """``answers`` are for the next requests, 204 after them."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    requests: list[Delivered] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)

    @property
    def first_numbers(self) -> list[int]:
        """Of all events, in the order in which each came first."""
        return list(dict.fromkeys(number for request in self.requests for number in request.numbers))


@contextmanager
def collector_server() -> Iterator[CollectorServer]:
    collector = CollectorServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # as http.server calls it
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.requests.append(Delivered({name.lower(): value for name, value in self.headers.items()}, body))
            status = collector.answers.pop(0) if collector.answers else 204
            if status == HANG:
                collector.let_go.wait()
                status = BREAK_OFF
            if status == BREAK_OFF:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Location", collector.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}/audit"
    try:
        yield collector
    finally:
        collector.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
