"""Programs that the operator names as servers: who may connect them, and what they reach from where they run."""

import json
import socket
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from conversations.models import Thread
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread, make_user
from tests.conversations.mcp_client.test_mcp_client import ask, connected, results_of
from tests.conversations.mcp_client.tool_server import ToolServer
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

PROGRAM = Path(__file__).with_name("program.py")


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user)


def staff_api() -> Api:
    return Api(make_user("boss", is_superuser=True, is_staff=True))


@pytest.mark.wide
@pytest.mark.skipif(sys.platform != "linux", reason="programs are shut in on Linux only, and else not run")
async def test_a_program_is_connected_by_staff_and_reaches_what_it_was_given_alone(
    user: User, thread: Thread, model: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    secret, given = tmp_path / "secret.txt", tmp_path / "given.txt"
    secret.write_text("s3cret")
    given.write_text("for it")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        readable = json.dumps([str(given), str(PROGRAM)])
        tables = [
            f"[{name}]\ncommand = {json.dumps(sys.executable)}\nreadable = {readable}\n"
            f"args = {json.dumps([str(PROGRAM), str(listener.getsockname()[1]), str(secret), str(given), *more])}\n"
            for name, more in (("look", []), ("flood", ["flood"]))
        ]
        (tmp_path / "programs.toml").write_text("\n".join(tables))
        settings.OPENBOOK_MCP_PROGRAMS = str(tmp_path / "programs.toml")
        api, boss = await in_database(Api)(user), await in_database(staff_api)()
        refused = [await api.post("mcp-servers/", {"name": "mine", "url": "local:look"})]
        refused.append(await boss.post("mcp-servers/", {"name": "mine", "url": "local:shell"}))
        assert [each.code for each in refused] == [(400, "invalid_request", "invalid_server")] * 2
        for name in ("look", "flood"):
            await connected(boss, ToolServer([], url=f"local:{name}"), name=name, for_all=True)
        model.script(
            scripts.tool_use("look__look", {}), scripts.tool_use("flood__look", {}), scripts.text("I have looked.")
        )
        looked, flooded = await results_of(await ask(user, thread, "What can be reached?"))
    assert json.loads(looked.partition("\n")[2]) == {
        "network": "PermissionError",
        "secret": "PermissionError",
        "child": "PermissionError",
        "pair": 2,
        "readable": "for it",
        "own": 1,
        "environment": ["HOME", "LC_CTYPE", "PATH", "PYTHONUTF8", "TMPDIR"],
    }
    assert "answers with more than is read" in flooded
