"""Invitations of everybody: whom they let in, and who used them. They are made at /account/invitations/, as each acts for who
made it."""

from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from conversations.accounts import invitations
from conversations.models import Invitation
from conversations.runtime import clock
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, user_column


@admin.register(Invitation)
class InvitationAdmin(InspectionAdmin[Invitation]):
    list_display = ["created", "maker", "to_groups", "bound_to", "state", "expires", "used"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["id__exact", "email", "made_by__username"]
    search_help_text = "The id, a part of the mail address, or the user name of who made it."
    ordering = ["-id"]
    fields = ["maker", "to_groups", "bound_to", "state", "created", "expires", "revoked", "used", "people"]
    actions = ["revoke"]
    empty_text = "No invitations. Staff with the right and managers of groups make them at /account/invitations/."

    maker = user_column("made_by")
    created = column("created", "created_at", display.when, sort="created_at")
    expires = column("expires", "expires_at", display.when, sort="expires_at")
    revoked = column("revoked", "revoked_at", display.when)
    bound_to = column("only for", "email", lambda email: email or gettext("whoever has the link"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related(*invitations.LISTED)

    @admin.display(description="groups")
    def to_groups(self, invitation: Invitation) -> str:
        return ", ".join(group.name for group in invitation.groups.all()) or display.NOTHING

    @admin.display
    def state(self, invitation: Invitation) -> str:
        return invitations.state(invitation, clock.now())

    @admin.display
    def used(self, invitation: Invitation) -> str:
        return filled("{uses} of {most}", uses=invitation.uses, most=invitation.most_uses)

    @admin.display(description="used by")
    def people(self, invitation: Invitation) -> str:
        uses = invitation.used_by.all()
        return ", ".join(f"{use.user.get_username()} ({display.moment(use.at)})" for use in uses) or display.NOTHING

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_invitation")

    @admin.action(
        permissions=["revoke"],
        description="Revoke this invitation",
        description_plural="Revoke the selected invitations",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        chosen = list(queryset.filter(revoked_at=None))
        count = invitations.revoke(queryset)
        for invitation in chosen:
            self.log_change(request, invitation, "Revoked.")
        self.message_user(request, filled("Revoked: {mine}. They stop working at once.", mine=count), messages.SUCCESS)
