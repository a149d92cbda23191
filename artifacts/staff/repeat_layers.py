"""The four layers that keep an artifact from being made twice (F9), and what each of them did in one model request."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, Q, Value
from django.utils.translation import gettext

from artifacts.models import ArtifactVersion
from conversations.context.reasons import Reason
from conversations.models import Message
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.snapshot.evidence import Evidence


@dataclass(frozen=True, kw_only=True)
class VersionLink:
    """A version of an artifact. Without a ``title`` where that may not be shown."""

    artifact: UUID
    number: int
    title: str


@dataclass(frozen=True, kw_only=True)
class Layer:
    """``acted`` tells whether it changed this request, ``artifacts`` are those on whose account it did."""

    name: str
    acted: bool
    told: str
    artifacts: Sequence[VersionLink] = ()


def layers(evidence: Evidence) -> list[Layer]:
    """None where the assistant makes no artifacts and none was left out."""
    duplicates = evidence.body["against_duplicates"]
    if not any(duplicates.values()):
        return []
    turns = duplicates["filtered_turns"]
    listed = (
        gettext("They stand in the system text")
        if duplicates["rules"]
        else gettext("The assistant has no tool for artifacts")
    )
    offered = (
        gettext("It was offered with its wording")
        if duplicates["tool_wording"]
        else gettext("The tool was not offered")
    )
    filtered = (
        filled("{turns} left out", turns=display.with_noun(turns, "turn"))
        if turns
        else gettext("No fulfilled request in reach")
    )
    silent = (
        gettext("This request is one: no turn of the thread asked for it")
        if duplicates["silent"]
        else gettext("No: it answers a turn")
    )
    return [
        Layer(name=gettext("Rules"), acted=duplicates["rules"], told=listed),
        Layer(name=gettext("Tool description"), acted=duplicates["tool_wording"], told=offered),
        Layer(name=gettext("Filter"), acted=turns > 0, told=filtered, artifacts=fulfilling(evidence)),
        Layer(name=gettext("Silent generation"), acted=duplicates["silent"], told=silent),
    ]


def fulfilling(evidence: Evidence) -> list[VersionLink]:
    """The versions by whose provenance turns were left out. Those that only the clock tells of are not looked for."""
    filtered = [
        item["id"]
        for item in evidence.items
        if item["kind"] == "message" and item["reason"] == Reason.FULFILLED_ARTIFACT
    ]
    if not filtered:
        return []
    replies = Message.objects.filter(id__in=filtered, reply__isnull=False).values("reply")
    made = Q(message__in=filtered) | Q(reply__in=replies)
    versions = ArtifactVersion.objects.filter(made, thread=evidence.snapshot.thread_id, artifact__deleted_at=None)
    title = F("artifact__title") if evidence.shown else Value("")
    rows = versions.order_by("id").values_list("artifact", "number", title)
    return [VersionLink(artifact=artifact, number=number, title=title) for artifact, number, title in rows]
