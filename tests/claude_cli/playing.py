"""Has a stand-in play the Claude CLI, step by step."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests import model_scripts as scripts
from tests.claude_cli import stand_in

RESULT = {"type": "result", "subtype": "success", "is_error": False}
Step = dict[str, Any]
Play = Callable[..., None]


def event(said: Any) -> Step:
    return {"line": {"type": "stream_event", "event": said}}


def opening_steps(*texts: str) -> list[Step]:
    return [event(e) for e in (*scripts.opening_steps(), *(scripts.text_delta(text) for text in texts))]


def closing_steps(stop_reason: str = "end_turn") -> list[Step]:
    answer = {"type": "assistant", "message": {"content": []}, "request_id": "req_local"}
    return [{"line": answer}, *(event(e) for e in scripts.closing_steps(stop_reason)), {"line": RESULT}]


@pytest.fixture
def play(tmp_path: Path, settings: Settings) -> Play:
    """Have a stand-in play these steps in the CLI's place."""

    def prepare(*steps: Step, says_version: str = "echo '2.1.330 (Claude Code)'") -> None:
        written, program = tmp_path / "steps.json", tmp_path / "claude"
        written.write_text(json.dumps(steps))
        command = shlex.join([sys.executable, "-S", stand_in.__file__, str(written)])
        called = f"echo x >>{shlex.quote(str(tmp_path / 'versions_asked'))}; {says_version}"
        program.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then {called}; exit; fi\nexec {command} "$@"\n')
        program.chmod(0o700)
        settings.OPENBOOK_CLAUDE_CLI = str(program)

    return prepare
