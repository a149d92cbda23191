"""`manage.py dev`: `serve`, started anew when a file changes. The database runs on meanwhile, held by this process."""

import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from django.conf import settings

from config.languages import catalogues
from config.management.output import PrintableCommand

FOLDERS = ("artifacts", "config", "conversations", "locale", "memory", "templates")
ENDINGS = {".css", ".html", ".js", ".json", ".po", ".py", ".sql", ".toml", ".txt"}
LOOK_SECONDS = 0.3
END_SECONDS = 1.0
"""What a server may take to end. Of the five seconds that Ctrl-C may take, a busy machine's database needs most."""

Stamps = Mapping[Path, int]
"""When each file was last written, in nanoseconds."""


class Command(PrintableCommand):
    help = "Serve for development: with Django's error pages, static files from source, and a new start at each change."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.PORT)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        manage = str(settings.BASE_DIR / "manage.py")
        command = [sys.executable, manage, "serve", "--attached", "--host", host, "--port", str(port)]
        with suppress(KeyboardInterrupt):
            while True:
                before = stamps(settings.BASE_DIR)
                catalogues.compile_stale()
                with server(command) as process:
                    changed = self.wait_for_change(before, process)
                self.say(f"{changed.relative_to(settings.BASE_DIR)} has changed: starting again ...")

    def wait_for_change(self, before: Stamps, process: subprocess.Popen[bytes]) -> Path:
        """Gives one of the files that changed. A server that ends is told of once, and not started before a change."""
        ended = False
        while not (changed := changes(before, after := stamps(settings.BASE_DIR))):
            if not ended and process.poll() is not None:
                ended = True
                self.say(f"The server ended with code {process.returncode}. It starts again when a file changes.")
            time.sleep(LOOK_SECONDS)
        while after != (after := wait_and_look()):  # a branch that is checked out changes many, one after the other
            pass
        return min(changed)

    def say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()


def wait_and_look() -> Stamps:
    time.sleep(LOOK_SECONDS)
    return stamps(settings.BASE_DIR)


def stamps(root: Path) -> Stamps:
    """Of all that a running server has read and keeps. Static files are read at each request."""
    found = {}
    for place, folders, names in chain.from_iterable(os.walk(root / folder) for folder in FOLDERS):
        folders[:] = [name for name in folders if name not in {"__pycache__", "static"}]
        for path in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):  # an editor's file, that is gone again
                if path.suffix in ENDINGS:
                    found[path] = path.stat().st_mtime_ns
    return found


def changes(before: Stamps, after: Stamps) -> list[Path]:
    """What was written, made or deleted."""
    return [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]


@contextmanager
def server(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """With its worker in a session of its own: a terminal's Ctrl-C reaches this process alone, which ends them in time."""
    environment = {"DEBUG": "on", **os.environ}
    with subprocess.Popen(command, env=environment, start_new_session=True) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # whatever of the server and its worker is left
                # While one of them still dies it counts as a user of the database, which then would not be stopped.
                for _ in range(50):
                    time.sleep(0.01)
                    os.killpg(process.pid, 0)
