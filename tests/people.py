"""People who talk through whatever breaks: they send again what was not acknowledged, and read on where they were."""

import http.client
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit
from uuid import uuid4

from websockets.exceptions import WebSocketException

from tests.clients import ApiError, Json, ServerClient
from tests.model_scripts import ScriptedStream, text
from tests.uploads import FORM, form

WORDS = 40
"""Of each reply. One that quotes its request grows with the thread, until it alone takes longer than anybody waits."""
ENDS = {"reply.completed", "reply.interrupted", "reply.failed", "reply.stopped"}
SECONDS = 20.0
"""After which somebody who hears nothing tries again."""
PAUSE_SECONDS = 0.1
LONGEST_SECONDS = 180.0
"""For one turn, whatever breaks meanwhile."""


def answer(body: Json, *, delay: float) -> ScriptedStream:
    """What the model says to everybody."""
    return text(*(f"word {number} " for number in range(WORDS)), delay=delay)


class Refused(Exception):
    """Said in a stream or in a socket."""

    def __init__(self, error: Json) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass
class Turn:
    """A message with the key that makes it one however often it is sent, and the events of its reply, each once."""

    text: str
    key: str = field(default_factory=lambda: uuid4().hex)
    events: list[Json] = field(default_factory=list)
    acknowledged_at: float = 0.0
    ended_at: float = 0.0

    @property
    def body(self) -> Json:
        return {"content": self.text, "client_message_id": self.key}

    @property
    def reply(self) -> str:
        return str(self.events[0]["reply"])

    @property
    def thread(self) -> str:
        return str(self.events[0]["data"]["thread"])

    @property
    def said(self) -> str:
        return "".join(event["data"]["text"] for event in self.events if event["type"] == "reply.delta")

    def take(self, event: Json, *, repeats: bool = False) -> None:
        """The next one, without a hole; ``repeats`` where what is known may come again, the same as it was."""
        if event["type"] == "error":
            raise Refused(event["data"])
        if repeats and event["seq"] <= len(self.events):
            assert self.events[event["seq"] - 1] == event
            return
        assert event["seq"] == len(self.events) + 1, (event, self.events[-1:])
        self.events.append(event)
        self.acknowledged_at = self.acknowledged_at or time.monotonic()
        if event["type"] in ENDS:
            self.ended_at = time.monotonic()


@dataclass
class Person:
    """Talks in one thread until it is ``over``. ``refusals`` counts what was answered instead of an acknowledgement."""

    client: ServerClient
    over: threading.Event = field(default_factory=threading.Event)
    turns: list[Turn] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    thread: str = "new"

    def talk(self, way: Callable[["Person", Turn], None]) -> "Person":
        while not self.over.is_set():
            turn = Turn(f"Message {len(self.turns) + 1} of a person who goes on however often something breaks")
            self.turns.append(turn)
            deadline = time.monotonic() + LONGEST_SECONDS
            while not turn.ended_at:
                assert time.monotonic() < deadline, (turn, self.refusals)
                self.attempt(partial(way, self, turn))
            self.thread = turn.thread
        return self

    def attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except ApiError as error:
            self.refuse(f"{error.status} {error.error['code']}")
        except Refused as error:
            self.refuse(error.error["code"])
        except (OSError, http.client.HTTPException, WebSocketException) as error:
            self.refuse(f"{type(error).__name__} {error}" if isinstance(error, TimeoutError) else type(error).__name__)

    def refuse(self, why: str) -> None:
        self.refusals[why] += 1
        time.sleep(PAUSE_SECONDS)

    def by_rest(self, turn: Turn) -> None:
        """The call waits for the whole reply; its events are read afterwards."""
        try:
            done = self.client.call("POST", f"threads/{self.thread}/messages/", turn.body, seconds=SECONDS)
            reply = done["reply"]["id"]
        except ApiError as error:
            if "reply" not in error.error.get("details", {}):
                raise
            reply = error.error["details"]["reply"]
        for event in self.client.events(f"replies/{reply}/events/?after={len(turn.events)}", seconds=SECONDS):
            turn.take(event)

    def by_stream(self, turn: Turn) -> None:
        if turn.events:
            path, body = f"replies/{turn.reply}/events/?after={len(turn.events)}", None
        else:
            path, body = f"threads/{self.thread}/messages/stream/", turn.body
        for event in self.client.events(path, body, seconds=SECONDS):
            turn.take(event)

    def by_socket(self, turn: Turn) -> None:
        """As the page does it."""
        with self.client.socket(self.thread, open_timeout=SECONDS, close_timeout=1) as socket:
            if turn.events:
                frame: Json = {"type": "reply.resume", "reply": turn.reply, "after": len(turn.events)}
            else:
                frame = {"type": "message.send", **turn.body}
            socket.send(json.dumps(frame))
            while not turn.ended_at:
                event = json.loads(socket.recv(timeout=SECONDS))
                if event["type"] == "error" or belongs(event, turn):
                    turn.take(event, repeats=True)

    def bring_files(self) -> "Person":
        """Uploads, each of which a worker reads; what was acknowledged is kept in ``turns``."""
        while not self.over.is_set():
            turn, uploaded = Turn(f"The ferry {len(self.turns) + 1} leaves at nine."), list[Json]()
            while not uploaded:
                self.attempt(lambda turn=turn, uploaded=uploaded: uploaded.append(self.upload(turn.text)))  # type: ignore[misc]
            turn.events, turn.acknowledged_at = uploaded, time.monotonic()
            self.turns.append(turn)
            deadline = time.monotonic() + LONGEST_SECONDS
            while not turn.ended_at:
                assert time.monotonic() < deadline, (turn, self.refusals)
                self.attempt(partial(self._look, turn))
        return self

    def upload(self, text: str) -> Json:
        headers = {"Authorization": f"Token {self.client.token}", "Content-Type": FORM}
        with closing(self._connection()) as connection:
            connection.request("POST", "/api/v1/files/", form(text.encode()), headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 201:
                is_json = answer.headers.get_content_type() == "application/json"
                raise ApiError(answer.status, json.loads(body)["error"] if is_json else {"code": "proxy"})
            file: Json = json.loads(body)
            return file

    def _connection(self) -> http.client.HTTPConnection:
        address = urlsplit(self.client.url)
        if address.scheme == "http":
            return http.client.HTTPConnection(address.netloc, timeout=SECONDS)
        return http.client.HTTPSConnection(address.netloc, timeout=SECONDS, context=ssl.create_default_context())

    def _look(self, turn: Turn) -> None:
        file = self.client.call("GET", f"files/{turn.events[0]['id']}/", seconds=SECONDS)
        if file["status"] in {"stored", "waiting", "reading"}:
            time.sleep(PAUSE_SECONDS)
            return
        turn.events.append(file)
        turn.ended_at = time.monotonic()


def belongs(event: Json, turn: Turn) -> bool:
    """A socket also shows what was said before, where it still runs."""
    if turn.events:
        return bool(event["reply"] == turn.reply)
    return bool(event["type"] == "message.saved" and event["data"]["message"]["text"] == turn.text)
