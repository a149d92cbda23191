"""The pages on which people connect MCP servers, allow their tools, and answer what calls ask. They need no script."""

import json
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from conversations import threads
from conversations.accounts.group_access import access_of
from conversations.context.server_tools import FIND_TOOLS
from conversations.errors import CallAnswered, ServerSignInFailed, ServerUnreachable, ToolChanged
from conversations.mcp_client import permissions, servers, sign_ins
from conversations.models import McpCall, McpServer
from conversations.runtime.site import requested_address
from conversations.runtime.wording import translated
from conversations.web.forms import ServerForm
from conversations.web.fresh import fresh_sign_in
from conversations.web.views import SignedInRequest

MOST_CALLS = 50


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest) -> HttpResponse:
    """The caller's servers, and the newest calls that may change something: what is asked stands first."""
    form = ServerForm(request.POST or None, user=request.user)
    if form.is_valid() and (server := form.stored()):
        return refresh_tools(request, server)
    calls = list(permissions.calls_of(request.user)[:MOST_CALLS])
    offered = threads.offered_assistants(access_of(request.user.pk))
    context = {
        "form": form,
        "servers": servers.of(request.user),
        "for_all": servers.usable_by(request.user).filter(signs_in=True).exclude(user=request.user),
        "signed_in": set(sign_ins.of(request.user).values_list("server", flat=True)),
        "assistants": [each.name for each in offered if FIND_TOOLS in each.tools],
        "asked": [(call, _shown(call)) for call in calls if call.state == McpCall.State.ASKED],
        "standing": [call for call in calls if call.answer in (McpCall.Answer.THREAD, McpCall.Answer.ALWAYS)],
        "most": settings.OPENBOOK_MCP_SERVERS,
    }
    return render(request, "conversations/mcp_servers.html", context)


@never_cache
@login_required
@fresh_sign_in(allow_get=True)
@require_http_methods(["GET", "HEAD", "POST"])
def detail(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    """One server with its tools; by POST those are allowed whose digests are sent, and no others."""
    server = _mine(request, server_id)
    if request.method == "POST":
        allowed = dict(pair.split(" ", 1) for pair in request.POST.getlist("allowed") if " " in pair)
        try:
            servers.change(server, allowed=allowed)
            success(request, _("It is stored which tools are allowed."))
        except ToolChanged as refusal:
            error(request, translated(refusal.message))
        return redirect("mcp_server", server_id)
    tools = [(tool, servers.state_of(tool)) for tool in servers.tools_of(server)]
    context = {
        "server": server,
        "tools": tools,
        "can_sign_in": sign_ins.may_be_made(server),
        "sign_in": sign_ins.of(request.user).filter(server=server).first(),
    }
    return render(request, "conversations/mcp_server.html", context)


@never_cache
@login_required
@require_POST
def refresh(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    return refresh_tools(request, _mine(request, server_id))


def refresh_tools(request: SignedInRequest, server: McpServer) -> HttpResponse:
    """Read them, where it is the caller's own."""
    if server.user_id == request.user.pk:
        try:
            servers.refresh(server)
        except ServerUnreachable as refusal:
            error(request, translated(refusal.message))
    return _to(request, server)


@never_cache
@login_required
@require_POST
def switch(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    """On where it is off, and the other way round."""
    server = _mine(request, server_id)
    servers.change(server, is_active=not server.is_active)
    return redirect("mcp_server", server_id)


@never_cache
@login_required
@require_POST
def sign_in(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    """Begin it, and say who asks for it: the page leads there, which a form must not."""
    begun: HttpResponse = fresh_sign_in()(partial(_begin, server=_usable(request, server_id)))(request)
    return begun


def _begin(request: SignedInRequest, server: McpServer) -> HttpResponse:
    try:
        address = sign_ins.address_for(requested_address(request), server.pk)
        beginning = sign_ins.begin(request.user, server, address)
    except ServerSignInFailed as refusal:
        return _failed(request, server, refusal)
    context = {"server": server, "beginning": beginning, "host": urlsplit(beginning.url).netloc}
    return render(request, "conversations/sign_in_mcp_server.html", context)


@never_cache
@login_required
@require_GET
def callback(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    """What the browser is sent back with, once its person has signed in to a server. It counts where they began that."""
    server = _usable(request, server_id)
    values = request.GET
    try:
        sign_ins.finish(
            request.user,
            server,
            state=values.get("state", ""),
            code=values.get("code", ""),
            issuer=values.get("iss"),
        )
    except ServerSignInFailed as refusal:
        return _failed(request, server, refusal)
    success(request, _("You are signed in to this server."))
    return refresh_tools(request, server)


@never_cache
@login_required
@require_POST
def sign_out(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    server = _usable(request, server_id)
    sign_ins.end(request.user, server)
    return _to(request, server)


@require_GET
def client_document(request: HttpRequest, server_id: UUID) -> HttpResponse:
    """This installation as a client of whoever signs people in to one server: a client id metadata document. It says nothing of
    whether there is such a server."""
    address = sign_ins.address_for(requested_address(request), server_id)
    return JsonResponse(address.description | {"client_id": address.document, "token_endpoint_auth_method": "none"})


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    """Ask first, then remove it."""
    server = _mine(request, server_id)
    if request.method != "POST":
        return render(request, "conversations/delete_mcp_server.html", {"server": server})
    servers.delete(server)
    return redirect("mcp_servers")


@never_cache
@login_required
@require_POST
def answer(request: SignedInRequest, call_id: UUID) -> HttpResponse:
    call = get_object_or_404(permissions.calls_of(request.user), id=call_id)
    choice = request.POST.get("answer", "")
    if choice in McpCall.Answer.values:
        try:
            permissions.answer(call, McpCall.Answer(choice))
        except CallAnswered as refusal:
            error(request, translated(refusal.message))
    return redirect("mcp_servers")


def _shown(call: McpCall) -> str:
    """What it would send, as JSON; empty where that is gone."""
    input = permissions.input_of(call)
    return "" if input is None else json.dumps(input, ensure_ascii=False, indent=2)


def _mine(request: SignedInRequest, server_id: UUID) -> McpServer:
    """Answers 404 for another person's."""
    return get_object_or_404(servers.of(request.user), id=server_id)


def _usable(request: SignedInRequest, server_id: UUID) -> McpServer:
    """Answers 404 for one that is neither the caller's nor everybody's."""
    return get_object_or_404(servers.usable_by(request.user), id=server_id)


def _to(request: SignedInRequest, server: McpServer) -> HttpResponse:
    """Its page, where the caller has one of it."""
    return redirect("mcp_server", server.pk) if server.user_id == request.user.pk else redirect("mcp_servers")


def _failed(request: SignedInRequest, server: McpServer, refusal: ServerSignInFailed) -> HttpResponse:
    error(request, f"{translated(refusal.message)} ({refusal.details['problem']})")
    return _to(request, server)
