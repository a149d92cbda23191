"""Sign-in by OpenID Connect: allauth's provider, with every token checked, and sign-out that the provider orders."""

from typing import Any

from allauth.account.internal.decorators import login_not_required
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from conversations.accounts import claims, openid_tokens, provider_http, provider_sessions, sign_in
from conversations.web import provider_entry

CONFIGURED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
LOGOUTS_MINUTE = 300
"""Logout tokens from one address."""


class OpenIdAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    state: dict[str, Any]

    @property
    def openid_config(self) -> dict[str, Any]:
        provider = self.get_provider()
        overrides = provider.app.settings.get("openid_configuration_overrides", {})
        configuration = {**provider_http.document(provider.server_url), **overrides}
        if not all(isinstance(configuration.get(name), str) for name in CONFIGURED):
            raise provider_http.ProviderAway("the provider does not describe itself")
        issuer, server = configuration["issuer"], provider.server_url.partition("/.well-known/")[0]
        if issuer.rstrip("/") != server.rstrip("/"):  # or else one provider could speak for another
            raise OAuth2Error(f"the provider calls itself {issuer}, not {server}: write that as its server")
        return configuration

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any) -> SocialLogin:
        """Raises ``OAuth2Error`` and ``ProviderAway``."""
        configuration, id_token = self.openid_config, kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise OAuth2Error("the provider sent no ID token")
        nonce = self.state.get("data", {}).get("nonce", "")
        try:
            identity = openid_tokens.identity(
                id_token, configuration=configuration, client_id=app.client_id, nonce=nonce
            )
        except openid_tokens.TokenRefused as error:
            raise OAuth2Error(str(error)) from error
        data = {"id_token": identity}
        if app.settings.get("fetch_userinfo", True) and configuration.get("userinfo_endpoint"):
            data["userinfo"] = self._fetch_user_info(token.token)
            if data["userinfo"].get("sub") != identity["sub"]:
                raise OAuth2Error("the provider's two accounts of the person differ")
        if not isinstance(_merged(data).get(app.settings.get("uid_field", "sub")), str):
            raise OAuth2Error("the provider does not say who it is")
        provider_entry.remember(
            request,
            sub=identity["sub"],
            sid=identity.get("sid", ""),
            id_token=id_token,
            end_session=configuration.get("end_session_endpoint", ""),
        )
        login: SocialLogin = self.get_provider().sociallogin_from_response(request, data)
        return login


class OpenIdProvider(OpenIDConnectProvider):  # type: ignore[misc]
    package = "allauth.socialaccount.providers.openid_connect"
    oauth2_adapter_class = OpenIdAdapter

    # What is asked for is the operator's to say, not whoever wrote a link's.

    def get_scope_from_request(self, request: HttpRequest) -> list[str]:
        return list(self.get_scope())

    def get_auth_params_from_request(self, request: HttpRequest, action: str) -> dict[str, Any]:
        return dict(self.get_auth_params())

    def redirect(self, request: HttpRequest, process: str, next_url: str | None = None, **kwargs: Any) -> HttpResponse:
        nonce = get_random_string(32)
        asked = {**(kwargs.pop("auth_params", None) or self.get_auth_params()), "nonce": nonce}
        kwargs.pop("data", None)
        response: HttpResponse = super().redirect(
            request, process, next_url, data={"nonce": nonce}, auth_params=asked, **kwargs
        )
        return response

    def sign_out_address(self, request: HttpRequest, details: dict[str, Any]) -> str:
        address = details.get("end_session", "")
        if not address.startswith(("http://", "https://")):
            return ""
        back = request.build_absolute_uri(reverse("account_login"))
        asked = {"id_token_hint": details.get("id_token", ""), "post_logout_redirect_uri": back}
        return f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"

    def extract_uid(self, data: dict[str, Any]) -> str:
        return str(_merged(data)[self.app.settings.get("uid_field", "sub")])

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        return provider_entry.cleaned(super().extract_common_fields({"userinfo": _merged(data)}))

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        merged = _merged(data)
        if not isinstance(merged.get("email"), str):
            return []
        is_verified = merged.get("email_verified") in (True, "true")
        return list(super().extract_email_addresses({"userinfo": {**merged, "email_verified": is_verified}}))

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        rules = claims.rules_of(self.app.settings)
        values = claims.values_of(rules, data["id_token"], data.get("userinfo", {}))
        return provider_entry.extra_data(self.extract_common_fields(data), values)


class LoginView(OAuth2LoginView):  # type: ignore[misc]
    """allauth's."""


class CallbackView(OAuth2CallbackView):  # type: ignore[misc]
    """allauth's, which tells the adapter of the state: it holds the nonce."""

    def _get_state(self, request: HttpRequest, provider: OpenIdProvider) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.state = state or {}
        return state, response


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    provider = _provider(request, provider_id)
    view = LoginView.adapter_view(OpenIdAdapter(request, provider_id))
    return provider_entry.begin(request, provider, view)


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    provider = _provider(request, provider_id)
    view = CallbackView.adapter_view(OpenIdAdapter(request, provider_id))
    return provider_entry.finish(request, provider, view)


@never_cache
@csrf_exempt
@login_not_required  # type: ignore[untyped-decorator]
@require_POST
def back_channel_logout(request: HttpRequest, provider_id: str) -> HttpResponse:
    """The provider says, without a browser, that somebody signed out or was put out. Answers 200 where it was done, also
    before; 400 with words where the token is not to be believed."""
    provider = _provider(request, provider_id)
    right = sign_in.count_guess(request, "logout", most=LOGOUTS_MINUTE)
    token, app = request.POST.get("logout_token", ""), provider.app
    try:
        with provider_http.calls_for(is_row=bool(app.pk)):
            configuration = OpenIdAdapter(request, provider_id).openid_config
            told = openid_tokens.logout(token, configuration=configuration, client_id=app.client_id)
    except (openid_tokens.TokenRefused, OAuth2Error) as error:
        return _refused(str(error))
    except provider_http.ProviderAway as error:
        return _refused(f"the provider's keys can't be read: {error}", status=503)
    lifetime = int(told["exp"] - told["iat"]) + 2 * openid_tokens.LEEWAY_SECONDS
    if not sign_in.is_first_use("logout-token", provider_id, str(told["jti"]), seconds=lifetime):
        return _refused("the token was used before")
    right()
    sub, sid = (str(told.get(name) or "") for name in ("sub", "sid"))
    provider_sessions.end(provider.sub_id, sub=sub, sid=sid)
    return HttpResponse(status=200)


def _refused(words: str, status: int = 400) -> JsonResponse:
    return JsonResponse({"error": "invalid_request", "error_description": words}, status=status)


def _provider(request: HttpRequest, provider_id: str) -> OpenIdProvider:
    found = provider_entry.provider(request, provider_id)
    if not isinstance(found, OpenIdProvider):
        raise Http404("There is no sign-in by this provider.")
    return found


def _merged(data: dict[str, Any]) -> dict[str, Any]:
    """What the provider says of the person; it says more where it is asked with a token of access."""
    return {**data["id_token"], **data.get("userinfo", {})}
