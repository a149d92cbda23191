"""Plays the Claude CLI from a file of steps. Run as ``stand_in.py STEPS.json ARGUMENTS…``; needs nothing but Python."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def play(step: dict[str, Any]) -> None:  # noqa: C901 – a list
    match step:
        case {"line": line}:
            write(json.dumps(line) + "\n")
        case {"text": text}:
            write(text)
        case {"stderr": text}:
            sys.stderr.write(text)
        case {"filler": size}:
            write("x" * size + "\n")
        case {"tell": path}:
            tell(Path(path))
        case {"child": path}:  # holds standard output open
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(path).write_text(str(child.pid))
        case {"deaf": _}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        case {"wait": seconds}:
            time.sleep(seconds)
        case {"kill": number}:
            os.kill(os.getpid(), number)
        case {"exit": code}:
            sys.exit(code)


def tell(path: Path) -> None:
    """What it was given."""
    arguments = sys.argv[2:]
    told = {
        "pid": os.getpid(),
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "beside": sorted(str(found) for found in Path.cwd().rglob("*")),
        "system": Path(arguments[arguments.index("--system-prompt-file") + 1]).read_text(),
        "input": sys.stdin.read(),
    }
    path.with_suffix(".part").write_text(json.dumps(told))
    path.with_suffix(".part").rename(path)


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    for step in json.loads(Path(sys.argv[1]).read_text()):
        play(step)
