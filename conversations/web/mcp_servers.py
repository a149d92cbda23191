"""The pages on which people connect MCP servers, allow their tools, and answer what calls ask. They need no script."""

import json
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations import threads
from conversations.accounts.group_access import access_of
from conversations.context.server_tools import FIND_TOOLS
from conversations.errors import CallAnswered, ServerUnreachable, ToolChanged
from conversations.mcp_client import permissions, servers
from conversations.models import McpCall, McpServer
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
        return refresh(request, server.pk)
    calls = list(permissions.calls_of(request.user)[:MOST_CALLS])
    offered = threads.offered_assistants(access_of(request.user.pk))
    context = {
        "form": form,
        "servers": servers.of(request.user),
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
    return render(request, "conversations/mcp_server.html", {"server": server, "tools": tools})


@never_cache
@login_required
@require_POST
def refresh(request: SignedInRequest, server_id: UUID) -> HttpResponse:
    try:
        servers.refresh(_mine(request, server_id))
    except ServerUnreachable as refusal:
        error(request, translated(refusal.message))
    return redirect("mcp_server", server_id)


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
