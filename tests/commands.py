"""`python -m tests.commands`: commands of `manage.py` and programs of the tests, each in a fork of this process.

A process of its own takes two seconds to load what is loaded here once. Each fork has the settings of its own environment.
"""

import importlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.services import until_left

SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.server_settings", "SECRET_KEY": "s" * 50}


@dataclass(frozen=True)
class Commands:
    process: subprocess.Popen[str]

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """`manage.py …` or `-m module …`, in this process's environment and what is given."""
        assert self.process.stdin
        assert self.process.stdout
        order = {"arguments": arguments, "environment": os.environ | SETTINGS | environment}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return subprocess.CompletedProcess(arguments, **json.loads(self.process.stdout.readline()))


@contextmanager
def commands() -> Iterator[Commands]:
    with until_left([sys.executable, "-m", "tests.commands"]) as process:
        yield Commands(process)


def main() -> None:
    import django  # noqa: PLC0415

    os.environ |= SETTINGS
    django.setup()
    for name in ("config.urls", "config.management.commands.restore", "config.management.commands.doctor"):
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_run_in_fork(**json.loads(line))), flush=True)  # noqa: T201


def _run_in_fork(arguments: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """What a ``CompletedProcess`` holds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        if not (child := os.fork()):
            os._exit(_run(arguments, environment, out.fileno(), errors.fileno()))
        _, status = os.waitpid(child, 0)
        told = [file.seek(0) or file.read().decode() for file in (out, errors)]
    return {"returncode": os.waitstatus_to_exitcode(status), "stdout": told[0], "stderr": told[1]}


def _run(arguments: list[str], environment: Mapping[str, str], out: int, errors: int) -> int:
    """Its exit code."""
    for ours, theirs in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (errors, 2)):
        os.dup2(ours, theirs)
    sys.stdin = io.StringIO()
    try:
        _take(environment)
        if arguments[0] == "-m":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
        code: object = 0
    except SystemExit as ended:
        code = ended.code or 0
        if isinstance(code, str):
            print(code, file=sys.stderr)  # noqa: T201
    except BaseException:  # as the interpreter does at the end of a process
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 1


def _take(environment: Mapping[str, str]) -> None:
    """Have the settings that a process of this environment has."""
    from django.conf import Settings, settings  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415
    from django.test import override_settings  # noqa: PLC0415

    os.environ.clear()
    os.environ.update(environment)
    for name in ("config.settings", environment["DJANGO_SETTINGS_MODULE"]):
        sys.modules.pop(name, None)
    taken: Any = Settings(environment["DJANGO_SETTINGS_MODULE"])
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


if __name__ == "__main__":
    main()
