"""`python -m tests.commands`: commands of `manage.py`, servers too, and programs of the tests, each in a fork of this process.

A process of its own takes two seconds to load what is loaded here once. Each fork has the settings of its own environment, and
is killed once nobody waits for its end any more.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, cast

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.server_settings", "SECRET_KEY": "s" * 50}
LOADED = ("config.urls", *(f"config.management.commands.{name}" for name in ("serve", "restore", "doctor")))


@dataclass
class Fork:
    """What `subprocess.Popen` has of a process; its parent tells of its end."""

    pid: int
    _end: IO[str]
    returncode: int | None = None

    def poll(self) -> int | None:
        return self._ended_within(0)

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired``."""
        code = self._ended_within(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _ended_within(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], seconds)[0]:
            with self._end:
                self.returncode = int(self._end.read())
        return self.returncode


@dataclass(frozen=True)
class Commands:
    orders: socket.socket

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], output: int, errors: int) -> Fork:
        """`manage.py …` or `-m module …`; ``output`` and ``errors`` are descriptors of files."""
        (pid, their_pid), (end, their_end) = os.pipe(), os.pipe()
        with TemporaryFile("w+") as order:
            json.dump({"arguments": arguments, "environment": dict(environment)}, order)
            order.seek(0)
            socket.send_fds(self.orders, [b"x"], [order.fileno(), output, errors, their_pid, their_end])
        os.close(their_pid)
        os.close(their_end)
        with os.fdopen(pid) as line:
            return Fork(int(line.read()), os.fdopen(end))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """In this process's environment and what is given."""
        with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
            fork = self.start(arguments, os.environ | SETTINGS | environment, output.fileno(), errors.fileno())
            code = fork.wait()
            for file in (output, errors):
                file.seek(0)
            return subprocess.CompletedProcess(arguments, code, output.read(), errors.read())


@cache
def commands() -> Commands:
    """Ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.commands"], cwd=ROOT, stdin=theirs.fileno(), start_new_session=True
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return Commands(ours)


def main() -> None:
    import django  # noqa: PLC0415

    os.environ |= SETTINGS
    django.setup()
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if order := _next_order():
        _run(**order)


def _next_order() -> dict[str, Any] | None:
    """In a fork for each; nothing here, once nobody is left to give any."""
    with socket.socket(fileno=os.dup(0)) as orders:
        while True:
            _, files, _, _ = socket.recv_fds(orders, 1, 5)
            if not files:
                return None
            if not os.fork():
                order, *others = files
                _start(*others)
                with os.fdopen(order) as file:
                    return dict(json.load(file))
            for each in files:
                os.close(each)


def _start(output: int, errors: int, pid: int, end: int) -> None:
    """Go on in another fork, whose end this one tells."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    over, alive = os.pipe()
    if not (child := os.fork()):
        for ours, theirs in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (errors, 2)):
            os.dup2(ours, theirs)
        for file in (output, errors, pid, end, over):
            os.close(file)
        return
    os.write(pid, str(child).encode())
    for file in (output, errors, pid, alive):
        os.close(file)
    changes = select.poll()
    for file in (over, end):  # closed with the child, or by whoever waited for it
        changes.register(file, 0)
    changes.poll()
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    try:
        os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
    finally:
        os._exit(0)


def _run(arguments: list[str], environment: Mapping[str, str]) -> None:
    for file in (sys.stdout, sys.stderr):
        cast(TextIOWrapper, file).reconfigure(line_buffering=True)
    _take(environment)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def _take(environment: Mapping[str, str]) -> None:
    """Have the settings that a process of this environment has, and an event loop that no other process has."""
    import daphne.server  # noqa: PLC0415
    from django.conf import Settings, settings  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415
    from django.test import override_settings  # noqa: PLC0415
    from twisted.internet import reactor  # noqa: PLC0415

    os.environ.clear()
    os.environ.update(environment)
    module = environment.get("DJANGO_SETTINGS_MODULE", "config.settings")
    for name in ("config.settings", module):
        sys.modules.pop(name, None)
    taken: Any = Settings(module)
    handler: Any = connections
    ours: Any = settings
    values = {name: getattr(taken, name) for name in dir(taken) if taken.is_overridden(name)}
    databases = values.pop("DATABASES")
    changed = {name for name, value in values.items() if not ours.is_overridden(name) or getattr(ours, name) != value}
    override_settings(**{name: values[name] for name in changed}).enable()
    settings.DATABASES = databases
    for alias in list(connections):
        if hasattr(handler._connections, alias):
            del handler[alias]
    handler._settings = None
    handler.__dict__.pop("settings", None)
    daphne.server.twisted_loop = asyncio.new_event_loop()
    running: Any = reactor
    running.__init__(daphne.server.twisted_loop)


if __name__ == "__main__":
    main()
