"""The real engine with the real weights, one for a run of the tests, in a data folder of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.test import override_settings
from pytest_django import Settings

from config.local_model.supervision import make_child
from config.worker.child_process import Child
from conversations.providers.local_model import PROVIDER
from conversations.runtime import local_engine
from tests.waiting import until


@contextmanager
def engine_in(folder: Path) -> Iterator[Child]:
    """An engine as `serve` starts it; ready once `ready` says so."""
    with override_settings(LOCAL_DIR=folder):
        child = make_child(apart=False)
    assert child, "The engine or its weights are missing: run `make local`."
    child.start()
    try:
        yield child
    finally:
        child.stop()


@contextmanager
def engine_played_by(url: str, folder: Path, key: str = "key-of-the-engine") -> Iterator[str]:
    """Whoever listens there is taken for the engine of this data folder: the real one does nothing wrong on demand. Its key."""
    with local_engine.held(folder):
        local_engine.publish(folder, local_engine.EngineAddress(url=url, key=key))
        yield key


def ready(folder: Path) -> local_engine.EngineAddress:
    until(lambda: local_engine.find(folder))
    address = local_engine.find(folder)
    assert address
    return address


@pytest.fixture(scope="session")
def local_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The processes of a run share one engine: that of the first that wants it, as several servers do."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "local_model"
    with engine_in(folder):
        ready(folder)
        yield folder


@pytest.fixture
def local_model(_sdk: None, local_model_folder: Path, settings: Settings) -> local_engine.EngineAddress:
    """Answers where an assistant names no other provider."""
    settings.LOCAL_DIR, settings.OPENBOOK_PROVIDER = local_model_folder, PROVIDER
    return ready(local_model_folder)
