"""Links of people who have left, handed over by who manages a group of theirs."""

from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations import tasks
from conversations.models import Share
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.rest.shares import KINDS, ShowsFields, shows_of
from conversations.runtime.shapes import Id, Time, fill
from conversations.sharing import handover


class LeaverAnswer(TypedDict):
    id: Annotated[int, "Id of the user."]
    username: Annotated[str, "Their user name."]
    links: Annotated[int, "How many links of theirs have neither expired nor been revoked."]


class LeaverShareAnswer(TypedDict):
    """A link without its address and without what it shows: its title only where the link shows it."""

    id: Annotated[Id, "Id of the link."]
    kind: Annotated[str, KINDS, "What it shows."]
    title: Annotated[str, "Empty where the link does not show it."]
    shows: Annotated[ShowsFields, "What it shows beside what was said."]
    views: Annotated[int, "How often it was opened by somebody else."]
    created_at: Annotated[Time, "When it was made."]
    expires_at: Annotated[Time, "From then on it opens nothing."]


class HandOverNeeded(TypedDict):
    to: Annotated[str, {"max_length": 150}, "User name of the new owner."]


class HandOverRequest(HandOverNeeded, total=False):
    shares: Annotated[list[Id], {"max_length": 500}, "Ids of the links; left out: all of them."]


class HandOverAnswer(TypedDict):
    to: Annotated[int, "Id of the new owner."]
    shares: Annotated[list[Id], "Ids of the links that are theirs now. One that shows nothing any more stays behind."]


class LeaverList(APIView):
    pagination_class = ordered_by("username", "id")

    @describe(responses=described(LeaverAnswer, many=True))
    def get(self, request: Request) -> Response:
        """For who manages groups, and staff who may hand over links: people whose account is shut and who have links that
        somebody could take over. Empty for everybody else."""
        rows = handover.leavers_seen_by(caller(request))
        return self.page(request, rows, lambda page: [fill(LeaverAnswer, each) for each in page])


class LeaverShareList(APIView):
    pagination_class = ordered_by("-id")

    @describe(responses=described(LeaverShareAnswer, many=True))
    def get(self, request: Request, leaver_id: str) -> Response:
        """Links of somebody who has left, newest first. What they show is not told, nor where they lead."""
        rows = handover.links_of(handover.leaver_seen_by(caller(request), leaver_id))
        return self.page(request, rows, lambda page: [_object(each) for each in page])

    @describe(request=described(HandOverRequest), responses=described(HandOverAnswer))
    def post(self, request: Request, leaver_id: str) -> Response:
        """Give links of somebody who has left to somebody who is there. What each shows is copied into a thread of the new
        owner's; address, end and views stay, names and figures are shown no more. 400 `cannot_hand_over` where they may not
        get it."""
        user = caller(request)
        leaver = handover.leaver_seen_by(user, leaver_id)
        fields = valid(HandOverRequest, request)
        receiver, ids = handover.hand_over(
            user, leaver, to=fields["to"], share_ids=fields.get("shares"), read_later=tasks.enqueue_reading
        )
        answer: HandOverAnswer = {"to": receiver.pk, "shares": [str(id) for id in ids]}
        return Response(answer)


def _object(share: Share) -> LeaverShareAnswer:
    title = (share.artifact.title if share.artifact else share.thread.title) if share.shows_title else ""
    return fill(LeaverShareAnswer, share, title=title, shows=shows_of(share))
