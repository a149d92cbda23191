"""What PostgreSQL can't hold – halves of characters, NUL, numbers without end – at every place of an upload: cleaned, or
refused with its place. No database here; over REST it is tried in
``tests/conversations/rest/test_unstorable_imports.py``."""

import dataclasses
import io
import json
import random
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

from conversations.errors import ImportTooLarge, InvalidImport
from conversations.import_export.uploads import documents
from tests.conversations.import_export.books import read_book
from tests.conversations.import_export.test_document_reader import FULL, NOW
from tests.conversations.import_export.test_importers import BOAT, FILES, TOOLS, claude, wrote
from tests.conversations.import_export.test_uploads import EMPTY, packed

Path = tuple[str | int, ...]

TALK = claude(
    wrote(1, "human", "Look", **FILES), wrote(2, "assistant", "old", content=TOOLS, uuid="no UUID"), name="A talk"
)
RICH = json.loads(json.dumps(FULL)) | {
    "preferences": {"time_zone": "Europe/Paris", "remembers": True},
    "topics": [{"title": "Ships", "thread": FULL["threads"][0]["id"], "sources": [], "opened_at": "2026-03-01"}],
}
RICH["threads"][0]["summaries"] = [
    {"first": 1, "last": 2, "text": "Drew.", "key_moments": ["Drawn"], "made_by": "x", "sources": []}
]
RICH["threads"][0]["artifacts"][0]["versions"] = [{"content": "<svg/>", "origin": "program", "message": 2}]
RICH["threads"][0]["messages"][1]["content"] += [
    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x"}], "n": 1.5},
    {"type": "image", "source": {"a": ["b", {"c": "d"}]}},
]
BOOKS: dict[str, Any] = {
    "openbook": RICH,
    "chatgpt": [BOAT | {"id": "no UUID", "conversation_id": None}],
    "claude": [TALK],
}
HALF, NUL = "\ud800", "\0"
ENDLESS = "ENDLESS"


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Of each value in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*path, name))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def spoilt(book: Any, path: Path, *, name: bool = False) -> bytes:
    """The document as JSON, with what can't be stored in the value of that place, or in its name."""
    copy = json.loads(json.dumps(book))
    parent, last = at(copy, path[:-1]), path[-1]
    value = parent[last]
    if name:
        parent[f"{last}{HALF}{NUL}"] = parent.pop(last)
    else:
        parent[last] = f"{HALF}{value}{NUL}{HALF}" if isinstance(value, str) else ENDLESS
    return json.dumps(copy).replace(f'"{ENDLESS}"', "1e999").encode()  # which JSON allows and a float can't hold


def uploads(book: Any) -> Iterator[bytes]:
    for path in places(book):
        if path:
            yield spoilt(book, path)
            if isinstance(path[-1], str):
                yield spoilt(book, path, name=True)


@pytest.mark.once("openbook")
@pytest.mark.long
@pytest.mark.parametrize("product", BOOKS)
def test_whatever_cannot_be_stored_is_cleaned_or_refused_with_its_place(product: str) -> None:
    taken = refused = 0
    for upload in uploads(BOOKS[product]):
        try:
            book = read_book(upload, user_id=7, now=NOW)
        except InvalidImport as refusal:
            refused += 1
            assert str(refusal.details["place"]), refusal.message
        else:
            taken += 1
            stored = json.dumps(dataclasses.asdict(book), allow_nan=False, ensure_ascii=False, default=str)
            assert "\\u0000" not in stored
            assert stored.encode()
    assert taken > 20
    assert taken + refused > 60


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("product", BOOKS)
def test_what_is_no_number_in_json_is_refused_wherever_it_is_read(product: str, number: str) -> None:
    upload = spoilt(
        BOOKS[product], next(path for path in places(BOOKS[product]) if path[-1:] in (("title",), ("name",)))
    )
    with pytest.raises(InvalidImport, match=f"is no valid JSON: {number} is no number in JSON, at character"):
        read_book(upload.replace(b'"\\ud800', f'{number}, "'.encode(), 1), user_id=7, now=NOW)


def test_two_ids_that_differ_in_half_a_character_stay_two() -> None:
    first, second = (
        TALK | {"uuid": half, "chat_messages": [wrote(1, "human", "x", uuid=half)]} for half in "\ud800\ud801"
    )
    book = read_book([first, second], user_id=7, now=NOW)
    assert len({thread.id for thread in book.threads}) == len({thread.turns[0].id for thread in book.threads}) == 2


def renamed(name: bytes) -> bytes:
    """A ZIP file of two documents, the one with a name that says to be UTF-8."""
    stand_in = "é" + "x" * (len(name) - 2)
    members = {f"{stand_in}/conversations.json": EMPTY, "b/conversations.json": EMPTY}
    return packed(members).replace(stand_in.encode(), name)


@pytest.mark.parametrize("name", [b"\xed\xa0\x80", b"\xff\xfe", b"a\xc3"])
def test_a_zip_file_with_names_that_are_no_text_is_refused(name: bytes) -> None:
    with (
        pytest.raises(InvalidImport, match="The ZIP file is damaged"),
        documents(io.BytesIO(renamed(name)), most=2**20),
    ):
        pass


@pytest.mark.long
@pytest.mark.parametrize("in_memory", [0, 2**20])
def test_a_damaged_zip_file_is_read_or_refused(in_memory: int) -> None:
    """In memory or in a file: they differ in what they raise for a place that can't be."""
    chance, whole = random.Random(14), packed({"é/conversations.json": EMPTY, "b/conversations.json": EMPTY})
    refused = 0
    for _ in range(3_000):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 2, 8))):
            damaged[chance.randrange(4, len(damaged))] = chance.choice((0, 127, 255, chance.randrange(256)))
        with tempfile.SpooledTemporaryFile(in_memory or 1) as upload:
            upload.write(damaged)
            try:
                with documents(upload, most=2**20) as found:
                    for document in found:
                        with document.opened() as file:
                            file.read()
            except (InvalidImport, ImportTooLarge):
                refused += 1
    assert 1_000 < refused < 3_000
