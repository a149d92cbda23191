"""A ZIP file that is written while it is sent."""

import asyncio
import zipfile
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO


class OutputBuffer:
    """What has been written and not been sent. It can't be sought, so nothing of it is needed again."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self.pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def take(self) -> bytes:
        pieces, self.pieces = self.pieces, []
        return b"".join(pieces)


@dataclass
class Zip:
    """Files are added one after another; what each step returns is to be sent."""

    out: OutputBuffer = field(default_factory=OutputBuffer)

    def __post_init__(self) -> None:
        self.archive = zipfile.ZipFile(self.out, "w", zipfile.ZIP_DEFLATED)  # type: ignore[call-overload]  # it is never read

    async def file(self, name: str, at: datetime, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        entry = zipfile.ZipInfo(name, date_time=at.astimezone(UTC).timetuple()[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        opened: AbstractContextManager[IO[bytes]] = self.archive.open(entry, "w")
        with opened as file:
            async for piece in pieces:
                yield await self._pressed(file, piece)
        yield self.out.take()

    def end(self) -> bytes:
        self.archive.close()
        return self.out.take()

    async def _pressed(self, file: IO[bytes], piece: bytes) -> bytes:
        """In a thread, as it takes 25 ms a megabyte."""

        def press() -> bytes:
            file.write(piece)
            return self.out.take()

        return await asyncio.to_thread(press)
