"""The caller's MCP servers: connected, read, their tools allowed; and what their calls ask."""

from typing import Annotated, Any, NotRequired, TypedDict

from django.contrib.auth.models import User
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import tasks
from conversations.mcp_client import offers, permissions, servers, sign_ins
from conversations.models import McpCall, McpServer, McpTool, Scope
from conversations.models.mcp import HEADER_CHARS, JOINT, NAME_CHARS, SECRET_CHARS, URL_CHARS
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Id, Time, fill
from conversations.runtime.site import requested_address
from conversations.wire.files import FileAnswer, file_object


def is_server_name(value: str) -> None:
    if not servers.NAME.match(value):
        raise ValidationError("Small letters and digits, with single - or _ between them.")


def is_header(value: str) -> None:
    if not servers.HEADER.match(value):
        raise ValidationError("It must be the name of a header, such as Authorization.")


def is_secret(value: str) -> None:
    if not servers.SECRET.match(value):
        raise ValidationError("It must be what a header can hold: printable ASCII.")


Name = Annotated[
    str,
    {"max_length": NAME_CHARS, "validators": [is_server_name]},
    f"What the names of its tools begin with: at most {NAME_CHARS} small letters and digits.",
]
Url = Annotated[
    str,
    {"max_length": URL_CHARS},
    "Where it speaks streamable HTTP: `https://…` or `http://…`, in no inner network that is not open to this server.",
]
Header = Annotated[
    str, {"max_length": HEADER_CHARS, "validators": [is_header]}, "The header that bears the secret: `Authorization`."
]
Secret = Annotated[
    str,
    {"max_length": SECRET_CHARS, "allow_blank": True, "validators": [is_secret]},
    "The whole value of the header, such as `Bearer …`. Nobody is shown it again.",
]


class NewServer(TypedDict):
    name: Name
    url: Url
    header: NotRequired[Header]
    secret: NotRequired[Secret]
    for_all: NotRequired[Annotated[bool, "Its tools are offered to everybody: only for staff who may."]]


class ServerChange(TypedDict, total=False):
    url: Annotated[Url, "At another address none of its tools is allowed."]
    header: Header
    secret: Secret
    is_active: Annotated[bool, "`false`: none of its tools is offered."]
    allowed: Annotated[
        dict[str, str],
        "The tools that models may be offered, by name: of each the `digest` that you saw. All others are not. Refused with "
        "409 `tool_changed` where one is not so any more.",
    ]


class ServerToolAnswer(TypedDict):
    id: Annotated[Id, "Id of the tool."]
    name: Annotated[str, "Its own name; a model calls it by that of the server, two underscores and this."]
    description: Annotated[str, "What it says of itself."]
    schema: Annotated[dict[str, Any], "JSON Schema of its input."]
    read_only: Annotated[bool, "It declares to change nothing. Any other is called once the person has said so."]
    digest: Annotated[str, "Of all that it says of itself."]
    state: Annotated[
        str,
        ("new", "allowed", "changed"),
        "`new`: nobody has allowed it. `changed`: it is not as it was allowed, and is not offered.",
    ]


class ServerAnswer(TypedDict):
    id: Annotated[Id, "Id of the server."]
    name: Annotated[str, "What the names of its tools begin with."]
    url: Annotated[str, "Where it is."]
    for_all: Annotated[bool, "`true`: its tools are offered to everybody."]
    header: Annotated[str, "The header that bears the secret."]
    has_secret: Annotated[bool, "Whether a secret is sent."]
    signs_in: Annotated[bool, "`true`: whoever uses it has to sign in to it."]
    signed_in: Annotated[bool, "Whether the caller has."]
    is_active: Annotated[bool, "`false`: none of its tools is offered."]
    fetched_at: Annotated[Time | None, "When its tools were last read."]
    problem: Annotated[str, "Why they could not be read when that was last tried. Empty: they could."]
    tools: Annotated[list[ServerToolAnswer], "By name, as they were last read."]
    created_at: Annotated[Time, "When it was connected."]
    updated_at: Annotated[Time, "When it was last changed or read."]


class SignInBegun(TypedDict):
    url: Annotated[
        str,
        "Where the caller signs in, in a browser in which they are signed in here; within ten minutes it leads back.",
    ]
    issuer: Annotated[str, "Who signs them in."]


class ResourceAnswer(TypedDict):
    uri: Annotated[str, "What the server calls it by."]
    name: Annotated[str, "Its name or title."]
    description: Annotated[str, "What the server says of it."]
    media_type: Annotated[str, "Empty: it does not say."]
    size: Annotated[int | None, "In bytes, where it says."]


class ResourcesAnswer(TypedDict):
    results: Annotated[list[ResourceAnswer], "At most 200, in the server's order."]


class ResourceChoice(TypedDict):
    uri: Annotated[str, {"max_length": URL_CHARS}, "The `uri` of a resource."]
    name: NotRequired[Annotated[str, {"max_length": 200}, "What the file is called. Without it: the end of `uri`."]]


class ArgumentAnswer(TypedDict):
    name: Annotated[str, "Its name."]
    description: Annotated[str, "What the server says of it."]
    required: Annotated[bool, "Whether the server needs it."]


class ServerPromptAnswer(TypedDict):
    name: Annotated[str, "Its name."]
    description: Annotated[str, "What the server says of it."]
    arguments: Annotated[list[ArgumentAnswer], "What it is filled with."]


class ServerPromptsAnswer(TypedDict):
    results: Annotated[list[ServerPromptAnswer], "At most 200, in the server's order."]


class ServerPromptArguments(TypedDict):
    arguments: Annotated[dict[str, str], "By name."]


class ServerPromptTextAnswer(TypedDict):
    text: Annotated[str, "Its messages, without the rest that they hold; cut with a mark where it is too long."]


class CallAnswer(TypedDict):
    answer: Annotated[
        str,
        McpCall.Answer,
        "`once`: this call. `thread`, `always`: this tool as it is now, in this thread or everywhere, which `no` takes back.",
    ]


class McpCallAnswer(TypedDict):
    id: Annotated[Id, "Id of the call."]
    thread: Annotated[Id, "The thread."]
    reply: Annotated[Id, "The reply that asked for it, or made it."]
    call_id: Annotated[str, "Id of the `tool_use` block in the turn of that reply, which holds what is sent."]
    tool: Annotated[str, "The name that the model called."]
    state: Annotated[
        str,
        McpCall.State,
        "`asked`: it waits for your answer. `allowed`: it is made when the model asks for it again. `unknown`: it was cut off, "
        "and nobody knows whether it was carried out.",
    ]
    answer: Annotated[str, ("", *McpCall.Answer.values), "What you said. Empty: nothing, or you were not asked."]
    created_at: Annotated[Time, "When it was asked for, or made."]
    ended_at: Annotated[Time | None, "When its result was there."]


class McpServerList(APIView):
    part = Scope.SERVERS
    pagination_class = ordered_by("-id")

    @describe(responses=described(ServerAnswer, many=True))
    def get(self, request: Request) -> Response:
        """The caller's MCP servers, newest first, with their tools."""
        return self.page(
            request, servers.of(caller(request)), lambda page: [server_object(each, caller(request)) for each in page]
        )

    @describe(request=described(NewServer), responses={201: described(ServerAnswer)})
    def post(self, request: Request) -> Response:
        """Connect an MCP server. It is not asked for its tools before `refresh/`, and none of them is offered before it is
        allowed. Refused with 403 `server_for_all_refused` where it is for everybody, unless the caller is staff and may."""
        return Response(
            server_object(servers.create(caller(request), **valid(NewServer, request)), caller(request)), status=201
        )


class McpServerDetail(APIView):
    part = Scope.SERVERS

    @describe(responses=described(ServerAnswer))
    def get(self, request: Request, server_id: str) -> Response:
        """One MCP server, with its tools."""
        return Response(server_object(servers.get(caller(request), server_id), caller(request)))

    @describe(request=described(ServerChange), responses=described(ServerAnswer))
    def patch(self, request: Request, server_id: str) -> Response:
        """Change an MCP server, or say which of its tools models may be offered."""
        server = servers.get(caller(request), server_id)
        servers.change(server, **valid(ServerChange, request))
        return Response(server_object(servers.get(caller(request), server_id), caller(request)))

    @describe(responses={204: None})
    def delete(self, request: Request, server_id: str) -> Response:
        """Remove an MCP server, with what was allowed of it."""
        servers.delete(servers.get(caller(request), server_id))
        return Response(status=204)


class McpServerRefresh(APIView):
    part = Scope.SERVERS

    @describe(request=None, responses=described(ServerAnswer))
    def post(self, request: Request, server_id: str) -> Response:
        """Read its tools anew. Those that are not as they were allowed are offered no more. Refused with 409
        `server_unreachable` where they can't be read; `details` says why."""
        server = servers.get(caller(request), server_id)
        servers.refresh(server)
        return Response(server_object(servers.get(caller(request), server_id), caller(request)))


class McpServerSignIn(APIView):
    part = Scope.SERVERS

    @describe(request=None, responses=described(SignInBegun))
    def post(self, request: Request, server_id: str) -> Response:
        """Begin a sign-in to a server, of the caller's or for everybody, by OAuth. Refused with 409 `server_sign_in_failed`
        where it asks for none or can't be trusted with one; `details` says why."""
        server = servers.get_usable(caller(request), server_id)
        address = sign_ins.address_for(requested_address(request._request), server.pk)
        begun = sign_ins.begin(caller(request), server, address)
        return Response({"url": begun.url, "issuer": begun.issuer})

    @describe(responses={204: None})
    def delete(self, request: Request, server_id: str) -> Response:
        """End the caller's sign-in to a server; its tokens are revoked where they were given, if that can be."""
        sign_ins.end(caller(request), servers.get_usable(caller(request), server_id))
        return Response(status=204)


class McpResourceList(APIView):
    part = Scope.SERVERS

    @describe(responses=described(ResourcesAnswer))
    def get(self, request: Request, server_id: str) -> Response:
        """What a server, of the caller's or for everybody, has to be read; asked of it now. Else 409 `server_unreachable`."""
        server = servers.get_usable(caller(request), server_id)
        rows = [fill(ResourceAnswer, each) for each in offers.resources_of(caller(request), server)]
        return Response({"results": rows})


class McpResourceAttaching(APIView):
    @describe(request=described(ResourceChoice), responses={201: described(FileAnswer)})
    def post(self, request: Request, server_id: str) -> Response:
        """Make a file of the caller's of a resource, as if it had been uploaded: send a message with its id."""
        server, choice = servers.get_usable(caller(request), server_id), valid(ResourceChoice, request)
        name = choice.get("name", "")
        file = offers.attach(caller(request), server, choice["uri"], name=name, enqueue=tasks.enqueue_reading)
        return Response(file_object(file), status=201)


class McpPromptList(APIView):
    part = Scope.SERVERS

    @describe(responses=described(ServerPromptsAnswer))
    def get(self, request: Request, server_id: str) -> Response:
        """Prompts of a server, of the caller's or for everybody; asked of it now. Else 409 `server_unreachable`."""
        server = servers.get_usable(caller(request), server_id)
        rows = [
            fill(ServerPromptAnswer, each, arguments=[fill(ArgumentAnswer, argument) for argument in each.arguments])
            for each in offers.prompts_of(caller(request), server)
        ]
        return Response({"results": rows})


class McpPromptText(APIView):
    part = Scope.SERVERS

    @describe(request=described(ServerPromptArguments), responses=described(ServerPromptTextAnswer))
    def post(self, request: Request, server_id: str, prompt_name: str) -> Response:
        """The text of a prompt with these arguments, to be looked at and sent by the caller. Nothing is sent by itself."""
        server, arguments = (
            servers.get_usable(caller(request), server_id),
            valid(ServerPromptArguments, request)["arguments"],
        )
        return Response({"text": offers.prompt_text(caller(request), server, prompt_name, arguments)})


class McpCallList(APIView):
    part = Scope.SERVERS
    pagination_class = ordered_by("-created_at", "-id")

    @describe(responses=described(McpCallAnswer, many=True))
    def get(self, request: Request) -> Response:
        """Calls of tools that may change something, newest first: those that wait for the caller's answer, and what became of
        the others."""
        rows = permissions.calls_of(caller(request))
        return self.page(request, rows, lambda page: [call_object(each) for each in page])


class McpCallAnswering(APIView):
    part = Scope.SERVERS

    @describe(request=described(CallAnswer), responses=described(McpCallAnswer))
    def post(self, request: Request, call_id: str) -> Response:
        """Say whether a call may be made. It is made when the model asks for it again: send a message that says so."""
        call = permissions.get(caller(request), call_id)
        permissions.answer(call, McpCall.Answer(valid(CallAnswer, request)["answer"]))
        return Response(call_object(permissions.get(caller(request), call_id)))


def server_object(server: McpServer, user: User) -> ServerAnswer:
    tools = [tool_object(tool) for tool in servers.tools_of(server)]
    signed_in = sign_ins.of(user).filter(server=server).exists()
    return fill(ServerAnswer, server, has_secret=bool(server.secret), signed_in=signed_in, tools=tools)


def tool_object(tool: McpTool) -> ServerToolAnswer:
    return fill(ServerToolAnswer, tool, state=servers.state_of(tool))


def call_object(call: McpCall) -> McpCallAnswer:
    name = f"{call.tool.server.name}{JOINT}{call.tool.name}"
    return fill(
        McpCallAnswer, call, thread=call.thread_id, reply=call.reply_id, tool=name, state=permissions.state_of(call)
    )
