"""The pages on which people look after their account. They need no script."""

from functools import partial

from allauth.account import views as allauth_views
from allauth.account.utils import get_next_redirect_url
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import success
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations.accounts import (
    budget_use,
    instructions,
    invitations,
    lifecycle,
    mailing,
    second_factors,
    switches,
    tokens,
)
from conversations.accounts.keeping import keeping_of
from conversations.accounts.managers import groups_managed_by
from conversations.errors import ExportOff
from conversations.files import store
from conversations.holds import coverage
from conversations.models.projects import LONGEST_INSTRUCTIONS
from conversations.runtime.wording import translated
from conversations.sharing import handover
from conversations.web import provider_entry
from conversations.web.entry import must_have_passwords, refused_form
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest
from memory import services
from memory.forgetting.ledger import LedgerAway


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def page(request: SignedInRequest) -> HttpResponse:
    """Where the caller is signed in, what the caller's files take, and what can be changed."""
    context = {
        "page": {"user": {"id": request.user.pk}},
        "linked": provider_entry.linked_accounts(request.user),
        "sign_ins": lifecycle.sign_ins_of(request.user),
        "mail_is_possible": mailing.is_possible(),
        "passwords": settings.OPENBOOK_PASSWORD_SIGN_IN,
        "invites": invitations.may_invite(request.user) or invitations.made_by(request.user).exists(),
        "sees_budgets": budget_use.budgets_seen_by(request.user).exists() or groups_managed_by(request.user).exists(),
        "sees_leavers": handover.may_see(request.user),
        "room": store.room_of(request.user),
        "has_factor": second_factors.has_factor(request.user),
        "has_tokens": tokens.of(request.user).exists(),
        "languages": settings.LANGUAGES,
        "keeping": keeping_of(request.user),
        "instructions": instructions.instructions_of(request.user),
        "longest": LONGEST_INSTRUCTIONS,
        "chosen_language": services.language_of(request.user),
    }
    return render(request, "account/account.html", context)


@never_cache
@login_required
@require_POST
def choose_language(request: SignedInRequest) -> HttpResponse:
    """Of all pages, from now on; empty: as the browser asks."""
    language = request.POST.get("language", "")
    if language in {"", *dict(settings.LANGUAGES)}:
        services.prefer(request.user, language=language)
    return redirect("account")


@never_cache
@login_required
def change_password(request: SignedInRequest) -> HttpResponseBase:
    must_have_passwords()
    return refused_form(allauth_views.password_change(request))


@never_cache
@login_required
def change_password_of_staff(request: SignedInRequest) -> HttpResponse:
    """One form for all people, where guesses at the old password are counted."""
    must_have_passwords()
    return redirect("account_change_password")


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
def set_first_password(request: SignedInRequest) -> HttpResponseBase:
    """For an account that has none."""
    must_have_passwords()
    response: HttpResponseBase = allauth_views.password_set(request)
    return response


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def sign_in_again(request: SignedInRequest) -> HttpResponse:
    """For people who have neither a password nor a second factor: they sign in anew by their provider."""
    return render(request, "account/sign_in_again.html", {"next": get_next_redirect_url(request) or reverse("account")})


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
def change_mail(request: SignedInRequest) -> HttpResponseBase:
    if not mailing.is_possible():
        raise Http404("This server sends no mail, so an address would be of no use.")
    response: HttpResponseBase = allauth_views.email(request)
    return response


@never_cache
@login_required
def reauthenticate(request: SignedInRequest) -> HttpResponseBase:
    must_have_passwords()
    return refused_form(allauth_views.reauthenticate(request))


@never_cache
@login_required
@require_POST
def sign_out(request: SignedInRequest) -> HttpResponse:
    """End one session, by the id of its row, or all but this one and, unless they are to be kept, the access tokens."""
    rows = UserSession.objects.filter(user=request.user).exclude(session_key=request.session.session_key)
    chosen = request.POST.get("sign_in", "")
    if chosen:
        rows = (
            rows.filter(id=int(chosen)) if chosen.isascii() and chosen.isdecimal() and len(chosen) < 19 else rows.none()
        )
    ended = lifecycle.sign_out(rows)
    words = ngettext("%(count)d sign-in ended.", "%(count)d sign-ins ended.", ended) % {"count": ended}
    if not chosen and not request.POST.get("keep_tokens"):
        revoked = tokens.revoke(tokens.of(request.user))
        if revoked:
            tokens_words = ngettext("%(count)d access token revoked.", "%(count)d access tokens revoked.", revoked)
            words += f" {tokens_words % {'count': revoked}}"
    success(request, words)
    return redirect("account")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def export(request: SignedInRequest) -> HttpResponse:
    """The way to take everything along, for whoever has just proven who they are. 403 where that is off."""
    if "export" not in switches.on_for(request.user.pk):
        return render(request, "account/export.html", {"is_off": translated(ExportOff.message)}, status=403)
    page: HttpResponse = fresh_sign_in()(partial(render, template_name="account/export.html"))(request)
    return page


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest) -> HttpResponse:
    """Say what will go, and take the password for it. It goes in a day."""
    context: dict[str, object] = {
        "goes": lifecycle.what_goes(request.user),
        "can_export": "export" in switches.on_for(request.user.pk),
        "held": coverage.standing_notice(request.user.pk),
    }
    # Or else whoever looks at what others wrote could take their own name out of the record of it.
    if request.method == "POST" and not request.user.is_staff:
        try:
            lifecycle.ask_deletion(request.user, request.session.session_key)
        except LedgerAway as error:
            return render(
                request, "account/delete.html", context | {"problem": translated(error.message)}, status=error.status
            )
        return redirect("leaving")
    return render(request, "account/delete.html", context)
