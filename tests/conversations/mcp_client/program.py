"""A server over stdio, as an operator might name one: it tells what it can reach from where it runs. Plain lines of JSON."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "look",
    "description": "Tell what can be reached.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


def reached(port: str, secret: str, readable: str) -> dict[str, Any]:
    """Of each way what came of it."""
    ways: dict[str, Any] = {
        "network": lambda: socket.create_connection(("127.0.0.1", int(port)), 2),
        "secret": lambda: Path(secret).read_text(),
        "child": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "pair": woken,
        "readable": lambda: Path(readable).read_text(),
        "own": lambda: Path("own.txt").write_text("x"),
        "environment": lambda: sorted(os.environ),
    }
    return {name: outcome(way) for name, way in ways.items()}


def woken() -> int:
    """As event loops wake themselves up."""
    one, other = socket.socketpair()
    return one.send(b"x") + len(other.recv(1))


def outcome(way: Any) -> Any:
    try:
        return way()
    except OSError as error:
        return type(error).__name__


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            server = {"name": "program", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call" if sys.argv[4:] == ["flood"]:
            while True:
                sys.stdout.write("x" * 65_536)
        case "tools/call":
            return {"content": [{"type": "text", "text": json.dumps(reached(*sys.argv[1:4]))}]}
    raise KeyError


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        try:
            body = {"result": answer(message)}
        except KeyError:
            body = {"error": {"code": -32601, "message": "unknown"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()
