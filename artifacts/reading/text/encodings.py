"""In which encoding a text is: by its mark, by its bytes, by what it says of itself."""

import codecs
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TextIO

from artifacts.reading.blocks import LeftOut, Why
from artifacts.reading.text.guesses import AS_BROWSERS, guess_encoding

CHUNK = 2**20
SAMPLE = 64 * 2**10
DECLARATION_BYTES = 4_096
LEAST_WIDE = 0.97
"""Of the signs of a UTF-16 text, how many have to be such as texts have."""
MOST_DAMAGED = 0.02
"""Of the bytes that are not ASCII; with more of them a text is not in the encoding that it names."""
PLAIN = bytes([*b"\t\n\r", *range(32, 127)])
MOST_PLAIN = 0.8
"""Of the bytes of a text in UTF-16, how many may be signs of ASCII: in its Latin half of them are zeros, in its Chinese half
of them are any."""
LONGEST_RUN = 40
"""Bytes of one word in another encoding."""
UNKNOWN = "\ufffd"

MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""UTF-32 before UTF-16, whose mark begins it."""
SHIFTED = {"iso2022_jp_2": (b"\x1b$B", b"\x1b$@", b"\x1b(J", b"\x1b(I"), "iso2022_kr": (b"\x1b$)C",)}
"""Of encodings in seven bits, the sequences that nothing else has."""
SEVEN_BITS = {*SHIFTED, "hz", "utf-7"}

OTHER_NAMES = {
    "unicode": "utf-16",
    "unicode-1-1-utf-8": "utf-8",
    "macintosh": "mac_roman",
    "logical": "iso8859-8",
    "visual": "iso8859-8",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "dos-874": "cp874",
    "cp-850": "cp850",
    "unicode-1-1-utf-7": "utf-7",
}
OF_TEXT = re.compile(
    r"utf-(?:7|8|16|32)|cp(?:125\d|437|7[37]\d|8[56]\d|874|9\d\d|1125)|iso8859-\d+|koi8-[rut]|mac-\w+|gb18030|big5hkscs"
    r"|euc_jis_2004|iso2022_(?:jp_2|kr)|hz|shift_jis\w*|johab|ptcp154|kz1048"
)
"""Python has encodings that are none of texts, and some take time that grows with the square of the length."""

PADDING = re.compile(rb"\0{16,}")
"""What a file system leaves at the end of a log that it could not write."""
TAG = re.compile(rb"<(?:meta|\?xml)\b([^<>]*+)>", re.IGNORECASE)
COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
LABEL = re.compile(rb"""\b(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)

HIGH = bytes(range(0x80, 0x100))
LONE = {0x80, 0x85, *range(0x91, 0x98), 0xC0, 0xC1, *range(0xC4, 0x100)}
"""What stands alone between letters of ASCII where somebody pasted Windows' letters into UTF-8. What is left of a letter
whose other bytes were damaged is mostly another one."""


@dataclass(frozen=True, kw_only=True)
class TextEncoding:
    """How to open a text."""

    name: str
    """As Python calls it."""
    errors: str = "replace"
    damaged: int = 0
    """Places that can't be read: U+FFFD stands there."""

    def open(self, path: Path, newline: str | None = None) -> TextIO:
        """``newline`` as ``Path.open`` takes it."""
        return path.open(encoding=self.name, errors=self.errors, newline=newline)

    def left_out(self) -> Iterator[LeftOut]:
        """What the account says of it."""
        if self.damaged:
            yield LeftOut(Why.DAMAGED, "letter", self.damaged)


def detect_encoding(path: Path, declared: str = "") -> TextEncoding:
    """Of a whole file. ``declared`` is what it calls its encoding, as far as that is known."""
    with path.open("rb") as file:
        return _detect(file, known_encoding(declared))


def decode(content: bytes, declared: str = "") -> tuple[str, int]:
    """The text, and how many places of it can't be read."""
    encoding = _detect(io.BytesIO(content), known_encoding(declared))
    return content.decode(encoding.name, encoding.errors), encoding.damaged


def known_encoding(label: str) -> str:
    """As Python calls what browsers take by that name; empty if it is none of a text."""
    name = label.strip().strip("\"'").lower()
    name = re.sub(r"^(?:x-)+|-[ie]$|^windows-(?=\d\d\d)", lambda found: "cp" if "w" in found[0] else "", name)
    try:
        found = codecs.lookup(OTHER_NAMES.get(name, name)).name
    except (LookupError, ValueError):
        return ""
    found = AS_BROWSERS.get(found, found)
    return found if OF_TEXT.fullmatch(found) else ""


def declared_encoding(start: bytes) -> str:
    """What a page or an XML document calls its own encoding, as it stands in its first bytes; empty if nowhere."""
    for tag in TAG.finditer(COMMENT.sub(b"", start[:DECLARATION_BYTES])):
        if label := LABEL.search(tag[1]):
            name = label[1].decode("ascii", "replace")
            return "utf-8" if name.lower().startswith("utf-16") else name  # or it could not be read here
    return ""


def wide_encoding(start: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, of which these are the first bytes; empty if it is neither."""
    start = PADDING.sub(b"", start)
    plain = len(start) - len(start.translate(None, PLAIN))
    if plain >= len(start) * MOST_PLAIN:
        return ""
    quarters = [start[place::4].count(0) for place in range(4)]
    if min(quarters[2:]) * 5 > len(start) or min(quarters[:2]) * 5 > len(start):
        return "utf-32-le" if quarters[3] >= quarters[0] else "utf-32-be"
    if not any(start[place::2].count(0) + start[place::2].count(b"\n") for place in range(2)):
        return ""
    likeness = {name: _likeness(start[:4_096], name) for name in ("utf-16-le", "utf-16-be")}
    best = max(likeness, key=lambda name: likeness[name])
    return best if likeness[best] >= LEAST_WIDE else ""


def _likeness(start: bytes, name: str) -> float:
    """How many of the signs are such as a text has, if it is in this encoding and has lines or words."""
    signs = start[: len(start) // 2 * 2].decode(name, "replace")
    if not any(sign in signs for sign in " \n\r\t,;.、。，"):
        return 0
    usual = sum(sign in "\n\r\t" or unicodedata.category(sign)[0] in "LNPSZM" for sign in signs)
    rare = sum("\u2000" <= sign < "\u200b" or "\ue000" <= sign < "\uf900" or sign == UNKNOWN for sign in signs)
    is_mixed = len({ord(sign) >> 8 for sign in signs}) > 8 + len(signs) * 0.6
    return 0 if is_mixed else (usual - rare) / len(signs)


def _detect(file: IO[bytes], declared: str) -> TextEncoding:
    start = file.read(SAMPLE)
    for mark, name in MARKS.items():
        if start.startswith(mark):
            return TextEncoding(name=name, damaged=_damaged(file, name, "replace"))
    if wide := b"\0" in start and wide_encoding(start):
        return TextEncoding(name=wide, damaged=_damaged(file, wide, "replace"))
    if start.isascii():
        for name, sequences in SHIFTED.items():
            if any(sequence in start for sequence in sequences):
                return TextEncoding(name=name, errors="by-rows", damaged=_damaged(file, name, "by-rows"))
        if declared in SEVEN_BITS:
            return TextEncoding(name=declared, damaged=_damaged(file, declared, "replace"))
    name, errors = _eight_bits(file, declared)
    return TextEncoding(name=name, errors=errors, damaged=0 if errors == "strict" else _damaged(file, name, errors))


def _eight_bits(file: IO[bytes], declared: str) -> tuple[str, str]:
    """The name, and what to do with errors: UTF-8 if nearly all of it is, else what it says of itself, else a guess."""
    letters, errors, is_cut = _count(file)
    if not errors:
        return "utf-8", "strict"
    lines = _Lines(file)
    is_utf8 = letters >= 2 * errors or (is_cut and letters and errors == 1)
    if is_utf8 or (letters > 2 and 2 * lines.in_utf8 >= lines.others):
        other = guess_encoding(lines.sample)
        return "utf-8", f"or-{other if other in OTHERS_IN_UTF8 else 'cp1252'}"
    if declared and declared != "utf-8" and _fits(lines.sample, declared):
        return declared, "replace"
    return guess_encoding(lines.sample), "replace"


def _count(file: IO[bytes]) -> tuple[int, int, bool]:
    """Of a text as UTF-8: letters that are not ASCII, errors, and whether the last one is a letter that was cut off."""
    letters = errors = 0
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    file.seek(0)
    rest = b""
    while chunk := file.read(CHUNK):
        text = decoder.decode(chunk)
        unknown = text.count(UNKNOWN) if not chunk.isascii() else 0
        if unknown:
            unknown -= (rest + chunk).count(UNKNOWN.encode())
        errors += unknown
        letters += len(text) - len(text.encode("ascii", "ignore")) - unknown if not text.isascii() else 0
        rest = chunk[-2:]
    is_cut = bool(decoder.getstate()[0])
    return letters, errors + is_cut, is_cut


class _Lines:
    """The lines that are not in ASCII, of which a sample is taken over the whole file."""

    def __init__(self, file: IO[bytes]) -> None:
        self.in_utf8 = self.others = 0
        self._kept: list[bytes] = []
        self._size, self._stride, self._is_start = 0, 1, True
        file.seek(0)
        while line := file.readline(SAMPLE):
            if self._is_start and not line.isascii():
                self._add(line)
            self._is_start = line.endswith(b"\n")
        self.sample = b"".join(self._kept)[:SAMPLE]

    def _add(self, line: bytes) -> None:
        try:
            line.decode()
        except UnicodeDecodeError:
            self.others += 1
        else:
            self.in_utf8 += 1
            return
        if self.others % self._stride == 0:
            self._kept.append(line)
            self._size += len(line)
        if self._size > SAMPLE and len(self._kept) > 1:
            self._kept, self._stride = self._kept[::2], self._stride * 2
            self._size = sum(map(len, self._kept))


def _fits(sample: bytes, name: str) -> bool:
    """Whether it can be in this encoding, but for some damage."""
    high = len(sample.translate(None, bytes(range(128))))
    return sample.decode(name, "replace").count(UNKNOWN) <= high * MOST_DAMAGED + 1


def _damaged(file: IO[bytes], name: str, errors: str) -> int:
    """How many places can't be read."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder(name)(errors)
    stood = unknown = 0
    while chunk := file.read(CHUNK):
        unknown += decoder.decode(chunk).count(UNKNOWN)
        stood += chunk.count(UNKNOWN.encode(name)) if name.startswith("utf") and not name.endswith(("16", "32")) else 0
    unknown += decoder.decode(b"", final=True).count(UNKNOWN)
    return max(unknown - stood, 0)


def _or_other(name: str, error: UnicodeError) -> tuple[str, int]:
    """Letters of another encoding within UTF-8, if they are that and not what is left of damaged ones."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    content, start, end = error.object, error.start, error.end
    if error.reason == "unexpected end of data":
        return UNKNOWN, end
    first = max(start - LONGEST_RUN, 0)
    before, after = content[first:start], content[end : end + LONGEST_RUN]
    before, after = before[len(before.rstrip(HIGH)) :], after[: len(after) - len(after.lstrip(HIGH))]
    run = before + content[start:end] + after
    is_other = not run.decode("utf-8", "ignore") and (len(run) > 2 or {*run} <= LONE)
    return (content[start:end].decode(name, "replace") if is_other else UNKNOWN), end


OTHERS_IN_UTF8 = {f"cp125{number}" for number in range(9)} | {"iso8859-2", "iso8859-15", "koi8-r", "cp874"}
for _name in OTHERS_IN_UTF8:
    codecs.register_error(f"or-{_name}", partial(_or_other, _name))


def _by_rows(error: UnicodeError) -> tuple[str, int]:
    """Signs that Windows added to the Japanese set, such as ①, which Python's encoding in seven bits has not."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and pair.isascii() and 0x2D <= pair[0] <= 0x7C and pair[1] > 0x20:
        sign = bytes(byte | 0x80 for byte in pair).decode("euc_jis_2004", "replace")
        return sign, error.start + 2
    return UNKNOWN, error.end


codecs.register_error("by-rows", _by_rows)
