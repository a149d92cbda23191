"""A program that a model wrote, from its text to what it printed and made: in the confinement of the process that reads files.

It has no network, starts no process and reads nothing but its folder and Python's own files; what it may take is bounded here.
"""

import asyncio
import codecs
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary

from django.conf import settings

from conversations.runtime import program_child
from conversations.runtime.values import dataclass

SECONDS, CPU_SECONDS = 60.0, 30
MEMORY_BYTES, FILE_BYTES, FOLDER_BYTES = 512 * 2**20, 16 * 2**20, 64 * 2**20
OPEN_FILES, MOST_ENTRIES = 32, 1_000
LOOK_SECONDS = 0.1
"""Between two looks at what its folder holds."""
MOST_PRINTED, PIECE = 16_000, 2**16
"""Characters of what it printed that are given: the first and the last half."""
CUT = "\n[… {count} characters of what was printed are left out here]\n"
CHILD = program_child.__name__

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class NotConfined(Exception):
    """This system can't confine a program, so none is run."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """``problem`` says what ended it, where it did not end by itself. ``files`` lie in its folder: what it made or changed."""

    status: int
    printed: str
    seconds: float
    problem: str
    files: Sequence[Path]


async def run(program: str, folder: Path) -> Run:
    """Run it in a folder that holds its files, when there is a place for it. Raises ``NotConfined``."""
    async with _place():
        return await _run(program, folder)


def _place() -> asyncio.Semaphore:
    """How many run at once, of those that an event loop waits for."""
    loop = asyncio.get_running_loop()
    return _places.setdefault(loop, asyncio.Semaphore(max(1, settings.OPENBOOK_RUN_PYTHON)))


async def _run(program: str, folder: Path) -> Run:
    folder = await asyncio.to_thread(folder.resolve)
    given = _state_of(folder)
    began = time.monotonic()
    job = {
        "program": program,
        "folder": str(folder),
        "memory_bytes": MEMORY_BYTES,
        "cpu_seconds": CPU_SECONDS,
        "file_bytes": FILE_BYTES,
        "open_files": OPEN_FILES,
    }
    temporary = folder / "tmp"
    temporary.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", CHILD),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        cwd=settings.BASE_DIR,
        env={"PYTHONUTF8": "1", "HOME": str(folder), "TMPDIR": str(temporary), "OPENBLAS_NUM_THREADS": "1"},
    )
    watching = asyncio.create_task(_problem_of(process, folder))
    try:
        printed = await _printed(process, json.dumps(job).encode())
        await process.wait()
    finally:
        watching.cancel()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    problem = ""
    with suppress(asyncio.CancelledError):
        problem = await watching
    if process.returncode == program_child.NOT_CONFINED:
        raise NotConfined
    if process.returncode == -signal.SIGXCPU:
        problem = f"it took more than {CPU_SECONDS} s of processor time"
    seconds = time.monotonic() - began
    after = await asyncio.to_thread(_state_of, folder)
    made = sorted(folder / name for name, state in after.items() if given.get(name) != state)
    return Run(status=process.returncode or 0, printed=printed, seconds=seconds, problem=problem, files=made)


async def _problem_of(process: Process, folder: Path) -> str:
    """Why it was ended, once it was."""
    ends_at = time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        await asyncio.sleep(LOOK_SECONDS)
        if await asyncio.to_thread(_is_full, folder):
            process.kill()
            return f"it wrote more than {FOLDER_BYTES // 2**20} MiB, or more than {MOST_ENTRIES:,} files"
    process.kill()
    return f"it took longer than {SECONDS:g} s"


async def _printed(process: Process, job: bytes) -> str:
    """All that it says, of which no more than is given is held."""
    assert process.stdin
    assert process.stdout
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(job)
        await process.stdin.drain()
        process.stdin.close()
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    half = MOST_PRINTED // 2
    first = last = ""
    count, is_over = 0, False
    while not is_over:
        data = await process.stdout.read(PIECE)
        is_over = not data
        piece = decoder.decode(data, final=is_over)
        count += len(piece)
        taken = max(0, half - len(first))
        first, last = first + piece[:taken], (last + piece[taken:])[-half:]
    left_out = count - len(first) - len(last)
    return first + (CUT.format(count=f"{left_out:,}") if left_out else "") + last


def _is_full(folder: Path) -> bool:
    size = entries = 0
    for place, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        for name in files:
            with suppress(OSError):
                size += (Path(place) / name).lstat().st_blocks * 512
        if size > FOLDER_BYTES or entries > MOST_ENTRIES:
            return True
    return False


def _state_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Files in the folder itself, no links and nothing in folders, by what tells whether one has changed."""
    states = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                state = entry.stat(follow_symlinks=False)
                states[entry.name] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return states
