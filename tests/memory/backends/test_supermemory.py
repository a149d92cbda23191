"""However Supermemory fails, there is an answer in time, and it says what went wrong. The real SDK, over real HTTP."""

import uuid
from dataclasses import replace

import pytest
from django.test import override_settings
from pytest_django import Settings

from memory.backends import get_backend
from memory.backends.base import BackendError, BackendInvalidAnswer, BackendTimedOut
from memory.backends.calling import started
from tests.memory_server import MemoryServer, answer, results
from tests.model_scripts import BrokenStream, Gate, Raw, Script, ScriptedStream, Stall

LATE = BackendTimedOut("Supermemory did not answer within 0.2 s.")
UNUSABLE = BackendInvalidAnswer("What Supermemory answered can't be used.")
UNREACHED = BackendError("Supermemory could not be asked: APIConnectionError.")


@pytest.fixture(autouse=True)
def _patient(settings: Settings) -> None:
    settings.OPENBOOK_MEMORY_SECONDS = 30


def facts() -> list[uuid.UUID]:
    return list(started(get_backend().facts(7, ["user:7"], about="Boats?", most=20)).result(60))


def body(data: bytes) -> Script:
    return replace(answer(None), body=data)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        pytest.param(ScriptedStream(steps=(Gate(),)), LATE, id="hangs"),
        pytest.param(ScriptedStream(steps=(Stall(0.02),)), LATE, id="trickles"),
        pytest.param(ScriptedStream(steps=(Raw(b'{"results": ['), BrokenStream())), UNREACHED, id="breaks off"),
        pytest.param(body(b"<html>"), UNUSABLE, id="no JSON"),
        pytest.param(body(b'{"results": "\xff"}'), UNUSABLE, id="no UTF-8"),
        pytest.param(body(b"[" * 100_000), UNUSABLE, id="too deep"),
        pytest.param(answer([1, 2]), UNUSABLE, id="a list"),
        pytest.param(answer({"results": None}), UNUSABLE, id="no results"),
        pytest.param(answer({"results": [7, "x"]}), UNUSABLE, id="results of another kind"),
        pytest.param(answer(results({"memory": 7})), UNUSABLE, id="ids of another kind"),
        pytest.param(
            answer(results({})), BackendInvalidAnswer("What Supermemory found names no memory."), id="no memory"
        ),
        pytest.param(answer({}, status=401), BackendError("Supermemory answered with status 401."), id="no access"),
        pytest.param(
            replace(answer({}, status=429), headers={"retry-after": "120"}),
            BackendError("Supermemory answered with status 429."),
            id="busy",
        ),
        pytest.param(answer("oh", status=500), BackendError("Supermemory answered with status 500."), id="fails"),
    ],
)
def test_every_failure_is_named_in_time(memory_service: MemoryServer, script: Script, error: BackendError) -> None:
    facts()  # the first call sets the client up, which takes longer than the deadline
    memory_service.script(script)
    with (
        override_settings(OPENBOOK_MEMORY_SECONDS=0.2 if error is LATE else 30),
        pytest.raises(BackendError) as raised,
    ):
        facts()
    assert (type(raised.value), str(raised.value)) == (type(error), str(error))
    assert (len(memory_service.requests), facts()) == (2, []), "tried once, and well again with the next"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://[nowhere"])
def test_nobody_listens(memory_service: MemoryServer, settings: Settings, url: str) -> None:
    settings.SUPERMEMORY_BASE_URL = url
    with pytest.raises(BackendError, match="Supermemory could not be asked"):
        facts()


def test_the_results_come_as_the_memories_that_they_name(memory_service: MemoryServer) -> None:
    """By their own metadata or that of the document that they come from, each once, whatever else lies there."""
    first, second = uuid.uuid4(), uuid.uuid4()
    found = results({"memory": str(first)}, {}, {"memory": "an older scheme"}, {"memory": str(first)})
    document = {"id": "doc", "metadata": {"memory": str(second)}, "system": {}}
    found["results"][1]["included"] = {"document": document}
    memory_service.script(answer(found))
    assert facts() == [first, second]
