"""The parts of a message, however its boundaries are written: each line is looked at once, and nothing is copied.

Python's own parser gives no text where a boundary is not quoted, is missing or is another one than the header says, and
what it does grows with the depth of the message.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from artifacts.reading.mail.headers import Headers, from_base64, parameters

MOST_ENTITIES = 10_000
MESSAGES = {"message/rfc822", "message/global"}
DEEPEST = 40
"""What is nested deeper stands beside what it is in."""
HEADER_BYTES = 2**20
"""Of those of one part; no others are looked at."""
HEADER_LINE = re.compile(rb"[!-9;-~]{1,100}[ \t]*:")
GOES_ON = re.compile(rb"(?:Content-[\w-]{1,40}|MIME-Version)[ \t]*:", re.IGNORECASE)
"""What a message may say after a line that ends its headers by mistake."""
BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
PART_START = re.compile(rb"Content-[\w-]{1,40}[ \t]*:", re.IGNORECASE)
BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n"
BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]*={0,2}[ \t\r]*")
MBOX = re.compile(rb"^>*From \S+ .*\d\d:\d\d", re.MULTILINE)


@dataclass
class Entity:
    """A message, or a part of one."""

    headers: Headers
    content: bytes
    """Of the whole file, in which the body stands from ``start`` to ``end``."""
    start: int
    end: int
    default_type: str = "text/plain"
    parts: list["Entity"] = field(default_factory=list)
    boundaries: set[bytes] = field(default_factory=set)
    """By which its parts are divided."""
    is_divided: bool = False
    """Whether one of them was seen."""

    def __post_init__(self) -> None:
        self.type, self.parameters = parameters(self.headers.get("content-type"))
        if not re.fullmatch(r"[\w.+-]+/[\w.+*-]+", self.type):
            self.type = self.default_type
        self.disposition, disposition = parameters(self.headers.get("content-disposition"))
        self.name = disposition.get("filename") or self.parameters.get("name", "")

    @property
    def main_type(self) -> str:
        return self.type.partition("/")[0]

    @property
    def is_attachment(self) -> bool:
        return self.disposition == "attachment"

    def payload(self) -> bytes:
        """Decoded as the header says; what is damaged is passed over."""
        body = self.content[self.start : self.end]
        match self.headers.get("content-transfer-encoding").partition(";")[0].strip().lower():
            case "quoted-printable":
                return binascii.a2b_qp(body)
            case "base64":
                return _from_base64(body)
            case "x-uuencode" | "uuencode" | "x-uue":
                return from_uu(body)
        return body


def messages(content: bytes) -> Iterator[tuple[int, int]]:
    """Where the messages of a file begin and end: one, or those of an mbox."""
    if not content.startswith(b"From "):
        yield 0, len(content)
        return
    start = 0
    for separator in MBOX.finditer(content, 5):
        at = separator.start()
        if content[at : at + 1] != b">" and content[max(at - 4, 0) : at].replace(b"\r", b"").endswith(b"\n\n"):
            yield start, at
            start = at
    yield start, len(content)


def parse(content: bytes, start: int = 0, end: int | None = None, charset: str = "") -> tuple[Entity, bool]:
    """The message, and whether all its parts are in it: not those beyond ``MOST_ENTITIES``. ``charset`` is that of letters in
    headers that are not encoded."""
    return _Parser(content, start, len(content) if end is None else end, charset).run()


class _Parser:
    def __init__(self, content: bytes, start: int, end: int, charset: str) -> None:
        self._content, self._at, self._end, self._charset = content, start, end, charset
        self._open: list[Entity] = []
        self._divided: list[Entity] = []
        """Those of the open ones that have parts of their own."""
        self._by_boundary: dict[bytes, Entity] = {}
        self._count = 0

    def run(self) -> tuple[Entity, bool]:
        blank = BLANK.match(self._content, self._at, self._end)
        self._at = blank.end() if blank else self._at
        if self._content.startswith((b"From ", b">From "), self._at):
            self._line()
        root = self._begin("text/plain")
        while self._at < self._end and self._count < MOST_ENTITIES:
            start = self._at
            if not self._content.startswith(b"--", start):
                self._skip_to_dashes()
                continue
            line = self._line().strip(b" \t\r\n")[2:]
            divided = self._divided_by(line)
            if divided is None:
                continue
            self._close(divided, start)
            if line in divided.boundaries:
                divided.is_divided = True
                self._begin("message/rfc822" if divided.type == "multipart/digest" else "text/plain")
        is_whole = self._at >= self._end
        self._close(None, self._end if is_whole else self._at)
        return root, is_whole

    def _line(self) -> bytes:
        end = self._content.find(b"\n", self._at, self._end) + 1 or self._end
        line = self._content[self._at : end]
        self._at = end
        return line

    def _skip_to_dashes(self) -> None:
        found = self._content.find(b"\n--", self._at, self._end)
        self._at = found + 1 if found >= 0 else self._end

    def _begin(self, default_type: str) -> Entity:
        """The part that begins here, and, if it is a message, what is in that."""
        first = self._entity(default_type)
        inner = first
        while inner.type in MESSAGES and not inner.headers.is_encoded and self._count < MOST_ENTITIES:
            inner = self._entity("text/plain")
        return first

    def _entity(self, default_type: str) -> Entity:
        entity = Entity(self._headers(), self._content, self._at, self._end, default_type)
        self._count += 1
        if self._open:
            self._open[min(len(self._open), DEEPEST) - 1].parts.append(entity)
        if self._is_divided_unsaid(entity):
            entity.type = "multipart/mixed"
        if entity.main_type == "multipart":
            written, raw = entity.parameters.get("boundary", ""), entity.headers.raw_boundary
            for boundary in (written, raw, raw.split(" ")[0]):
                if boundary:
                    self._divide(entity, boundary.encode("utf-8", "replace"))
            self._divided.append(entity)
        self._open.append(entity)
        return entity

    def _divide(self, entity: Entity, boundary: bytes) -> None:
        entity.boundaries.add(boundary)
        self._by_boundary[boundary] = entity

    def _headers(self) -> Headers:
        """Up to the empty line. What is no header begins the body, unless the message has not said yet what it is, and does
        then."""
        start = end = self._at
        is_typed = bool(self._open)
        while self._at < self._end:
            end = self._at
            line = self._line()
            is_empty = not line.strip()
            is_header = not is_empty and (line[:1] in {b" ", b"\t"} or HEADER_LINE.match(line))
            if not is_header and (is_typed or not GOES_ON.match(self._content, self._at, self._end)):
                self._at = self._at if is_empty else end
                break
            is_typed |= line[:13].lower() == b"content-type:"
            end = self._at
        return Headers(self._content[start : min(end, start + HEADER_BYTES)], self._charset)

    def _is_divided_unsaid(self, entity: Entity) -> bool:
        """A message that says nothing of its type, and begins with a boundary and the header of a part."""
        if self._open or entity.headers.get("content-type"):
            return False
        head = self._content[self._at : self._at + 2_000].lstrip()
        return head.startswith(b"--") and PART_START.match(head.partition(b"\n")[2]) is not None

    def _divided_by(self, line: bytes) -> Entity | None:
        """The open part to whose boundaries this one belongs, if any."""
        if not line:
            return None
        if entity := self._by_boundary.get(line) or self._by_boundary.get(line.removesuffix(b"--")):
            return entity
        innermost = self._divided[-1] if self._divided else None
        if innermost and not innermost.is_divided and PART_START.match(self._content, self._at, self._end):
            self._divide(innermost, line)
            return innermost
        return None

    def _close(self, outermost: Entity | None, at: int) -> None:
        """All that is open within this one; the line that ends a part belongs to the boundary."""
        while self._open and self._open[-1] is not outermost:
            entity = self._open.pop()
            if entity.main_type == "multipart":
                self._divided.pop()
                for boundary in entity.boundaries:
                    self._by_boundary.pop(boundary, None)
            end = max(at, entity.start)
            if outermost and end > entity.start and self._content[end - 1 : end] == b"\n":
                end -= 2 if self._content[end - 2 : end] == b"\r\n" and end - 2 >= entity.start else 1
            entity.end = end


def _from_base64(body: bytes) -> bytes:
    """Up to the first line that is none; what follows, such as the footer of a mailing list, stays as it is. A text that only
    says that it is packed stays, too."""
    if not body.translate(None, BASE64):
        return _unpacked(body.translate(None, b" \t\r\n"))
    lines = body.splitlines(keepends=True)
    count = next(
        (number for number, line in enumerate(lines) if not BASE64_LINE.fullmatch(line.rstrip(b"\n"))), len(lines)
    )
    rest = b"".join(lines[count:])
    if b" " not in rest.strip() and rest.count(b"\n") > 1:
        count, rest = len(lines), b""  # damaged lines within
    packed = re.sub(rb"[^A-Za-z0-9+/=]", b"", b"".join(lines[:count]))
    return _unpacked(packed) + (b"\n" + rest if rest else b"") if packed else body


def _unpacked(packed: bytes) -> bytes:
    """Programs put packed texts behind each other, each with its own end."""
    return b"".join(map(from_base64, re.split(rb"=+", packed)))


def from_uu(body: bytes) -> bytes:
    """Of lines between ``begin`` and ``end``; damaged ones are passed over."""
    decoded = bytearray()
    for line in body.partition(b"begin ")[2].splitlines()[1:]:
        if line.strip() == b"end":
            break
        try:
            decoded += binascii.a2b_uu(line)
        except binascii.Error:
            continue
    return bytes(decoded)
