"""The clients that others install, against a live server, on ways that break: Python, its command line, TypeScript."""

import asyncio
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application

from conversations.models import Thread
from conversations.rest.openapi import whole_schema
from conversations.terminal import GO_ON
from conversations.terminal import Conversation as LocalConversation
from openbook import ApiError, AsyncClient, Client, ConnectionFailed, calls
from openbook.command import main
from openbook.conversation import Conversation
from tests import client_schema
from tests import model_scripts as scripts
from tests.asgi_server import serving
from tests.clients import ServerClient
from tests.conversations.mcp_client.test_mcp_client import BOAT, api, connected, loopback, thread, tickets
from tests.conversations.mcp_client.tool_server import ToolServer
from tests.conversations.rest.client import Api
from tests.cutting import cutting
from tests.memory.mcp.conftest import token_of
from tests.model_server import ModelServer
from tests.processes import ROOT, server
from tests.services import fresh_database
from tests.test_tour import NODE

__all__ = ["api", "loopback", "thread", "tickets"]

PASSWORD = "correct-horse-battery-9"
CUTS = [0, 700, 2_500, 3_000]
"""Bytes of the answers to connections that are then cut: before the first event, and in the middle of some."""
NOTE = "My boat is called Marigold."


@pytest.fixture(scope="module")
def site(migrated: str) -> Iterator[tuple[str, str]]:
    """The URL of a server, and a token."""
    with (
        fresh_database(migrated) as database,
        server(database, DJANGO_SUPERUSER_PASSWORD=PASSWORD, OPENBOOK_OFFLINE_WORD_SECONDS="0.002") as running,
    ):
        yield running.url, ServerClient.signed_in(running.url, password=PASSWORD).token


@pytest.fixture
def client(site: tuple[str, str]) -> Iterator[Client]:
    with Client(*site) as client:
        yield client


def test_what_is_made_from_the_schema_is_that_of_now() -> None:
    stale = [path.name for path, text in client_schema.written(whole_schema()).items() if path.read_text() != text]
    assert not stale, "run `make clients`"


def test_python_goes_on_after_cuts_and_goes_through_pages(site: tuple[str, str], client: Client) -> None:
    with cutting(site[0], CUTS.copy()) as url, Client(url, site[1]) as shaky:
        stream = shaky.stream(NOTE, assistant="companion")
        seqs = [event["seq"] for event in stream]
        assert seqs == list(range(1, len(seqs) + 1)) and stream.status == "completed"
        assert stream.message and stream.text == stream.message["text"]
    turns = client.send(calls.threads_messages_list(stream.thread))["results"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]  # sent twice, stored once

    again = client.resume(stream.reply, 3)
    assert "".join(again.texts()) == stream.text
    client.ask("And a second one", stream.thread)
    assert len(list(client.all(calls.threads_messages_list(stream.thread, page_size=1)))) == 4
    assert client.send(calls.requests_get(stream.request))["message"] == turns[0]["id"]

    with pytest.raises(ApiError) as refused:
        client.ask("Hello", "01a1ff04-d94b-7376-b655-4f2f1de24ce0")
    assert (refused.value.status, refused.value.code) == (404, "thread_not_found")
    with pytest.raises(ConnectionFailed), Client("http://127.0.0.1:9", retries=0) as nobody:
        nobody.search("boat")
    with pytest.raises(ValueError, match="is no id"):
        calls.threads_get("..")


async def test_python_asynchronously(site: tuple[str, str]) -> None:
    with cutting(site[0], CUTS.copy()) as url:
        async with AsyncClient(url, site[1]) as shaky:
            stream = shaky.stream("The mast is made of ash.")
            text = "".join([piece async for piece in stream.texts()])
            assert stream.message and text == stream.message["text"]
    async with AsyncClient(*site) as client:
        note = await client.remember("The sail is red.", ["boat"])
        assert [found["source"]["id"] for found in await client.search("sail")] == [note["id"]]
        assert (await client.forget(note["id"]))["memories"] == [note["id"]]
        file = await client.upload(b"name,colour\nMarigold,red\n", "boats.csv")
        assert file["name"] == "boats.csv"


@pytest.mark.wide
def test_the_command_line(
    site: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run(*arguments: str, typed: str = "") -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = main(list(arguments))
        out, told = capsys.readouterr()
        return out if code == 0 else f"{code} {told}"

    assert run("ask", "Hello") == "1 Sign in first: openbook login URL\n"
    assert run("login", site[0], typed="wrong").startswith("1 ")
    run("login", site[0], "--user", "admin", typed=PASSWORD)
    (stored,) = tmp_path.glob("openbook/*")
    assert stored.stat().st_mode & 0o777 == 0o600

    assert "responder" in run("ask", "What", "is a bark?", typed="A ship with three masts.")
    assert "A ship" in run("chat", "--thread", "last", typed="And a brig?\n")
    first, *_ = run("threads").splitlines()
    assert first.split()[0] in run("search", "brig")
    assert run("book", "--last").startswith("Given ")
    note = run("remember", "I sail on Sundays.").strip()
    assert run("memories").startswith(note)
    run("forget", note)
    assert run("memories") == ""
    run("logout")
    assert run("threads").startswith("1 Sign in first")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine", "loopback")
async def test_a_tool_that_may_change_something_asks_in_both_terminals(
    api: Api, user: User, thread: Thread, model: ModelServer, tickets: ToolServer
) -> None:
    await connected(api, tickets)
    token, notes, asked = await token_of(user), list[str](), list[str]()

    def allow_once(question: str) -> str:
        asked.append(question)
        return "o"

    def say(url: str) -> None:
        with Client(url, token) as client:
            Conversation(
                client=client, thread=str(thread.id), options={}, write=notes.append, note=notes.append,
                ask=allow_once,
            ).say("Our boat leaks, note it.")  # fmt: skip

    create = scripts.tool_use("tickets__create", BOAT)
    model.script(create, scripts.text("May I?"), create, scripts.text("It is written."))
    async with serving(get_asgi_application()) as url:
        await asyncio.to_thread(say, url)
    assert tickets.calls == [("create", BOAT)] and len(asked) == 1
    assert "The boat leaks" in "".join(notes) and "It is written." in notes

    notes.clear()
    here = LocalConversation(
        user=user, assistant=None, thread=thread.id, shows_context=False, write=notes.append, note=notes.append
    )
    model.script(create, scripts.text("May I?"), create, scripts.text("It is written again."))
    await here.say("It leaks again.")
    await here.describe_questions()
    assert "The boat leaks" in "".join(notes)
    assert await here.answer({here.questions[0]: "always"}) and await here.say(GO_ON)
    assert tickets.calls == [("create", BOAT)] * 2 and not here.questions


TYPESCRIPT = """
import { ApiError, ConnectionFailed, Openbook } from "%(package)s";

const { URL: url, SHAKY: shaky, TOKEN: token } = process.env;
const stream = new Openbook(shaky, token).stream("The keel is of oak.");
const seqs = [];
for await (const { seq } of stream) seqs.push(seq);

const client = new Openbook(url, token);
await client.ask("And the deck?", { thread: stream.thread });
const roles = [];
for await (const { role } of client.all("GET threads/{thread_id}/messages/", {
  path: { thread_id: stream.thread }, query: { page_size: 1 },
})) roles.push(role);
let again = "";
for await (const text of client.resume(stream.reply, 2).texts()) again += text;
const note = await client.remember("The deck is of teak.");
const found = await client.search("teak");
await client.call("DELETE memories/{memory_id}/", { path: { memory_id: note.id } });
const refused = await client.ask("Hello", { thread: note.id }).catch((error) => error);
const unreached = await new Openbook("http://127.0.0.1:9", "", { retries: 0 }).search("a").catch((error) => error);
console.log(JSON.stringify({
  whole: seqs.every((seq, at) => seq === at + 1) && stream.text === stream.message.text && again === stream.text,
  status: stream.status, roles, found: found[0].source.id === note.id,
  code: refused instanceof ApiError && refused.code, unreached: unreached instanceof ConnectionFailed,
}));
"""


def test_typescript(site: tuple[str, str]) -> None:
    script = TYPESCRIPT % {"package": (ROOT / "clients/typescript/src/index.js").as_uri()}
    with cutting(site[0], CUTS.copy()) as shaky:
        done = subprocess.run(
            [NODE, "--input-type=module", "--eval", script],
            env=os.environ | {"URL": site[0], "SHAKY": shaky, "TOKEN": site[1]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "whole": True,
        "status": "completed",
        "roles": ["user", "assistant", "user", "assistant"],
        "found": True,
        "code": "thread_not_found",
        "unreached": True,
    }
