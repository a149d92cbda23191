"""The pages of invitations: for who makes them, and for who opens one. They need no script."""

from typing import Any
from uuid import UUID

from allauth.socialaccount.adapter import get_adapter
from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import Group, User
from django.contrib.messages import success
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import invitations, mailing, sign_in
from conversations.accounts.sign_up import MESSAGES, Refusal
from conversations.errors import InvitationEnded
from conversations.models import Invitation
from conversations.runtime import clock
from conversations.web import invited, provider_entry
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest

WRONG_MINUTE = 30
"""Addresses of no invitation, from one network."""
PER_PAGE = 50
NO_PROOF = _("This server sends no mail, so nobody could prove that the address is theirs. Leave it empty.")


class InvitationForm(forms.Form):
    """What an invitation is to be. ``maker`` is who makes it."""

    groups = forms.ModelMultipleChoiceField(
        Group.objects.none(), label=_("Groups to join"), required=False, widget=forms.CheckboxSelectMultiple
    )
    email = forms.EmailField(
        label=_("Only for this mail address"),
        required=False,
        max_length=254,
        help_text=_("Empty: for whoever has the link."),
    )
    uses = forms.IntegerField(
        label=_("How many people may use it"), min_value=1, max_value=invitations.MOST_USES, initial=1
    )
    days = forms.IntegerField(
        label=_("Days that it works"),
        min_value=1,
        max_value=invitations.MOST_DAYS,
        initial=invitations.DAYS,
        help_text=_("At most 90."),
    )

    def __init__(self, *args: Any, maker: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups = self.fields["groups"]
        assert isinstance(groups, forms.ModelMultipleChoiceField)
        groups.queryset = invitations.groups_of(maker)
        groups.required = invitations.is_group_needed(maker)
        if not can_prove_addresses():
            self.fields["email"].help_text = NO_PROOF

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if email and not can_prove_addresses():
            raise forms.ValidationError(NO_PROOF)
        return email

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("email") and cleaned.get("uses", 1) > 1:
            self.add_error("uses", gettext("An invitation for one mail address is used once."))
        return cleaned

    def plan(self) -> invitations.Plan:
        fields = self.cleaned_data
        return invitations.Plan(
            groups=list(fields["groups"]), email=fields["email"], uses=fields["uses"], days=fields["days"]
        )


def can_prove_addresses() -> bool:
    """By mail, or by a provider that is trusted to have proven them."""
    return mailing.is_possible() or bool(get_adapter().list_apps(None))


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def listing(request: SignedInRequest) -> HttpResponse:
    """Those that the caller made. A new one is shown in the answer to the form and never again."""
    may_make = invitations.may_invite(request.user)
    if request.method == "POST" and not may_make:
        raise PermissionDenied
    form, made = InvitationForm(request.POST or None, maker=request.user), None
    if form.is_valid():
        made = invitations.make(request.user, form.plan())
        form = InvitationForm(maker=request.user)
    listed = Paginator(invitations.made_by(request.user), PER_PAGE).get_page(request.GET.get("page"))
    now = clock.now()
    context = {
        "form": form,
        "may_make": may_make,
        "made": made,
        "link": invitations.address_of(made.secret) if made else "",
        "was_mailed": bool(made and made.email and mailing.is_possible()),
        "listed": listed,
        "rows": [(each, invitations.state(each, now)) for each in listed],
        "works": invitations.WORKS,
    }
    return render(request, "conversations/invitations.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: SignedInRequest, invitation_id: UUID) -> HttpResponse:
    """Ask first. Answers 404 for what is not theirs to revoke."""
    invitation = get_object_or_404(invitations.made_by(request.user), pk=invitation_id)
    if request.method != "POST":
        return render(request, "conversations/revoke_invitation.html", {"invitation": invitation})
    invitations.revoke(invitations.made_by(request.user).filter(pk=invitation.pk))
    success(request, gettext("Revoked. Its link works no more."))
    return redirect("invitations")


@never_cache
@require_http_methods(["GET", "HEAD"])
def opening(request: HttpRequest, secret: str) -> HttpResponse:
    """Where the link leads. To look at it uses nothing up, so that a mail scanner may."""
    right = sign_in.count_guess(request, "invitation", most=WRONG_MINUTE)
    invitation = invitations.by_secret(secret)
    if invitation is None:
        return _ended(request, status=404)
    right()
    was_mailed = invitations.was_mailed(invitation, request.GET.get("mailed", ""))
    invited.open_invitation(request, invitation, was_mailed=was_mailed)
    return redirect("opened_invitation")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def opened(request: HttpRequest) -> HttpResponse:
    """What it is for, and the ways to use it."""
    invitation = invited.opened(request)
    user = request.user if isinstance(request.user, User) else None
    if invitation is None:
        return redirect("chat") if user else _ended(request, status=404)
    is_in = user is not None and invitation.used_by.filter(user=user).exists()
    if not is_in and invitations.has_ended(invitation, clock.now()):
        return _ended(request, status=410, invitation=invitation)
    if request.method == "POST" and not is_in:
        return _join(request, user, invitation) if user else _begin(request, invitation)
    return _page(request, user, invitation, is_in=is_in)


def _page(
    request: HttpRequest, user: User | None, invitation: Invitation, *, is_in: bool = False, problem: str = ""
) -> HttpResponse:
    context = {
        "invitation": invitation,
        "groups": [group.name for group in invitation.groups.all()],
        "problem": problem,
        "is_in": is_in,
        "passwords": settings.OPENBOOK_PASSWORD_SIGN_IN,
        "providers": [] if user else get_adapter().list_providers(request),
        "sign_in": f"{reverse('account_login')}?{urlencode({'next': reverse('opened_invitation')})}",
    }
    return render(request, "account/invitation.html", context, status=403 if problem else 200)


def _join(request: HttpRequest, user: User, invitation: Invitation) -> HttpResponse:
    if invitation.email and user.email.casefold() != invitation.email.casefold():
        return _page(request, user, invitation, problem=gettext(MESSAGES[Refusal.OTHER_ADDRESS]))
    try:
        invitations.use(invitation.pk, user)
    except InvitationEnded:
        return _ended(request, status=410, invitation=invitation)
    invited.clear(request)
    names = ", ".join(group.name for group in invitation.groups.all())
    success(request, gettext("You are in: %(groups)s.") % {"groups": names} if names else gettext("Welcome."))
    return redirect("account")


def _begin(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """The way to an account that was chosen. It counts from here on that the invitation was accepted."""
    invited.accept(request, str(invitation.pk))
    if "password" in request.POST and settings.OPENBOOK_PASSWORD_SIGN_IN:
        return redirect("account_signup")
    for provider in get_adapter().list_providers(request):
        if provider.sub_id == request.POST.get("provider"):
            address = provider.get_login_url(request, process="login", next=reverse("opened_invitation"))
            return provider_entry.going_on(request, address)
    return redirect("opened_invitation")


def _ended(request: HttpRequest, *, status: int, invitation: Invitation | None = None) -> HttpResponse:
    return render(request, "account/invitation_ended.html", {"invitation": invitation}, status=status)
