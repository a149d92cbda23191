"""The model reads parts of a file of this thread that it was not given: of a long one it is given but some."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from conversations.context.files.citations import parts_called
from conversations.context.files.excerpts import (
    READ_FILE,
    FileExcerpt,
    FileOutline,
    PartOutline,
    read_ranges,
    write_ranges,
)
from conversations.context.gather.files import read_outlines
from conversations.context.gather.project_files import named_in_project
from conversations.providers.quoting import quote_name
from conversations.tools.base import ReadableFiles, Tool, ToolContext, ToolError, ToolResult

MOST_TOKENS = 8_000
"""Estimated, of one call."""
MOST_NAMED = 20


def run(call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    file = file_named(with_project(call, input["file"]), input["file"])
    wanted = parts_named(file, input["parts"])
    there = [part for part in wanted if (file.id, part.number) in call.files.given]
    new = [part for part in wanted if part not in there]
    read = _that_fit(file, new, min(MOST_TOKENS, call.files.room))
    excerpts = [_excerpt(file, read)] if read else []
    missing = new[len(read) :]
    has_room = bool(missing) and _excerpt(file, missing[:1]).tokens <= call.files.after(excerpts).room
    return ToolResult(
        text=" ".join(_notes(there, missing, has_room=has_room)),
        summary=f"Read {file.name}, {_labels(read or there)}" if read or there else f"Nothing more of {file.name} read",
        read=excerpts,
    )


def with_project(call: ToolContext, name: str) -> ReadableFiles:
    """With the files of the thread's project that are called so, whole."""
    files = call.files
    if files.project is None:
        return files
    ids = named_in_project(call.user_id, files.project, name.strip())
    return replace(files, outlines={**files.outlines, **read_outlines(call.user_id, ids, files.pictures)})


def file_named(files: ReadableFiles, name: str) -> FileOutline:
    """The newest that is called so, or else whose name holds that. Raises ``ToolError``."""
    newest_first = sorted(files.outlines.values(), key=lambda file: file.id, reverse=True)
    wanted = name.strip().casefold()
    called = [file for file in newest_first if wanted in (file.name.casefold(), file.id)]
    like = [file for file in newest_first if wanted in file.name.casefold()]
    if not (called or len({file.name for file in like}) == 1):
        names = ", ".join(dict.fromkeys(quote_name(file.name) for file in newest_first[:MOST_NAMED]))
        raise ToolError(f"There is no file {quote_name(name)} in this conversation. There are: {names or 'none'}.")
    return (called or like)[0]


def parts_named(file: FileOutline, named: str) -> list[PartOutline]:
    """In the order of the file. Bare numbers are those of parts. Raises ``ToolError``."""
    if not file.parts:
        raise ToolError(f"Nothing of {quote_name(file.name)} could be read. {file.problem}".strip())
    try:
        numbers = {*read_ranges(named.strip(), most=file.parts[-1].number)}
        parts = [part for part in file.parts if part.number in numbers]
    except ValueError:
        parts = list(_called(file, named))
    if not parts:
        last = file.parts[-1]
        raise ToolError(
            f"{quote_name(file.name)} has no part {quote_name(named)}. It has parts 1 to {last.number}: {_labels(file.parts)}. "
            'Name numbers, such as "12-14", or the label of one.'
        )
    return sorted({part.number: part for part in parts}.values(), key=lambda part: part.number)


def _called(file: FileOutline, named: str) -> Iterator[PartOutline]:
    return (part for group in parts_called(named, file) for part in group)


def _that_fit(file: FileOutline, parts: Sequence[PartOutline], room: int) -> list[PartOutline]:
    """The first of them that fit the room together, with the words around them."""
    left = room - _excerpt(file, ()).tokens
    taken = accumulate(part.sent_tokens for part in parts)
    return [part for part, tokens in zip(parts, taken, strict=True) if tokens <= left]


def _excerpt(file: FileOutline, parts: Sequence[PartOutline]) -> FileExcerpt:
    return FileExcerpt(file=file, numbers=tuple(part.number for part in parts))


def _notes(there: Sequence[PartOutline], missing: Sequence[PartOutline], *, has_room: bool) -> Iterator[str]:
    if there:
        yield f"Given above already: {_numbers(there)}."
    if missing and has_room:
        yield f"Not given here, as one call gives no more: {_numbers(missing)}. Call again for what you need of it."
    elif missing:
        yield (
            f"Not given, as there is no room for more in this reply: {_numbers(missing)}. Answer from what you have, and say "
            "what you have not read."
        )


def _numbers(parts: Sequence[PartOutline]) -> str:
    return f"{'parts' if len(parts) > 1 else 'part'} {write_ranges([part.number for part in parts])}"


def _labels(parts: Sequence[PartOutline]) -> str:
    first, last = parts[0].label, parts[-1].label
    return first if len(parts) == 1 else f"{first} to {last}"


TOOL = Tool(
    name=READ_FILE,
    description=(
        "Read parts of a file of this conversation. Of a long file you are given but some parts, and a list of the others: "
        "read what the question needs before you say that something is not in it. One call gives up to about 8,000 "
        "tokens, and says what of the parts is missing."
    ),
    schema={
        "type": "object",
        "properties": {
            "file": {"type": "string", "minLength": 1, "description": "The file's name, such as report.pdf."},
            "parts": {
                "type": "string",
                "minLength": 1,
                "maxLength": 300,
                "description": 'Numbers of parts, such as "12", "12-14" or "3, 7-9", a page, such as "p. 12", or the label of '
                "one.",
            },
        },
        "required": ["file", "parts"],
        "additionalProperties": False,
    },
    run=run,
    doing="Reading a file",
    reads_files=True,
)
