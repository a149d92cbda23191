"""What stands between the SDK of the protocol and everything else: where a server is, what it describes and answers.

The SDK takes two seconds and much memory to import, which only who uses it should pay: it is reached by ``list_tools`` and
``call_tool`` here.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.module_loading import import_string

from conversations.mcp_client.programs import Program
from conversations.runtime.values import dataclass

CLIENT, OAUTH = "conversations.mcp_client.client", "conversations.mcp_client.oauth"


class ServerError(Exception):
    """Why a server can't be used, in words without anything that it said. ``asks_for_sign_in``: it answered 401."""

    def __init__(self, message: str, *, asks_for_sign_in: bool = False) -> None:
        super().__init__(message)
        self.asks_for_sign_in = asks_for_sign_in


class CallFailed(ServerError):
    """``is_unknown``: whether the call was made can't be told."""

    def __init__(self, message: str, *, is_unknown: bool, asks_for_sign_in: bool = False) -> None:
        super().__init__(message, asks_for_sign_in=asks_for_sign_in)
        self.is_unknown = is_unknown


class SignInFailed(ServerError):
    """Why a person was not signed in to a server."""


class SignInRefused(SignInFailed):
    """What was granted is taken no more."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where a server is, with the headers that it is sent; or the program that is one."""

    url: str
    headers: Mapping[str, str]
    program: Program | None = None


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A tool as a server describes it. ``digest`` is that of everything that it said of it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read_only: bool
    digest: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool answered, as a model can read it."""

    text: str
    is_error: bool


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What a server has to be read: ``size`` in bytes, where it says."""

    uri: str
    name: str
    description: str
    media_type: str
    size: int | None


@dataclass(frozen=True, kw_only=True)
class Content:
    data: bytes
    media_type: str


@dataclass(frozen=True, kw_only=True)
class Argument:
    name: str
    description: str
    required: bool


@dataclass(frozen=True, kw_only=True)
class Prompt:
    name: str
    description: str
    arguments: Sequence[Argument]


@dataclass(frozen=True, kw_only=True)
class ClientAddress:
    """Where a sign-in to one server comes back to, and where this installation is described for it."""

    callback: str
    document: str

    @property
    def description(self) -> dict[str, Any]:
        """As registrations and the document have it (RFC 7591)."""
        return {
            "client_name": "Openbook",
            "redirect_uris": [self.callback],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "application_type": "web",
        }


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """Where the person signs in, at whom, and what the callback needs."""

    url: str
    issuer: str
    pending: str


@dataclass(frozen=True, kw_only=True)
class Granted:
    """Tokens, with all that renews them. ``seconds``: how long the access token counts, where that is known."""

    issuer: str
    grant: str
    seconds: int | None


async def list_tools(endpoint: Endpoint) -> list[Definition]:
    """The tools that can be offered, in the server's order. Raises ``ServerError``."""
    listed: list[Definition] = await (await _imported("list_tools"))(endpoint)
    return listed


async def call_tool(endpoint: Endpoint, name: str, input: Mapping[str, Any]) -> Answer:
    """Raises ``CallFailed``."""
    answer: Answer = await (await _imported("call_tool"))(endpoint, name, input)
    return answer


async def list_resources(endpoint: Endpoint) -> list[Resource]:
    """Raises ``ServerError``, as the next three do."""
    listed: list[Resource] = await (await _imported("list_resources"))(endpoint)
    return listed


async def read_resource(endpoint: Endpoint, uri: str) -> Content:
    content: Content = await (await _imported("read_resource"))(endpoint, uri)
    return content


async def list_prompts(endpoint: Endpoint) -> list[Prompt]:
    listed: list[Prompt] = await (await _imported("list_prompts"))(endpoint)
    return listed


async def get_prompt(endpoint: Endpoint, name: str, arguments: Mapping[str, str]) -> str:
    text: str = await (await _imported("get_prompt"))(endpoint, name, arguments)
    return text


async def begin_sign_in(server: str, address: ClientAddress) -> Beginning:
    """Raises ``SignInFailed``."""
    beginning: Beginning = await (await _imported("begin", OAUTH))(server, address)
    return beginning


async def finish_sign_in(pending: str, *, state: str, code: str, issuer: str | None) -> Granted:
    """Raises ``SignInFailed``."""
    granted: Granted = await (await _imported("finish", OAUTH))(pending, state=state, code=code, issuer=issuer)
    return granted


async def renew_sign_in(grant: str) -> Granted:
    """Raises ``SignInRefused`` where the person has to sign in again, else ``SignInFailed``."""
    granted: Granted = await (await _imported("renew", OAUTH))(grant)
    return granted


async def revoke_sign_ins(grants: Sequence[str]) -> None:
    """As far as that can be."""
    await (await _imported("revoke", OAUTH))(grants)


async def _imported(name: str, module: str = CLIENT) -> Any:
    return await asyncio.to_thread(import_string, f"{module}.{name}")
