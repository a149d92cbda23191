"""Headers of messages: encoded words, raw letters, parameters in pieces, and what breaks the rules for all of these."""

import binascii
import re
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import unquote_to_bytes

from artifacts.reading.text.encodings import decode
from conversations.runtime.text import clean

LONGEST = 64 * 2**10
"""Characters of one header; addresses beyond are left out by whoever shows it."""
MOST_HEADERS = 1_000
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
BOUNDARY = re.compile(r"[;\s]boundary[ \t]*=[ \t]*([^;]*)", re.IGNORECASE)
PARAMETER = re.compile(r"""[ \t]*([^\s=;"]{1,80})[ \t]*=[ \t]*("(?:[^"\\]|\\.)*+"?|[^;]*)""", re.DOTALL)
PIECE = re.compile(r"(.{1,60}?)(?:\*(\d{1,3}))?(\*)?", re.DOTALL)


class Headers:
    """Of one part. ``charset``: of letters that are not encoded, where nothing else tells."""

    def __init__(self, block: bytes, charset: str = "") -> None:
        self._block, self._charset = block, charset

    @cached_property
    def all(self) -> list[tuple[str, str]]:
        """Names in small letters, and values as they stand, unfolded."""
        text, _ = decode(self._block, self._charset)
        found: list[tuple[str, list[str]]] = []
        for line in text.splitlines() if text.isascii() else re.split(r"\r?\n", text):
            if line[:1] in {" ", "\t"} and found:
                found[-1][1].append(line)
            elif ":" in line and len(found) < MOST_HEADERS:
                name, _, value = line.partition(":")
                found.append((name.strip().lower(), [value]))
            elif line and found:
                found[-1][1].append(f" {line}")
        return [(name, "".join(lines)[:LONGEST].strip()) for name, lines in found]

    def get(self, name: str) -> str:
        """The first of that name as it stands; empty if there is none."""
        return next((value for key, value in self.all if key == name), "")

    def text(self, name: str) -> str:
        """All of that name, decoded, in one line."""
        return ", ".join(decoded for key, value in self.all if key == name and (decoded := decoded_words(value)))

    @property
    def raw_boundary(self) -> str:
        """Up to the next semicolon, as it stands; empty if there is none."""
        found = BOUNDARY.search(self.get("content-type"))
        return found[1].strip().strip('"') if found else ""

    @property
    def is_encoded(self) -> bool:
        return self.get("content-transfer-encoding").lower().strip() in {"base64", "quoted-printable"}


def decoded_words(value: str) -> str:
    """``=?utf-8?q?Gr=C3=BC=C3=9Fe?=`` and the like as text, in one line. Bytes of words beside each other are joined first:
    a letter may be divided between them."""
    pieces: list[str] = []
    held, held_charset, at = b"", "", 0
    for word in ENCODED_WORD.finditer(value):
        between = value[at : word.start()]
        charset, packed = word[1].partition("*")[0].lower(), _unpacked(word[2], word[3])
        if held and (between.strip() or charset != held_charset):
            pieces.append(decode(held, held_charset)[0])
            held = b""
        if between.strip() or not at:
            pieces.append(between)
        held, held_charset, at = held + packed, charset, word.end()
    pieces += [decode(held, held_charset)[0] if held else "", value[at:]]
    return clean(" ".join("".join(pieces).split()))


def _unpacked(way: str, packed: str) -> bytes:
    content = packed.encode("utf-8", "replace")
    if way in "qQ":
        return binascii.a2b_qp(content, header=True)
    return from_base64(re.sub(rb"[^A-Za-z0-9+/]", b"", content))


def from_base64(packed: bytes) -> bytes:
    """Without its end, and perhaps without a letter of it."""
    packed = packed[:-1] if len(packed) % 4 == 1 else packed
    return binascii.a2b_base64(packed + b"=" * (-len(packed) % 4))


def parameters(header: str) -> tuple[str, Mapping[str, str]]:
    """``text/plain; charset=utf-8`` as its value in small letters and its parameters, decoded, by their names."""
    start = re.match(r"\s*([^\s;]*)[\s;]*", header)
    value, rest = (start[1], header[start.end() :]) if start else ("", "")
    whole: dict[str, str] = {}
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    at = 0
    while at < len(rest):
        if parameter := PARAMETER.match(rest, at):
            name, written = parameter[1].lower(), parameter[2].strip()
            if written.startswith('"'):
                written = re.sub(r"\\(.)", r"\1", written.strip('"'), flags=re.DOTALL)
            piece = PIECE.fullmatch(name)
            if piece and (piece[2] or piece[3]):
                pieces.setdefault(piece[1], {}).setdefault(int(piece[2] or 0), (written, bool(piece[3])))
            else:
                whole.setdefault(name, decoded_words(written))
            at = parameter.end()
        at = rest.find(";", at) + 1 or len(rest)
    for name, numbered in pieces.items():
        whole[name] = _joined([numbered[number] for number in sorted(numbered)])
    return value.strip().lower(), whole


def _joined(pieces: list[tuple[str, bool]]) -> str:
    """Values in pieces, of which those that are encoded name their charset in the first (RFC 2231)."""
    charset, content = "", b""
    for number, (written, is_encoded) in enumerate(pieces):
        value = written
        if is_encoded and not number and value.count("'") >= 2:
            charset, _, value = value.split("'", 2)
        content += unquote_to_bytes(value) if is_encoded else value.encode("utf-8", "replace")
    return clean(" ".join(decode(content, charset)[0].split()))
