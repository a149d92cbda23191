"""Files at a real server: its memory while a large one goes up and comes down, how soon a PDF of 300 pages can be used, what
replies elsewhere feel of its reading, and what a later question costs. Then the questions of ``file_answers``, and what
independent readers see (``file_readers``)."""

import http.client
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from conversations.context.built_context import Context
from conversations.files.progress import read_file
from conversations.models import Assistant, File, Thread, text_blocks
from conversations.replies.opening import open_turn
from conversations.replies.user_content import NewMessage
from tests.benchmarks import file_answers, file_readers
from tests.benchmarks.context import build_read_only
from tests.benchmarks.exchange import memory
from tests.benchmarks.file_documents import long_pdf
from tests.benchmarks.measuring import database, doing, p50_p95, side_by_side, table
from tests.benchmarks.replies import ending
from tests.clients import Json, ServerClient
from tests.conversations.factories import make_file, make_thread, make_user
from tests.model_scripts import text
from tests.model_server import ModelServer
from tests.process_table import command, descendants
from tests.processes import ServerProcess, server_process
from tests.services import fresh_database
from tests.uploads import END, FORM, form, form_start

MEGABYTES = 200
LINE = b"The ferry leaves at nine, and the harbour lies quiet until noon.\n"
PIECE = 2**18
PASSWORD = "benchmarks only"
WORDS = ("They ", "came ", "at ", "first ", "light, ", "and ", "the ", "harbour ", "master ", "wrote ", "it ", "down.")
WORD_SECONDS = 0.01
PEOPLE, PAUSE, ROUNDS, REPLIES = 3, 0.2, 3, 40
"""Who talks, how long each rests between messages, how often reading and quiet take turns, replies in a quiet turn."""
QUESTION = "What happened to the switch on the machine, and who flipped it?"
WITHOUT, WITH = "without a file", "with a PDF of 300 pages in an earlier turn"


def main() -> None:
    with doing("making a PDF of 300 pages"):
        pdf = long_pdf()
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(responder=lambda _: text(*WORDS, delay=WORD_SECONDS)))
        url = stack.enter_context(fresh_database())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        environment = {
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_FILES_DIR": folder,
            "OPENBOOK_WORKER": "on",
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-bench",
            "ANTHROPIC_BASE_URL": model.url,
        }
        running = stack.enter_context(server_process(url, **environment))
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        beside_reading(client, pdf)
        up_and_down(running, client)
    with database():
        later_question(pdf)
        file_answers.main()
    file_readers.main()


def up_and_down(running: ServerProcess, client: ServerClient) -> None:
    """What the server and its worker for files grow by; the child that reads has a limit of its own."""
    print(f"\n== a file of {MEGABYTES} MB: growth of memory at its peak, MB")
    print(f"  {'':<20}{'seconds':>10}{'server':>10}{'worker for files':>19}{'child that reads':>19}")
    delete(client, wait(client, uploaded(client, form(LINE))))  # what a server needs for its first
    with tempfile.TemporaryFile() as body:
        size = fill(body)
        with grown(running, "upload") as kept:
            file = uploaded(client, body)
            kept["file"] = file
        with grown(running, "reading it"):
            wait(client, file)
    with grown(running, "download"):
        assert downloaded(client, file) == size
    delete(client, file)


@contextmanager
def grown(running: ServerProcess, name: str) -> Iterator[Json]:
    worker = worker_of(running)
    pids = {running.pid: 0.0, worker: 0.0}
    for pid in pids:
        pids[pid] = memory(pid, "VmRSS")
        Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak is counted anew
    started = time.perf_counter()
    with peak_of_children(worker) as children:
        yield {}
    seconds = time.perf_counter() - started
    growth = [memory(pid, "VmHWM") - before for pid, before in pids.items()]
    child = f"{children[0]:19.0f}" if children[0] else f"{'none':>19}"
    print(f"  {name:<20}{seconds:10.1f}{growth[0]:10.1f}{growth[1]:19.1f}{child}", flush=True)


@contextmanager
def peak_of_children(pid: int) -> Iterator[list[float]]:
    """The largest resident size of a child, in MB, as seen ten times a second."""
    peak, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(0.1):
            for child in descendants(pid):
                with suppress(FileNotFoundError, ProcessLookupError, StopIteration):  # it has ended
                    peak[0] = max(peak[0], memory(child, "VmHWM"))

    thread = threading.Thread(target=look)
    thread.start()
    yield peak
    stop.set()
    thread.join()


def worker_of(running: ServerProcess) -> int:
    (pid,) = (pid for pid in descendants(running.pid) if command(pid).endswith(b"--queue\0files\0"))
    return pid


def fill(body: IO[bytes]) -> int:
    """The file as a form; the size of its content."""
    block, size = LINE * (PIECE // len(LINE)), 0
    body.write(form_start("notes.txt"))
    while size < MEGABYTES * 1_000_000:
        size += body.write(block)
    body.write(END)
    body.flush()
    return size


@dataclass
class Times:
    """Milliseconds until the first word of each reply and until its end."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


def beside_reading(client: ServerClient, pdf: bytes) -> None:
    """Reading and quiet take turns; the same people talk all the time. Reading is from the first byte that is uploaded on."""
    quiet, busy, waits, steps = Times(), Times(), [], []
    with doing("talking beside the reading"):
        talk(client, Times(), enough(REPLIES))  # what a server needs for its first
        for _ in range(ROUNDS):
            talk(client, quiet, enough(REPLIES))
            seconds, pages = read_beside(client, pdf, busy)
            waits.append(seconds)
            steps.append(len(pages))
    load = os.getloadavg()[0]
    print(
        f"\n== a PDF of 300 pages, {len(pdf) / 1e6:.1f} MB, {ROUNDS} times, beside {PEOPLE} people who talk; load {load:.1f}"
    )
    print(f"  ready {', '.join(f'{seconds:.1f}' for seconds in waits)} s after its upload began; "
          f"{min(steps)} to {max(steps)} different numbers of pages were seen on the way")  # fmt: skip
    print(f"  {'':<28}{'replies':>9}{'first word p50':>16}{'p95':>8}{'whole p50':>12}{'p95':>8} ms")
    for name, times in (("without", quiet), ("while it is read", busy)):
        figures = (*p50_p95(times.first), *p50_p95(times.whole))
        print(f"  {name:<28}{len(times.first):9}{figures[0]:16.0f}{figures[1]:8.0f}{figures[2]:12.0f}{figures[3]:8.0f}")
    first, whole = (p50_p95(b)[1] / p50_p95(q)[1] for q, b in ((quiet.first, busy.first), (quiet.whole, busy.whole)))
    print(f"  {'p95 while it is read':<28}{'':9}{'':16}{first:7.2f}x{'':12}{whole:7.2f}x", flush=True)


def enough(replies: int) -> Callable[[int], bool]:
    return lambda done: done < replies


def read_beside(client: ServerClient, pdf: bytes, times: Times) -> tuple[float, set[int]]:
    """Seconds until it was ready, and the numbers of pages that were seen as read before."""
    ended, pages, taken, files = threading.Event(), set[int](), [0.0], list[Json]()

    def read() -> None:
        started = time.perf_counter()
        file = uploaded(client, form(pdf, "long.pdf"))
        while (file := client.call("GET", f"files/{file['id']}/"))["status"] == "reading":
            pages.add(file["pages_read"])
            ended.wait(0.2)
        taken[0] = time.perf_counter() - started
        assert file["status"] == "ready" and not file["error"], file
        files.append(file)
        ended.set()

    reader = threading.Thread(target=read)
    reader.start()
    talk(client, times, lambda _: not ended.is_set())
    reader.join()
    assert files, "the PDF was not read"
    delete(client, files[0])  # not while a reply is running, which might tell of it
    return taken[0], pages


def talk(client: ServerClient, times: Times, goes_on: Callable[[int], bool]) -> None:
    """Each in a thread of their own, one message after the other."""
    people = [threading.Thread(target=person, args=(client, times, goes_on)) for _ in range(PEOPLE)]
    for each in people:
        each.start()
    for each in people:
        each.join()


def person(client: ServerClient, times: Times, goes_on: Callable[[int], bool]) -> None:
    thread, done = "new", 0
    while goes_on(done * PEOPLE):
        started, first = time.perf_counter(), 0.0
        for event in client.events(f"threads/{thread}/messages/stream/", {"content": "And when did they come?"}):
            thread = event.get("thread") or thread
            if event["type"] == "reply.delta" and not first:
                first = (time.perf_counter() - started) * 1000
        assert first, "a reply said nothing"
        times.first.append(first)
        times.whole.append((time.perf_counter() - started) * 1000)
        done += 1
        time.sleep(PAUSE)


def later_question(pdf: bytes) -> None:
    """The context of a further question, in threads that are alike but for the file that one of them holds."""
    user = make_user("asker")
    file = make_file(user, pdf, name="long.pdf", state=File.State.READING)
    with doing("reading the PDF"):
        read_file(file.id)
    threads = {WITHOUT: asked(make_thread(user, turns()), []), WITH: asked(make_thread(user, turns()), [file])}
    contexts = {name: build(thread) for name, thread in threads.items()}
    assert "<file " in json.dumps(contexts[WITH].payload) and "<file " not in json.dumps(contexts[WITHOUT].payload)
    taken = side_by_side({name: partial(build, thread) for name, thread in threads.items()})
    table("the context of a later question", taken, limit=WITHOUT)


def turns() -> Sequence[str]:
    return [f"Turn {n}: the harbour lay quiet, and nobody had yet come down to the boats." for n in range(40)]


def asked(thread: Thread, files: Sequence[File]) -> Thread:
    Assistant.objects.filter(id=thread.assistant_id).update(rewriting=Assistant.Rewriting.OFF)
    opened = open_turn(
        NewMessage(
            user=thread.user,
            thread_id=thread.id,
            blocks=text_blocks("Who flipped the magic switch?"),
            files=[file.id for file in files],
        )
    )
    ending(opened)
    return Thread.objects.select_related("assistant").get(id=thread.id)


def build(thread: Thread) -> Context:
    return build_read_only(thread, QUESTION, tokens=14)


def uploaded(client: ServerClient, body: bytes | IO[bytes]) -> Json:
    length = len(body) if isinstance(body, bytes) else body.seek(0, 2)
    if not isinstance(body, bytes):
        body.seek(0)
    with answer_to(client, "POST", "files/", body, {"Content-Type": FORM, "Content-Length": str(length)}) as answer:
        file: Json = json.loads(answer.read())
        assert answer.status == 201, file
        return file


def downloaded(client: ServerClient, file: Json) -> int:
    with answer_to(client, "GET", f"files/{file['id']}/content/") as answer:
        return sum(len(piece) for piece in iter(lambda: answer.read(PIECE), b""))


def wait(client: ServerClient, file: Json) -> Json:
    while (known := client.call("GET", f"files/{file['id']}/"))["status"] == "reading":
        time.sleep(0.2)
    return known


def delete(client: ServerClient, file: Json) -> None:
    client.call("DELETE", f"files/{file['id']}/")


@contextmanager
def answer_to(
    client: ServerClient, method: str, path: str, body: Any = None, headers: Json | None = None
) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=600)) as connection:
        headers = {"Authorization": f"Token {client.token}"} | (headers or {})
        connection.request(method, f"/api/v1/{path}", body, headers)
        yield connection.getresponse()
