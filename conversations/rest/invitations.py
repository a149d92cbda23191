"""Invitations, for staff and managers of groups and their programs."""

from typing import Annotated, TypedDict

from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.accounts import freshness, invitations
from conversations.errors import FreshSignInNeeded, InvitationNotFound
from conversations.models import Invitation, Scope
from conversations.rest.base import APIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime import clock
from conversations.runtime.shapes import Id, Time, fill
from conversations.web.invitations import InvitationForm


class NewInvitation(TypedDict, total=False):
    groups: Annotated[list[int], {"default": []}, "Ids of the groups to join. Managers name at least one of theirs."]
    email: Annotated[
        str,
        {"default": "", "allow_blank": True, "max_length": 254},
        "The mail address that it is bound to, which whoever uses it has to prove. Empty: whoever has the link.",
    ]
    uses: Annotated[
        int, {"default": 1, "min_value": 1, "max_value": invitations.MOST_USES}, "How many people may use it."
    ]
    days: Annotated[
        int,
        {"default": invitations.DAYS, "min_value": 1, "max_value": invitations.MOST_DAYS},
        "How many days it works.",
    ]


class InvitationUseAnswer(TypedDict):
    user: Annotated[int, "Id of the user."]
    username: Annotated[str, "Their name."]
    at: Annotated[Time, "When they used it."]


class InvitationAnswer(TypedDict):
    id: Annotated[Id, "Id of the invitation."]
    groups: Annotated[list[str], "Names of the groups that whoever uses it joins."]
    email: Annotated[str, "The mail address that it is bound to; empty: none."]
    most_uses: Annotated[int, "How many people may use it."]
    uses: Annotated[int, "How many have."]
    used_by: Annotated[list[InvitationUseAnswer], "Who has; without those whose account is deleted."]
    made_by: Annotated[str, "User name of who made it."]
    works: Annotated[bool, "False: it expired, was used up or was revoked, or who made it may invite no more."]
    created_at: Annotated[Time, "When it was made."]
    expires_at: Annotated[Time, "From then on it works no more."]
    revoked_at: Annotated[Time | None, "When it was revoked."]


class CreatedInvitation(InvitationAnswer):
    url: Annotated[str, "The link. Shown once; also mailed where it is bound to an address and mail is set up."]


class InvitationList(APIView):
    scopes = {"GET": Scope.STAFF_INVITATIONS, "POST": Scope.STAFF_INVITATIONS}
    pagination_class = ordered_by("-id")

    @describe(responses=described(InvitationAnswer, many=True))
    def get(self, request: Request) -> Response:
        """For staff who may invite, and managers of groups: the invitations that the caller made, newest first. A token
        needs `staff:invitations`."""
        _may(request)
        return self.page(request, invitations.made_by(caller(request)), lambda page: [_object(each) for each in page])

    @describe(request=described(NewInvitation), responses={201: described(CreatedInvitation)})
    def post(self, request: Request) -> Response:
        """Make an invitation. With a session, where the person has proved who they are within five minutes."""
        _may(request)
        fields = valid(NewInvitation, request)
        if token_of(request) is None and not freshness.is_fresh(request._request, caller(request)):
            raise FreshSignInNeeded
        form = InvitationForm(fields, maker=caller(request))
        if not form.is_valid():
            raise exceptions.ValidationError(
                {name: [str(each) for each in errors] for name, errors in form.errors.items()}
            )
        invitation = invitations.make(caller(request), form.plan())
        return Response({**_object(invitation), "url": invitations.address_of(invitation.secret)}, status=201)


class InvitationDetail(APIView):
    scopes = {"DELETE": Scope.STAFF_INVITATIONS}

    @describe(responses={204: None})
    def delete(self, request: Request, invitation_id: str) -> Response:
        """Revoke an invitation, for good. Whoever has used it stays."""
        id = threads.identifier(invitation_id, InvitationNotFound)
        if not invitations.revoke(invitations.made_by(caller(request)).filter(pk=id)):
            raise InvitationNotFound
        return Response(status=204)


def _may(request: Request) -> None:
    if not invitations.may_invite(caller(request)):
        raise exceptions.PermissionDenied


def _object(invitation: Invitation) -> InvitationAnswer:
    used_by = [
        fill(InvitationUseAnswer, use, user=use.user_id, username=use.user.get_username())
        for use in invitation.used_by.all()
    ]
    return fill(
        InvitationAnswer,
        invitation,
        groups=[group.name for group in invitation.groups.all()],
        used_by=used_by,
        made_by=invitation.made_by.get_username(),
        works=not invitations.has_ended(invitation, clock.now()),
    )
