"""What became of every part of a thread's files in a request, as a snapshot keeps it. Pure.

``turns`` are the excerpts of the turns that were sent, by position: file, parts, whether outlined, tokens of the model.
``tokens`` is what they take in all. ``left_out`` are the other parts, by file and reason. Each part of each file stands in one
of the two, once.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from conversations.context.file_excerpts import (
    FileExcerpt,
    FileOutline,
    PartKey,
    least_score,
    read_ranges,
    write_ranges,
)
from conversations.context.file_reads import ThreadFiles
from conversations.context.reasons import Reason
from conversations.context.snapshot_shapes import FileInRequestAnswer
from conversations.context.token_factor import Factor
from conversations.context.windowing import Turn

type GivenRow = tuple[str, str, bool, int]
type LeftOutRow = tuple[str, str, str]


class PackedFiles(TypedDict):
    pictures: bool
    tokens: int
    turns: dict[str, list[GivenRow]]
    left_out: list[LeftOutRow]


def pack(turns: Sequence[Turn], files: ThreadFiles, factor: Factor) -> PackedFiles | None:
    """Of the ``turns`` that are sent. ``None`` where there are no files."""
    if not files.outlines:
        return None
    given = {(excerpt.file.id, number) for turn in turns for excerpt in turn.files for number in excerpt.numbers}
    least = least_score(files.scores)
    return PackedFiles(
        pictures=files.pictures.are_seen,
        tokens=factor.of_estimate(sum(turn.file_tokens for turn in turns)),
        turns={
            str(turn.position): [_given_row(excerpt, factor) for excerpt in turn.files] for turn in turns if turn.files
        },
        left_out=[row for file in files.outlines.values() for row in _left_out(file, given, files.scores, least)],
    )


def _given_row(excerpt: FileExcerpt, factor: Factor) -> GivenRow:
    tokens = factor.of_estimate(excerpt.tokens)
    return excerpt.file.id, write_ranges(excerpt.numbers), excerpt.outlined, tokens


def _left_out(
    file: FileOutline, given: Iterable[PartKey], scores: Mapping[PartKey, float], least: float
) -> Iterable[LeftOutRow]:
    numbers: dict[Reason, list[int]] = {}
    for part in file.parts:
        key = (file.id, part.number)
        if key not in given:
            reason = Reason.OVER_BUDGET if scores.get(key, 0.0) > least else Reason.UNRELATED
            numbers.setdefault(reason, []).append(part.number)
    return [(file.id, write_ranges(parts), reason.value) for reason, parts in numbers.items()]


def standing_in(packed: PackedFiles | None, files: Mapping[str, FileOutline]) -> dict[int, list[FileExcerpt]]:
    """What stood in the turns that were sent, of the files that there still are."""
    turns: Mapping[str, Sequence[Sequence[Any]]] = packed["turns"] if packed else {}
    return {
        int(position): [
            FileExcerpt(file=files[id], numbers=tuple(read_ranges(ranges)), outlined=outlined)
            for id, ranges, outlined, _ in rows
            if id in files
        ]
        for position, rows in turns.items()
    }


def files_named(packed: PackedFiles | None) -> set[str]:
    """The ids of the files that something of was sent."""
    return {row[0] for rows in packed["turns"].values() for row in rows} if packed else set()


def given_parts(packed: PackedFiles | None) -> set[PartKey]:
    """What stood in the turns that were sent."""
    rows = (row for rows in packed["turns"].values() for row in rows) if packed else ()
    return {(id, number) for id, ranges, *_ in rows for number in read_ranges(ranges)}


def all_files(packed: PackedFiles) -> set[str]:
    """The ids of all files of the thread then."""
    return files_named(packed) | {row[0] for row in packed["left_out"]}


def answer(packed: PackedFiles | None, names: Mapping[str, str]) -> list[FileInRequestAnswer]:
    """The same as REST tells it, with the names of the files that there still are."""
    if packed is None:
        return []
    files: dict[str, FileInRequestAnswer] = {}

    def of(id: str) -> FileInRequestAnswer:
        empty: FileInRequestAnswer = {"id": id, "name": names.get(id), "parts": 0, "given": [], "left_out": []}
        return files.setdefault(id, empty)

    for position, rows in packed["turns"].items():
        for id, ranges, outlined, tokens in rows:
            of(id)["given"].append(
                {"position": int(position), "parts": ranges, "whole": False, "outlined": outlined, "tokens": tokens}
            )
    for id, ranges, reason in packed["left_out"]:
        of(id)["left_out"].append({"parts": ranges, "reason": reason})
    for file in files.values():
        counts = [len(list(read_ranges(row["parts"]))) for row in (*file["given"], *file["left_out"])]
        file["parts"] = sum(counts)
        for given in file["given"]:
            given["whole"] = len(list(read_ranges(given["parts"]))) == file["parts"] > 0
    return list(files.values())
