"""E-mail, web archives and mailboxes: who wrote to whom, all that a reader sees, and the names of what is attached."""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from artifacts.reading.blocks import Block, Heading, LeftOut, Place, Text, Title, Why
from artifacts.reading.kinds import MEDIA_TYPES
from artifacts.reading.mail.headers import Headers
from artifacts.reading.mail.invitations import events
from artifacts.reading.mail.mime import MESSAGES, Entity, from_uu, messages, parse
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.text import plain
from artifacts.reading.text.encodings import declared_encoding, decode
from artifacts.reading.web.page import read_page
from conversations.runtime.text import clean

HEADERS = ("From", "Sender", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")
LONGEST_ATTACHED_TEXT = 200_000
"""Bytes of a text file that is read where it is attached."""
MOST_LACKING = 0.05
"""Of the words that HTML shows: a plain text beside it that lacks more is not the same text."""
COVERED = 0.8
"""Of the words of a description, how many may have been said for it not to be said again."""
OF_STUBS = {"html", "http", "https", "browser", "webbrowser", "navigateur", "navegador"}
CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
UU_START = re.compile(r"begin [0-7]{3,4} (.+)")
WORDS = re.compile(r"\w+")
ENDINGS = {"text/csv": "csv", "text/markdown": "md", "text/tab-separated-values": "tsv", "application/json": "json"}
REPORTS = {
    "message/delivery-status",
    "message/disposition-notification",
    "message/feedback-report",
    "text/rfc822-headers",
}
CALENDARS = {"text/calendar", "application/ics"}
RICH_TEXTS = {"text/html", "application/xhtml+xml", "text/enriched", "text/richtext"}
SIGNATURES = {
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-signature",
    "application/pgp-keys",
}
NO_CONTENT = {"text/css", "text/javascript", "application/javascript", "text/x-amp-html", "text/watch-html"}
"""For browsers, and for programs that show the same otherwise."""
NO_TEXT = {"text/rtf", *NO_CONTENT}
DEEPEST = 10
"""Of messages that are packed in messages."""
ENCRYPTED = "(encrypted text, not read)"
KINDS = {
    "application/pkcs7-mime": "encrypted or signed by S/MIME",
    "application/x-pkcs7-mime": "encrypted or signed by S/MIME",
    "application/pgp-encrypted": "encrypted by PGP",
    "application/ms-tnef": "attachments in Outlook's own format",
    "message/external-body": "kept elsewhere",
    "message/partial": "a piece of a longer message",
}


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The messages. Raises ``FileProblem``."""
    content = path.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = decode(content)[0].encode()
    places = list(messages(content))
    for number, (start, end) in enumerate(places, 1):
        charset = CHARSET.search(content, start, min(end, start + 64 * 2**10))
        message, is_whole = parse(content, start, end, charset[1].decode() if charset else "")
        subject = message.headers.text("subject")
        if number == 1:
            yield Title(subject)
        yield Place(f"message {number}" if len(places) > 1 else "message", heading=subject)
        yield from _Message(message).blocks()
        if not is_whole:
            yield Text("(The message has further parts, which are not read.)")
            yield LeftOut(Why.NOT_READ, "part of a message")


def body(content: bytes) -> Iterator[Block]:
    """What a message says, without its headers: a page that was saved with its pictures, for one."""
    message, _ = parse(content)
    yield from _Message(message).body()


class _Message:
    """One message with all that is in it."""

    def __init__(self, message: Entity, depth: int = 0) -> None:
        self._message, self._depth = message, depth
        self._attached: list[str] = []
        self._words: set[str] = set()
        """Of the text so far."""

    def blocks(self) -> Iterator[Block]:
        headers = self._message.headers
        lines = [f"{name}: {value}" for name in HEADERS if (value := headers.text(name.lower()))]
        if lines:
            yield Text("\n".join(lines))
        yield from self.body()
        if self._attached:
            yield Text("Attached, and not read here:")
            yield from (Text(f"- {line}", is_item=True) for line in self._attached)

    def body(self) -> Iterator[Block]:
        yield from self._part(self._message)

    def _part(self, part: Entity) -> Iterator[Block]:
        is_body = part is self._message or not (part.is_attachment or part.name)
        if part.type in MESSAGES:
            yield from self._enclosed(part)
        elif part.main_type == "multipart":
            yield from self._parts(part)
        elif part.type in CALENDARS or part.name.lower().endswith(".ics"):
            yield from self._invitation(part)
        elif part.type in REPORTS:
            yield from self._noted(_plain(part))
        elif part is self._message and not part.headers.get("content-type"):
            yield from self._noted(_untyped(part))
        elif is_body and part.type in RICH_TEXTS:
            yield from self._noted(_html(part))
        elif is_body and part.main_type == "text" and part.type not in {*NO_TEXT, *ENDINGS}:
            yield from self._noted(self._body(part))
        else:
            yield from self._attachment(part)

    def _parts(self, part: Entity) -> Iterator[Block]:
        if not part.is_divided:
            yield from self._noted(_untyped(part))
        elif part.type == "multipart/alternative":
            yield from self._alternative(part.parts)
        elif part.type == "multipart/encrypted":
            yield Text(ENCRYPTED)
            yield LeftOut(Why.NOT_READ, "encrypted text")
        else:
            for inner in part.parts:
                if inner.type not in NO_CONTENT or inner.is_attachment:
                    yield from self._part(inner)

    def _alternative(self, parts: list[Entity]) -> Iterator[Block]:
        """The plain text, unless it is a stub; what is no text – an invitation – besides."""
        plain = [part for part in parts if part.type == "text/plain" and not part.is_attachment]
        rich = [part for part in parts if part.type in RICH_TEXTS or part.main_type == "multipart"]
        shown, written = [list(self._drawn(each)) for each in (rich, plain)]
        if not _is_stub(_words(written), _words(shown)):
            yield from self._noted(written)
            yield from (block for block in shown if isinstance(block, LeftOut) and block.why is Why.NOT_READ)
        else:
            yield from self._noted(shown)
        for part in parts:
            if part not in plain and part not in rich and part.type not in NO_CONTENT:
                yield from self._part(part)

    def _drawn(self, parts: list[Entity]) -> Iterator[Block]:
        """The blocks of these, of which not all will be taken: rich ones, the richest, which comes last."""
        for part in parts[-1:] if parts and parts[0].type != "text/plain" else parts:
            yield from self._part(part)

    def _noted(self, *several: Iterable[Block]) -> Iterator[Block]:
        for blocks in several:
            for block in blocks:
                if isinstance(block, Text | Heading):
                    self._words |= _words([block])
                yield block

    def _body(self, part: Entity) -> Iterator[Block]:
        text, damaged = decode(part.payload(), _charset(part))
        yield from _damaged(damaged)
        lines = text.splitlines()
        if part.parameters.get("format", "").lower() == "flowed":
            lines = list(_flowed(lines, part.parameters.get("delsp", "").lower() == "yes"))
        before = len(self._attached)
        yield from plain.paragraphs(self._without_files(lines))
        if count := len(self._attached) - before:
            yield LeftOut(Why.NOT_READ, "attachment", count)
        if "-----BEGIN PGP MESSAGE-----" in text:
            yield LeftOut(Why.NOT_READ, "encrypted text")

    def _without_files(self, lines: Iterable[str]) -> Iterator[str]:
        """Old programs put files into the text, letters of PGP as well."""
        packed: list[str] = []
        end = name = ""
        for line in lines:
            if end:
                packed.append(line)
                if line.strip() == end and name:
                    self._attached.append(_described(name, "", len(from_uu("\n".join(packed).encode()))))
                if line.strip() == end:
                    end = ""
            elif start := UU_START.fullmatch(line.strip()):
                name, end, packed = start[1], "end", [line]
            elif line.strip() == "-----BEGIN PGP MESSAGE-----":
                name, end = "", "-----END PGP MESSAGE-----"
                yield ENCRYPTED
            else:
                yield line
        if end == "end":
            yield from packed  # it was text after all

    def _enclosed(self, part: Entity) -> Iterator[Block]:
        """A message in another one, with its own headers and attachments."""
        if self._depth >= DEEPEST:
            yield from self._named(part, part.payload())
            return
        inner = part.parts[0] if part.parts else parse(part.payload())[0]
        yield Heading(2, f"Enclosed message: {inner.headers.text('subject') or 'without a subject'}")
        yield from _Message(inner, self._depth + (not part.parts)).blocks()

    def _invitation(self, part: Entity) -> Iterator[Block]:
        text, damaged = decode(part.payload(), part.parameters.get("charset", ""))
        yield from _damaged(damaged)
        is_any = False
        for event in events(text):
            is_any = True
            yield from self._noted([Text("\n".join(event.lines()))])
            words = set(WORDS.findall(event.description.casefold()))
            if len(words & self._words) < len(words) * COVERED:
                yield from self._noted(plain.paragraphs(event.description.splitlines()))
        if not is_any:
            yield from self._named(part, part.payload())

    def _attachment(self, part: Entity) -> Iterator[Block]:
        """A small text in its place; of others name, kind and size."""
        payload = part.payload()
        ending = part.name.rpartition(".")[2].lower()
        is_text = ending in MEDIA_TYPES or (part.main_type == "text" and part.type not in NO_TEXT)
        is_readable = (
            is_text and len(payload) <= LONGEST_ATTACHED_TEXT and b"\0" not in payload[:1_000] and ending != "svg"
        )
        if ending == "eml":
            yield from self._enclosed(Entity(Headers(b""), payload, 0, len(payload)))
        elif not is_readable:
            yield from self._named(part, payload)
        else:
            yield Heading(2, f"Attached: {part.name or 'a text'}")
            yield from self._noted(_html(part) if part.type in RICH_TEXTS else _plain(part, ending))

    def _named(self, part: Entity, payload: bytes) -> Iterator[Block]:
        if payload.strip() or part.name:
            kind = "attachments in Outlook's own format" if part.name.lower() == "winmail.dat" else KINDS.get(part.type)
            self._attached.append(_described(part.name, kind or part.type, len(payload)))
            if part.type not in SIGNATURES:
                yield LeftOut(Why.NOT_READ, "picture" if part.main_type == "image" else "attachment")


def _charset(part: Entity) -> str:
    """ASCII is what programs write that don't know better."""
    charset = part.parameters.get("charset", "")
    return "" if charset.lower() in {"us-ascii", "ascii", "unknown-8bit", "x-unknown"} else charset


def _html(part: Entity) -> Iterator[Block]:
    payload = part.payload()
    text, damaged = decode(payload, _charset(part) or declared_encoding(payload))
    yield from _damaged(damaged)
    yield from _shown(text)


def _plain(part: Entity, ending: str = "txt") -> Iterator[Block]:
    text, damaged = decode(part.payload(), _charset(part))
    yield from _damaged(damaged)
    ending = ending if ending in MEDIA_TYPES else ENDINGS.get(part.type, "txt")
    yield from plain.blocks(io.StringIO(text, newline=""), ending)


def _untyped(part: Entity) -> Iterator[Block]:
    """Of what does not say what it is, or has parts without a boundary: text, perhaps HTML."""
    text, damaged = decode(part.payload(), _charset(part))
    yield from _damaged(damaged)
    is_html = re.match(r"\s*<(?:!doctype|html|body|div|p|table)\b", text, re.IGNORECASE)
    yield from _shown(text) if is_html else plain.paragraphs(text.splitlines())


def _shown(text: str) -> Iterator[Block]:
    page = text.replace("\r\n", "\n")
    yield from islice(read_page(lambda: [page]), 1, None)  # a message has its own title


def _damaged(count: int) -> Iterator[LeftOut]:
    if count:
        yield LeftOut(Why.DAMAGED, "letter", count)


def _flowed(lines: Iterable[str], without_spaces: bool) -> Iterator[str]:
    """Paragraphs of which each line but the last ends with a space (RFC 3676)."""
    held, depth = "", 0
    for line in lines:
        quote = len(line) - len(line.lstrip(">"))
        text = line[quote:].removeprefix(" ")
        if held and quote == depth and text != "-- ":
            text = held + text
        elif held:
            yield ">" * depth + (" " if depth else "") + held.rstrip()
        held, depth = "", quote
        if text.endswith(" ") and text != "-- ":
            held = text[:-1] if without_spaces else text
        else:
            yield ">" * quote + (" " if quote and text else "") + text
    if held:
        yield ">" * depth + (" " if depth else "") + held.rstrip()


def _words(blocks: Iterable[Block]) -> set[str]:
    words: set[str] = set()
    for block in blocks:
        if isinstance(block, Text):
            words.update(WORDS.findall(block.markdown.casefold()))
        elif isinstance(block, Heading):
            words.update(WORDS.findall(block.text.casefold()))
    return words


def _is_stub(written: set[str], shown: set[str]) -> bool:
    """Whether a plain text is there only for want of the rich one: it lacks words of it, and is the shorter one, has most
    of the others, or says so."""
    lacking = len(shown - written)
    if lacking <= len(shown) * MOST_LACKING:
        return False
    return len(shown) > len(written) or lacking < len(shown) / 2 or not written.isdisjoint(OF_STUBS)


def _described(name: str, kind: str, size: int) -> str:
    facts = ", ".join(filter(None, (kind, f"{max(size // 1000, 1)} kB")))
    return clean(f"{name or 'without a name'} ({facts})")
