"""A server that is killed while a tool that changes something is at work."""

from collections.abc import Iterator

import pytest

from tests import model_scripts as scripts
from tests.clients import ServerClient
from tests.conversations.mcp_client.tool_server import ToolServer, tool, tool_server_aside
from tests.model_server import ModelServer
from tests.processes import server
from tests.services import fresh_database

PASSWORD = "correct-horse-battery-9"
BOAT = {"title": "The boat leaks"}

pytestmark = [pytest.mark.timeout(300), pytest.mark.wide]


@pytest.fixture
def tickets() -> Iterator[ToolServer]:
    with tool_server_aside(tool("create")) as running:
        yield running


def test_a_call_whose_server_was_killed_is_made_again_only_once_the_person_has_said_so(
    migrated: str, tickets: ToolServer
) -> None:
    with fresh_database(migrated) as database, ModelServer() as model:
        environment = {
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "OPENBOOK_PROVIDER": "anthropic",
            "OPENBOOK_INNER_NETWORKS": "127.0.0.0/8",
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
        }
        with server(database, **environment) as victim:
            client = ServerClient.signed_in(victim.url, password=PASSWORD)
            thread = connected(client, tickets)
            model.script(scripts.tool_use("tickets__create", {"title": "First"}), scripts.text("May I?"))
            client.call("POST", f"mcp-calls/{question(client, thread, 'Make one.')}/answer/", {"answer": "always"})
            tickets.held = True
            model.script(scripts.tool_use("tickets__create", BOAT), scripts.text("Made."))
            saved = next(client.events(f"threads/{thread}/messages/stream/", {"content": "Another one."}))
            assert tickets.reached.wait(60)
            victim.kill()
        tickets.held = False
        with server(database, **environment) as survivor:
            client = ServerClient(survivor.url, client.token)
            *_, ended = client.events(f"replies/{saved['reply']}/events/", seconds=120)
            assert ended["type"] == "reply.interrupted", ended
            model.forget_scripts()
            newest = client.call("GET", "mcp-calls/")["results"][0]
            assert (newest["state"], newest["reply"]) == ("unknown", saved["reply"])
            model.script(scripts.tool_use("tickets__create", BOAT), scripts.text("May I?"))
            asked = question(client, thread, "Go on.")
            assert tickets.calls == [("create", BOAT)]  # whatever was allowed always
            client.call("POST", f"mcp-calls/{asked}/answer/", {"answer": "once"})
            model.script(scripts.tool_use("tickets__create", BOAT), scripts.text("Made."))
            assert question(client, thread, "You may.") is None
            assert tickets.calls == [("create", BOAT)] * 2


def connected(client: ServerClient, tickets: ToolServer) -> str:
    """Its tools are allowed. The id of a new thread."""
    row = client.call("POST", "mcp-servers/", {"name": "tickets", "url": tickets.url})
    read = client.call("POST", f"mcp-servers/{row['id']}/refresh/")
    allowed = {each["name"]: each["digest"] for each in read["tools"]}
    client.call("PATCH", f"mcp-servers/{row['id']}/", {"allowed": allowed})
    return str(client.call("POST", "threads/", {})["id"])


def question(client: ServerClient, thread: str, content: str) -> str | None:
    """What the only call of a reply asks."""
    events = client.events(f"threads/{thread}/messages/stream/", {"content": content})
    (asked,) = (event["data"]["question"] for event in events if event["type"] == "tool.finished")
    found: str | None = asked
    return found
