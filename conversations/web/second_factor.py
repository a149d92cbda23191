"""The pages on which people set up a second factor, and those that ask for one: allauth's, with attempts counted."""

from typing import Any

from allauth.mfa.base import views as base_views
from allauth.mfa.recovery_codes import views as codes_views
from allauth.mfa.totp import views as app_views
from allauth.mfa.webauthn import views as passkey_views
from allauth.usersessions.models import UserSession
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import lifecycle, second_factors, sign_in
from conversations.web.entry import refused_form, welcomed
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest

PASSKEYS_MINUTE = 30
"""Attempts with a passkey that nobody has, a minute and from one address: each costs the check of a signature."""


@never_cache
@login_required
@require_http_methods(["GET", "HEAD"])
def page(request: SignedInRequest) -> HttpResponse:
    """What the caller has set up."""
    rows = second_factors.of(request.user).order_by("id")
    of_type = {kind: [row for row in rows if row.type == kind] for kind in second_factors.FACTORS}
    codes = next((row for row in rows if row.type == second_factors.RECOVERY_CODES), None)
    context = {
        "app": next(iter(of_type[second_factors.APP]), None),
        "passkeys": [(row, row.wrap()) for row in of_type[second_factors.PASSKEY]],
        "codes_left": second_factors.codes_left(codes) if codes else 0,
        "has_factor": any(of_type.values()),
        "is_lacking": second_factors.is_lacking(request.user),
    }
    return render(request, "mfa/index.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def authenticate(request: HttpRequest) -> HttpResponseBase:
    """The second step of signing in."""
    return welcomed(request, base_views.authenticate(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_by_passkey(request: HttpRequest) -> HttpResponseBase:
    """Without a password. The page of signing in asks here what to sign, by a script."""
    forgive = sign_in.count_guess(request, "passkey", most=PASSKEYS_MINUTE)
    response = welcomed(request, passkey_views.login_webauthn(request))
    if request.method != "POST" or request.user.is_authenticated:
        forgive()
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reauthenticate(request: HttpRequest) -> HttpResponseBase:
    return refused_form(base_views.reauthenticate(request))


class FreshPasskeyView(passkey_views.ReauthenticateWebAuthnView):  # type: ignore[misc]
    def form_invalid(self, form: Any) -> HttpResponse:
        for message in form.errors.get("credential", []):
            error(self.request, message)
        return redirect(self.passthrough_next_url(reverse("mfa_reauthenticate_webauthn")))


reauthenticate_by_passkey = never_cache(FreshPasskeyView.as_view())


class FirstFactor:
    """Whoever signed in before there was any factor, with the password alone, is signed out elsewhere by the first."""

    request: Any

    def form_valid(self, form: Any) -> HttpResponse:
        is_first = not second_factors.has_factor(self.request.user)
        response: HttpResponse = super().form_valid(form)  # type: ignore[misc]
        if is_first:
            others = UserSession.objects.filter(user=self.request.user)
            lifecycle.sign_out(others.exclude(session_key=self.request.session.session_key))
        return response


class ActivateAppView(FirstFactor, app_views.ActivateTOTPView):  # type: ignore[misc]
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        second_factors.note_step(second_factors.of(self.request.user).get(type=second_factors.APP), form.step)
        return response


class AddPasskeyView(FirstFactor, passkey_views.AddWebAuthnView):  # type: ignore[misc]
    """Shows the form again with what was typed, where the passkey was refused."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | kwargs


@never_cache
@fresh_sign_in()
def activate_app(request: SignedInRequest) -> HttpResponseBase:
    return refused_form(ActivateAppView.as_view()(request))


add_passkey = never_cache(fresh_sign_in()(AddPasskeyView.as_view()))
remove_app = never_cache(fresh_sign_in()(app_views.deactivate_totp))
remove_passkey = never_cache(fresh_sign_in()(passkey_views.remove_webauthn))
rename_passkey = never_cache(fresh_sign_in()(passkey_views.edit_webauthn))


view_codes = never_cache(fresh_sign_in()(codes_views.view_recovery_codes))
make_codes = never_cache(fresh_sign_in()(codes_views.generate_recovery_codes))
download_codes = never_cache(fresh_sign_in()(codes_views.download_recovery_codes))


@never_cache
@login_required
def list_passkeys(request: HttpRequest) -> HttpResponse:
    """allauth leads here after changes; they stand on the one page."""
    return redirect("mfa_index")
