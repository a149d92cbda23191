"""Files within a text, as ``data:`` addresses: they are taken out of it, and pictures among them are kept as such."""

import base64
import binascii
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from artifacts.reading.blocks import Block, LeftOut, Picture, Why
from artifacts.reading.pictures.folder import PictureFolder, read_pictures
from artifacts.reading.problems import FileProblem

URI = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,80})((?:;[\w=.\"'+-]{1,60}){0,6}),", re.IGNORECASE)
LONGEST_HEAD = 600
"""More than what stands before the comma."""
BASE64 = re.compile(r"[A-Za-z0-9+/=_%-]*")
CONTINUED = re.compile(r"\s{1,40}(?=[A-Za-z0-9+/_-]{40})")
"""Between lines of base64: no word is as long."""
LOOKED_AHEAD = 100
PLAIN = re.compile(r"[^\s\"'<>()\[\]`]*")
MOST_PICTURES = 40
"""Of one file; further ones are named."""
MOST_TRIED = 500
MOST_BYTES = 16 * 2**20
"""Of one of them, as base64."""
SMALLEST_SIDE = 24
"""Pixels: below it are signs and spacers."""
STAND_IN = re.compile(r"data:,embedded-(\d+)")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file within the text. ``picture`` is what was kept of it, ``why`` the reason where nothing was."""

    is_picture: bool = True
    picture: Picture | None = None
    why: Why | None = None

    def blocks(self) -> Iterator[Block]:
        """The picture, or what is to be said of it."""
        if self.picture:
            yield self.picture
        elif self.why:
            yield LeftOut(self.why, "picture" if self.is_picture else "embedded file")

    def words(self, alternative: str = "") -> str:
        """In its place."""
        kind, described = "picture" if self.is_picture else "embedded file", " ".join(alternative.split())
        return f"({kind}: {described})" if described else f"({kind})"


SMALL = Embedded()
UNREAD = {is_picture: Embedded(is_picture, why=Why.NOT_READ) for is_picture in (True, False)}
DAMAGED = Embedded(why=Why.DAMAGED)

Keep = Callable[[str, bytes], Embedded]


def keep_none(media_type: str, content: bytes) -> Embedded:
    """What becomes of each where no pictures are kept."""
    return UNREAD[media_type.startswith("image/")]


class EmbeddedPictures:
    """Keeps pictures in a folder, as many as there is room for."""

    def __init__(self, folder: PictureFolder) -> None:
        self._folder = folder
        self._kept = 0
        self._tried = 0

    def keep(self, media_type: str, content: bytes) -> Embedded:
        """What becomes of a file: never raises."""
        is_picture = media_type.startswith("image/")
        is_too_many = self._kept >= MOST_PICTURES or self._tried >= MOST_TRIED
        if not is_picture or is_too_many or media_type.startswith("image/svg"):
            return UNREAD[is_picture]
        self._tried += 1
        try:
            read = next(read_pictures(io.BytesIO(content)))
            if min(read.image.size) < SMALLEST_SIDE:
                return SMALL
            picture = self._folder.save(read.image, f"embedded-{self._kept + 1}", is_photograph=read.is_photograph)
        except FileProblem as problem:
            return DAMAGED if problem.code == "damaged" else UNREAD[True]
        self._kept += 1
        return Embedded(picture=picture)


class DataUris:
    """Fed a text piece by piece, gives it with ``data:,embedded-3`` in place of the third address, from 0; what these were
    is in ``embedded``. In time that grows with the length alone."""

    def __init__(self, keep: Keep = keep_none) -> None:
        self.embedded: list[Embedded] = []
        self._keep = keep
        self._rest = ""
        self._head: re.Match[str] | None = None
        """Of the address that is being read."""
        self._content: list[str] = []
        self._size = 0

    def pieces(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            yield self.feed(text)
        yield self.close()

    def feed(self, text: str) -> str:
        return self._read(self._rest + text, is_end=False)

    def close(self) -> str:
        return self._read(self._rest, is_end=True)

    def of(self, address: str) -> Embedded | None:
        """What stands behind an address that was put in place of another."""
        stand_in = STAND_IN.match(address.strip())
        number = int(stand_in[1]) if stand_in and len(stand_in[1]) < 9 else -1
        return self.embedded[number] if 0 <= number < len(self.embedded) else None

    def named(self, text: str) -> str:
        """With a word in place of what still is such an address."""
        return STAND_IN.sub(lambda stand_in: self._name(stand_in[0]), text) if "data:," in text else text

    def _name(self, address: str) -> str:
        embedded = self.of(address)
        return embedded.words() if embedded else address

    def _read(self, text: str, *, is_end: bool) -> str:
        written: list[str] = []
        at = 0
        while True:
            if self._head:
                after = self._payload(text, at, is_end=is_end)
                if after < 0:
                    break
                at = after
                written.append(self._ended())
            head = URI.search(text, at)
            if head is None:
                kept = len(text) if is_end else _possible_start(text, at)
                written.append(text[at:kept])
                self._rest = text[kept:]
                break
            is_file = "base64" in head[2].lower() or head[1].lower().startswith("image/")
            written.append(text[at : head.start() if is_file else head.end()])
            self._head, at = head if is_file else None, head.end()
        return "".join(written)

    def _payload(self, text: str, at: int, *, is_end: bool) -> int:
        """Behind the content of the address; -1 where it may go on in the next piece."""
        assert self._head
        is_base64 = "base64" in self._head[2].lower()
        pattern = BASE64 if is_base64 else PLAIN
        while True:
            run = pattern.match(text, at)
            assert run
            self._take(run[0])
            at = run.end()
            if at == len(text) or (is_base64 and text[at].isspace() and len(text) - at < LOOKED_AHEAD):
                self._rest = text[at:]
                if not is_end:
                    return -1
            between = CONTINUED.match(text, at) if is_base64 else None
            if between is None:
                self._rest = ""
                return at
            at = between.end()

    def _take(self, content: str) -> None:
        self._size += len(content)
        if self._size <= MOST_BYTES and self._keep is not keep_none:
            self._content.append(content)

    def _ended(self) -> str:
        assert self._head
        media_type = self._head[1].lower()
        if self._size > MOST_BYTES:
            embedded = keep_none(media_type, b"")
        else:
            embedded = self._keep(media_type, _decoded("".join(self._content), "base64" in self._head[2].lower()))
        self.embedded.append(embedded)
        self._head, self._content, self._size = None, [], 0
        return f"data:,embedded-{len(self.embedded) - 1}"


def _decoded(content: str, is_base64: bool) -> bytes:
    """Empty where it is none."""
    if not is_base64:
        return unquote_to_bytes(content[:MOST_BYTES])
    return decoded(unquote_to_bytes(content).decode("ascii", "replace") if "%" in content else content)


def decoded(content: str) -> bytes:
    """Of base64 in either alphabet, with or without its end; empty where it is none."""
    plain = re.sub(r"[\s=]", "", content).translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4))
    except (binascii.Error, ValueError):
        return b""


def _possible_start(text: str, at: int) -> int:
    """Where an address may begin that goes on in the next piece; the end where none does."""
    tail = max(at, len(text) - LONGEST_HEAD)
    last = text[tail:].lower()
    start = last.rfind("data:")
    if start >= 0:
        return len(text) if "," in last[start:] else tail + start
    sizes = (size for size in range(4, 0, -1) if last.endswith("data:"[:size]))
    return len(text) - next(sizes, 0)
