"""What a request was given of each file, and what not, by parts."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.context.reasons import Reason
from conversations.context.snapshot_shapes import FileInRequestAnswer


@dataclass(frozen=True, kw_only=True)
class FileFate:
    """Some parts of a file. ``position`` is the turn that they stand in, 0 where they were left out."""

    parts: str
    fate: str
    reason: str
    position: int = 0
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class RequestFile:
    """``name`` is empty where it may not be shown or the file is gone."""

    id: str
    name: str
    is_there: bool
    parts: int
    fates: Sequence[FileFate]


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
                    FileFate(parts=row["parts"], fate="left out", reason=Reason(row["reason"]).item_label)
                    for row in file["left_out"]
                ),
            ],
        )
        for file in files
    ]
