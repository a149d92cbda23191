"""Somebody leaves: all that they have open ends within five seconds, on every process, without Redis between them."""

import http.client
import json
import threading
import time
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group, User
from websockets.exceptions import ConnectionClosed

from conversations.accounts import groups, service_accounts, tokens
from conversations.accounts.groups import DIRECTORY
from conversations.models import File, Reply
from tests import model_scripts as scripts
from tests.clients import ApiError, ServerClient
from tests.conversations.factories import make_user
from tests.model_server import ModelServer
from tests.processes import database_url, server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.operate]

SECONDS = 5.0


class Upload:
    """A file that is half sent."""

    def __init__(self, client: ServerClient) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=60)
        head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nfirst half, '
        self.rest = b"second half\r\n--b--\r\n"
        self.connection.putrequest("POST", "/api/v1/files/")
        self.connection.putheader("Authorization", f"Token {client.token}")
        self.connection.putheader("Content-Type", "multipart/form-data; boundary=b")
        self.connection.putheader("Content-Length", str(len(head) + len(self.rest)))
        self.connection.endheaders(head)

    def finish(self) -> int:
        with closing(self.connection):
            self.connection.send(self.rest)
            return self.connection.getresponse().status

    def wait_for_end(self) -> int:
        """The status that came though nothing more was sent, once the server has closed the connection."""
        with closing(self.connection):
            received = b"".join(iter(lambda: self.connection.sock.recv(65_536), b""))
        return int(received.split()[1])


def test_what_somebody_has_open_ends_on_every_process(model_server: ModelServer) -> None:  # noqa: PLR0915
    gate = scripts.Gate()
    model_server.script(scripts.text("The first half, ", gate, "then the rest."))
    groups.make_groups(using="default")
    directory = service_accounts.make(
        username="directory", purpose="SCIM", groups=list(Group.objects.filter(name=DIRECTORY))
    )
    scim = tokens.issue(user=directory, name="SCIM", scopes=["scim"])
    leaver = make_user("leaver")
    own = tokens.issue(user=leaver, name="own")
    environment = {
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "test",
        "ANTHROPIC_BASE_URL": model_server.url,
        "REDIS_URL": "",
    }
    ended: dict[str, float] = {}
    with server(database_url(), **environment) as one, server(database_url(), **environment) as other:
        here, there = ServerClient(one.url, own), ServerClient(other.url, own)
        begun = threading.Event()

        def stream() -> None:
            with suppress(ApiError, OSError):
                for _ in here.events("threads/new/messages/stream/", {"content": "Hello"}):
                    begun.set()
            ended["stream"] = time.monotonic()

        def socket() -> None:
            thread = Reply.objects.get().thread_id
            with there.socket(str(thread)) as connection, suppress(ConnectionClosed):
                opened.set()
                while True:
                    connection.recv()
            ended["socket"] = time.monotonic()

        opened, upload = threading.Event(), Upload(there)
        others = Upload(ServerClient(other.url, tokens.issue(user=make_user("other"), name="own")))
        streaming = threading.Thread(target=stream)
        streaming.start()
        assert begun.wait(60)
        listening = threading.Thread(target=socket)
        listening.start()
        assert opened.wait(60)
        body = {
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
            "Operations": [{"op": "replace", "value": {"active": False}}],
        }
        headers = {"Authorization": f"Bearer {scim}", "Content-Type": "application/scim+json"}
        with closing(http.client.HTTPConnection(urlsplit(other.url).netloc, timeout=60)) as connection:
            connection.request("PATCH", f"/scim/v2/Users/{leaver.pk}", json.dumps(body), headers)
            assert connection.getresponse().status == 200
        shut = time.monotonic()
        with pytest.raises(ApiError) as refused:
            here.call("GET", "threads/")
        while Reply.objects.get().status == Reply.Status.RUNNING and time.monotonic() < shut + 60:
            time.sleep(0.05)
        ended["reply"] = time.monotonic()
        assert (upload.wait_for_end(), refused.value.status, File.objects.exists()) == (401, 401, False)
        ended["upload"] = time.monotonic()
        streaming.join(60)
        listening.join(60)
        assert others.finish() == 201, "who may still sends as slowly as they like"
        gate.open()
    assert (Reply.objects.get().status, User.objects.get(pk=leaver.pk).is_active) == (Reply.Status.STOPPED, False)
    took = {name: round(at - shut, 1) for name, at in ended.items()}
    assert took.keys() == {"stream", "socket", "reply", "upload"}
    assert max(took.values()) < SECONDS, took
