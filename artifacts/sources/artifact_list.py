"""What exists beside the thread: the model is told, as the requests that made it are left out. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.context.excerpts import bullet
from conversations.context.fitting import Section
from conversations.context.reasons import Reason
from conversations.context.token_estimate import estimate_tokens
from conversations.providers.base import ARTIFACTS
from memory.sources.sections import TierItem

MOST_LISTED = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedArtifact:
    """An artifact of the thread by its newest version."""

    id: str
    title: str
    kind: str
    version: int


@dataclass(frozen=True, kw_only=True)
class ArtifactListing:
    sections: Sequence[Section] = ()
    items: Sequence[TierItem] = ()


def list_artifacts(artifacts: Sequence[ListedArtifact]) -> ArtifactListing:
    """The section that stands beside the message, not before the history: it changes whenever something is made, and the
    provider's cache would break (C3)."""
    if not artifacts:
        return ArtifactListing()
    lines = {one.id: bullet(f"“{one.title}” ({one.kind}, version {one.version}, id {one.id})") for one in artifacts}
    return ArtifactListing(
        sections=[Section.of("artifacts", "\n".join([ARTIFACTS, *lines.values()]))],
        items=[
            TierItem(kind="artifact", id=id, included=True, reason=Reason.LISTED, tokens=estimate_tokens(line))
            for id, line in lines.items()
        ],
    )
