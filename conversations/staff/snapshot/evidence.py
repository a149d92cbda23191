"""What the page of a model request rests on: read once, in few statements, and without any words where none may be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Subquery

from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.snapshots import RecordedTexts
from conversations.context.render.rendering import digest
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot, Message
from conversations.providers.base import Payload

Item = dict[str, Any]
TURN_KINDS = ("message", "range")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """``body`` is the snapshot body of the contract without its request. Where nothing may be shown there are no texts in
    it, none in ``material``, and neither ``request`` nor the text of the ``answer``: what isn't here can't be shown."""

    snapshot: ContextSnapshot
    shown: bool
    body: Mapping[str, Any]
    material: RecordedTexts
    request: Payload | None
    can_be_rebuilt: bool
    proven: bool
    answer: Message | None

    @property
    def turns(self) -> dict[int, Turn]:
        """Those that were sent, by their position."""
        return {turn.position: turn for turn in self.material.turns}

    @property
    def items(self) -> list[Item]:
        items: list[Item] = self.body["items"]
        return items

    def text(self, sha256: str) -> str:
        return self.material.texts.get(sha256, "")


@dataclass(frozen=True, kw_only=True)
class Relatives:
    """The requests before and after in the thread, and the others of the same reply, oldest first."""

    previous: ContextSnapshot | None
    next: ContextSnapshot | None
    others: Sequence[ContextSnapshot]


def evidence_of(snapshot: ContextSnapshot, *, shown: bool) -> Evidence:
    sent, near = snapshots.sent_places(snapshot), snapshot_api.near_places(snapshot)
    of_reply = Q(reply=snapshot.reply_id) if snapshot.reply_id else snapshots.NOWHERE
    messages = Message.objects.filter(sent | near | of_reply, thread_id=snapshot.thread_id).order_by("position")
    included = {
        place for run in snapshots.runs_of(snapshot) if run.included for place in range(run.first, run.last + 1)
    }
    turns = list(messages)
    whole = snapshots.material_from(snapshot, [turn for turn in turns if turn.position in included])
    request = snapshot_api.rebuilt(snapshot, whole)
    body = whole if shown else whole.without_words(but=bytes(snapshot.items).hex() if snapshot.items else "")
    answer = next((turn for turn in turns if snapshot.reply_id and turn.reply_id == snapshot.reply_id), None)
    listed = [turn for turn in turns if turn.position not in included and turn is not answer]
    if answer and not shown:
        answer.text, answer.content = "", None
    return Evidence(
        snapshot=snapshot,
        shown=shown,
        body=snapshot_api.account(snapshot, body, listed),
        material=body,
        request=request if shown else None,
        can_be_rebuilt=request is not None,
        proven=request is not None and digest(request) == bytes(snapshot.digest),
        answer=answer,
    )


def is_turn_of_thread(item: Item) -> bool:
    """Whether it is a turn in its place; what was recalled stands beside the message."""
    return item["kind"] in TURN_KINDS and "thread" not in item


def relatives_of(snapshot: ContextSnapshot) -> Relatives:
    """In one statement."""
    condition = Q(pk=Subquery(beyond(snapshot, "lt").values("pk")[:1]))
    condition |= Q(pk=Subquery(beyond(snapshot, "gt").values("pk")[:1]))
    if snapshot.reply_id:
        condition |= Q(reply=snapshot.reply_id)
    snapshots = ContextSnapshot.objects.filter(condition).exclude(pk=snapshot.pk).order_by("created_at", "id")
    near = list(snapshots.only("thread", "reply", "purpose", "round", "created_at", "rewriting", "additions"))
    here = (snapshot.created_at, snapshot.pk)
    return Relatives(
        previous=next((each for each in reversed(near) if (each.created_at, each.pk) < here), None),
        next=next((each for each in near if (each.created_at, each.pk) > here), None),
        others=[each for each in near if snapshot.reply_id and each.reply_id == snapshot.reply_id],
    )


def beyond(snapshot: ContextSnapshot, compare: str) -> QuerySet[ContextSnapshot]:
    """The requests of the thread before or after this one, the nearest first."""
    places = Q(**{f"created_at__{compare}": snapshot.created_at})
    places |= Q(**{"created_at": snapshot.created_at, f"id__{compare}": snapshot.pk})
    order = ["created_at", "id"] if compare == "gt" else ["-created_at", "-id"]
    return ContextSnapshot.objects.filter(places, thread=snapshot.thread_id).order_by(*order)
