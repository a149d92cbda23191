"""Sign-in by a provider, whichever it speaks: how it begins, how it ends, and what becomes of what the provider says."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess, Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from django.contrib.auth.models import User
from django.core.exceptions import MultipleObjectsReturned
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from conversations.accounts import claims, provider_http, provider_sessions, session_user, sign_in

log = logging.getLogger("openbook.accounts")

BEGINNINGS_HOUR = 1_000
"""From one address, behind which a whole company may sit."""
FAILURES_MINUTE = 60
SHOWN = ("username", "email", "name", "first_name", "last_name")
LONGEST = 150


def provider(request: HttpRequest, provider_id: str) -> Provider:
    """Raises ``Http404``."""
    try:
        return get_adapter().get_provider(request, provider_id)
    except (SocialApp.DoesNotExist, MultipleObjectsReturned) as error:
        raise Http404("There is no sign-in by this provider.") from error


def begin(
    request: HttpRequest, provider: Provider, view: Callable[[HttpRequest], HttpResponseBase]
) -> HttpResponseBase:
    """Send the browser to the provider. Whoever links an account sends a form for it first, or else somebody's link could tie
    their own account at the provider to that of whoever follows it."""
    if request.method != "POST" and request.GET.get("process", AuthProcess.LOGIN) != AuthProcess.LOGIN:
        return render(request, "socialaccount/login.html", {"provider": provider, "process": AuthProcess.CONNECT})
    sign_in.count_request(request, "provider", most=BEGINNINGS_HOUR)
    response = _calling(request, provider, view)
    return leaving_page(request, response) if request.method == "POST" else response


def finish(
    request: HttpRequest, provider: Provider, view: Callable[[HttpRequest], HttpResponseBase]
) -> HttpResponseBase:
    """What the provider answered becomes a sign-in."""
    right = sign_in.count_guess(request, "provider-answer", most=FAILURES_MINUTE)
    response = _calling(request, provider, view)
    if response.status_code < 400:
        right()
    if isinstance(request.user, User) and session_user.is_leaving(request.user):
        return redirect("leaving")
    return response


def leaving_page(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """``going_on`` in place of a redirect to another site."""
    address = response.headers.get("Location", "")
    if response.status_code != 302 or not address.startswith(("http://", "https://")):
        return response
    page = going_on(request, address)
    page.cookies = response.cookies
    return page


def going_on(request: HttpRequest, address: str) -> HttpResponse:
    """A page that goes on by itself: the policy of our pages lets no form lead to another site, nor any redirect that follows
    on a form, however many there are before it."""
    return render(request, "socialaccount/login_redirect.html", {"redirect_to": address})


def remember(request: HttpRequest, **details: str) -> None:
    """What is wanted of this sign-in later on."""
    request.provider_details = details  # type: ignore[attr-defined]


def remembered(request: HttpRequest) -> dict[str, str]:
    return getattr(request, "provider_details", {})


def sign_out_address(request: HttpRequest) -> str:
    """Where a browser that signs out here goes to sign out at the provider too; empty: nowhere. Asks no provider."""
    details = provider_sessions.details_of(request.session)
    if not details:
        return ""
    try:
        return str(provider(request, details["provider"]).sign_out_address(request, details))
    except Http404:  # it was taken away meanwhile
        return ""


def signed_out(request: HttpRequest, response: HttpResponseBase, address: str) -> HttpResponseBase:
    """The answer to a sign-out that was done, which goes on to the provider's."""
    if response.status_code != 302 or not address:
        return response
    away = redirect(address)
    away.cookies = response.cookies
    return leaving_page(request, away)


def cleaned(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Texts alone, as the database takes them."""
    return {
        name: value.replace("\0", "").encode("utf-8", "ignore").decode()[:LONGEST]
        for name, value in fields.items()
        if isinstance(value, str)
    }


def extra_data(fields: Mapping[str, Any], values: Iterable[str]) -> dict[str, Any]:
    """What is kept of a person's account at a provider: how it is called, and the claim values that count here."""
    return {**{name: fields[name] for name in SHOWN if fields.get(name)}, "groups": list(values)}


def signed_in(request: HttpRequest, user: User, login: SocialLogin) -> None:
    """Somebody has come by a provider: it is noted with the session, and what they may here follows what it said."""
    details = login.state.get("details", {})
    provider_sessions.note(
        request.session, {**details, "provider": login.account.provider, "name": login.provider.name}
    )
    rules = claims.rules_of(login.provider.app.settings)
    claims.apply(user, rules, (login.account.extra_data or {}).get("groups", []))


def problem_page(request: HttpRequest, provider: Provider, problem: str, *, status: int) -> HttpResponse:
    context = {"provider": provider, "problem": problem}
    return render(request, "socialaccount/authentication_error.html", context, status=status)


def linked_accounts(user: User) -> list[SocialAccount]:
    """Accounts at providers by which the user signs in, each with ``provider_name`` and ``account_name``."""
    names = {app.provider_id or app.provider: app.name for app in get_adapter().list_apps(None)}
    accounts = list(SocialAccount.objects.filter(user=user).order_by("date_joined"))
    for account in accounts:
        account.provider_name = names.get(account.provider, account.provider)
        known = account.extra_data if isinstance(account.extra_data, dict) else {}
        account.account_name = next((known[name] for name in SHOWN if known.get(name)), account.uid)
    return accounts


def _calling(
    request: HttpRequest, provider: Provider, view: Callable[[HttpRequest], HttpResponseBase]
) -> HttpResponseBase:
    try:
        with provider_http.calls_for(is_row=bool(provider.app.pk)):
            return view(request)
    except (provider_http.ProviderAway, OAuth2Error) as error:
        page: HttpResponse = render_authentication_error(request, provider, exception=error)
        return page
