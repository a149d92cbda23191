"""Pages beside sign-in by a provider: signing out here and there, accounts that are linked, and what no form is needed for."""

from typing import Any

from allauth.account import views as allauth_views
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.views import ConnectionsView
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.web import provider_entry
from conversations.web.views import SignedInRequest


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def logout(request: HttpRequest) -> HttpResponseBase:
    """allauth's; whoever came by a provider signs out there too, where the provider can do that."""
    address = provider_entry.sign_out_address(request) if request.method == "POST" else ""
    return provider_entry.signed_out(request, allauth_views.logout(request), address)


class LinkedAccountsView(ConnectionsView):  # type: ignore[misc]
    """allauth's: the caller's accounts at providers, and which more could be linked."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        linked = provider_entry.linked_accounts(self.request.user)
        held = {account.provider for account in linked}
        linkable = [each for each in get_adapter().list_providers(self.request) if each.sub_id not in held]
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"linked": linked, "linkable": linkable}


@never_cache
@login_required
def linked_accounts(request: SignedInRequest) -> HttpResponseBase:
    response: HttpResponseBase = LinkedAccountsView.as_view()(request)
    return response


@require_http_methods(["GET", "HEAD"])
def no_form(request: HttpRequest) -> HttpResponse:
    """allauth's form for what a provider left out. Nothing is asked for here."""
    return redirect("account_login")
