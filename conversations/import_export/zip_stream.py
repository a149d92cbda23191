"""A ZIP file that is written while it is sent, so that one of any length takes the same memory."""

import asyncio
import zipfile
from collections.abc import AsyncIterator
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


class Zip:
    """Files are added one after another; what each step returns is to be sent."""

    def __init__(self) -> None:
        self.out = OutputBuffer()
        self.archive = zipfile.ZipFile(self.out, "w", zipfile.ZIP_DEFLATED)  # type: ignore[call-overload]  # it is never read

    async def file(
        self,
        name: str,
        at: datetime,
        pieces: AsyncIterator[bytes],
        *,
        size: int = 0,
        is_packed: bool = False,
        may_be_huge: bool = False,
    ) -> AsyncIterator[bytes]:
        """``size`` in bytes, where it is known. What ``is_packed`` already is not compressed again; of what ``may_be_huge``
        more than 2 GB are written."""
        entry = zipfile.ZipInfo(name, date_time=at.astimezone(UTC).timetuple()[:6])
        # Not ZIP_STORED: of that a reader that can't seek doesn't see the end.
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry._compresslevel = 0 if is_packed else None  # type: ignore[attr-defined]  # public only from Python 3.13 on
        entry.external_attr = 0o644 << 16
        entry.file_size = size
        with self.archive.open(entry, "w", force_zip64=may_be_huge) as file:
            async for piece in pieces:
                if written := await self._pressed(file, piece):
                    yield written
        if written := self.out.take():
            yield written

    def end(self) -> bytes:
        self.archive.close()
        return self.out.take()

    async def _pressed(self, file: IO[bytes], piece: bytes) -> bytes:
        """In a thread, as it takes 25 ms a megabyte."""

        def press() -> bytes:
            file.write(piece)
            return self.out.take()

        return await asyncio.to_thread(press)
