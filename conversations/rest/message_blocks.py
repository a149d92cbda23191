"""What stands in a message of the Messages API: words, and pictures and documents as files."""

import uuid
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from conversations.errors import InvalidMessage
from conversations.replies.transcript import result_block
from conversations.rest.message_files import RawText, SentFile, text_of_source
from conversations.runtime.text import clean, clean_deep
from conversations.tools.running import shortened

IMAGE_TYPES = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
PDF_TYPE, TEXT_TYPE = "application/pdf", "text/plain"
BY_URL = (
    "`{place}.source` names an address, and Openbook fetches nothing from the network. Send the content itself as base64, or "
    "upload it with POST /api/v1/files/ and name its id: {{'type': 'file', 'file_id': '…'}}."
)

type Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Content:
    """Of one turn, which may have been several messages. A text for each block."""

    texts: Sequence[str]
    files: Sequence[SentFile]
    blocks: Sequence[Json] = ()
    """Calls of the program's tools, or what these gave."""

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, (clean(text) if text.strip() else "" for text in self.texts)))


@dataclass
class ContentReader:
    """Reads the messages of one turn; files without a title are numbered through them. ``calls`` are the ids of those that what
    tools gave may belong to; where the program ``has_tools`` it may belong to others, of the thread."""

    calls: Container[str] = ()
    has_tools: bool = False
    texts: list[str] = field(default_factory=list)
    files: list[SentFile] = field(default_factory=list)
    blocks: list[Json] = field(default_factory=list)
    _numbers: Counter[str] = field(default_factory=Counter)

    def read(self, content: str | Sequence[Json], place: str) -> None:
        """A message of which everything counts. Raises ``InvalidMessage``."""
        if isinstance(content, str):
            self.texts.append(content)
            return
        for at, block in _placed(content, place):
            self.read_block(block, at)

    def read_known(self, content: str | Sequence[Json], place: str) -> None:
        """A message that was answered before: what can't be read of it is left out."""
        if isinstance(content, str):
            self.texts.append(content)
            return
        for at, block in _placed(content, place):
            with suppress(InvalidMessage):
                self.read_block(block, at)

    def read_texts(self, content: str | Sequence[Json]) -> None:
        """A message of which only the words count."""
        texts = [content] if isinstance(content, str) else [_text(block) for block in content]
        self.texts += filter(None, texts)

    def read_answer(self, content: str | Sequence[Json]) -> None:
        """A message of the assistant, of which its words and its calls of tools count."""
        self.read_texts(content)
        self.blocks += calls_in(content)

    def done(self) -> Content:
        return Content(texts=self.texts, files=self.files, blocks=self.blocks)

    def read_block(self, block: Json, place: str) -> None:
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                self.texts.append(block["text"])
            case "image":
                self.files.append(self._image(block, place))
            case "document":
                self._document(block, place)
            case "tool_result" if self._is_of_call(block):
                self.blocks.append(self._result(block, place))
            case "tool_result":
                self._tool_result(block, place)
            case type:
                raise InvalidMessage(
                    f"`{place}` is of type {type!r}: the newest message may hold text, images, documents and what tools "
                    "gave, and nothing else.",
                    field="messages",
                )

    def _image(self, block: Json, place: str) -> SentFile:
        source = _source(block, place)
        if id := _own_id(source, place):
            return SentFile(name="", place=place, content=id)
        if source["type"] != "base64":
            raise _wrong_source(source, place, "base64 or file")
        data, media_type = source.get("data"), source.get("media_type")
        if media_type not in IMAGE_TYPES:
            raise InvalidMessage(
                f"`{place}.source.media_type` must be one of {', '.join(IMAGE_TYPES)}.", field="messages"
            )
        name = f"{self.numbered('image')}.{IMAGE_TYPES[media_type]}"
        return SentFile(name=name, place=place, content=_raw(data, place), media_type=media_type)

    def _document(self, block: Json, place: str) -> None:
        title, context = (_optional_text(block, name, place) for name in ("title", "context"))
        source = _source(block, place)
        name = title.strip() or self.numbered("document")
        if id := _own_id(source, place):
            name = title.strip()
            self.files.append(SentFile(name="", place=place, content=id))
        elif source["type"] == "base64":
            if source.get("media_type") != PDF_TYPE:
                raise InvalidMessage(f"`{place}.source.media_type` must be {PDF_TYPE}.", field="messages")
            name = _with_ending(name, "pdf")
            raw = _raw(source.get("data"), place)
            self.files.append(SentFile(name=name, place=place, content=raw, media_type=PDF_TYPE))
        elif source["type"] == "text":
            if source.get("media_type") != TEXT_TYPE:
                raise InvalidMessage(f"`{place}.source.media_type` must be {TEXT_TYPE}.", field="messages")
            name = _with_ending(name, "txt")
            self._add_text(name, text_of_source(source.get("data"), place), place)
        elif source["type"] == "content":
            name = _with_ending(name, "txt")
            self.add_parts(source.get("content"), name, f"{place}.source.content")
        else:
            raise _wrong_source(source, place, "base64, text, content or file")
        if context.strip():
            self.texts.append(f"{name}: {context}" if name else context)

    def _tool_result(self, block: Json, place: str) -> None:
        """What a tool said is no word of the person: it is a file that the message brings."""
        self.add_parts(block.get("content"), f"{self.numbered('tool-result')}.txt", f"{place}.content")

    def _is_of_call(self, block: Json) -> bool:
        id = block.get("tool_use_id")
        return isinstance(id, str) and bool(id) and (self.has_tools or id in self.calls)

    def _result(self, block: Json, place: str) -> Json:
        """What a tool of the program gave. Its pictures and documents are files of the turn, which stand after it."""
        return self.result(block["tool_use_id"], block.get("content"), f"{place}.content", error=block.get("is_error"))

    def result(self, call: str, content: Any, place: str, *, error: Any = False) -> Json:
        before = len(self.files)
        words = clean(self._words_of(content, place))
        for file in self.files[before:]:
            words += f"\n[{file.name or 'A file'}: given with this message]"
        return result_block(call, shortened(words.lstrip("\n")), is_error=error is True)

    def add_parts(self, content: Any, name: str, place: str) -> None:
        """The words of a content as one file, its pictures and documents as others."""
        self._add_text(name, self._words_of(content, place), place)

    def _words_of(self, content: Any, place: str) -> str:
        """The words of a content, of which pictures and documents become files."""
        if content is None or isinstance(content, str):
            return content or ""
        if not isinstance(content, Sequence) or not all(isinstance(block, dict) for block in content):
            raise InvalidMessage(f"`{place}` must be a text or a list of blocks.", field="messages")
        words: list[str] = []
        for at, block in _placed(content, place):
            if (text := _text(block)) is not None:
                words.append(text)
            elif block.get("type") in ("image", "document"):
                self.read_block(block, at)
            else:
                raise InvalidMessage(
                    f"`{at}` is of type {block.get('type')!r}; here may stand text, images and documents.",
                    field="messages",
                )
        return "\n\n".join(words)

    def _add_text(self, name: str, text: str, place: str) -> None:
        if text.strip():
            self.files.append(SentFile(name=name, place=place, content=clean(text)))

    def numbered(self, kind: str) -> str:
        self._numbers[kind] += 1
        return f"{kind}-{self._numbers[kind]}"


def _placed(content: Sequence[Json], place: str) -> Iterator[tuple[str, Json]]:
    return ((f"{place}[{number}]", block) for number, block in enumerate(content))


def _text(block: Json) -> str | None:
    text = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _source(block: Json, place: str) -> Json:
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("type"), str):
        raise InvalidMessage(f"`{place}.source` must be an object with `type`.", field="messages")
    return source


def _own_id(source: Json, place: str) -> uuid.UUID | None:
    if source["type"] != "file":
        return None
    try:
        return uuid.UUID(source.get("file_id"))
    except (ValueError, TypeError, AttributeError):
        raise InvalidMessage(
            f"`{place}.source.file_id` must be the id of a file that was uploaded here, with POST /api/v1/files/.",
            field="messages",
        ) from None


def _wrong_source(source: Json, place: str, expected: str) -> InvalidMessage:
    if source["type"] == "url":
        return InvalidMessage(BY_URL.format(place=place), field="messages")
    return InvalidMessage(f"`{place}.source.type` must be {expected}.", field="messages")


def _raw(data: Any, place: str) -> RawText:
    if not isinstance(data, RawText) or not data.length:
        raise InvalidMessage(f"`{place}.source.data` must be base64.", field="messages")
    return data


def _optional_text(block: Json, name: str, place: str) -> str:
    value = block.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidMessage(f"`{place}.{name}` must be a text.", field="messages")
    return value or ""


def _with_ending(name: str, extension: str) -> str:
    """So that a name says what it is. A text may be called as any text is."""
    ending = PurePath(name).suffix.lower()
    fits = ending == f".{extension}" or (extension == "txt" and 1 < len(ending) < 6)
    return name if fits else f"{name}.{extension}"


def calls_in(content: str | Sequence[Json]) -> list[Json]:
    """The calls of tools in a message of the assistant, those alone that can be stored."""
    called = [] if isinstance(content, str) else [block for block in content if block.get("type") == "tool_use"]
    return [
        {"type": "tool_use", "id": block["id"], "name": block["name"], "input": clean_deep(block["input"])}
        for block in called
        if all(isinstance(block.get(name), str) and block[name] for name in ("id", "name"))
        and isinstance(block.get("input"), dict)
    ]
