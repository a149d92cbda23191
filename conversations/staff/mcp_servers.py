"""MCP servers that people connected, and calls of their tools that may change something: whose, to where, what came of them.
What a call sent and got is masked as the turn is that holds it. Never a secret or a sign-in, nor the rest of an address."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from conversations.mcp_client import permissions, servers
from conversations.models import McpCall, McpServer, Reply
from conversations.models.mcp import JOINT, LOCAL
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, thread_column, user_column
from conversations.staff.content import CONTENT_FORM, MaskedInspectionAdmin, is_shown

TOOL_STATES = {"new": gettext_noop("new"), "allowed": gettext_noop("allowed"), "changed": gettext_noop("changed")}
CALL_STATES: dict[str, str] = {
    McpCall.State.ASKED: gettext_noop("asked"),
    McpCall.State.ALLOWED: gettext_noop("allowed"),
    McpCall.State.REFUSED: gettext_noop("refused"),
    McpCall.State.STARTED: gettext_noop("started"),
    McpCall.State.DONE: gettext_noop("done"),
    McpCall.State.FAILED: gettext_noop("failed"),
    McpCall.State.UNKNOWN: gettext_noop("unknown"),
}


@admin.register(McpServer)
class McpServerAdmin(InspectionAdmin[McpServer]):
    list_display = ["created", "owner", "name", "place", "for_all", "is_active", "signs_in", "read", "problem"]
    list_filter = ["for_all", "is_active", "signs_in"]
    list_select_related = ["user"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "The id of a server, or a user name."
    ordering = ["-id"]
    fields = [
        "identifier", "owner", "name", "place", "for_all", "is_active", ("has_secret", "signs_in"), "tools",
        ("read", "problem"), "created",
    ]  # fmt: skip
    empty_text = "No MCP servers. One appears here when somebody connects it on their page of servers or by the API."

    identifier = column("id", "id", display.mono)
    owner = user_column()
    created = column("created", "created_at", display.when, sort="created_at")
    read = column("tools read", "fetched_at", display.when)

    @admin.display(description="server")
    def place(self, server: McpServer) -> str:
        return server.url if server.url.startswith(LOCAL) else urlsplit(server.url).hostname or display.NOTHING

    @admin.display(boolean=True, description="has a secret")
    def has_secret(self, server: McpServer) -> bool:
        return bool(server.secret)

    @admin.display
    def tools(self, server: McpServer) -> str:
        states = [(tool.name, servers.state_of(tool)) for tool in servers.tools_of(server)]
        return ", ".join(f"{name} ({gettext(TOOL_STATES[state])})" for name, state in states) or display.NOTHING


@admin.register(McpCall)
class McpCallAdmin(MaskedInspectionAdmin[McpCall]):
    change_form_template = CONTENT_FORM
    owner_id = "user_id"
    list_display = ["created", "owner", "thread_link", "called", "stand", "answer", "ended"]
    list_filter = ["state", "answer", "created_at"]
    list_select_related = ["user", "tool__server"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a call or a thread, or a user name."
    ordering = ["-created_at", "-id"]
    fields = [
        ("called", "stand", "answer"), "sent", "got", ("owner", "thread_link", "made_by"), ("created", "ended"), "identifier",
    ]  # fmt: skip
    empty_text = "No calls. One appears here when a model calls a tool of an MCP server that may change something."

    identifier = column("id", "id", display.mono)
    owner = user_column()
    thread_link = thread_column()
    created = column("created", "created_at", display.when, sort="created_at")
    ended = column("ended", "ended_at", display.when)

    @admin.display(description="tool")
    def called(self, call: McpCall) -> str:
        return f"{call.tool.server.name}{JOINT}{call.tool.name}"

    @admin.display(description="state", ordering="state")
    def stand(self, call: McpCall) -> str:
        return gettext(CALL_STATES[permissions.state_of(call)])

    @admin.display(description="reply")
    def made_by(self, call: McpCall) -> SafeString:
        return display.id_link(Reply, call.reply_id)

    @admin.display
    def sent(self, call: McpCall) -> SafeString | str:
        return _shown(call, permissions.input_of)

    @admin.display
    def got(self, call: McpCall) -> SafeString | str:
        return _shown(call, permissions.result_of)


def _shown(call: McpCall, part: Any) -> SafeString | str:
    """A part of the turn that made the call, or that it is masked: then it is not even read."""
    if not is_shown(call):
        return display.masked()
    value = part(call)
    text = json.dumps(value, ensure_ascii=False, indent=2) if isinstance(value, Mapping) else value
    return format_html('<pre class="ob-text">{}</pre>', text) if text else display.NOTHING
