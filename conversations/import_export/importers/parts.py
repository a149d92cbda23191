"""What the exports have in common. Pure."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import PurePath
from typing import Any

from artifacts.reading.kinds import MEDIA_TYPES
from conversations.context.turns.groups import FILE
from conversations.files.uploads import LONGEST_NAME
from conversations.import_export.values import EARLIEST, LATEST, MOST_CHARS, TITLE_CHARS
from conversations.models import text_blocks
from conversations.runtime.text import clean, one_line, shortened

ATTACHED_CHARS = 100_000
"""Of a file whose text came along."""


type Block = dict[str, Any]
type Piece = str | Block
"""A text of a message, or a block that names a file."""


TEXTS = ("text", "transcript", "transcription", "content", "summary", "title")
"""Where a block of a type that is not known may have its text."""


def unknown(kind: str) -> str:
    """What is left out of a type that is not known and has no text."""
    return f"blocks of the type “{one_line(clean(kind))[:40]}”"


def text_in(block: Block) -> str:
    """The text of a block of a type that is not known, empty where it has none."""
    for name in TEXTS:
        match block.get(name):
            case str(text) if text.strip():
                return text
            case list(inner):
                texts = (
                    each if isinstance(each, str) else each.get("text")
                    for each in inner
                    if isinstance(each, dict | str)
                )
                if joined := paragraphs(text for text in texts if isinstance(text, str)):
                    return joined
    return ""


@dataclass
class ThreadFiles:
    """The files that messages of one conversation name: ``listed`` is what the thread tells of them."""

    space: uuid.UUID = field(default_factory=uuid.uuid4)
    """Of their ids: the thread's id, or where it has none a new one each time."""
    _by_key: dict[str, Block] = field(default_factory=dict)

    @property
    def listed(self) -> dict[str, list[Block]]:
        return {"files": list(self._by_key.values())} if self._by_key else {}

    def named(self, key: str, name: Any, *, created_at: str | None, note: str | None = None, **source: str) -> Block:
        """The block that names a file. ``source`` is its ``text``, or the ``asset`` whose bytes are somewhere else; ``note`` is
        what a message says where there are none."""
        plain = shortened(one_line(name), LONGEST_NAME) if isinstance(name, str) else ""
        id = str(derived_id(self.space, key))
        self._by_key.setdefault(key, {"id": id, "name": plain, "created_at": created_at, **source})
        return {"type": FILE, "file": id, "name": plain, **({} if note is None else {"note": note})}


def text_name(name: Any) -> str:
    """Of a file of which only the text is there."""
    plain = name if isinstance(name, str) and name.strip() else "attachment"
    is_text = PurePath(plain).suffix.lstrip(".").lower() in {*MEDIA_TYPES, "html", "htm", "eml"}
    return plain if is_text else f"{plain}.txt"


def content_of(pieces: Sequence[Piece]) -> str | list[Block]:
    """A message of these pieces; neighbouring texts are one. A plain text where there is nothing else."""
    blocks: list[Block] = []
    for is_text, some in groupby(pieces, lambda piece: isinstance(piece, str)):
        if not is_text:
            blocks += [piece for piece in some if not isinstance(piece, str)]
        elif text := paragraphs(map(str, some)).strip():
            blocks += text_blocks(text)
    return "".join(block["text"] for block in blocks) if all(block["type"] != FILE for block in blocks) else blocks


def stored_id(given: Any, product: str) -> uuid.UUID | None:
    """Theirs where it is a UUID; else always the same for the same id, so that nothing is imported twice unnoticed."""
    if not isinstance(given, str) or not given:
        return None
    try:
        return uuid.UUID(given)
    except ValueError:
        return derived_id(uuid.NAMESPACE_URL, f"{product}:{given}")


def derived_id(space: uuid.UUID, name: str) -> uuid.UUID:
    """Of any name that JSON can give, halves of characters among it."""
    return uuid.uuid5(space, name.encode(errors="surrogatepass"))


def titled(name: Any) -> dict[str, str]:
    """The title, where there is one."""
    title = one_line(name)[:TITLE_CHARS] if isinstance(name, str) else ""
    return {"title": title} if title else {}


def written_by(*names: Any) -> dict[str, str]:
    """The model of a message: the first of these that names one; ``auto`` is a choice, not a model."""
    model = next((name for name in names if isinstance(name, str) and name.strip() and name != "auto"), "")
    return {"model": model[:MOST_CHARS]} if model else {}


def moment_of(value: Any) -> str | None:
    """Seconds since 1970 or an ISO 8601 time; ``None`` for what is no time."""
    try:
        time = datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else datetime.fromisoformat(value)
        at = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return at.isoformat() if EARLIEST < at < LATEST else None


def paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())


def attached(name: Any, text: Any = None) -> str:
    """A file that belonged to a message, with its text where that came along."""
    named = f"[attached: {name}]" if isinstance(name, str) and name else "[attached: a file]"
    if not isinstance(text, str) or not text.strip():
        return named
    cut = f"\n[… {len(text) - ATTACHED_CHARS:,} more characters]" if len(text) > ATTACHED_CHARS else ""
    return f"{named}\n\n{fenced(text[:ATTACHED_CHARS] + cut)}"


def fenced(code: str, language: str = "") -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def as_list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []
