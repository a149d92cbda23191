"""What the page of one artifact shows: its versions, newest first, each with what made it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Subquery, Value
from django.db.models.functions import Left

from artifacts.models import Artifact
from conversations.models import ContextSnapshot
from conversations.staff.thread_page import position
from conversations.wire.artifacts import version_rows

VERSIONS_SHOWN = 20
EXCERPT_CHARS = 10_000


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    """``text`` is the content, cut unless the page is of this one."""

    row: Any
    text: str

    @property
    def is_cut(self) -> bool:
        return len(self.text) < int(self.row.size)


@dataclass(frozen=True, kw_only=True)
class ArtifactPage:
    versions: Sequence[VersionRow]
    older: int | None
    is_newest: bool


def artifact_page(artifact: Artifact, *, before: str, version: str, shown: bool) -> ArtifactPage:
    """The newest versions, those before a number, or one of them whole. What they say only if ``shown``."""
    stored = version_rows(artifact.user_id, artifact.versions.all()).annotate(
        request=request_of("reply_id", "created_at")
    )
    number, end = position(version), position(before)
    if number is not None:
        whole = stored.filter(number=number).annotate(text=F("content") if shown else Value(""))
        return ArtifactPage(versions=[_version_row(row) for row in whole], older=None, is_newest=False)
    if end is not None:
        stored = stored.filter(number__lt=end)
    cut = stored.annotate(text=Left("content", EXCERPT_CHARS) if shown else Value(""))
    rows = list(cut.order_by("-number")[: VERSIONS_SHOWN + 1])
    versions = [_version_row(row) for row in rows[:VERSIONS_SHOWN]]
    older = versions[-1].row.number if len(rows) > VERSIONS_SHOWN else None
    return ArtifactPage(versions=versions, older=older, is_newest=end is None)


def request_of(reply: str, saved_at: str) -> Subquery:
    """The model request that made a version: the newest one of its reply when it was saved."""
    snapshots = ContextSnapshot.objects.filter(reply=OuterRef(reply), created_at__lte=OuterRef(saved_at))
    snapshots = snapshots.exclude(purpose=ContextSnapshot.Purpose.REWRITE)
    return Subquery(snapshots.order_by("-created_at").values("id")[:1])


def _version_row(row: Any) -> VersionRow:
    return VersionRow(row=row, text=row.text)
