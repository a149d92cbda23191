"""The engine as a child: for nobody but us, one for a data folder, and gone with its parent."""

import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from pytest_django import Settings

from config.local_model.supervision import is_wanted, make_child
from conversations.models import Assistant, Model
from conversations.providers.local_model import served_model
from conversations.runtime import local_engine
from conversations.runtime.gguf import read_header
from conversations.runtime.local_engine import EngineAddress
from tests.local_model import engine_in, ready
from tests.processes import ROOT, database_url, server
from tests.waiting import until

CANARY = "canary-of-the-tests"


def status(address: EngineAddress, path: str, **headers: str) -> int:
    request = urllib.request.Request(f"{address.url}{path}", headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request) as response:  # noqa: S310
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.wide
def test_it_listens_on_loopback_and_answers_nobody_without_its_key(local_model: EngineAddress) -> None:
    assert local_model.url.startswith("http://127.0.0.1:")
    assert [status(local_model, "/props", Authorization=f"Bearer {key}") for key in (local_model.key, "another")] == [
        200,
        401,
    ]
    assert status(local_model, "/props") == 401


@pytest.mark.wide
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")
def test_its_key_is_in_no_list_of_processes_and_it_is_given_no_key_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    with engine_in(tmp_path) as child:
        address = ready(tmp_path)
        told = "".join(Path(f"/proc/{child.pid}/{name}").read_text() for name in ("cmdline", "environ"))
    assert (address.key in told, str(tmp_path) in told, CANARY in told) == (False, False, False)
    files = [tmp_path / name for name in (local_engine.ADDRESS, local_engine.LOCK)]
    assert [oct(path.stat().st_mode)[-3:] for path in files] == ["600", "600"]
    assert address.key not in repr(address)


@pytest.mark.wide
def test_one_of_several_loads_the_model_and_another_takes_over(tmp_path: Path) -> None:
    with engine_in(tmp_path):
        with engine_in(tmp_path):
            first = ready(tmp_path)
        # Whichever of the two had loaded it: the one that is left answers now.
        second = ready(tmp_path)
        assert status(second, "/props", Authorization=f"Bearer {second.key}") == 200
    assert first.key != ""
    assert local_engine.find(tmp_path) is None


@pytest.mark.wide
@pytest.mark.django_db(transaction=True)
def test_it_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    environment = {"OPENBOOK_PROVIDER": "local", "OPENBOOK_DATA_DIR": str(tmp_path), "SECRET_KEY": CANARY}
    with server(database_url(), **environment) as running:
        ready(tmp_path)
        running.kill()
        until(lambda: local_engine.find(tmp_path) is None)
        assert CANARY not in running.output


@pytest.mark.django_db
def test_it_runs_where_it_is_asked(settings: Settings) -> None:
    assert is_wanted() is False
    Assistant.objects.filter(slug="analyst").update(provider="local")
    assert is_wanted() is True
    Assistant.objects.update(provider="")
    settings.OPENBOOK_PROVIDER = "local"
    assert is_wanted() is True


def test_the_small_models_header() -> None:
    path = local_engine.shipped_weights()
    assert path
    header = read_header(path)
    assert (header.context_tokens, header.calls_tools, "<|im_start|>" in header.template) == (8_192, False, True)


@pytest.mark.django_db
def test_a_file_of_the_operators_gets_a_row_that_staff_may_change(tmp_path: Path, settings: Settings) -> None:
    small = local_engine.shipped_weights()
    assert small
    (chosen := tmp_path / "My Model.gguf").symlink_to(small)
    settings.OPENBOOK_LOCAL_MODEL, settings.OPENBOOK_LOCAL_CONTEXT_TOKENS = str(chosen), 4_096
    for window, output in ((2_048 + 1_024, 1_024), (2_048 + 1_024, 600)):
        assert make_child(apart=False)
        row = Model.objects.get(provider="local", name=served_model())
        assert (row.name, row.context_window, row.max_output, row.takes_tools) == ("my-model", window, output, False)
        Model.objects.filter(pk=row.pk).update(max_output=600)


def test_a_file_that_is_no_model_starts_nothing(tmp_path: Path, settings: Settings) -> None:
    (chosen := tmp_path / "garbage.gguf").write_bytes(b"GGUF" + b"\xff" * 100)
    settings.OPENBOOK_LOCAL_MODEL = str(chosen)
    assert make_child(apart=False) is None


@pytest.mark.once("environment[01]-*")
@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        ({}, "local"),
        ({"ANTHROPIC_API_KEY": "a-key"}, "anthropic"),
        ({"OPENAI_API_KEY": "a-key"}, "openai"),
        ({"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "openai"),
        ({"OPENAI_API_KEY": "a-key", "ANTHROPIC_API_KEY": "another"}, "anthropic"),
        ({"OPENBOOK_PROVIDER": "offline"}, "offline"),
    ],
)
def test_it_answers_by_default_where_it_is_installed_and_no_service_is_named(
    environment: dict[str, str], provider: str
) -> None:
    told = "from config import settings; print(settings.OPENBOOK_PROVIDER)"
    kept = {name: value for name, value in os.environ.items() if name != "OPENBOOK_PROVIDER"}
    done = subprocess.run(
        [sys.executable, "-c", told], env=kept | environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == provider
