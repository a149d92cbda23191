"""Pages of PDFs as pictures, drawn when somebody looks at them. The last ones of them are held in memory."""

import asyncio
import secrets
import uuid
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from artifacts.reading.kinds import Kind, detect
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Limits, page_pictures
from conversations.errors import PictureNotFound
from conversations.files import storage
from conversations.models import File
from conversations.runtime.wording import worded

LIMITS = Limits(seconds=30.0, cpu_seconds=20)
"""For a few pages."""
AT_ONCE = 4
"""Pages that one process draws: to start it takes longer than to draw one."""
HELD_BYTES = 32 * 2**20

type PageKey = tuple[uuid.UUID, int]

EXECUTOR = ThreadPoolExecutor(max_workers=2, thread_name_prefix="drawing")
"""Each waits for a process that keeps a core busy."""
MOST_TRIES, MOST_FAILURES = 2, 10_000
_failures = Counter[PageKey]()
"""How often a page could not be drawn, of so many pages at most."""
_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
"""Of each person one is drawn for at a time. Whoever stops waiting has nothing drawn."""


class HeldPictures:
    """The pictures that were asked for last, of so many bytes in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._pictures: OrderedDict[PageKey, bytes] = OrderedDict()

    def get(self, key: PageKey) -> bytes | None:
        if key in self._pictures:
            self._pictures.move_to_end(key)
        return self._pictures.get(key)

    def put(self, key: PageKey, picture: bytes) -> None:
        self._size += len(picture) - len(self._pictures.pop(key, b""))
        self._pictures[key] = picture
        while self._size > self._most:
            self._size -= len(self._pictures.popitem(last=False)[1])


held = HeldPictures(HELD_BYTES)


def check_page(file: File, number: str) -> int:
    """The number of a page that the file has. Raises ``PictureNotFound``."""
    if file.kind != Kind.PDF:
        raise PictureNotFound("Only pages of PDFs are drawn. Of other files, read the parts.")
    page = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else 0
    if not 0 < page <= (file.pages_total or 0):
        pages = file.pages_total or 0
        count = "It has {pages}, counted from 1." if pages else "It has none yet."
        raise PictureNotFound(worded("The file has no such page.", count, pages=pages))
    return page


@asynccontextmanager
async def turn_of(user_id: int) -> AsyncGenerator[None]:
    """Of each person one picture is drawn at a time, whichever kind it is."""
    async with _turns.setdefault(user_id, asyncio.Lock()):
        yield


async def page_picture(file: File, page: int) -> bytes:
    """A PNG or JPEG. Raises ``PictureNotFound`` where it can't be drawn."""
    if picture := held.get((file.id, page)):
        return picture
    async with turn_of(file.user_id):
        if picture := held.get((file.id, page)):  # drawn beside another one meanwhile
            return picture
        if _failures[file.id, page] >= MOST_TRIES:
            raise PictureNotFound("The page can't be drawn: it was tried more than once.")
        drawn = await asyncio.get_running_loop().run_in_executor(EXECUTOR, _draw, file, page)
        for number, picture in drawn.items():
            held.put((file.id, number), picture)
    return drawn[page]


def _note_failure(key: PageKey) -> None:
    if len(_failures) >= MOST_FAILURES:
        _failures.clear()
    _failures[key] += 1


def _draw(file: File, page: int) -> dict[int, bytes]:
    """That page, and some after it."""
    drawn: dict[int, bytes] = {}
    numbers = range(page, min(page + AT_ONCE, (file.pages_total or 0) + 1))
    with storage.scratch(f"drawing-{secrets.token_hex(8)}") as folder, storage.local(file.place, folder) as path:
        try:
            for number, picture in page_pictures(path, detect(path, file.name), numbers, folder=folder, limits=LIMITS):
                drawn[number] = picture.read_bytes()
        except FileProblem as problem:
            if page not in drawn:
                _note_failure((file.id, page))
                raise PictureNotFound(problem.message) from None
    return drawn
