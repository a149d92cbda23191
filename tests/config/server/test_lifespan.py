"""Servers that speak the lifespan protocol get the same start and end as daphne, which test_serve.py covers."""

import asyncio
import logging
from typing import Any

import pytest

from config.server import lifespan
from config.server.lifespan import Lifespan


async def run(steps: Lifespan) -> list[str]:
    """What a server hears when it starts the application and ends it."""
    requests = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    heard: list[str] = []

    async def receive() -> dict[str, Any]:
        return next(requests)

    async def send(message: Any) -> None:
        heard.append(message["type"])

    await steps({"type": "lifespan"}, receive, send)
    return heard


async def test_start_and_end_are_awaited_before_they_are_reported() -> None:
    done: list[str] = []

    async def startup() -> None:
        done.append("startup")

    async def shutdown() -> None:
        done.append("shutdown")

    heard = await run(Lifespan(startup=startup, shutdown=shutdown))
    assert (done, heard) == (["startup", "shutdown"], ["lifespan.startup.complete", "lifespan.shutdown.complete"])


@pytest.mark.parametrize("kind", ["fails", "hangs"])
async def test_an_end_that_goes_wrong_is_logged_and_does_not_keep_the_process(
    kind: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def startup() -> None:
        pass

    async def shutdown() -> None:
        if kind == "hangs":
            await asyncio.Event().wait()
        raise RuntimeError(kind)

    monkeypatch.setattr(lifespan, "SHUTDOWN_SECONDS", 0.01)
    caplog.set_level(logging.ERROR)
    assert (await run(Lifespan(startup=startup, shutdown=shutdown)))[-1] == "lifespan.shutdown.complete"
    assert [record.message for record in caplog.records] == ["shutdown_failed"]
