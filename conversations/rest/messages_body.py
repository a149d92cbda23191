"""Bodies of the Messages API: read message by message, files onto the disk, and no more than is needed."""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from conversations.errors import (
    InvalidImport,
    InvalidMessage,
    MessageTooLong,
)
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Shape, Text
from conversations.rest import messages_shapes as shapes
from conversations.rest.message_files import read_raw_text

LARGEST_BODY = 32 * 2**20
"""As in the Messages API: programs send their whole history."""
MOST_MESSAGES, MOST_TEXT = 10_000, 8 * 2**20
"""Of a body, and what their texts may take in memory."""
BLOCKS: Shape = [dict.fromkeys(("type", "text"))]


class BodyParser(BaseParser):
    """Reads a body message by message, files onto the disk. A parameter that isn't known is refused by its name."""

    media_type = "application/json"
    messages = "messages"
    """The parameter that they are sent in."""

    def message_shape(self, scratch: Scratch) -> Shape:
        """What of a message is read."""
        return _message_shape(scratch)

    def is_known(self, name: str) -> bool:
        return shapes.known(name)

    def read_parameter(self, name: str, text: Text) -> Any:
        """What stands under a name beside the messages. Raises ``InvalidMessage``."""
        if not self.is_known(name):
            raise InvalidMessage(f"`{name[:60]}` is no parameter of this call. Leave it out.", field=name[:60])
        return text.read(BLOCKS) if name == "system" else text.value()

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        assert parser_context
        scratch = parser_context["request"].scratch = Scratch()  # closed once the body is done with
        text = Text(_Limited(stream), scratch, most_elements=MOST_MESSAGES)
        try:
            body = self._body(text, scratch) if text.next() == b"{" else text.value()
            text.end()
        except InvalidImport as error:
            raise ParseError(error.message.replace("document", "body")) from None
        return body

    def _body(self, text: Text, scratch: Scratch) -> dict[str, Any]:
        body: dict[str, Any] = {}
        for name in text.names():
            if name == self.messages and text.next() == b"[":
                body[name] = list(_messages(text, self.message_shape(scratch)))
            elif (value := self.read_parameter(name, text)) is not None:
                body[name] = value
        return body


def _message_shape(scratch: Scratch) -> Shape:
    data = partial(read_raw_text, scratch=scratch)
    source: dict[str, Shape] = {**dict.fromkeys(("type", "media_type", "file_id")), "data": data}
    inner: Shape = [_block_shape(source)]
    of_tools = dict.fromkeys(("id", "name", "input", "tool_use_id", "is_error"))
    return {"role": None, "content": [{**_block_shape({**source, "content": inner}), **of_tools, "content": inner}]}


def _block_shape(source: Mapping[str, Shape]) -> dict[str, Shape]:
    return {**dict.fromkeys(("type", "text", "title", "context")), "source": source}


def _messages(text: Text, shape: Shape) -> Iterator[Any]:
    held = 0
    for _ in text.elements():
        message = text.read(shape)
        held += _memory_of(message)
        if held > MOST_TEXT:
            raise MessageTooLong(
                f"The messages hold more than {MOST_TEXT // 2**20} MiB of text. No model reads so much: leave the oldest out, "
                "or bring them with POST /api/v1/import/ and name the thread.",
                limit=MOST_TEXT,
            )
        yield message


def _memory_of(value: Any) -> int:
    """Bytes that its texts take in memory."""
    match value:
        case str():
            return sys.getsizeof(value)
        case dict():
            return sum(map(_memory_of, value.values()))
        case Sequence():
            return sum(map(_memory_of, value))
    return 0


class _Limited(io.RawIOBase):
    """Ends where a body is too large."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, LARGEST_BODY

    def read(self, size: int = -1, /) -> bytes:
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise too_large()
        return piece


def too_large() -> MessageTooLong:
    return MessageTooLong(f"The request body is too large; the limit is {LARGEST_BODY:,} bytes.", limit=LARGEST_BODY)
