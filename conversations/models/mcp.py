"""Servers of the Model Context Protocol whose tools a model may call: what they offer, what was allowed of it, and calls."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7

PURPOSE, SIGN_IN_PURPOSE = "mcp servers", "mcp sign-ins"
"""Of the encryption of their secrets, and of people's sign-ins to them."""
LOCAL = "local:"
"""Before the name of a program in ``OPENBOOK_MCP_LOCAL``, in place of an address."""
NAME_CHARS, URL_CHARS, SECRET_CHARS, HEADER_CHARS = 24, 500, 4_000, 60
TOOL_NAME_CHARS, DESCRIPTION_CHARS, SCHEMA_CHARS = 64, 2_000, 12_000
DIGEST_CHARS = 64
JOINT = "__"
"""Between the name of a server and that of a tool, in the name that the model calls."""


class McpServer(models.Model):
    """A server that a person connected, or staff did ``for_all``. ``name`` comes before the names of its tools.

    Ask for it through ``conversations.mcp_client.servers``, which knows whose it is. ``secret`` is sent in ``header``;
    ``fetched_at`` is when its tools were last read, ``problem`` why they could not be. ``url`` is ``local:`` and a name where
    it is a program of the operator's. ``signs_in``: its maker signed in to it, so each person has to.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="mcp_servers", db_index=False)
    name = models.CharField(max_length=NAME_CHARS)
    url = models.CharField("address", max_length=URL_CHARS)
    for_all = models.BooleanField(
        default=False, help_text="Its tools are offered to everybody, not to its maker alone."
    )
    header = models.CharField(max_length=HEADER_CHARS, default="Authorization")
    secret = models.BinaryField(default=b"", help_text="What is sent in the header, encrypted.")
    signs_in = models.BooleanField(default=False, db_default=False)
    is_active = models.BooleanField(default=True)
    fetched_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=200, blank=True, help_text="Why its tools could not be read.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name = "MCP server"
        default_permissions = ("view",)
        permissions = [("connect_for_all_mcpserver", "Can connect MCP servers for everybody")]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="mcp_server_name"),
            models.UniqueConstraint(fields=["name"], condition=Q(for_all=True), name="mcp_server_name_for_all"),
        ]

    def __str__(self) -> str:
        return f"MCP server {self.id}"


class McpSignIn(models.Model):
    """A person's sign-in to a server, by OAuth: under way, made, or both.

    ``pending`` is what its callback needs, for a while from ``pending_at``; ``grant`` the tokens, with where they are renewed
    and revoked and the address of the server that alone is sent them. Both are JSON, encrypted; empty: none. ``expires_at`` is
    when the access token has to be renewed, where that is known; until ``renewing_until`` somebody does.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    server = models.ForeignKey(McpServer, models.DB_CASCADE, related_name="sign_ins")
    issuer = models.CharField(max_length=URL_CHARS, blank=True, help_text="Who gave the tokens.")
    pending = models.BinaryField(default=b"")
    pending_at = models.DateTimeField(null=True)
    grant = models.BinaryField(default=b"")
    expires_at = models.DateTimeField(null=True)
    renewing_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "MCP sign-in"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["user", "server"], name="mcp_sign_in_once")]

    def __str__(self) -> str:
        return f"MCP sign-in {self.id}"


class McpTool(models.Model):
    """A tool as its server last described it. ``digest`` is that of the whole definition, ``allowed`` the one that its owner
    allowed; empty: none. It is offered to models where both are the same."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    server = models.ForeignKey(McpServer, models.DB_CASCADE, related_name="tools", db_index=False)
    name = models.CharField(max_length=TOOL_NAME_CHARS)
    description = models.CharField(max_length=DESCRIPTION_CHARS, blank=True)
    schema = models.JSONField()
    read_only = models.BooleanField(help_text="It declares to change nothing.")
    digest = models.CharField(max_length=DIGEST_CHARS)
    allowed = models.CharField(max_length=DIGEST_CHARS, blank=True)

    class Meta:
        verbose_name = "MCP tool"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="mcp_tool_name")]

    def __str__(self) -> str:
        return f"MCP tool {self.id}"


class McpCall(models.Model):
    """A call of a tool that may change something: asked about, made, and what is known of its end. It holds no word of it: what
    was sent and what came back stand in the turn of the reply, under ``call_id``.

    ``input_digest`` is that of what was to be sent, ``answer`` what the person said. A row is ``started`` before anything is
    sent, so one that is so after its reply has ended was cut off.
    """

    class State(models.TextChoices):
        ASKED = "asked"
        ALLOWED = "allowed"
        REFUSED = "refused"
        STARTED = "started"
        DONE = "done"
        FAILED = "failed"
        UNKNOWN = "unknown"

    class Answer(models.TextChoices):
        ONCE = "once"
        THREAD = "thread"
        ALWAYS = "always"
        NO = "no"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="+")
    tool = models.ForeignKey(McpTool, models.DB_CASCADE, related_name="calls")
    reply = models.ForeignKey("conversations.Reply", related_name="+", **UNCHECKED)
    call_id = models.CharField(max_length=100)
    tool_digest = models.CharField(max_length=DIGEST_CHARS)
    input_digest = models.CharField(max_length=DIGEST_CHARS)
    state = models.CharField(max_length=8, choices=State)
    answer = models.CharField(max_length=6, choices=Answer, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "tool call"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["user", "-created_at", "-id"], name="mcp_call_list"),
        ]

    def __str__(self) -> str:
        return f"MCP call {self.id}"
