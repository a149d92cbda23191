"""A service that answers each request with exactly the bytes that a test names, cut where it says."""

from collections.abc import Iterator, Sequence

import pytest

from tests.model_scripts import Raw, Script, ScriptedRefusal, ScriptedStream
from tests.model_server.server import ModelServer
from tests.model_server.transport import ReceivedRequest


class BytesServer(ModelServer):
    """``answer`` are the pieces of the body of each answer from now on."""

    answer: Script = ScriptedRefusal(status=404, body=b"")

    def play(self, pieces: Sequence[bytes], content_type: str = "text/event-stream") -> None:
        self.answer = ScriptedStream(steps=tuple(map(Raw, pieces)), headers={"content-type": content_type})

    def _answer(self, request: ReceivedRequest) -> Script:
        return self.answer


@pytest.fixture
def bytes_server() -> Iterator[BytesServer]:
    with BytesServer() as server:
        yield server
