"""What became of every part of a thread's files in a request, as a snapshot keeps it. Pure.

``turns`` are the excerpts of the turns that were sent, by position: file, parts, whether outlined, tokens of the model.
``read`` are the parts that the reply has read since by a tool. ``tokens`` is what they take in all. ``left_out`` are the other
parts, by file and reason. Each part of each file stands in one of these, once; of a project's files those of which nothing
bears on the message are counted alone (``beyond``: files and parts). ``unseen`` are those of the first two whose
pictures the model can't see: parts that are nothing else, and parts that say something besides.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NotRequired, TypedDict

from conversations.context.files.citations import Citation
from conversations.context.files.excerpts import (
    FileExcerpt,
    FileForm,
    FileOutline,
    PartKey,
    least_score,
    read_ranges,
    write_all_but,
    write_ranges,
)
from conversations.context.files.thread_files import ThreadFiles
from conversations.context.reasons import Reason
from conversations.context.record.snapshot_shapes import FileCitedAnswer, FileInRequestAnswer, UnreadAnswer
from conversations.context.tokens.factor import Factor
from conversations.context.turns.turn import Turn

type GivenRow = tuple[str, str, bool, int]
type ReadRow = tuple[str, str, int]
type LeftOutRow = tuple[str, str, str]
type UnseenRow = tuple[str, str, str]


class KnownFile(NamedTuple):
    """What is said of a file that there still is, beside its parts."""

    name: str
    kind: str = ""
    unread: Sequence[UnreadAnswer] = ()


class PackedFiles(TypedDict):
    pictures: bool
    readable: NotRequired[bool]
    documents: NotRequired[bool]
    fenced: NotRequired[bool]
    accounted: NotRequired[bool]
    tokens: int
    turns: dict[str, list[GivenRow]]
    read: NotRequired[list[ReadRow]]
    left_out: list[LeftOutRow]
    beyond: NotRequired[tuple[int, int]]
    unseen: NotRequired[list[UnseenRow]]


def pack(turns: Sequence[Turn], read: Sequence[FileExcerpt], files: ThreadFiles, factor: Factor) -> PackedFiles | None:
    """Of the ``turns`` that are sent, and what the reply has ``read`` since. ``None`` where there are no files."""
    if not (files.outlines or files.closed or any(files.beyond)):
        return None
    excerpts = [*(excerpt for turn in turns for excerpt in turn.files), *read]
    given = {(excerpt.file.id, number) for excerpt in excerpts for number in excerpt.numbers}
    least = least_score(files.scores)
    packed = PackedFiles(
        pictures=files.form.pictures,
        readable=files.form.readable,
        documents=files.form.documents,
        fenced=files.form.fenced,
        accounted=files.form.accounted,
        tokens=factor.of_estimate(sum(excerpt.tokens for excerpt in excerpts)),
        turns={
            str(turn.position): [_given_row(excerpt, factor) for excerpt in turn.files] for turn in turns if turn.files
        },
        read=[(excerpt.file.id, write_ranges(excerpt.numbers), factor.of_estimate(excerpt.tokens)) for excerpt in read],
        left_out=[
            *(row for file in files.outlines.values() for row in _left_out(file, given, files.scores, least)),
            *((id, _every(count), Reason.OTHER_PROJECT.value) for id, count in files.closed.items()),
        ],
        unseen=[] if files.form.pictures else [*_unseen(files.outlines.values(), given)],
    )
    if any(files.beyond):
        packed["beyond"] = files.beyond
    return packed


def _every(count: int) -> str:
    """All parts of a file that has so many."""
    return write_ranges(range(1, count + 1))


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
    told = {reason: write_ranges(parts) for reason, parts in numbers.items()}
    if file.is_partial:
        taken = [part.number for part in file.parts if part.number not in numbers.get(Reason.UNRELATED, ())]
        told[Reason.UNRELATED] = write_all_but(taken, file.part_count)
    return [(file.id, ranges, reason.value) for reason, ranges in told.items() if ranges]


def _unseen(files: Iterable[FileOutline], given: Collection[PartKey]) -> Iterable[UnseenRow]:
    for file in files:
        parts = [part for part in file.parts if part.has_picture and (file.id, part.number) in given]
        alone, beside = ([part.number for part in parts if part.has_text is says] for says in (False, True))
        if parts:
            yield file.id, write_ranges(alone), write_ranges(beside)


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
    return {row[0] for rows in packed["turns"].values() for row in rows} | {*_read(packed)} if packed else set()


def form_of(packed: PackedFiles) -> FileForm:
    """How files were written in the request."""
    return FileForm(
        pictures=packed["pictures"],
        readable=packed.get("readable", False),
        documents=packed.get("documents", False),
        fenced=packed.get("fenced", False),
        accounted=packed.get("accounted", False),
    )


def _read(packed: PackedFiles) -> dict[str, list[int]]:
    """What the reply had read by a tool, by file."""
    return {id: [*read_ranges(ranges)] for id, ranges, _ in packed.get("read", ())}


def given_parts(packed: PackedFiles | None) -> set[PartKey]:
    """What the model could read or see: in the turns that were sent, and what the reply had read since."""
    rows = packed.get("unseen", ()) if packed else ()
    return sent_parts(packed) - {(id, number) for id, alone, _ in rows for number in read_ranges(alone)}


def sent_parts(packed: PackedFiles | None) -> set[PartKey]:
    """The same with the pictures that the model can't see, and in whose place words stand."""
    if packed is None:
        return set()
    rows = [*(row for rows in packed["turns"].values() for row in rows), *packed.get("read", ())]
    return {(id, number) for id, ranges, *_ in rows for number in read_ranges(ranges)}


def numbers_in(packed: PackedFiles) -> dict[str, set[int]]:
    """The parts of each file that were sent, read or left out for want of room."""
    numbers: dict[str, set[int]] = {}
    for id, number in sent_parts(packed) | over_budget(packed):
        numbers.setdefault(id, set()).add(number)
    return numbers


def over_budget(packed: PackedFiles) -> set[PartKey]:
    """What bore on the message, and was left out."""
    rows = (row for row in packed["left_out"] if row[2] == Reason.OVER_BUDGET)
    return {(id, number) for id, ranges, _ in rows for number in read_ranges(ranges)}


def beyond_of(packed: PackedFiles | None) -> tuple[int, int]:
    """How many other files the project had, and parts of them, of which nothing bore on the message."""
    files, parts = packed.get("beyond", (0, 0)) if packed else (0, 0)
    return files, parts


def all_files(packed: PackedFiles) -> set[str]:
    """The ids of all files of the thread then."""
    return files_named(packed) | {row[0] for row in packed["left_out"]}


def answer(
    packed: PackedFiles | None, known: Mapping[str, KnownFile], citations: Sequence[Citation] = ()
) -> list[FileInRequestAnswer]:
    """The same as REST tells it, with what is known of the files that there still are, and what the reply's text cites."""
    if packed is None:
        return []
    files: dict[str, FileInRequestAnswer] = {}

    def of(id: str) -> FileInRequestAnswer:
        empty: FileInRequestAnswer = {
            "id": id,
            "name": known[id].name if id in known else None,
            "parts": 0,
            "given": [],
            "read": [],
            "left_out": [],
            "unread": [*known[id].unread] if id in known else [],
            "without_pictures": "",
            "cited": [],
        }
        return files.setdefault(id, empty)

    for position, rows in packed["turns"].items():
        for id, ranges, outlined, tokens in rows:
            of(id)["given"].append(
                {"position": int(position), "parts": ranges, "whole": False, "outlined": outlined, "tokens": tokens}
            )
    for id, ranges, tokens in packed.get("read", ()):
        of(id)["read"].append({"parts": ranges, "tokens": tokens})
    for id, ranges, reason in packed["left_out"]:
        of(id)["left_out"].append({"parts": ranges, "reason": reason})
    for id, alone, beside in packed.get("unseen", ()):
        of(id)["without_pictures"] = beside
        if alone:
            _take_out(of(id), {*read_ranges(alone)})
            of(id)["left_out"].append({"parts": alone, "reason": Reason.UNSEEN.value})
    for file in files.values():
        _complete(file, citations)
    return list(files.values())


def _take_out(file: FileInRequestAnswer, numbers: Collection[int]) -> None:
    for row in (*file["given"], *file["read"]):
        row["parts"] = write_ranges([number for number in read_ranges(row["parts"]) if number not in numbers])


def _complete(file: FileInRequestAnswer, citations: Sequence[Citation]) -> None:
    counts = [len(list(read_ranges(row["parts"]))) for row in (*file["given"], *file["read"], *file["left_out"])]
    file["parts"] = sum(counts)
    for given in file["given"]:
        given["whole"] = len(list(read_ranges(given["parts"]))) == file["parts"] > 0 and not file["unread"]
    file["cited"] = [_cited(citation) for citation in citations if citation["file"] == file["id"]]


def _cited(citation: Citation) -> FileCitedAnswer:
    warning = None
    if citation["part"] is None:
        warning = "There is no such part."
    elif not citation["given"]:
        warning = "The model was not given this part in this reply."
    return {"text": citation["text"], "part": citation["part"], "given": citation["given"], "warning": warning}
