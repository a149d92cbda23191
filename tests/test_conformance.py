"""The conformance suite: ours passes all of it, and there is no scenario that a server can't fail."""

import json
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from conformance.__main__ import main
from conformance.scenarios import SCENARIOS, tool_pairs
from conformance.scripted_model import scripted_model
from conversations.accounts import tokens
from conversations.models import Thread
from memory.models import Memory, Preferences
from tests.processes import ROOT, database_url, server

NAMES = {scenario.name for scenario in SCENARIOS}
Json = dict[str, Any]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[int, Json]]:
    """The exit code and the JSON."""

    def run(url: str, *arguments: str) -> tuple[int, Json]:
        code = main([url, "--json", str(tmp_path / "results.json"), *arguments])
        return code, json.loads((tmp_path / "results.json").read_text())

    return run


def outcomes(results: Json) -> dict[str, set[str]]:
    """Scenarios by what came of them."""
    found: dict[str, set[str]] = {}
    for scenario in results["scenarios"]:
        found.setdefault(scenario["outcome"], set()).add(scenario["scenario"])
    return found


@pytest.mark.wide
@pytest.mark.django_db(transaction=True)
def test_openbook_passes_all_and_nothing_is_left_of_it(
    user: User, other_user: User, run: Callable[..., tuple[int, Json]]
) -> None:
    Preferences.objects.create(user=user, time_zone="Europe/Lisbon")
    own, others = (tokens.issue(user=person, name="conformance") for person in (user, other_user))
    with server(database_url(), OPENBOOK_OFFLINE_WORD_SECONDS="0") as running:
        code, results = run(running.url, "--token", own, "--other-token", others)
        assert (code, outcomes(results)) == (0, {"passed": NAMES}), results
        command = [
            sys.executable,
            "-m",
            "conformance",
            running.url,
            "--token",
            own,
            "--only",
            "people_apart",
            "updates",
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode, "needs the token of another person: --other-token" in done.stdout) == (0, True)
    assert not Thread.objects.exists()
    assert not Memory.objects.exists()
    assert Preferences.objects.get(user=user).time_zone == "Europe/Lisbon"


def test_a_server_that_keeps_nothing_fails(run: Callable[..., tuple[int, Json]]) -> None:
    with bad_server(tells=False) as url:
        code, results = run(url, "--token", "t", "--other-token", "o")
    assert (code, outcomes(results)) == (1, {"failed": NAMES})


def test_a_server_that_tells_all_to_everybody_fails(
    run: Callable[..., tuple[int, Json]], capsys: pytest.CaptureFixture[str]
) -> None:
    """It fails by what it should not have told, as it recalls everything."""
    recalled = {"recall_in_passing", "follow_ups", "long_conversations"}
    with bad_server(tells=True) as url:
        code, results = run(url, "--token", "t", "--other-token", "o")
    assert (code, outcomes(results)) == (1, {"passed": recalled, "failed": NAMES - recalled})
    failed = {
        scenario["scenario"]: [check["looked_for"] for check in scenario["checks"] if not check["passed"]]
        for scenario in results["scenarios"]
    }
    for scenario in (
        "people_apart",
        "projects_apart",
        "threads_apart",
        "edited_branches",
        "changed_notes",
        "forgetting",
    ):
        assert failed[scenario][0].startswith("no “"), scenario
    assert failed["tool_calls_whole"] == ["no call without its result, no result without its call"]
    assert failed["time_zones"] == ["“3 March” in the context"]
    assert failed["pasted_texts"][1].endswith("among the system's own words")
    assert "looked for: no call without its result" in capsys.readouterr().out


def test_what_a_system_does_not_offer_is_not_passed(run: Callable[..., tuple[int, Json]]) -> None:
    """The memory tool's files, by a model that writes all down: a baseline."""
    model = scripted_model()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    try:
        code, results = run(f"http://127.0.0.1:{model.server_port}", "--system", "memory-tool")
    finally:
        model.shutdown()
        model.server_close()
    assert (code, outcomes(results)) == (
        1,
        {
            "passed": {"recall_in_passing", "follow_ups", "people_apart", "updates"},
            "failed": {"edited_branches", "pasted_texts"},
            "not offered": {
                *("long_conversations", "projects_apart", "threads_apart", "tool_calls_whole", "time_zones"),
                *("changed_notes", "forgetting"),
            },
        },
    )
    assert results["outcomes"] == {"passed": 4, "failed": 2, "not offered": 7, "not run": 0}


def test_halves_of_tool_calls_are_seen() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}
    words = {"role": "user", "content": "Hello"}
    assert tool_pairs([words, call, result]) == (1, [])
    assert tool_pairs([call, words, result]) == (0, ["call a", "result a"])


@contextmanager
def bad_server(*, tells: bool) -> Iterator[str]:
    """What looks like Openbook, and either keeps nothing or gives all that it ever heard to everybody, newest first."""
    said: list[str] = []
    turns: list[Json] = []

    def answer(method: str, parts: list[str], body: Json) -> Json:
        if method in ("POST", "PATCH") and parts[-1] != "context":
            said.insert(0, str(body.get("content", "")))
        id = uuid.uuid4().hex
        match parts:
            case ["import"]:
                turns[:] = body["threads"][0]["messages"]
                said[:0] = [turn["content"] for turn in turns if isinstance(turn["content"], str)]
                return {"threads": [{"id": id}]}
            case ["threads", _, "context"]:
                kept = [{"role": turn["role"], "content": turn["content"]} for turn in turns[-30:]] if tells else []
                texts = [{"type": "text", "text": "\n".join(said) if tells else ""}]
                return {"request": {"system": texts, "messages": kept}}
            case ["memories"] if method == "GET":
                return {"results": [{"content": text} for text in said] if tells else []}
            case ["preferences"]:
                return {"time_zone": "UTC"}
        turn = {"id": id, "text": "I see."}
        lists = {"results": [{"id": id, "texts": said}] if tells else []}
        return {"id": id, "user_message": turn, "assistant_message": turn, "reply": turn, **lists}

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            parts = urlsplit(self.path).path.removeprefix("/api/v1/").strip("/").split("/")
            data = json.dumps(answer(self.command, parts, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if parts[-1] == "events" else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - as http.server calls them

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
