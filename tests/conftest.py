"""What all tests share. PostgreSQL, Redis and the browser themselves come from the plugin ``tests.services``."""

import gc
import importlib
import math
import os
import random
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections
from django.db.backends.postgresql.base import DatabaseWrapper
from django.test import TransactionTestCase, override_settings
from hypothesis import settings as hypothesis_settings
from psycopg import sql
from pytest_django import DjangoDbBlocker, Settings

from config.languages import catalogues
from conversations import replies
from conversations.context.gather import known
from conversations.context.tokens import calibration as token_calibration
from conversations.models import Model as LanguageModel
from conversations.moderation import moderators
from conversations.providers import circuit_breaker, model_catalog
from conversations.providers import connections as connection_rows
from conversations.runtime import clock, db, rate_counters
from memory.backends import get_backend
from memory.backends.calling import started
from memory.sources import recall
from tests import emptying
from tests.bytes_server import bytes_server
from tests.chat_server import ChatServer, chat_server
from tests.commands import Commands, commands
from tests.conversations.connections import LOOPBACK
from tests.conversations.factories import make_user
from tests.local_model import local_model, local_model_folder
from tests.memory_server import KEY, MemoryServer
from tests.model_server import ModelServer, model_server
from tests.services import administration

__all__ = ["bytes_server", "chat_server", "local_model", "local_model_folder", "model_server"]

# How long an example takes says more about what else the machine is doing. The suite tries the same ones each time, so
# that it fails for what was changed; the long run, or a seed, tries others.
MANY, SEED = os.environ.get("OPENBOOK_TEST_EXAMPLES"), os.environ.get("OPENBOOK_TEST_SEED")
EXAMPLES = int(MANY or "15")
ALWAYS_THE_SAME = not (MANY or SEED)
hypothesis_settings.register_profile("openbook", deadline=None, max_examples=EXAMPLES, derandomize=ALWAYS_THE_SAME)
hypothesis_settings.load_profile("openbook")

PATIENT_MILLISECONDS = 20_000
STARTERS = {"tests.processes", "tests.local_model"}
OF_PROGRAMS = {"test_rerun", "test_embedded_postgres", "test_claude_cli"}
"""Modules whose helpers start programs, and tests of such programs."""
TEMPLATE, NOWHERE = "test_openbook_migrated", "not_yet_made"
SHIPPED_MODELS: list[LanguageModel] = []
"""As the migrations put them there."""

TransactionTestCase._fixture_teardown = lambda _: emptying.empty()  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Processes of one run share its seed, which Hypothesis reads from its own option. What they start hears Ctrl-C, though a
    shell's ``&`` may have started them, which has SIGINT ignored by all that follows."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not ALWAYS_THE_SAME and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED or str(random.randrange(2**32))
    catalogues.compile_stale()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if seed := config.option.hypothesis_seed:
        terminalreporter.write_line(f"The examples came from a seed: OPENBOOK_TEST_SEED={seed} tries the same again.")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for kind in kinds(item):
            item.add_marker(kind)
    if seed := os.environ.get("OPENBOOK_TEST_ORDER"):
        shuffle(items, random.Random(seed))


def shuffle(items: list[pytest.Item], order: random.Random) -> None:
    """In another order: the modules, and the tests of each. What a module shares is made once nevertheless."""
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    groups = list(modules.values())
    order.shuffle(groups)
    for group in groups:
        order.shuffle(group)
    items[:] = [item for group in groups for item in group]


def pytest_collection_finish() -> None:
    """What is there by now stays: looking through it for garbage again and again takes a tenth of the time."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """After collection, which ``tests.services`` lets go without; also in the process that only hands out tests."""
    gc.enable()


def kinds(item: pytest.Item) -> Iterator[str]:
    """What makes a test slow: breadth, a browser, a process, a database, or rows that are committed and deleted again."""
    once = item.get_closest_marker("once")
    if once and not any(fnmatch(cast("pytest.Function", item).callspec.id, pattern) for pattern in once.args):
        yield "wide"
    fixtures = getattr(item, "fixturenames", ())
    if "browser" in item.path.parts or "chromium_path" in fixtures:
        yield "browser"
    if starts_processes(getattr(item, "module", importlib)) or item.path.stem in OF_PROGRAMS:
        yield "process"
    marker = item.get_closest_marker("django_db")
    if marker or "db" in fixtures or "transactional_db" in fixtures:
        yield "database"
    if "transactional_db" in fixtures or (marker and marker.kwargs.get("transaction")):
        yield "commit"


@cache
def starts_processes(module: ModuleType) -> bool:
    return any(value is subprocess or getattr(value, "__module__", "") in STARTERS for value in vars(module).values())


@pytest.fixture(scope="session")
def django_db_setup(
    migrated: str, django_db_modify_db_settings: None, django_test_environment: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """A copy of the migrated database for this process. It stays until the next run, or ends with the server."""
    name = connection.creation._get_test_db_name()  # type: ignore[attr-defined]
    with administration() as admin:
        admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        admin.execute(f'CREATE DATABASE "{name}" TEMPLATE "{migrated}"')
    with django_db_blocker.unblock():
        work_in(name)
        emptying.prepare()
        SHIPPED_MODELS[:] = LanguageModel.objects.prefetch_related("prices")


@pytest.fixture(scope="session")
def migrated(django_db_blocker: DjangoDbBlocker) -> str:
    """Name of a database as `migrate` leaves it, to make others from. The first process of a run to want it makes it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
    made = "SELECT 1 FROM pg_database WHERE datname = %s AND shobj_description(oid, 'pg_database') = %s"
    with administration() as admin:
        admin.execute("SELECT pg_advisory_lock(hashtext(%s))", [TEMPLATE])
        if not admin.execute(made, [TEMPLATE, run]).fetchone():
            admin.execute(f'DROP DATABASE IF EXISTS "{TEMPLATE}"')
            admin.execute(f'CREATE DATABASE "{TEMPLATE}"')
            with django_db_blocker.unblock():
                work_in(TEMPLATE)
                call_command("migrate", interactive=False, verbosity=0)
                work_in(NOWHERE)
            admin.execute(sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(TEMPLATE), run))
    return TEMPLATE


def work_in(name: str) -> None:
    """Django's connections go to this database from now on."""
    connection.close()
    cast(DatabaseWrapper, connection).close_pool()
    connection.settings_dict["NAME"] = name


@pytest.fixture(autouse=True, scope="session")
def _cheap_passwords() -> Iterator[None]:
    """The real hash takes half a second on purpose. Servers in processes of their own keep it, and their address."""
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(PASSWORD_HASHERS=hashers, OPENBOOK_PUBLIC_URL="http://testserver"):
        yield


@pytest.fixture(autouse=True, scope="session")
def _titles_by_rules() -> Iterator[None]:
    """So that a model is asked for nothing that a test doesn't script."""
    with override_settings(OPENBOOK_TITLE_MODEL="off"):
        yield


@pytest.fixture
def deadlines() -> None:
    """For tests of what happens when the database is slow: it is given the time that the product gives it."""


@pytest.fixture(autouse=True)
def _afresh(_django_db_marker: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process learns as it goes, each test begins without."""
    rate_counters.HERE.clear()  # a wrong password in one test is not counted in the next
    for breaker in list(circuit_breaker.BREAKERS):
        breaker.circuits = {}  # a service that failed in one test is asked again
    monkeypatch.setattr(clock, "current", clock.Clock())  # this machine's, until it is compared with the database's
    models = model_catalog.Catalog.of(SHIPPED_MODELS, until=math.inf if SHIPPED_MODELS else 0)
    monkeypatch.setattr(model_catalog, "_catalog", models)  # none is read anew until a test changes one
    monkeypatch.setattr(token_calibration, "_kept", token_calibration._CachedFactors(until=math.inf))
    monkeypatch.setattr(connection_rows, "_cached", connection_rows.CachedConnections(until=math.inf))
    monkeypatch.setattr(moderators, "_cached", moderators.CachedModerators(until=math.inf))
    connection_rows.kept_provider.cache_clear()
    if "deadlines" not in request.fixturenames:
        be_patient(monkeypatch)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take its time to read what a context is made of, and nothing is left out for it."""
    monkeypatch.setattr(db, "SETTINGS", db.SETTINGS.replace(f" {db.QUICK_MILLISECONDS};", f" {PATIENT_MILLISECONDS};"))
    monkeypatch.setattr(db.start_over, "__kwdefaults__", {"milliseconds": PATIENT_MILLISECONDS})
    monkeypatch.setattr(recall, "MILLISECONDS", PATIENT_MILLISECONDS)
    monkeypatch.setattr(known, "EACH_MILLISECONDS", PATIENT_MILLISECONDS)


@pytest.fixture
def opened(settings: Settings) -> None:
    """Connections of staff may lead to this machine."""
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK


@pytest.fixture
def user(_django_db_marker: None) -> User:
    return make_user("ada")


@pytest.fixture
def other_user(_django_db_marker: None) -> User:
    return make_user("bob")


@pytest.fixture(scope="session")
def forks() -> Commands:
    """Runs commands of `manage.py` without what it takes to start a process for each."""
    return commands()


@pytest.fixture(scope="session")
def _sdk() -> None:
    """Imported beforehand: that takes seconds, which no test should lose of what it waits for."""
    importlib.import_module("conversations.providers.anthropic")


@pytest.fixture
def model(_sdk: None, model_server: ModelServer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """A local model behind the real SDK; it quotes the newest message unless a test scripts it. Retries don't wait."""
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    settings.OPENBOOK_PROVIDER = "anthropic"
    settings.ANTHROPIC_API_KEY = "key-of-the-tests"
    settings.ANTHROPIC_BASE_URL = model_server.url
    return model_server


@pytest.fixture
def chat_model(chat_server: ChatServer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    """A local server of Chat Completions behind the real SDK, as OpenAI's own until a test says otherwise."""
    importlib.import_module("conversations.providers.openai")
    monkeypatch.setattr("conversations.providers.http_provider.BACKOFF_SECONDS", (0.01, 0.01))
    settings.OPENBOOK_PROVIDER = "openai"
    settings.OPENAI_API_KEY = "sk-of-the-tests"
    settings.OPENAI_BASE_URL = chat_server.base_url
    settings.OPENBOOK_OPENAI_SERVER = "openai"
    return chat_server


@pytest.fixture
async def engine() -> AsyncIterator[None]:
    """Replies that a test leaves running end with it, and so does the connection of its own asynchronous queries."""
    yield
    await replies.drain()
    await sync_to_async(connections.close_all)()


@pytest.fixture
def memory_service(settings: Settings) -> Iterator[MemoryServer]:
    """A local Supermemory behind the real SDK."""
    with MemoryServer() as server:
        settings.OPENBOOK_MEMORY_BACKEND = "supermemory"
        settings.SUPERMEMORY_API_KEY = KEY
        settings.SUPERMEMORY_BASE_URL = server.url
        yield server
        started(get_backend().close()).result()
