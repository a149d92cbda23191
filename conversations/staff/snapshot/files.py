"""What a request was given of each file, and what not, by parts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from conversations.context.files.account import PackedFiles, beyond_of
from conversations.context.files.excerpts import read_ranges, write_ranges
from conversations.context.files.unread import ALL_READ, things
from conversations.context.record.fates import PICTURE, PartGroup, part_groups
from conversations.context.record.snapshot_shapes import FileGivenAnswer, FileInRequestAnswer
from conversations.runtime.wording import filled
from conversations.staff import display


@dataclass(frozen=True, kw_only=True)
class FileFate:
    """Some parts of a file, or ``things`` that are in no part: empty where they may not be named. ``position`` is the turn that
    they stand in, 0 where that is none."""

    fate: str
    reason: str
    parts: str = ""
    things: str = ""
    position: int = 0
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class FileCitation:
    """A part that the reply cites. ``text`` is empty where it may not be shown, ``part`` is 0 where there is none such."""

    text: str
    part: int
    warning: str


@dataclass(frozen=True, kw_only=True)
class RequestFile:
    """``name`` is empty where it may not be shown or the file is gone."""

    id: str
    name: str
    is_there: bool
    parts: int
    fates: Sequence[FileFate]
    citations: Sequence[FileCitation]


def other_files(packed: PackedFiles | None) -> str:
    """That a project has more files than the table tells of; empty where it has none."""
    files, parts = beyond_of(packed)
    if not files:
        return ""
    return filled(
        "Other files of the project: {files}, with {parts} parts. Nothing in them bears on the message.",
        files=display.number(files),
        parts=display.number(parts),
    )


def request_files(files: Sequence[FileInRequestAnswer], *, shown: bool) -> list[RequestFile]:
    return [
        RequestFile(
            id=file["id"],
            name=(file["name"] or "") if shown else "",
            is_there=file["name"] is not None,
            parts=file["parts"],
            fates=[
                *(
                    FileFate(
                        parts=given["parts"] or gettext("none"),
                        fate=gettext("given"),
                        reason=_extent(file, given),
                        position=given["position"],
                        tokens=given["tokens"],
                    )
                    for given in file["given"]
                ),
                *(
                    FileFate(
                        parts=row["parts"],
                        fate=gettext("given"),
                        reason=gettext("read by the model, with a tool"),
                        tokens=row["tokens"],
                    )
                    for row in file["read"]
                ),
                *(
                    FileFate(
                        parts=write_ranges(group.numbers),
                        things=things(group.unread) if group.unread and shown else "",
                        fate=gettext("left out"),
                        reason=_why(group),
                    )
                    for group in part_groups([file], newest=None)
                    if not group.included
                ),
            ],
            citations=[
                FileCitation(
                    text=cited["text"] if shown else "", part=cited["part"] or 0, warning=cited["warning"] or ""
                )
                for cited in file["cited"]
            ],
        )
        for file in files
    ]


def _extent(file: FileInRequestAnswer, given: FileGivenAnswer) -> str:
    if given["whole"]:
        return gettext("the whole file")
    if file["unread"] and len(read_ranges(given["parts"])) == file["parts"]:
        return ALL_READ
    return gettext("with an outline") if given["outlined"] else ""


def _why(group: PartGroup) -> str:
    label = group.reason.item_label
    return filled("their pictures: {label}", label=f"{label[0].lower()}{label[1:]}") if group.kind == PICTURE else label
