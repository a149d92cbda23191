"""Parts of files in the results of tool calls. A turn names them, and a request holds what they say. Pure.

So a file that is deleted leaves nothing of its text in the turns that its parts were read in.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from conversations.context.files.excerpts import (
    Block,
    FileExcerpt,
    FileForm,
    FileOutline,
    PartContent,
    blocks,
    read_ranges,
    write_ranges,
)
from conversations.context.turns.groups import FILE

type Results = Mapping[str, Sequence[Block]]
"""What is sent as the results of calls, by their ids."""

NO_RESULTS: Results = MappingProxyType({})


def naming_block(excerpt: FileExcerpt) -> Block:
    """What stands for the parts in the result of a call."""
    file = excerpt.file
    return {"type": FILE, "file": file.id, "name": file.name, "parts": write_ranges(excerpt.numbers)}


def named_parts(content: Iterable[Block]) -> Iterator[tuple[str, Block]]:
    """Each such block among the blocks of a turn, with the id of its call."""
    for block in content:
        if block["type"] == "tool_result" and isinstance(block.get("content"), list):
            for part in block["content"]:
                if part.get("type") == FILE:
                    yield str(block.get("tool_use_id")), part


def numbers_named(content: Iterable[Block]) -> dict[str, set[int]]:
    """The numbers of the parts that results of calls name, by the id of their file."""
    numbers: dict[str, set[int]] = {}
    for _, block in named_parts(content):
        if (id := _id_of(block)) and (named := _ranges(block)):
            numbers.setdefault(id, set()).update(named)
    return numbers


def read_excerpts(content: Iterable[Block], files: Mapping[str, FileOutline]) -> list[FileExcerpt]:
    """What results of calls give of the files that there are, each file once."""
    numbers: dict[str, set[int]] = {}
    for _, block in named_parts(content):
        if (id := str(block.get("file"))) in files:
            numbers.setdefault(id, set()).update(_numbers(block, files[id]))
    return [FileExcerpt(file=files[id], numbers=tuple(sorted(each))) for id, each in numbers.items()]


def written_results(
    content: Iterable[Block],
    given: Sequence[FileExcerpt],
    contents: Mapping[str, Mapping[int, PartContent]],
    form: FileForm,
) -> Results:
    """The results that name parts, with what is ``given`` of them, each part where it is named first."""
    left = {excerpt.file.id: (excerpt.file, set(excerpt.numbers)) for excerpt in given}
    results: dict[str, list[Block]] = {}
    for block in content:
        if any(named_parts([block])):
            results[str(block["tool_use_id"])] = [
                sent for part in block["content"] for sent in _written(part, left, contents, form)
            ]
    return results


def _written(
    part: Block,
    left: Mapping[str, tuple[FileOutline, set[int]]],
    contents: Mapping[str, Mapping[int, PartContent]],
    form: FileForm,
) -> list[Block]:
    if part.get("type") != FILE or str(part.get("file")) not in left:
        return [part]
    file, numbers = left[str(part["file"])]
    here = tuple(number for number in _numbers(part, file) if number in numbers)
    numbers.difference_update(here)
    # The API cites documents; a result is words, as other servers take nothing else.
    return blocks(FileExcerpt(file=file, numbers=here), contents.get(file.id, {}), replace(form, documents=False))


def _numbers(block: Block, file: FileOutline) -> list[int]:
    """Those that the file has: the block may come from elsewhere, and name any."""
    named = _ranges(block)
    return [part.number for part in file.parts if part.number in named]


def _ranges(block: Block) -> set[int]:
    try:
        return {*read_ranges(str(block.get("parts")))}
    except ValueError:
        return set()


def _id_of(block: Block) -> str:
    """Empty where it is none."""
    try:
        return str(uuid.UUID(str(block.get("file"))))
    except ValueError:
        return ""
