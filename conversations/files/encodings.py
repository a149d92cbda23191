"""In which encoding a text is, of which nobody says."""

import codecs
from pathlib import Path

import charset_normalizer

CHUNK = 2**20
SAMPLE = 64 * 2**10
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def detect_encoding(path: Path, declared: str = "") -> str:
    """By its mark, else UTF-8 if all of it is, else what it says of itself, else what its bytes look like most."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
        for mark, encoding in MARKS.items():
            if start.startswith(mark):
                return encoding
        if start.count(0) > len(start) / 4:
            return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        chunk = b""
        try:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            return declared or guess_encoding(
                chunk[max(error.start - SAMPLE // 2, 0) : error.start + SAMPLE // 2] or start
            )
    return "utf-8"


def guess_encoding(sample: bytes) -> str:
    """Of bytes that are not UTF-8."""
    best = charset_normalizer.from_bytes(sample, threshold=0.3).best()
    return best.encoding if best and best.encoding not in {"ascii", "utf_8"} else "cp1252"


def known_encoding(name: str) -> str:
    """As Python calls it; empty if it knows none of that name that makes text."""
    try:
        found = codecs.lookup(name)
        b"".decode(found.name)
    except (LookupError, ValueError):
        return ""
    return found.name
