"""A thread as a ZIP file: the conversation to read and to import again, its files, and its artifacts as files.

It is made page by page, so a thread of any length takes the same memory.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from django.db.models import F

from artifacts.exporting.markdown import fenced, is_csv
from artifacts.exporting.names import file_name, safe, source_extension
from artifacts.models import ArtifactVersion
from conversations.import_export.document_files import add_files
from conversations.import_export.document_writer import export_thread
from conversations.import_export.export_pages import AT_ONCE, PAGE
from conversations.import_export.turn_writer import turns_behind
from conversations.import_export.zip_stream import Zip
from conversations.models import File, Message, Thread
from conversations.runtime.long_work import step
from conversations.threads import every_message_of

NOTE_CHARS = 200
"""Of what a tool was given and said."""


def folder_name(thread: Thread) -> str:
    return safe(thread.title or "New conversation")


async def zipped(thread: Thread) -> AsyncIterator[bytes]:
    """``<title>/conversation.md``, ``conversation.json``, ``files/`` and ``artifacts/``, older versions in a folder each."""
    archive, folder = Zip(), folder_name(thread)
    for name, pieces in {"md": _conversation(thread), "json": export_thread(thread)}.items():
        async for piece in archive.file(f"{folder}/conversation.{name}", thread.updated_at, pieces):
            yield piece
    async for piece in add_files(archive, f"{folder}/", File.objects.filter(user=thread.user_id, thread=thread)):
        yield piece
    names = FileNames()
    async for version in _versions(thread):
        path = f"{folder}/artifacts/{names.of(version)}"
        async for piece in archive.file(path, version.created_at, _whole(version.content)):
            yield piece
    yield archive.end()


class FileNames:
    """A name of its own for every version, also where capitals make no difference."""

    def __init__(self) -> None:
        self.stems: dict[Any, str] = {}
        self.taken: set[str] = set()

    def of(self, version: ArtifactVersion) -> str:
        artifact = version.artifact
        extension = source_extension(artifact.kind, artifact.language, is_csv=is_csv(version.content))
        if artifact.id not in self.stems:
            self.stems[artifact.id] = self._free(file_name(artifact.title, extension).removesuffix(f".{extension}"))
        stem = self.stems[artifact.id]
        is_newest = version.number == artifact.version
        return f"{stem}.{extension}" if is_newest else f"{stem}/v{version.number}.{extension}"

    def _free(self, stem: str) -> str:
        name, number = stem, 1
        while name.lower() in self.taken:
            number += 1
            name = f"{stem} ({number})"
        self.taken.add(name.lower())
        return name


async def _conversation(thread: Thread) -> AsyncIterator[bytes]:
    """Who said what and when, as Markdown: the active path."""
    beside = branches_beside(await step(_left_beside)(thread))
    begun = f"Begun {thread.created_at:%Y-%m-%d %H:%M} UTC with {thread.assistant.name}."
    yield f"# {thread}\n\n{begun}{beside}\n".encode()
    position = 0
    while position < thread.last_position and (turns := await step(turns_behind)(thread, position)):
        yield "".join(turn_markdown(turn, thread.assistant.name) for turn in turns).encode()
        position = turns[-1].position


def branches_beside(turns: int) -> str:
    """What of other branches is said, of so many turns on them."""
    if not turns:
        return ""
    what, stand = ("turn", "stands") if turns == 1 else ("turns", "stand")
    return f" {turns:,} {what} on other branches of it {stand} in `conversation.json` alone."


def _left_beside(thread: Thread) -> int:
    return every_message_of(thread).filter(is_active=False).count()


def turn_markdown(turn: Message, assistant: str) -> str:
    """One turn: its text, and a short note for each use of a tool."""
    who = "You" if turn.role == Message.Role.USER else assistant
    ended = "" if turn.status == Message.Status.COMPLETE else f" · {turn.get_status_display()}"
    body = "\n\n".join(filter(None, map(_block, turn.blocks)))
    return f"\n---\n\n**{who}** · {turn.created_at:%Y-%m-%d %H:%M} UTC{ended}\n\n{body}\n"


def _block(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return str(text)
        case {"type": "tool_use", "name": name}:
            arguments = block.get("input") or {}
            about = (
                arguments.get("title") or json.dumps(arguments, ensure_ascii=False)
                if isinstance(arguments, dict)
                else arguments
            )
            return f"> Tool `{name}`: {_short(str(about))}"
        case {"type": "tool_result", "content": content}:
            result_text = content if isinstance(content, str) else " ".join(_texts(content))
            return f"> {'Error' if block.get('is_error') else 'Result'}: {_short(result_text)}"
        case {"type": "thinking", "thinking": str(text)}:
            return f"> Thinking: {_short(text)}" if text else ""
        case {"type": "redacted_thinking"}:
            return ""
        case {"type": "file"}:
            return f"> File: {block.get('name') or 'without a name'}"
        case {"type": kind}:
            return fenced(json.dumps(block, ensure_ascii=False, indent=2), "json") if kind else ""
    return ""


def _texts(blocks: Any) -> Iterator[str]:
    yield from (str(block["text"]) for block in blocks or () if isinstance(block, dict) and "text" in block)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NOTE_CHARS else line[:NOTE_CHARS].rstrip() + "…"


async def _versions(thread: Thread) -> AsyncIterator[ArtifactVersion]:
    """Artifacts oldest first, each with the newest version before the older ones."""
    for ids in pages(await step(_sizes)(thread)):
        for version in await step(_read_versions)(thread, ids):
            yield version


def pages(sizes: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Ids of versions that are read together: ``PAGE`` at most, and ``AT_ONCE`` characters or one that has more."""
    page: list[int] = []
    chars = 0
    for each, size in sizes:
        if page and (len(page) == PAGE or chars + size > AT_ONCE):
            yield page
            page, chars = [], 0
        page.append(each)
        chars += size
    if page:
        yield page


def _sizes(thread: Thread) -> list[tuple[int, int]]:
    return list(_ordered(thread).values_list("id", "size"))


def _read_versions(thread: Thread, ids: list[int]) -> list[ArtifactVersion]:
    return list(_ordered(thread).filter(id__in=ids).select_related("artifact"))


def _ordered(thread: Thread) -> Any:
    versions = ArtifactVersion.objects.filter(
        user=thread.user_id, thread=thread, artifact__user=thread.user_id, artifact__deleted_at=None
    )
    return versions.order_by("artifact__created_at", "artifact_id", F("number").desc())


async def _whole(content: str) -> AsyncIterator[bytes]:
    yield content.encode()
