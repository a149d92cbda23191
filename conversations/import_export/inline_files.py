"""Files that stand inside messages in base64: blocks of the Messages API and of OpenAI's, and ``data:`` addresses. Pure."""

import base64
import binascii
import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import IO, Any

from artifacts.reading.archives import DAMAGED
from conversations.models import text_blocks

DATA = re.compile(r"\s*data:[\w.+/;=-]{0,200}?;base64,", re.IGNORECASE)
SHOWN = re.compile(r"!\[([^\[\]\n]{0,200})\]\((data:[\w.+/;=-]{0,200}?;base64,[A-Za-z0-9+/=]+)\)", re.IGNORECASE)
"""A picture in Markdown."""


@dataclass(frozen=True, kw_only=True)
class InlineFile:
    name: str
    data: str
    is_base64: bool = True

    def opened(self) -> AbstractContextManager[IO[bytes]]:
        """Raises ``FileProblem``."""
        if not self.is_base64:
            return nullcontext(io.BytesIO(self.data.encode(errors="surrogatepass")))
        try:
            return nullcontext(io.BytesIO(base64.b64decode(_without_head(self.data))))
        except (ValueError, binascii.Error) as error:
            raise DAMAGED from error


def _without_head(data: str) -> str:
    match = DATA.match(data)
    return data[match.end() :] if match else data


def inline_file(block: Any) -> InlineFile | None:
    """The file that a block is; ``None`` where it is none, or only names one."""
    match block:
        case {"type": "image" | "document", "source": {"type": "base64", "data": str(data)}}:
            return InlineFile(name=_name(block.get("title")), data=data)
        case {"type": "document", "source": {"type": "text", "data": str(data)}}:
            return InlineFile(name=_name(block.get("title")) or "document.txt", data=data, is_base64=False)
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)} if DATA.match(url):
            return InlineFile(name="", data=url)
        case {"type": "input_image", "image_url": str(url)} if DATA.match(url):
            return InlineFile(name="", data=url)
        case {"type": "file", "file": {"file_data": str(data)} as file}:
            return InlineFile(name=_name(file.get("filename")), data=data)
        case {"type": "input_file", "file_data": str(data)}:
            return InlineFile(name=_name(block.get("filename")), data=data)
    return None


def split_text(text: str) -> Iterator[dict[str, Any] | InlineFile]:
    """A text as blocks, with the pictures that stand in it by themselves."""
    end = 0
    for shown in SHOWN.finditer(text):
        yield from _text(text[end : shown.start()])
        yield InlineFile(name="", data=shown[2])
        yield from _text(f"[image: {shown[1]}]" if shown[1].strip() else "")
        end = shown.end()
    yield from _text(text[end:])


def _text(text: str) -> list[dict[str, Any]]:
    return text_blocks(text) if text.strip() else []


def _name(name: Any) -> str:
    return name if isinstance(name, str) else ""
