"""Long work of one person: elsewhere than what others wait for, one at a time, cancelled when nobody waits for it."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from artifacts.exporting import convert
from artifacts.models import Kind as ArtifactKind
from conversations.import_export import store as import_export_store
from conversations.import_export.insertion import ImportCounts
from conversations.models import Lease, Thread
from conversations.rest import import_export as exchange_view
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import Cancelled, Ending, NoPlace, OwnWorkRuns, WorkKind
from memory import forgetting
from memory.forgetting import search
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread, make_user
from tests.conversations.rest.client import Api
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BOOK = {"format": "openbook/1", "threads": [{"messages": [{"role": "user", "content": "Hi"}]}]}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_work, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(long_work, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(exchange_view, "WAITING_SECONDS", 0.0)


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> Iterator[long_work._Places]:
    """Those of a process of its own."""
    own = long_work._Places()
    monkeypatch.setattr(long_work, "_places", own)
    yield own
    until(lambda: (own.running, Lease.objects.count(), own.waiting) == ({}, 0, []))


class WorkGate:
    """Holds whatever comes by until it is opened."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Semaphore(0), threading.Event()
        self.threads: list[str] = []

    def hold(self) -> None:
        self.threads.append(threading.current_thread().name)
        self.reached.release()
        while not self._open.wait(0.01):
            long_work.check()

    async def until_reached(self) -> None:
        assert await asyncio.to_thread(self.reached.acquire, timeout=30)

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkGate]:
    """In the middle of each import."""
    gate = WorkGate()

    def store(**options: Any) -> ImportCounts:
        gate.hold()
        return import_export_store.store(**options)

    monkeypatch.setattr(exchange_view, "store", store)
    yield gate
    gate.open()


def make_api(name: str) -> Api:
    return Api(make_user(name))


def begin(api: Api, path: str = "import/") -> asyncio.Task[Any]:
    return asyncio.ensure_future(api.post(path, BOOK))


@pytest.mark.usefixtures("places")
async def test_imports_run_elsewhere_than_every_database_step(gate: WorkGate) -> None:
    people = [await in_database(make_api)(name) for name in ("ann", "ben")]
    imports = [begin(api) for api in people]
    for _ in imports:
        await gate.until_reached()
    assert all(name.startswith("long-work") for name in gate.threads)
    assert (await people[0].get("threads/")).status == 200
    gate.open()
    assert [(await each).status for each in imports] == [201, 201]


@pytest.mark.usefixtures("places")
async def test_a_second_import_of_a_person_is_told_to_wait(user: User, api: Api, gate: WorkGate) -> None:
    first = begin(api)
    await gate.until_reached()
    refused = await api.post("import/", BOOK)
    assert (refused.code, refused.headers["retry-after"]) == ((429, "rate_limited", "long_work_running"), "5")
    assert "wait until it has ended, or cancel it" in refused.refusal[1]["message"]
    exported = await api.get("export/")
    assert (exported.code, exported.headers["retry-after"]) == ((429, "rate_limited", "long_work_running"), "5")
    assert (await api.post("memories/forget/", {"everything": True})).status in {400, 429}
    gate.open()
    assert (await first).status == 201
    assert (await api.post("import/", BOOK)).status == 201


@pytest.mark.usefixtures("places")
async def test_more_imports_than_an_installation_runs_at_once_are_told_to_wait(gate: WorkGate) -> None:
    people = [await in_database(make_api)(f"person{number}") for number in range(len(WorkKind.IMPORT.places) + 1)]
    running = [begin(api) for api in people[:-1]]
    for _ in running:
        await gate.until_reached()
    refused = await people[-1].post("import/", BOOK)
    assert (refused.code, refused.headers["retry-after"]) == ((503, "unavailable", "no_place"), "30")
    assert (await people[-1].get("export/")).status == 200  # what else is long has places of its own
    gate.open()
    assert [(await each).status for each in running] == [201] * len(running)


@pytest.mark.usefixtures("places")
async def test_an_import_that_tells_of_its_progress_waits_and_says_so(user: User, api: Api, gate: WorkGate) -> None:
    first = begin(api)
    await gate.until_reached()
    response = await api._response("POST", "import/?progress=true", json.dumps(BOOK).encode(), "application/json", {})
    lines = aiter(response.streaming_content)
    waiting = json.loads(await anext(lines))
    assert (waiting["type"], waiting["message"]) == ("waiting", OwnWorkRuns.message)
    gate.open()
    told = [waiting["type"], *[json.loads(line)["type"] async for line in lines]]
    assert list(dict.fromkeys(told)) == ["waiting", "progress", "done"]
    assert (await first).status == 201
    assert await Thread.objects.acount() == 2


async def test_two_processes_run_one_work_of_a_person_between_them(user: User) -> None:
    one, other = long_work._Places(), long_work._Places()
    work = await in_database(one.take)(user.pk, WorkKind.IMPORT)
    assert isinstance(work, long_work.Work)
    assert isinstance(await in_database(other.take)(user.pk, WorkKind.DOWNLOAD), OwnWorkRuns)
    stranger = await in_database(other.take)(user.pk + 1, WorkKind.IMPORT)
    assert isinstance(stranger, long_work.Work)
    assert isinstance(await in_database(one.take)(user.pk + 2, WorkKind.IMPORT), NoPlace)
    await in_database(one.give_back)(work)
    again = await in_database(other.take)(user.pk, WorkKind.IMPORT)
    assert isinstance(again, long_work.Work)
    for each in (stranger, again):
        await in_database(other.give_back)(each)
    assert await Lease.objects.acount() == 0


async def test_who_leaves_cancels_what_the_database_is_at(user: User, places: long_work._Places) -> None:
    begun, ended = threading.Event(), threading.Event()

    def asleep() -> None:
        with connection.cursor() as cursor:
            begun.set()
            try:
                cursor.execute("SELECT pg_sleep(300)")
            finally:
                ended.set()

    task = asyncio.ensure_future(long_work.run(user.pk, WorkKind.CHANGE, asleep))
    assert await asyncio.to_thread(begun.wait, 30)
    work = places.running[user.pk]
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert await asyncio.to_thread(ended.wait, 30)
    assert work.future
    with pytest.raises(Cancelled):
        await asyncio.wrap_future(work.future)
    assert await in_database(User.objects.count)() == 1  # no connection is left that would refuse it


@pytest.mark.usefixtures("places")
async def test_who_leaves_an_import_imports_nothing(user: User, api: Api, gate: WorkGate) -> None:
    """Also where no progress is asked for."""
    task = begin(api)
    await gate.until_reached()
    task.cancel()
    await asyncio.wait([task])
    work = long_work._places.running.get(user.pk)
    if work and work.future:
        await asyncio.wait([asyncio.wrap_future(work.future)])
    assert await Thread.objects.acount() == 0
    gate.open()
    assert (await api.post("import/", BOOK)).status == 201


async def test_the_end_of_the_process_ends_all_of_it(
    user: User, api: Api, others_api: Api, gate: WorkGate, places: long_work._Places
) -> None:
    plain = begin(api)
    await gate.until_reached()
    told = asyncio.ensure_future(others_api.post("import/?progress=true", BOOK))
    await gate.until_reached()
    await long_work.drain()
    assert (await plain).code == (503, "unavailable", "ending")
    last = json.loads((await told).body.splitlines()[-1])
    assert (last["type"], last["error"]["code"]) == ("error", "ending")
    assert (await api.post("import/", BOOK)).code == (503, "unavailable", "ending")
    assert await Thread.objects.acount() == 0
    with pytest.raises(Ending):
        await long_work.acquire(user.pk, WorkKind.CHANGE)


async def test_a_download_that_nobody_reads_gives_its_place_back(
    user: User, api: Api, places: long_work._Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_database(make_thread)(user)
    response = await api._response("GET", "export/", b"", "application/json", {})
    monkeypatch.setattr(long_work, "UNREAD_SECONDS", 0.05)  # from the first piece on, however long that takes
    pieces = aiter(response.streaming_content)
    assert (await anext(pieces)).startswith(b'{"format"')
    await asyncio.to_thread(until, lambda: not places.running)
    with pytest.raises(Cancelled):
        await anext(pieces)
    never_begun = await api._response("GET", "export/", b"", "application/json", {})
    assert never_begun.status_code == 200
    await asyncio.to_thread(until, lambda: not places.running)


@pytest.mark.usefixtures("places")
async def test_a_conversion_is_ended_with_its_process(user: User, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    content = "# Title\n\n" + "| a | b |\n|---|---|\n" + "| x | y |\n" * 20_000
    begun = threading.Event()

    def started(end: Any) -> None:
        long_work.ended_by(end)
        begun.set()

    def making() -> Any:
        return convert.export(
            title="T", kind=ArtifactKind.DOCUMENT, language="", content=content, as_="pdf", ended_by=started
        )

    task = asyncio.ensure_future(long_work.run(user.pk, WorkKind.CONVERSION, making))
    assert await asyncio.to_thread(begun.wait, 30)
    started_at = time.monotonic()
    await long_work.drain()
    with pytest.raises(Ending):
        await task
    assert time.monotonic() - started_at < long_work.END_SECONDS


@pytest.mark.usefixtures("places")
async def test_forgetting_and_conversions_are_long_work_too(
    user: User, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []
    find = search.find

    def found(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name)
        return find(*arguments)

    monkeypatch.setattr(forgetting, "find", found)
    artifact = await in_database(make_artifact)(await in_database(make_thread)(user))
    assert (await api.get("memories/forgetting/")).status == 200
    assert (await api.get(f"artifacts/{artifact.id}/export/?as=html")).status == 200
    assert [name.startswith("long-work") for name in threads] == [True]
