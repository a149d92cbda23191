"""Programs that the operator names as servers (stdio): a TOML file with a table for each. They run here, shut in."""

import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from conversations.models.mcp import LOCAL
from conversations.runtime.values import dataclass

KEYS = {"command", "args", "readable", "environment", "memory_mb"}
MEMORY_MB = 4096
"""Of addresses: some runtimes reserve much more than they use."""


class ProgramsError(ValueError):
    """The file can't be read, or says what it can't."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What is run, with all that it may read beside the system's libraries. Its memory is in MiB."""

    command: str
    args: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str]
    memory_mb: int = MEMORY_MB


def named(url: str) -> Program | None:
    """The program that a server's address names."""
    return configured(settings.OPENBOOK_MCP_PROGRAMS).get(url.removeprefix(LOCAL))


@cache
def configured(path: str) -> dict[str, Program]:
    """By name. Raises ``ProgramsError``."""
    if not path:
        return {}
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ProgramsError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ProgramsError(f"{path} is no TOML: {error}") from error
    return {name: _program(name, table) for name, table in tables.items()}


def _program(name: str, table: Any) -> Program:
    if not isinstance(table, dict) or table.keys() - KEYS:
        raise ProgramsError(f"{name} is no table of {', '.join(sorted(KEYS))}")
    command, memory = table.get("command"), table.get("memory_mb", MEMORY_MB)
    lists = {key: table.get(key, []) for key in ("args", "readable")}
    environment = table.get("environment", {})
    if not isinstance(command, str) or not Path(command).is_absolute():
        raise ProgramsError(f"{name}.command has to be the whole path of a program")
    if not isinstance(memory, int) or not 16 <= memory <= 2**20:
        raise ProgramsError(f"{name}.memory_mb has to be a number of MiB")
    for key, values in {**lists, "environment": environment}.items():
        if not isinstance(values, dict if key == "environment" else list) or not all(map(_is_text, values)):
            raise ProgramsError(f"{name}.{key} has to hold texts")
    return Program(
        command=command,
        args=tuple(lists["args"]),
        readable=tuple(lists["readable"]),
        environment={key: str(value) for key, value in environment.items()},
        memory_mb=memory,
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def command_for(program: Program, folder: str, seconds: int) -> tuple[list[str], dict[str, str]]:
    """How it is started with this folder as the only one that it writes to, and with which environment. Pure."""
    limits = [str(program.memory_mb), str(seconds), folder, str(len(program.readable)), *program.readable]
    command = [sys.executable, "-m", "conversations.mcp_client.confined", *limits, program.command, *program.args]
    own = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "PYTHONUTF8": "1"}
    return command, own | dict(program.environment)
