"""The audit record, for auditors and their programs."""

from typing import Annotated, Any, TypedDict

from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import scopes
from conversations.audit import ocsf
from conversations.models import AuditEvent, AuditKind, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice, Moment, Parameter
from conversations.rest.serializers import described
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.shapes import Id, Time, fill


class AuditAnswer(TypedDict):
    """Something that somebody did, or was refused. It names people and things by id, and holds no content."""

    id: Annotated[Id, "Id of the event."]
    at: Annotated[Time, "When it happened."]
    kind: Annotated[str, "What it was: `sign_in`, `token_made`, `content_accessed`, …"]
    outcome: Annotated[str, AuditEvent.Outcome, "How it ended."]
    actor_kind: Annotated[str, AuditEvent.Actor, "Who did it."]
    actor: Annotated[int | None, "Id of the user, of a token its user's; null: nobody who is known."]
    actor_name: Annotated[
        str, "User name of who did it: as it is now, or of staff as it was then. Empty: deleted since."
    ]
    target_kind: Annotated[str, "What kind of thing it was done to, such as `auth.User`; may be empty."]
    target: Annotated[str, "Id of that. It may be deleted since."]
    address: Annotated[str, "Network address that it came from; empty: none, or none is kept."]
    request_id: Annotated[str, "Of the request that did it."]
    details: Annotated[dict[str, Any], "Ids, names of fields and counts."]
    number: Annotated[int | None, "Place in the chain; null: it is sealed within seconds."]
    digest: Annotated[str | None, "SHA-256 of the digest before it and of this event, in hexadecimal."]


class AuditList(APIView):
    scopes = {"GET": Scope.STAFF_AUDIT}
    pagination_class = ordered_by("-id")
    kind = Choice("kind", AuditKind.values, "Only events of this kind.")
    outcome = Choice("outcome", AuditEvent.Outcome.values, "Only those that ended so.")
    actor = Parameter("actor", "Only what this user did: the id.")
    target = Parameter("target", "Only what was done to the thing of this id.")
    since = Moment("since", "Only from this time on.")
    until = Moment("until", "Only from before this time.")

    @describe(responses=described(AuditAnswer, many=True), parameters=[kind, outcome, actor, target, since, until])
    def get(self, request: Request) -> Response:
        """For auditors: who did what, newest first. Takes the right to see audit events; a token needs `staff:audit`."""
        if not caller(request).has_perm(scopes.AUDIT):
            raise PermissionDenied
        wanted: dict[str, Any] = {
            "kind": self.kind.read(request),
            "outcome": self.outcome.read(request),
            "actor": self._actor(request),
            "target_id": self.target.text(request),
        }
        rows = AuditEvent.objects.filter(**{name: value for name, value in wanted.items() if value is not None})
        if since := self.since.read(request):
            rows = rows.filter(id__gte=lowest_uuid7(since))
        if until := self.until.read(request):
            rows = rows.filter(id__lt=lowest_uuid7(until))
        return self.page(request, rows, _objects)

    def _actor(self, request: Request) -> int | None:
        text = self.actor.text(request)
        if text is None:
            return None
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise self.actor.refuse("the id of a user")
        return int(text)


def _objects(events: list[AuditEvent]) -> list[AuditAnswer]:
    names = ocsf.names_of(events)
    return [
        fill(
            AuditAnswer,
            event,
            actor=event.actor_id,
            actor_name=names.get(event.actor_id or 0, event.actor_name),
            target=event.target_id,
            digest=bytes(event.digest).hex() if event.digest else None,
        )
        for event in events
    ]
