"""What other agents may do and read, by the official SDK as the client, over a real socket."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from conversations.models import ApiToken, Message, Scope
from conversations.runtime.db import in_database
from memory.models import Memory
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory
from tests.memory.mcp.conftest import ERAS, connected, token_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOWHERE = "00000000-0000-4000-8000-000000000000"


async def done(client: Client, tool: str, **arguments: Any) -> Any:
    """What a tool answers, checked by the client against the tool's own schema; its text must say the same."""
    result = await client.call_tool(tool, arguments)
    [text] = result.content
    assert isinstance(text, TextContent)
    assert not result.is_error, text.text
    assert json.loads(text.text) == result.structured_content
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    [text] = result.content
    assert isinstance(text, TextContent)
    assert (result.is_error, result.structured_content) == (True, None)
    return text.text


async def read(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@pytest.mark.once("legacy")
@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_remembers_finds_explains_and_forgets(site: str, user: User, api: Api, era: str) -> None:
    sent = (await api.post("threads/new/messages/", {"content": "My boat Marisol needs paint."})).body
    thread, turn = sent["thread"], sent["user_message"]["id"]
    async with connected(site, await token_of(user), era) as client:
        note = await done(client, "remember", content=" Paints the boat Marisol in blue. ")
        row = await Memory.objects.aget()
        assert (note["id"], note["content"], note["origin"]) == (str(row.id), row.content, "program")
        assert row.content == "Paints the boat Marisol in blue."
        found = (await done(client, "search_memory", query="boat Marisol", limit=5))["results"]
        assert {each["source"]["id"] for each in found} >= {note["id"], turn}
        assert await done(client, "recall", words="marisol") == {"memories": [note], "more": False}
        history = await done(client, "get_thread", thread=thread, limit=1)
        assert ([each["position"] for each in history["turns"]], history["earlier"]) == ([2], 2)
        history = await done(client, "get_thread", thread=thread, before=history["earlier"])
        assert [(each["id"], each["text"]) for each in history["turns"]] == [(turn, "My boat Marisol needs paint.")]
        explained = await done(client, "explain_context", message=turn)
        assert explained["context"]["message"] == turn
        assert (explained["context"]["request"], bool(explained["context"]["sections"])) == (None, True)
        assert explained == await done(client, "explain_context", message=sent["assistant_message"]["id"])
        assert json.loads(await read(client, explained["uri"]))["request"]["messages"]
        assert json.loads(await read(client, f"openbook://memories/{note['id']}")) == note
        assert "My boat Marisol needs paint." in await read(client, f"openbook://threads/{thread}")
        listed = {each.uri for each in (await client.list_resources()).resources}
        assert listed == {f"openbook://threads/{thread}", f"openbook://memories/{note['id']}"}
        assert (await done(client, "forget", memory=note["id"], preview=True))["memories"] == [note["id"]]
        assert await Memory.objects.acount() == 1
        assert (await done(client, "forget", memory=note["id"]))["memories"] == [note["id"]]
        assert await Memory.objects.acount() == 0


async def test_what_is_anothers_or_wrong_is_told_as_the_tools_own_error(
    site: str, user: User, other_user: User, others_api: Api
) -> None:
    sent = (await others_api.post("threads/new/messages/", {"content": "A secret of mine."})).body
    note = await in_database(make_memory)(other_user, "A secret note.")
    request = sent["reply"]["request"] if "reply" in sent else NOWHERE
    async with connected(site, await token_of(user)) as client:
        for tool, argument, others in (
            ("forget", "memory", str(note.id)),
            ("get_thread", "thread", sent["thread"]),
            ("recall", "thread", sent["thread"]),
            ("search_memory", "project", sent["thread"]),
            ("explain_context", "message", sent["user_message"]["id"]),
            ("explain_context", "request", request or NOWHERE),
        ):
            query = {"query": "secret"} if tool == "search_memory" else {}
            words = await refused(client, tool, **query, **{argument: others})
            assert words == await refused(client, tool, **query, **{argument: NOWHERE})
            assert "Check the id" in words
        for kind, id in (("memories", note.id), ("threads", sent["thread"])):
            with pytest.raises(MCPError, match="Check the id"):
                await client.read_resource(f"openbook://{kind}/{id}")
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("file:///etc/passwd")
        with pytest.raises(MCPError, match="There are: search_memory"):
            await client.call_tool("drop_table", {})
        assert (await done(client, "search_memory", query="secret"))["results"] == []
        assert "limit" in await refused(client, "search_memory", query="secret", limit=1_000)
        assert "query" in await refused(client, "search_memory")
        assert "There are: words" in await refused(client, "recall", word="x")
        assert "one of the two" in await refused(client, "explain_context")
        assert "project" in await refused(client, "remember", content="x", tags=[f"project:{NOWHERE}"])
    assert (await Memory.objects.acount(), await Message.objects.filter(user=other_user).acount()) == (1, 2)


NEEDS = {
    "search_memory": {Scope.READ, Scope.MEMORY},
    "recall": {Scope.READ, Scope.MEMORY},
    "remember": {Scope.WRITE, Scope.MEMORY},
    "forget": {Scope.WRITE, Scope.MEMORY},
    "get_thread": {Scope.READ},
    "explain_context": {Scope.READ},
}
READS = {"threads": {Scope.READ}, "memories": {Scope.READ, Scope.MEMORY}, "requests": {Scope.READ}}


@pytest.mark.once("read", "memory")
@pytest.mark.parametrize(
    "scope", [scope for scope in Scope if scope in (Scope.READ, Scope.WRITE, Scope.MEMORY, Scope.FILES)]
)
async def test_a_token_may_use_what_its_scope_is_for(site: str, user: User, scope: Scope) -> None:
    note = await in_database(make_memory)(user, "Owns a boat.")
    arguments: dict[str, dict[str, Any]] = {
        "search_memory": {"query": "boat"},
        "remember": {"content": "x"},
        "forget": {"memory": str(note.id), "preview": True},
        "get_thread": {"thread": NOWHERE},
        "explain_context": {"request": NOWHERE},
    }
    async with connected(site, await token_of(user, scope)) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {name for name, needed in NEEDS.items() if scope in needed}
        for name, needed in NEEDS.items():
            result = await client.call_tool(name, arguments.get(name, {}))
            [content] = result.content
            assert isinstance(content, TextContent)
            assert ("needs a token with the scope" not in content.text) == (scope in needed), name
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.name for each in templates} == {name for name, needed in READS.items() if scope in needed}
        for name, needed in READS.items():
            ids = {"memories": note.id}
            if name == "memories" and scope in needed:
                assert "Owns a boat." in await read(client, f"openbook://{name}/{note.id}")
                continue
            with pytest.raises(MCPError) as raised:
                await client.read_resource(f"openbook://{name}/{ids.get(name, NOWHERE)}")
            assert ("needs a token with the scope" not in str(raised.value)) == (scope in needed), name
    assert await Memory.objects.acount() == 1 + (scope in NEEDS["remember"])
    assert await ApiToken.objects.filter(last_used_at__isnull=False).acount() == 1
