"""mem0's library behind the paths of its own server, which is in no package: with a store in a folder and any model.

``python -m conformance.peers.mem0_server --model http://127.0.0.1:8124/v1 --port 8125``, where ``mem0ai`` is installed.
"""

import argparse
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mem0 import Memory

Json = dict[str, Any]
SCOPES = ("user_id", "agent_id", "run_id")


def memory(folder: str, model_url: str) -> Any:
    openai = {"api_key": "none", "openai_base_url": model_url}
    return Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {**openai, "model": "scripted"}},
            "embedder": {"provider": "openai", "config": {**openai, "model": "scripted"}},
            "vector_store": {"provider": "qdrant", "config": {"path": f"{folder}/qdrant", "on_disk": True}},
            "history_db_path": f"{folder}/history.db",
        }
    )


def answer(memory: Any, method: str, path: str, query: Json, body: Json) -> Any:
    """As ``server/main.py`` of mem0 hands calls to its library."""
    parts = path.strip("/").split("/")
    scope = {name: (body or query)[name] for name in SCOPES if (body or query).get(name)}
    match method, parts:
        case "POST", ["memories"]:
            return memory.add(body["messages"], **scope, infer=body.get("infer", True))
        case "GET", ["memories"]:
            return memory.get_all(filters=scope, top_k=1000)
        case "DELETE", ["memories"]:
            return memory.delete_all(**scope)
        case "POST", ["search"]:
            return memory.search(body["query"], filters=body.get("filters") or scope, top_k=body.get("limit", 20))
        case "PUT", ["memories", note]:
            return memory.update(note, text=body["text"])
        case "DELETE", ["memories", note]:
            return memory.delete(note)
        case "GET", ["memories", note, "history"]:
            return memory.history(note)
    raise LookupError(f"{method} {path}")


def handler(memory: Any) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            address = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            try:
                status, found = 200, answer(memory, self.command, address.path, query, body)
            except (LookupError, ValueError) as error:
                status, found = 404, {"detail": str(error)}
            data = json.dumps(found, default=str).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - as http.server calls them

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m conformance.peers.mem0_server")
    parser.add_argument("--model", required=True, help="base URL of a server of Chat Completions and embeddings")
    parser.add_argument("--port", type=int, default=8125)
    options = parser.parse_args()
    with (
        TemporaryDirectory() as folder,
        HTTPServer(("127.0.0.1", options.port), handler(memory(folder, options.model))) as server,
    ):
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
