"""E-mail: who wrote to whom, the text, and the names of what was attached."""

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

from conversations.files.archives import DAMAGED
from conversations.files.blocks import Block, Place, Text, Title
from conversations.files.encodings import decode
from conversations.files.html_blocks import HtmlBlocks
from conversations.files.pictures import PictureFolder
from conversations.files.readers.text import paragraphs
from conversations.runtime.text import clean

HEADERS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject")


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The message. Raises ``FileProblem``."""
    with path.open("rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    subject = _header(message, "Subject")
    yield Title(subject)
    yield Place("message", heading=subject)
    yield Text("\n".join(f"{name}: {value}" for name in HEADERS if (value := _header(message, name))))
    try:
        body = message.get_body(("plain", "html"))
        yield from _body(body) if isinstance(body, EmailMessage) else ()
        attached = [line for part in message.walk() if part is not body and (line := _attachment(part))]
    except (LookupError, ValueError, AttributeError, TypeError) as error:  # of parts that are none
        raise DAMAGED from error
    if attached:
        yield Text("Attached, and not read here:")
        yield from (Text(f"- {line}", is_item=True) for line in attached)


def _header(message: EmailMessage, name: str) -> str:
    try:
        values = message.get_all(name, [])
    except (LookupError, ValueError, AttributeError, TypeError):  # what Python's parser of headers stumbles over
        values = [value for key, value in message.raw_items() if key.lower() == name.lower()]
    return clean(", ".join(" ".join(str(value).split()) for value in values))


def _body(body: EmailMessage) -> Iterator[Block]:
    content = body.get_payload(decode=True)
    assert isinstance(content, bytes)
    text, _ = decode(content, body.get_content_charset() or "")
    if body.get_content_subtype() != "html":
        yield from paragraphs(text.splitlines())
        return
    parser = HtmlBlocks()
    parser.feed(text)
    parser.close()
    yield from parser.take()


def _attachment(part: EmailMessage) -> str:
    """Its name, kind and size; empty for what only holds other parts, and for the text in another form."""
    if part.get_content_type() == "message/rfc822":
        return f"{part.get_filename() or 'a message'} (message/rfc822)"
    if part.is_multipart() or not (part.get_filename() or part.is_attachment()):
        return ""
    payload = part.get_payload(decode=True)
    size = len(payload) if isinstance(payload, bytes) else 0
    return clean(f"{part.get_filename() or 'without a name'} ({part.get_content_type()}, {max(size // 1000, 1)} kB)")
