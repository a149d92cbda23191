"""What a request was given of each file, and what not, by parts."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.context.fates import PICTURE, PartGroup, part_groups
from conversations.context.file_excerpts import write_ranges
from conversations.context.snapshot_shapes import FileInRequestAnswer


@dataclass(frozen=True, kw_only=True)
class FileFate:
    """Some parts of a file. ``position`` is the turn that they stand in, 0 where that is none."""

    parts: str
    fate: str
    reason: str
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
                        parts=given["parts"] or "none",
                        fate="given",
                        reason="the whole file" if given["whole"] else "with an outline" if given["outlined"] else "",
                        position=given["position"],
                        tokens=given["tokens"],
                    )
                    for given in file["given"]
                ),
                *(
                    FileFate(
                        parts=row["parts"], fate="given", reason="read by the model, with a tool", tokens=row["tokens"]
                    )
                    for row in file["read"]
                ),
                *(
                    FileFate(parts=write_ranges(group.numbers), fate="left out", reason=_why(group))
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


def _why(group: PartGroup) -> str:
    label = group.reason.item_label
    return f"their pictures: {label[0].lower()}{label[1:]}" if group.kind == PICTURE else label
