"""Sign-in by SAML 2.0: allauth's provider, for installations with the extra ``saml``. What the assertion says is kept as little
as of any other provider."""

from functools import partial
from typing import Any

from allauth.account.internal.decorators import login_not_required
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.saml import views as allauth_views
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from allauth.socialaccount.providers.saml.utils import build_auth
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST
from onelogin.saml2.errors import OneLogin_Saml2_Error

from conversations.accounts import claims, sign_in
from conversations.web import provider_adapter, provider_entry

ANSWERS_MINUTE = 300
"""From one address, behind which a whole company may sit."""
LONGEST_ANSWER = 256 * 1024


class SamlProvider(SAMLProvider):  # type: ignore[misc]
    package = "allauth.socialaccount.providers.saml"

    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        fields = super().extract_common_fields(data)
        return {**provider_entry.cleaned(fields), "email_verified": fields.get("email_verified") is True}

    def extract_extra_data(self, data: Any) -> dict[str, Any]:
        rules = claims.rules_of(self.app.settings)
        values = claims.values_of(rules, data.get_attributes())
        return provider_entry.extra_data(self.extract_common_fields(data), values)

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        provider_entry.remember(
            request, name_id=response.get_nameid() or "", session_index=response.get_session_index() or ""
        )
        login: SocialLogin = super().sociallogin_from_response(request, response)
        return login

    def sign_out_address(self, request: HttpRequest, details: dict[str, Any]) -> str:
        if not self.app.settings.get("idp", {}).get("slo_url") or not details.get("name_id"):
            return ""
        try:
            address: str = build_auth(request, self).logout(
                return_to=request.build_absolute_uri(reverse("account_login")),
                name_id=details["name_id"],
                session_index=details.get("session_index") or None,
            )
        except OneLogin_Saml2_Error:
            return ""
        return address


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    provider = _provider(request, organization_slug)
    return provider_entry.begin(request, provider, partial(allauth_views.login, organization_slug=organization_slug))


@never_cache
@csrf_exempt
@login_not_required  # type: ignore[untyped-decorator]
@require_POST
def answer(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """The form that the provider has the browser send. It is put by, as it came without the session's cookie."""
    _provider(request, organization_slug)
    sign_in.count_guess(request, "provider-form", most=ANSWERS_MINUTE)
    if len(request.POST.get("SAMLResponse", "")) > LONGEST_ANSWER:
        return HttpResponseBadRequest("The answer is too long.", content_type="text/plain; charset=utf-8")
    response: HttpResponse = allauth_views.acs(request, organization_slug=organization_slug)
    return response


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def finish(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """Raises nothing where the answer belongs to no sign-in of this browser, or to one that was answered: that is said."""
    provider = _provider(request, organization_slug)

    def view(request: HttpRequest) -> HttpResponseBase:
        try:
            response: HttpResponse = allauth_views.finish_acs(request, organization_slug=organization_slug)
        except PermissionDenied:
            problem = gettext(provider_adapter.REFUSED) % {"provider": provider.name}
            response = provider_entry.problem_page(request, provider, problem, status=401)
        return response

    return provider_entry.finish(request, provider, view)


@never_cache
@csrf_exempt
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
def sign_out(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """Single logout by the browser. Anybody could write a link with a request that nobody signed."""
    _provider(request, organization_slug)
    if "SAMLRequest" in request.GET and "Signature" not in request.GET:
        return HttpResponseBadRequest(
            "The request to sign out is not signed.", content_type="text/plain; charset=utf-8"
        )
    response: HttpResponse = allauth_views.sls(request, organization_slug=organization_slug)
    return response


@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def metadata(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """What the provider wants to know of this server."""
    _provider(request, organization_slug)
    response: HttpResponse = allauth_views.metadata(request, organization_slug=organization_slug)
    return response


def _provider(request: HttpRequest, organization_slug: str) -> SamlProvider:
    found = provider_entry.provider(request, organization_slug)
    if not isinstance(found, SamlProvider):
        raise Http404("There is no sign-in by this provider.")
    return found
