"""A program that answers in lines on its standard output, run on its own and ended with all that it started."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from conversations.providers.errors import StreamError

LONGEST_LINE = 32 * 1024 * 1024
CHUNK = 64 * 1024
LAST_BYTES = 4_096
LAST_LINES = 3
GRACE_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Files:
    """Where the program works and lives, and what it reads and complains to. What it is told has no name in any folder."""

    work: Path
    home: Path
    system: IO[bytes]
    prompt: IO[bytes]
    complaints: IO[bytes]

    def last_complaints(self) -> str:
        self.complaints.seek(max(0, self.complaints.seek(0, os.SEEK_END) - LAST_BYTES))
        lines = [line.strip() for line in self.complaints.read().decode(errors="replace").splitlines()]
        return " ".join(list(filter(None, lines))[-LAST_LINES:])


@contextmanager
def prepared(system: str, prompt: str) -> Iterator[Files]:
    with (
        tempfile.TemporaryDirectory(prefix="openbook-", ignore_cleanup_errors=True) as folder,
        nameless(system.encode()) as system_file,
        nameless(prompt.encode()) as told_file,
        nameless() as complaints,
    ):
        files = Files(
            work=Path(folder, "work"),
            home=Path(folder, "home"),
            system=system_file,
            prompt=told_file,
            complaints=complaints,
        )
        files.work.mkdir()
        files.home.mkdir()
        yield files


@contextmanager
def nameless(content: bytes = b"") -> Iterator[IO[bytes]]:
    """A file to be read from its beginning. As standard input it holds any length, and nobody has to wait for its reader."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        file.seek(0)
        yield file


class RunningProcess:
    def __init__(self, process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
        self.process = process
        self.output = output
        self.ended = asyncio.create_task(self._end())

    async def _end(self) -> int:
        """How the program ended. Whatever it left behind goes with it, and so nobody holds its output open."""
        code = await self.process.wait()
        self.kill()
        return code

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # all have gone already
            os.killpg(self.process.pid, signal.SIGKILL)

    async def let_end(self) -> None:
        """A moment to put away what it keeps of a login."""
        await asyncio.wait({self.ended}, timeout=GRACE_SECONDS)

    async def lines(self) -> AsyncGenerator[bytes]:
        """Whole lines only."""
        parts: list[bytes] = []
        while data := await self.output.read(CHUNK):
            first, *others = data.split(b"\n")
            parts.append(first)
            for part in others:
                yield b"".join(parts)
                parts = [part]
            if sum(map(len, parts)) > LONGEST_LINE:
                raise StreamError("bad_stream")


@asynccontextmanager
async def running(
    command: Sequence[str], files: Files, environment: Mapping[str, str]
) -> AsyncIterator[RunningProcess]:
    """Raises ``OSError`` where it can't be started. Leaving ends it and all its children at once."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=files.prompt,
                stdout=writing,
                stderr=files.complaints,
                pass_fds=[files.system.fileno()],
                cwd=files.work,
                env=dict(environment),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        output = asyncio.StreamReader()
        one = RunningProcess(process, output)
        try:
            protocol = asyncio.StreamReaderProtocol(output)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
            try:
                yield one
            finally:
                transport.close()
        finally:
            if not one.ended.done():
                one.kill()
            await one.ended
