"""Processes of this machine, as Linux lists them under /proc."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def descendants(pid: int) -> list[int]:
    children = [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in task_children(task)]
    return [*children, *(each for child in children for each in descendants(child))]


def task_children(task: Path) -> list[str]:
    with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end at any time
        return (task / "children").read_text().split()
    return []


def runs(pid: int) -> bool:
    """And is not only there until somebody asks for its exit code."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def kill_marked(mark: str) -> None:
    """All processes whose environment holds this setting, such as ``NAME=value``, until there is none: whatever became of
    those that started them. Elsewhere than on Linux they can't be looked up, and stay."""
    while marked := list(_marked(mark.encode())):
        for pid in marked:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(setting: bytes) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if setting in (folder / "environ").read_bytes().split(b"\0") and runs(int(folder.name)):
                yield int(folder.name)
