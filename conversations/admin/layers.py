"""The four layers that keep an artifact from being made twice (F9), and what each of them did in one model request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from artifacts.models import ArtifactVersion
from conversations.admin import display
from conversations.context.reasons import Reason
from conversations.models import ContextSnapshot, Message


@dataclass(frozen=True, kw_only=True)
class Layer:
    """``acted`` tells whether it changed this request, ``artifacts`` are those on whose account it did."""

    name: str
    acted: bool
    told: str
    artifacts: Sequence[ArtifactVersion] = ()


def layers(snapshot: ContextSnapshot, body: dict[str, Any]) -> list[Layer]:
    """None where the assistant makes no artifacts and none was left out."""
    duplicates = body["against_duplicates"]
    if not any(duplicates.values()):
        return []
    turns = duplicates["filtered_turns"]
    listed = "They stand in the system text" if duplicates["rules"] else "The assistant has no tool for artifacts"
    offered = "It was offered with its wording" if duplicates["tool_wording"] else "The tool was not offered"
    filtered = f"{display.counted(turns, 'turn')} left out" if turns else "No fulfilled request in reach"
    silent = (
        "This request is one: no turn of the thread asked for it" if duplicates["silent"] else "No: it answers a turn"
    )
    return [
        Layer(name="Rules", acted=duplicates["rules"], told=listed),
        Layer(name="Tool description", acted=duplicates["tool_wording"], told=offered),
        Layer(name="Filter", acted=turns > 0, told=filtered, artifacts=fulfilling(snapshot, body)),
        Layer(name="Silent generation", acted=duplicates["silent"], told=silent),
    ]


def fulfilling(snapshot: ContextSnapshot, body: dict[str, Any]) -> list[ArtifactVersion]:
    """The versions by whose provenance turns were left out. Those that only the clock tells of are not looked for."""
    filtered = [
        item["id"]
        for item in body["items"]
        if item["kind"] == "message" and item["reason"] == Reason.FULFILLED_ARTIFACT
    ]
    if not filtered:
        return []
    replies = Message.objects.filter(id__in=filtered, reply__isnull=False).values("reply")
    made = Q(message__in=filtered) | Q(reply__in=replies)
    versions = ArtifactVersion.objects.filter(made, thread=snapshot.thread_id, artifact__deleted_at=None)
    return list(versions.select_related("artifact").defer("content").order_by("id"))
