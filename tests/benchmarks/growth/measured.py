"""What a message costs a real server and its PostgreSQL: rows, bytes, WAL, transactions, CPU, connections, tokens."""

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import psycopg

from artifacts.exporting.convert import export
from conversations.accounts import tokens
from conversations.models import ContextSnapshot
from conversations.providers.prices import Tokens, tokens_of
from tests.benchmarks.exchange import memory
from tests.benchmarks.file_documents import DOCUMENTS
from tests.benchmarks.files import uploaded, wait
from tests.benchmarks.growth import people
from tests.benchmarks.measuring import doing
from tests.benchmarks.message import cpu_seconds
from tests.clients import ServerClient
from tests.conversations.factories import make_user
from tests.model_scripts import ScriptedStream, text
from tests.model_server import ModelServer
from tests.process_table import descendants
from tests.processes import ServerProcess, database_url, server_process
from tests.uploads import form

PEOPLE, MESSAGES = 24, 6
"""Who talk at once, and what each says before the rate is counted anew, in a thread of its own."""
PIECE, PIECE_SECONDS = 4, 0.08
"""Words of an event of the model's, and how often one comes: 50 words a second."""
PAGES, FILES = 15, 4
"""Of a PDF, of 400 words each, and how many PDFs."""
SOCKETS = 100
TICKS = 100
"""Of a second, in ``/proc``."""

SIZES = """
SELECT coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))
FROM pg_class AS c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace GROUP BY 1
"""
WAL = "SELECT wal_bytes FROM pg_stat_wal"
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
CONNECTIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'openbook'"
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Of one message."""

    rows: float
    heap: float
    index: float

    @property
    def bytes(self) -> float:
        return self.heap + self.index


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Of one message with its reply, unless said otherwise. Bytes, milliseconds of CPU, MB."""

    messages: int
    tables: Mapping[str, Table]
    wal: float
    wal_after_checkpoint: float
    transactions: float
    server_ms: float
    postgres_ms: float
    reply_seconds: float
    connections: int
    server_mb: float
    socket_kb: float
    tokens: Tokens
    page_table: float
    page_storage: float
    page_ms: float
    load: str


class Meter:
    """Reads what counts, from outside of the product."""

    def __init__(self, connection: psycopg.Connection, running: ServerProcess) -> None:
        self.connection, self.running = connection, running
        self.postmaster = int(Path(f"/proc/{self._one('SELECT pg_backend_pid()')}/stat").read_text().split()[3])

    def sizes(self) -> dict[str, tuple[int, int, int]]:
        """Rows, bytes of the table and of its indexes."""
        self.connection.execute("VACUUM")
        rows = self.connection.execute(SIZES).fetchall()
        return {name: (self._rows(name), int(heap), int(index)) for name, heap, index in rows}

    def wal(self) -> int:
        self.connection.execute("SELECT pg_stat_force_next_flush()")
        return self._one(WAL)

    def transactions(self) -> int:
        return self._one(TRANSACTIONS)

    def connections(self) -> int:
        return self._one(CONNECTIONS)

    def postgres(self) -> float:
        """Seconds of CPU of all its processes, those that have ended too."""
        return sum(process_seconds(pid) for pid in (self.postmaster, *descendants(self.postmaster)))

    def server(self) -> float:
        return cpu_seconds(self.running.pid)

    def workers(self) -> float:
        return sum(process_seconds(pid) for pid in descendants(self.running.pid))

    def _rows(self, table: str) -> int:
        return self._one(f"SELECT count(*) FROM {table}")  # noqa: S608

    def _one(self, statement: str) -> int:
        row = self.connection.execute(statement).fetchone()
        assert row is not None
        return int(row[0])


def process_seconds(pid: int) -> float:
    """With those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def measure(url: str) -> Measured:
    """``url``: of the database that Django has here, as a superuser."""
    draw = random.Random(19)
    corpus = " ".join(document.markdown for document in DOCUMENTS).split()
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(responder=lambda _: answer(draw, corpus)))
        folder = stack.enter_context(TemporaryDirectory())
        running = stack.enter_context(server_process(database_url(), **environment(model.url, folder)))
        clients = [ServerClient(running.url, tokens.issue(user=make_user(), name="growth")) for _ in range(PEOPLE)]
        meter = Meter(stack.enter_context(psycopg.connect(url, autocommit=True)), running)
        socket_kb = socket_size(running, clients[0])
        with doing("warming up"):
            talk(clients, draw, corpus)
        with doing("talking"), whole_pages(meter, "off"):
            before, wal, transactions = meter.sizes(), meter.wal(), meter.transactions()
            server_cpu, postgres_cpu = meter.server(), meter.postgres()
            first = ContextSnapshot.objects.latest("created_at").created_at
            with watched(meter) as connections:
                seconds = talk(clients, draw, corpus)
            server_cpu, postgres_cpu = meter.server() - server_cpu, meter.postgres() - postgres_cpu
            wal, transactions = meter.wal() - wal, meter.transactions() - transactions
            after = meter.sizes()
            usage = [tokens_of(each.usage) for each in ContextSnapshot.objects.filter(created_at__gt=first)]
        with doing("talking after a checkpoint"), whole_pages(meter, "on"):
            meter.connection.execute("CHECKPOINT")
            whole = meter.wal()
            talk(clients, draw, corpus)
            whole = meter.wal() - whole
        count = PEOPLE * MESSAGES
        page = files(clients[0], meter, Path(folder))
        return Measured(
            messages=count,
            tables={name: per_message(before[name], after[name], count) for name in after},
            wal=wal / count,
            wal_after_checkpoint=whole / count,
            transactions=transactions / count,
            server_ms=server_cpu * 1000 / count,
            postgres_ms=postgres_cpu * 1000 / count,
            reply_seconds=mean(seconds),
            connections=max(connections),
            server_mb=memory(running.pid, "VmRSS"),
            socket_kb=socket_kb,
            tokens=tokens_in_the_mean([each for each in usage if each], count),
            **page,
            load=Path("/proc/loadavg").read_text().split()[0],
        )


def environment(model_url: str, folder: str) -> dict[str, str]:
    return {
        "OPENBOOK_FILES_DIR": folder,
        "OPENBOOK_WORKER": "on",
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-bench",
        "ANTHROPIC_BASE_URL": model_url,
    }


def answer(draw: random.Random, corpus: Sequence[str]) -> ScriptedStream:
    said = span(draw, corpus, people.words(draw, people.ANSWER_WORDS))
    pieces = [" ".join(said[n : n + PIECE]) + " " for n in range(0, len(said), PIECE)]
    return text(*pieces, delay=PIECE_SECONDS)


def span(draw: random.Random, corpus: Sequence[str], count: int) -> Sequence[str]:
    """So many words that stand together."""
    start = draw.randrange(len(corpus) - count)
    return corpus[start : start + count]


def talk(clients: Sequence[ServerClient], draw: random.Random, corpus: Sequence[str]) -> list[float]:
    """All at once, each in a new thread. The seconds of each reply."""
    questions = [
        [" ".join(span(draw, corpus, people.words(draw, people.QUESTION_WORDS))) for _ in range(MESSAGES)]
        for _ in clients
    ]

    def person(client: ServerClient, mine: Sequence[str]) -> list[float]:
        thread, taken = "new", []
        for content in mine:
            started = time.perf_counter()
            for event in client.events(f"threads/{thread}/messages/stream/", {"content": content}):
                thread, kind = event.get("thread") or thread, event["type"]
            assert kind == "reply.completed", event
            taken.append(time.perf_counter() - started)
        return taken

    with ThreadPoolExecutor(len(clients)) as pool:
        return [each for taken in pool.map(person, clients, questions) for each in taken]


@contextmanager
def whole_pages(meter: Meter, value: str) -> Iterator[None]:
    """Whether PostgreSQL writes a page whole when it is first changed after a checkpoint."""
    meter.connection.execute(f"ALTER SYSTEM SET full_page_writes = {value}")
    meter.connection.execute("SELECT pg_reload_conf()")
    yield
    meter.connection.execute("ALTER SYSTEM RESET full_page_writes")
    meter.connection.execute("SELECT pg_reload_conf()")


@contextmanager
def watched(meter: Meter) -> Iterator[list[int]]:
    """The connections, looked at again and again."""
    seen, stop = [meter.connections()], threading.Event()

    def look() -> None:
        with psycopg.connect(meter.connection.info.dsn, autocommit=True) as connection:
            while not stop.wait(0.5):
                row = connection.execute(CONNECTIONS).fetchone()
                assert row is not None
                seen.append(int(row[0]))

    thread = threading.Thread(target=look)
    thread.start()
    yield seen
    stop.set()
    thread.join()


def per_message(before: tuple[int, int, int], after: tuple[int, int, int], messages: int) -> Table:
    rows, heap, index = ((new - old) / messages for old, new in zip(before, after, strict=True))
    return Table(rows=rows, heap=heap, index=index)


def tokens_in_the_mean(usage: Sequence[Tokens], messages: int) -> Tokens:
    """Rounded."""
    names = ("input", "output", "cache_write", "cache_write_hour", "cache_read")
    return Tokens(**{name: round(sum(getattr(each, name) for each in usage) / messages) for name in names})


def socket_size(running: ServerProcess, client: ServerClient) -> float:
    """What each open socket keeps of the server's memory, in kB."""
    with doing(f"opening {SOCKETS} sockets"), ExitStack() as stack:
        for _ in range(5):  # what a server needs for its first
            stack.enter_context(client.socket())
        before = memory(running.pid, "VmRSS")
        for _ in range(SOCKETS):
            stack.enter_context(client.socket())
        return (memory(running.pid, "VmRSS") - before) * 1000 / SOCKETS


def files(client: ServerClient, meter: Meter, folder: Path) -> dict[str, float]:
    """Of a page of a PDF: bytes in the database and in the storage, and CPU of whoever reads it."""
    with doing(f"reading {FILES} PDFs"):
        read(client, FILES)  # the first pages of its tables and indexes
        before, cpu, stored = total(meter), meter.workers(), folder_bytes(folder)
        pages = sum(read(client, number) for number in range(FILES))
        return {
            "page_table": (total(meter) - before) / pages,
            "page_storage": (folder_bytes(folder) - stored) / pages,
            "page_ms": (meter.workers() - cpu) * 1000 / pages,
        }


def read(client: ServerClient, number: int) -> int:
    """Upload one and wait until it is read; how many pages it has."""
    words = DOCUMENTS[0].markdown.split()[number * PAGES * 400 : (number + 1) * PAGES * 400]
    body = export(title="A part", kind="document", language="", content=" ".join(words), as_="pdf").body
    parts: int = wait(client, uploaded(client, form(body, "part.pdf")))["parts"]
    return parts


def total(meter: Meter) -> int:
    return sum(heap + index for name, (_, heap, index) in meter.sizes().items() if "file" in name)


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
