"""What stands in a message of the Chat Completions API: words, pictures and files as data URLs, and what tools gave."""

import re
import uuid
from typing import Any

from conversations.errors import InvalidMessage
from conversations.rest.message_blocks import IMAGE_TYPES, ContentReader, Json
from conversations.rest.message_files import RawText, SentFile

LONGEST_BEGINNING = 200
"""Bytes that may stand before the base64 of a data URL."""
DATA_URL = re.compile(rb"data:(?P<type>[\w.+-]+/[\w.+-]+)(?:;[\w.+=-]+)*;base64,", re.IGNORECASE)


class ToolPart(dict[str, Any]):
    """The ``content`` of a message of the role ``tool``, and the id of its ``call``. No part that is sent is one."""


class PartReader(ContentReader):
    """Reads the parts of the messages of one turn."""

    def read_block(self, block: Json, place: str) -> None:
        if isinstance(block, ToolPart):
            # What a tool said is no word of the person: it is a file that the message brings, unless it is of a known call.
            call = block["call"]
            if isinstance(call, str) and call and (self.has_tools or call in self.calls):
                self.blocks.append(self.result(call, block["content"], place))
                return
            self.add_parts(block["content"], f"{self.numbered('tool-result')}.txt", place)
            return
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                self.texts.append(block["text"])
            case "image_url":
                self.files.append(self._picture(block.get("image_url"), f"{place}.image_url"))
            case "file":
                self.files.append(self._file(block.get("file"), f"{place}.file"))
            case type:
                raise InvalidMessage(
                    f"`{place}` is of type {type!r}: a message may hold `text`, `image_url` and `file`, and nothing else.",
                    field="messages",
                )

    def _picture(self, image: Any, place: str) -> SentFile:
        if not isinstance(image, dict) or not isinstance(image.get("url"), RawText):
            raise InvalidMessage(f"`{place}` must be an object with `url`.", field="messages")
        raw, media_type = _data_of(image["url"])
        if not media_type:
            raise InvalidMessage(
                f"`{place}.url` names an address, and Openbook fetches nothing from the network. Send the content itself as a "
                "data URL: data:image/png;base64,…",
                field="messages",
            )
        if media_type not in IMAGE_TYPES:
            raise InvalidMessage(f"`{place}.url` must be one of {', '.join(IMAGE_TYPES)}.", field="messages")
        name = f"{self.numbered('image')}.{IMAGE_TYPES[media_type]}"
        return SentFile(name=name, place=place, content=raw, media_type=media_type, at="url")

    def _file(self, file: Any, place: str) -> SentFile:
        if not isinstance(file, dict):
            raise InvalidMessage(f"`{place}` must be an object with `file_data` or `file_id`.", field="messages")
        if file.get("file_id") is not None:
            return SentFile(name="", place=place, content=_id(file["file_id"], place))
        data, name = file.get("file_data"), file.get("filename")
        if not isinstance(data, RawText) or not data.length or not isinstance(name, str | None):
            raise InvalidMessage(
                f"`{place}` must have `file_data`, in base64 or as a data URL, and may have a `filename`.",
                field="messages",
            )
        raw, media_type = _data_of(data)
        name = (name or "").strip() or self.numbered("document")
        return SentFile(name=name, place=place, content=raw, media_type=media_type, at="file_data")


def _data_of(raw: RawText) -> tuple[RawText, str]:
    """The base64 of a data URL and what it is said to be; without that where it is none."""
    found = DATA_URL.match(raw.beginning(LONGEST_BEGINNING))
    return (raw.without(found.end()), found["type"].decode().lower()) if found else (raw, "")


def _id(value: Any, place: str) -> uuid.UUID:
    try:
        return uuid.UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise InvalidMessage(
            f"`{place}.file_id` must be the id of a file that was uploaded here, with POST /api/v1/files/.",
            field="messages",
        ) from None
