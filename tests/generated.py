"""Frames and handshakes that can't be right, made by chance from a seed."""

import json
import uuid
from collections.abc import Callable
from random import Random
from typing import Any

Chance = Random
TYPES = ("message.send", "preset.run", "reply.stop", "reply.retry", "reply.continue", "reply.resume")
TEXTS = ("", " ", "\0", "nul \0 within", "\ud800", "\u202e", "😀" * 50, "'; --", "../..", "x" * 150_000, "{}", "٣")
NUMBERS = (0, -1, 2**31, 2**63, -(10**40), 1.5, 1e308, float("inf"), float("nan"))


def value(chance: Chance, depth: int = 0) -> Any:
    """Something of any type, mostly of a wrong one."""
    kind = chance.randrange(7 if depth < 3 else 5)
    if kind == 5:
        return [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return {chance.choice(("type", "text", "x", "")): value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return (
        None,
        chance.random() < 0.5,
        chance.choice(NUMBERS),
        chance.choice(TEXTS),
        str(uuid.UUID(int=chance.getrandbits(128))),
    )[kind]


def without_meaning(chance: Chance) -> Any:
    """A message that can't be sent."""
    return chance.choice(
        (None, 7, "", " ", [], {}, True, [{"type": "image"}], [value(chance)], {"text": value(chance)}, "x" * 150_000)
    )


def of_a_known_type(chance: Chance) -> str:
    kind = chance.choice(TYPES)
    frame = {"type": kind, "reply": value(chance), "after": value(chance), "preset": value(chance)}
    if kind == "message.send":
        frame |= {"content": without_meaning(chance), "client_message_id": value(chance), "assistant": value(chance)}
    return json.dumps(frame)


def of_no_type(chance: Chance) -> str:
    return json.dumps(value(chance) if chance.random() < 0.5 else {"type": value(chance), "content": value(chance)})


def cut_off(chance: Chance) -> str:
    whole = of_a_known_type(chance)
    return whole[: chance.randrange(len(whole))]


def nested(chance: Chance) -> str:
    depth = chance.choice((10, 1_000, 100_000))
    return chance.choice(("[" * depth, "[" * depth + "]" * depth, '{"type":' * depth, "9" * depth))


def binary(chance: Chance) -> bytes:
    return chance.randbytes(chance.randrange(200))


MAKERS: tuple[Callable[[Chance], str | bytes], ...] = (
    *(of_a_known_type,) * 6,
    *(of_no_type,) * 3,
    *(cut_off,) * 2,
    nested,
    binary,
)


def frame(chance: Chance) -> str | bytes:
    """One that has to be refused."""
    return chance.choice(MAKERS)(chance)


LONG = b"x" * 4_000
HEADERS: dict[str, list[bytes]] = {
    "Sec-WebSocket-Protocol": [
        *(b"Token", b"Token, ", b"Token, ob_made-up, secret", b"Token, ob_made-up", b"Token, a, b", b"token, x"),
        *(b", ,", b"\xff\xfe", b"Token, \xc3\xb6", b"Token, %00", b"Token, %ff", LONG, b""),
    ],
    "Origin": [
        b"null",
        b"http://",
        b"http://evil.example",
        b"\xff",
        b"://",
        b"http://[::1",
        b"http://a:b:c",
        LONG,
        b"",
    ],
    "Cookie": [b"sessionid=made-up", b"sessionid=\xff", b"sessionid=%00", b"=;=;", b"sessionid=" + LONG, b""],
    "Host": [b"", b"evil.example", b"[::1", b"a b", b"\xff", b"127.0.0.1:99999"],
    "Sec-WebSocket-Version": [b"0", b"99", b"x", b""],
    "Sec-WebSocket-Key": [b"", b"short", b"\xff" * 16],
    "X-Request-ID": [b"\xff", LONG, b"a\tb"],
}


def handshake(chance: Chance, host: str) -> bytes:
    """The bytes of a request for a socket with one to three headers that are made up."""
    headers = {
        "Host": host.encode(),
        "Upgrade": b"websocket",
        "Connection": b"Upgrade",
        "Sec-WebSocket-Version": b"13",
        "Sec-WebSocket-Key": b"dGhlIHNhbXBsZSBub25jZQ==",
    }
    for name in chance.sample(list(HEADERS), chance.randrange(1, 4)):
        headers[name] = chance.choice(HEADERS[name])
    path = chance.choice(("new", "nonsense", str(uuid.UUID(int=7)), "%00", "%ff", "..", "new/%2e%2e"))
    lines = [f"GET /ws/threads/{path}/ HTTP/1.1".encode(), *(k.encode() + b": " + v for k, v in headers.items())]
    return b"\r\n".join([*lines, b"", b""])
