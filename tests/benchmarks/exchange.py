"""A large import and export through a real server: how long they take, and by how much the server's memory grows."""

import http.client
import io
import json
import random
import tempfile
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from tests.benchmarks.measuring import p50_p95
from tests.clients import ServerClient
from tests.processes import ServerProcess, server_process
from tests.services import fresh_database

MEGABYTES = 200
TURNS = 40
PASSWORD = "benchmarks only"
PIECE = 2**18
CALLS = 50
"""That others make at least, while somebody imports."""
WORDS = [
    "tea",
    "harbour",
    "because",
    "nobody",
    "knew",
    "better",
    "boat",
    "is",
    "worth",
    "more",
    "than",
    "it",
    "costs",
    "rain",
]


def main() -> None:
    print(f"\n== import and export of {MEGABYTES} MB: the server's own memory, and PostgreSQL apart from it")
    print(f"{'':24}{'MB':>8}{'seconds':>10}{'before, MB':>13}{'peak, MB':>11}{'growth, MB':>13}")
    with (
        tempfile.NamedTemporaryFile() as document,
        fresh_database() as url,
        server_process(url, DJANGO_SUPERUSER_PASSWORD=PASSWORD) as running,
    ):
        fill(document)
        token = ServerClient.signed_in(running.url, password=PASSWORD).token
        others(running, token)
        row(running, "import", lambda: imported(running.url, token, document))
        row(running, "export", lambda: export_size(running.url, token))
        row(running, "import refused (409)", lambda: imported(running.url, token, document, status=409))


def others(running: ServerProcess, token: str) -> None:
    """A cheap call and the health, alone and while somebody else imports: a ZIP file of many documents, and a real one."""
    quiet = p95s(running, token, bool)
    print(f"{'others, p95 in ms':24}{'call':>10}{'health':>10}")
    print(f"{'alone':24}{quiet[0]:10.1f}{quiet[1]:10.1f}", flush=True)
    for name, body in (("2,000 documents", archive(2_000)), ("16,000 messages", long_document())):
        with ThreadPoolExecutor(1) as program:
            importing = program.submit(uploaded, running.url, token, body)
            busy = p95s(running, token, importing.running)
            status = importing.result()
        ratios = [f"{now:10.1f} ({now / alone:.1f}x)" for now, alone in zip(busy, quiet, strict=True)]
        print(f"{name:24}{''.join(ratios)}  answered {status}", flush=True)


def p95s(running: ServerProcess, token: str, goes_on: Callable[[], bool]) -> tuple[float, float]:
    """Of a call that reads one row and of the health, in turn: so many times, and for as long as something goes on."""
    taken: tuple[list[float], list[float]] = ([], [])
    while len(taken[0]) < CALLS or goes_on():
        for times, path in zip(taken, ("/api/v1/tokens/current/", "/health/"), strict=True):
            started = time.perf_counter()
            with closing(http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=60)) as connection:
                connection.request("GET", path, headers={"Authorization": f"Token {token}"})
                response = connection.getresponse()
                assert response.read() and response.status == 200
            times.append((time.perf_counter() - started) * 1000)
    return p50_p95(taken[0])[1], p50_p95(taken[1])[1]


def archive(documents: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(documents):
            packed.writestr(f"d{number}/conversations.json", '{"format": "openbook/1"}')
    return file.getvalue()


def long_document() -> bytes:
    messages = [{"role": "user", "content": "The harbour lay quiet, and nobody knew better."}] * 8
    return json.dumps({"format": "openbook/1", "threads": [{"messages": messages}] * 2_000}).encode()


def uploaded(url: str, token: str, body: bytes) -> int:
    response = call(url, token, "POST", "import/", io.BytesIO(body), {"Content-Length": str(len(body))})
    response.read()
    return response.status


def row(running: ServerProcess, name: str, work: object) -> None:
    assert callable(work)
    before = memory(running.pid, "VmRSS")
    Path(f"/proc/{running.pid}/clear_refs").write_text("5")  # the peak is counted anew
    started = time.perf_counter()
    size = work()
    seconds = time.perf_counter() - started
    peak = memory(running.pid, "VmHWM")
    print(f"{name:24}{size / 1e6:8.0f}{seconds:10.1f}{before:13.0f}{peak:11.0f}{peak - before:13.0f}", flush=True)


def memory(pid: int, name: str) -> float:
    """In MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))


def fill(document: IO[bytes]) -> None:
    draw, between = random.Random(7), b""
    document.write(b'{"format": "openbook/1", "threads": [')
    while document.tell() < MEGABYTES * 1_000_000:
        document.write(between + json.dumps(thread(draw)).encode())
        between = b",\n"
    document.write(b"]}")
    document.flush()


def thread(draw: random.Random) -> dict[str, object]:
    def said() -> Iterator[dict[str, object]]:
        for number in range(TURNS):
            role, length = (("user", 30), ("assistant", 120))[number % 2]
            text = " ".join(draw.choices(WORDS, k=length))
            at = f"2026-{draw.randint(1, 9):02}-01T10:{number:02}:00Z"
            yield {"id": drawn(draw), "role": role, "content": text, "created_at": at}

    return {"id": drawn(draw), "title": "A long talk", "messages": list(said())}


def drawn(draw: random.Random) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))


def imported(url: str, token: str, document: IO[bytes], status: int = 201) -> int:
    size = document.seek(0, 2)
    document.seek(0)
    headers = {"Content-Type": "application/json", "Content-Length": str(size)}
    response = call(url, token, "POST", "import/", document, headers)
    answer = response.read()
    assert response.status == status, answer[:500]
    return size


def export_size(url: str, token: str) -> int:
    response, size = call(url, token, "GET", "export/"), 0
    assert response.status == 200
    while piece := response.read(PIECE):
        size += len(piece)
    return size


def call(
    url: str, token: str, method: str, path: str, body: IO[bytes] | None = None, headers: dict[str, str] | None = None
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=3_600)
    connection.request(method, f"/api/v1/{path}", body, {"Authorization": f"Token {token}"} | (headers or {}))
    return connection.getresponse()
