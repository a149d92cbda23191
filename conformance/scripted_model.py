"""A model without a model, for systems that need one: it writes down each statement as it is, and reads all that it has.

``python -m conformance.scripted_model --port 8124`` serves ``/v1/messages`` (with the memory tool), ``/v1/chat/completions``
(what mem0 asks for) and ``/v1/embeddings`` (words hashed into a vector) on loopback. What it writes down is no judgement of any
real model; what a system does with it is the system's own.
"""

import argparse
import hashlib
import json
import math
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ROOT = "/memories"
DIMENSIONS = 1536
FILE = re.compile(rf"{ROOT}/\S+")
WORD = re.compile(r"\w+")
NEW_MESSAGES = re.compile(r"## New Messages\s*(.*?)(?=\n## |\Z)", re.DOTALL)
SAID = re.compile(r"^user: (.*?)(?=^\w+: |\Z)", re.MULTILINE | re.DOTALL)
COMMON = re.compile(r"an?|and|are|at|by|did|do|does|how|in|is|it|of|on|or|the|to|was|what|where|which|who")

Json = dict[str, Any]


def memory_answer(messages: list[Json]) -> list[Json]:
    """The content of the next message: file commands for the newest thing that was said, then words. Pure."""
    start = max(number for number, message in enumerate(messages) if isinstance(message["content"], str))
    newest, since = str(messages[start]["content"]), messages[start + 1 :]
    results = [str(block["content"]) for message in since if message["role"] == "user" for block in message["content"]]
    digest = hashlib.sha256(newest.encode()).hexdigest()[:12]
    if not results:
        return [_command(digest, 0, command="view", path=ROOT)]
    files = FILE.findall(results[0])
    if newest.rstrip().endswith("?"):
        if len(results) == 1 and files:
            return [_command(digest, number, command="view", path=file) for number, file in enumerate(files, 1)]
        return [{"type": "text", "text": "What I have read says: " + " ".join(results[1:])}]
    if len(results) == 1:
        path = f"{ROOT}/{len(files) + 1:03}.md"
        return [_command(digest, 1, command="create", path=path, file_text=newest)]
    return [{"type": "text", "text": "I have written it down."}]


def _command(digest: str, number: int, **command: str) -> Json:
    return {"type": "tool_use", "id": f"toolu_{digest}_{number}", "name": "memory", "input": command}


def extraction(messages: list[Json]) -> str:
    """For mem0: each statement among the new messages as a memory, as it is. Pure."""
    prompt = str(messages[-1]["content"])
    new = NEW_MESSAGES.search(prompt)
    said = [text.strip() for text in SAID.findall(new[1] if new else prompt)]
    statements = [text for text in said if not text.endswith("?")]
    return json.dumps(
        {"memory": [{"id": str(n), "text": text, "attributed_to": "user"} for n, text in enumerate(statements)]}
    )


def embedding(text: str) -> list[float]:
    """Of length 1: each word, without common ones, at a place of its own. Pure."""
    vector = [0.0] * DIMENSIONS
    for word in WORD.findall(text.lower()):
        if not COMMON.fullmatch(word):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


def answer(path: str, body: Json) -> Json | None:
    """What a request is answered with; None where there is no such address. Pure."""
    usage = {"input_tokens": 1, "output_tokens": 1, "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    match path.rstrip("/"):
        case "/v1/messages":
            content = memory_answer(body["messages"])
            stop = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
            made: Json = {"id": "msg_scripted", "type": "message", "role": "assistant", "stop_sequence": None}
            return {**made, "model": body["model"], "content": content, "stop_reason": stop, "usage": usage}
        case "/v1/chat/completions":
            message = {"role": "assistant", "content": extraction(body["messages"])}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            made = {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": body["model"]}
            return {**made, "choices": [choice], "usage": usage}
        case "/v1/embeddings":
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            data = [{"object": "embedding", "index": n, "embedding": embedding(text)} for n, text in enumerate(texts)]
            return {"object": "list", "model": body["model"], "data": data, "usage": usage}
    return None


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:  # as http.server calls it
        found = answer(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        data = json.dumps(found or {"error": "no such address"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def scripted_model(port: int = 0) -> ThreadingHTTPServer:
    """Bound to a port of loopback; ``serve_forever`` begins to answer."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m conformance.scripted_model")
    parser.add_argument("--port", type=int, default=8124)
    with scripted_model(parser.parse_args().port) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
