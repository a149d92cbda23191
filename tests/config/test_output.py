"""What commands and logs print obeys nobody but them."""

import ast
import io
import json
import logging
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings as project
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.color import make_style
from pytest_django import Settings

from config.management.output import PrintableCommand
from config.observability.logs import JsonFormatter
from conversations.runtime.text import printable
from tests.conversations.connections import LOOPBACK, make_connection
from tests.other_services import elsewhere

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\x08\u202e\u2028\x7f"
OURS = ("config", "conversations", "memory", "artifacts")
PRINTS = re.compile(r"\b(?:print|write|OutputWrapper)\(|self\.style\.")
RAW = {
    "config/management/commands/backup.py",  # the line of progress, on which names of tables stand
    "artifacts/reading/child.py",  # JSON for its parent
    "artifacts/reading/pictures/ocr.py",  # for the doctor, who asks by a process of its own
}


class Command(PrintableCommand):
    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(f"a {HOSTILE}title")
        self.stderr.write(f"an {HOSTILE}error", make_style("dark").ERROR)


def obeyed(text: str) -> list[str]:
    return [char for char in text if char != "\n" and char != printable(char)]


def test_a_command_prints_no_control_characters_but_its_own_colours() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    output, errors = Terminal(), Terminal()
    call_command(Command(), stdout=output, stderr=errors)
    assert obeyed(output.getvalue()) == []
    coloured = errors.getvalue()
    assert coloured.startswith("\x1b[31;1m") and obeyed(coloured) == ["\x1b", "\x1b"]


@pytest.mark.parametrize("name", sorted(name for name, app in get_commands().items() if app.partition(".")[0] in OURS))
def test_each_command_prints_so(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert isinstance(command, PrintableCommand)


def test_nothing_is_printed_past_it() -> None:
    raw = set()
    texts = {path: path.read_text() for folder in OURS for path in (Path(project.BASE_DIR) / folder).rglob("*.py")}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)) if PRINTS.search(text) else ():
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in {"print", "sys.stdout.write", "sys.stderr.write", "self.output.write", "OutputWrapper"}:
                raw.add(str(path.relative_to(project.BASE_DIR)))
            # A colour that is put into the text would be taken out again.
            assert not name.startswith("self.style."), path
    assert raw == RAW


def test_a_log_holds_no_control_characters() -> None:
    record = logging.makeLogRecord({"msg": HOSTILE, "name": HOSTILE, "levelname": "INFO", "error": HOSTILE})
    line = JsonFormatter().format(record)
    assert obeyed(line) == [] and json.loads(line)["error"] == HOSTILE


def test_a_traceback_holds_none_either() -> None:
    code = f"import sys, manage\nsys.excepthook = manage.print_failure\nraise ValueError({HOSTILE!r} + 'end')"
    done = subprocess.run([sys.executable, "-c", code], cwd=project.BASE_DIR, capture_output=True, text=True)
    assert "end" in done.stderr and obeyed(done.stderr) == []


@pytest.mark.django_db(transaction=True)
def test_what_a_service_says_reaches_no_terminal_by_the_doctor(settings: Settings) -> None:
    answer = json.dumps({"error": {"type": "invalid_request_error", "message": f"no {HOSTILE}good"}})
    settings.OPENBOOK_INNER_NETWORKS = LOOPBACK
    with elsewhere({"*": (400, {"content-type": "application/json"}, answer)}) as service:
        make_connection(service.url)
        output = io.StringIO()
        with suppress(SystemExit):
            call_command("doctor", "services", stdout=output)
    assert "good" in output.getvalue() and obeyed(output.getvalue()) == []
