"""Sign-in by SAML 2.0: allauth's provider, for installations with the extra ``saml``. What the assertion says is kept as little
as of any other provider."""

import binascii
import time
from functools import partial
from typing import Any

import xmlsec
from allauth.account.internal.decorators import login_not_required
from allauth.core.internal import httpkit
from allauth.socialaccount.helpers import complete_social_login, render_authentication_error
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.saml import views as allauth_views
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from allauth.socialaccount.providers.saml.utils import build_auth, decode_relay_state
from allauth.socialaccount.sessions import LoginSession
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST
from lxml import etree
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request as LogoutRequest
from onelogin.saml2.utils import OneLogin_Saml2_Utils
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML

from conversations.accounts import claims, provider_sessions, saml_answers, sign_in
from conversations.accounts.saml_answers import AnswerRefused
from conversations.web import provider_entry

ANSWERS_MINUTE = 300
"""From one address, behind which a whole company may sit."""
LONGEST_ANSWER = 256 * 1024
PUT_BY_SECONDS = 300
LEEWAY_SECONDS = 300
"""By which clocks may differ, as python3-saml has it for answers."""
UNREADABLE = (
    *(OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError, etree.LxmlError, xmlsec.Error),
    *(binascii.Error, ValueError),  # a DTD is one
)
"""What python3-saml raises of an answer that is none."""


class SamlProvider(SAMLProvider):  # type: ignore[misc]
    package = "allauth.socialaccount.providers.saml"

    def extract_uid(self, data: Any) -> str:
        return saml_answers.uid(
            self._extract(data).get("uid"),
            attribute=self.app.settings.get("attribute_mapping", {}).get("uid"),
            name_id=data.get_nameid() or "",
            name_id_format=data.get_nameid_format() or "",
        )

    def extract_common_fields(self, data: Any) -> dict[str, Any]:
        fields = super().extract_common_fields(data)
        return {**provider_entry.cleaned(fields), "email_verified": fields.get("email_verified") is True}

    def extract_extra_data(self, data: Any) -> dict[str, Any]:
        rules = claims.rules_of(self.app.settings)
        values = claims.values_of(rules, data.get_attributes())
        return provider_entry.extra_data(self.extract_common_fields(data), values)

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        provider_entry.remember(
            request,
            sub=response.get_nameid() or "",
            sub_format=response.get_nameid_format() or "",
            sid=response.get_session_index() or "",
        )
        login: SocialLogin = super().sociallogin_from_response(request, response)
        return login

    def sign_out_address(self, request: HttpRequest, details: dict[str, Any]) -> str:
        if not self.app.settings.get("idp", {}).get("slo_url") or not details.get("sub"):
            return ""
        _name_host(request)
        try:
            address: str = build_auth(request, self).logout(
                return_to=request.build_absolute_uri(reverse("account_login")),
                name_id=details["sub"],
                name_id_format=details.get("sub_format") or None,
                session_index=details.get("sid") or None,
            )
        except (OneLogin_Saml2_Error, xmlsec.Error):
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
    put_by = _put_by(request)
    put_by.store.set_expiry(PUT_BY_SECONDS)
    put_by.store.save()
    return response


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def finish(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """What was put by becomes a sign-in; else it is said that it was not to be believed."""
    provider = _provider(request, organization_slug)

    def view(request: HttpRequest) -> HttpResponseBase:
        try:
            login = _login(request, provider)
        except AnswerRefused as error:
            page: HttpResponse = render_authentication_error(request, provider, exception=error)
            return page
        response: HttpResponse = complete_social_login(request, login)
        return response

    return provider_entry.finish(request, provider, view)


@never_cache
@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def sign_out(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """Single logout, by the browser: the provider's order ends the sessions that it names here, whoever's browser brings it.
    What it says of a sign-out that began here ends nothing: that is done already."""
    provider = _provider(request, organization_slug)
    if "SAMLRequest" not in request.GET:
        return redirect("account_login")
    right = sign_in.count_guess(request, "logout", most=ANSWERS_MINUTE)
    try:
        back, name_id, session_indexes = _sign_out_order(request, provider)
    except AnswerRefused as error:
        return HttpResponseBadRequest(f"{error}\n", content_type="text/plain; charset=utf-8")
    right()
    for sid in session_indexes or [""]:
        provider_sessions.end(provider.sub_id, sub=name_id, sid=sid)
    return redirect(back or "account_login")


@login_not_required  # type: ignore[untyped-decorator]
@require_http_methods(["GET", "HEAD"])
def metadata(request: HttpRequest, organization_slug: str) -> HttpResponseBase:
    """What the provider wants to know of this server."""
    _provider(request, organization_slug)
    response: HttpResponse = allauth_views.metadata(request, organization_slug=organization_slug)
    return response


def _login(request: HttpRequest, provider: SamlProvider) -> SocialLogin:
    """Raises ``AnswerRefused``."""
    put_by = _put_by(request)
    form = put_by.store.get("request")
    put_by.delete()
    if not form:
        raise AnswerRefused("no answer was put by in this browser")
    form_request = httpkit.deserialize_request(form, HttpRequest())
    answer = build_auth(form_request, provider)
    try:
        answer.process_response()
    except UNREADABLE as error:
        raise AnswerRefused(f"the answer can't be read: {type(error).__name__}: {error}") from error
    if answer.get_errors():
        raise AnswerRefused(answer.get_last_error_reason() or ", ".join(answer.get_errors()))
    _check(provider, answer)
    in_response_to = answer.get_last_response_in_response_to()
    state: dict[str, Any] = {"process": AuthProcess.LOGIN}
    if in_response_to:
        try:
            state = provider.unstash_redirect_state(request, in_response_to)
        except PermissionDenied as error:
            raise AnswerRefused("the answer belongs to no sign-in that began in this browser") from error
    elif not provider.app.settings.get("idp_initiated"):
        raise AnswerRefused("the answer came unasked (idp_initiated)")
    elif next_page := decode_relay_state(form_request.POST.get("RelayState")):
        state["next"] = next_page
    login = provider.sociallogin_from_response(request, answer)
    login.state = state
    return login


def _check(provider: SamlProvider, answer: Any) -> None:
    """Raises ``AnswerRefused``. An answer that passes is used up."""
    service = answer.get_settings().get_sp_data()
    saml_answers.check(
        OneLogin_Saml2_XML.to_etree(answer.get_last_response_xml()),
        audience=service["entityId"],
        recipient=service["assertionConsumerService"]["url"],
        in_response_to=answer.get_last_response_in_response_to() or "",
    )
    seconds = saml_answers.lifetime(answer.get_last_assertion_not_on_or_after(), now=int(time.time()))
    if not sign_in.is_first_use("saml-answer", provider.sub_id, answer.get_last_assertion_id(), seconds=seconds):
        raise AnswerRefused("the answer was used before")


def _sign_out_order(request: HttpRequest, provider: SamlProvider) -> tuple[str, str, list[str]]:
    """Where the browser goes then, who is to be signed out, and of which sessions over there; of none: of all. Raises
    ``AnswerRefused``."""
    if "Signature" not in request.GET:
        raise AnswerRefused("The request to sign out is not signed.")
    if not provider.app.settings["idp"].get("slo_url"):
        raise AnswerRefused("No sign-out is agreed with this provider (slo_url).")
    try:
        auth = build_auth(request, provider)
        back = auth.process_slo(keep_local_session=True)
        if auth.get_errors():
            cause = auth.get_last_error_reason() or ", ".join(auth.get_errors())
            raise AnswerRefused(f"The request to sign out can't be believed: {cause}")
        order = OneLogin_Saml2_XML.to_etree(auth.get_last_request_xml())
        name_id = LogoutRequest.get_nameid(order, auth.get_settings().get_sp_key())
        issued_at = OneLogin_Saml2_Utils.parse_SAML_to_time(order.get("IssueInstant"))
    except UNREADABLE as error:
        raise AnswerRefused(f"The request to sign out can't be read: {error}") from error
    is_new = sign_in.is_first_use("saml-logout", provider.sub_id, order.get("ID"), seconds=2 * LEEWAY_SECONDS)
    if not is_new or abs(time.time() - issued_at) > LEEWAY_SECONDS:
        raise AnswerRefused("The request to sign out is old, or was used before.")
    return back, name_id, LogoutRequest.get_session_indexes(order)


def _put_by(request: HttpRequest) -> LoginSession:
    return LoginSession(request, "saml_acs_session", "saml-acs-session")


def _provider(request: HttpRequest, organization_slug: str) -> SamlProvider:
    found = provider_entry.provider(request, organization_slug)
    if not isinstance(found, SamlProvider):
        raise Http404("There is no sign-in by this provider.")
    _name_host(request)
    return found


def _name_host(request: HttpRequest) -> None:
    """allauth reads the header, which a client may not have sent, or a proxy in another one."""
    request.META["HTTP_HOST"] = request.get_host()
