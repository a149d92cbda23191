"""Claude over the Messages API, by the official SDK."""

import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import urlsplit

import anthropic
import httpx2
from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex, AsyncStream, Timeout

from conversations.models.connections import Kind
from conversations.providers import model_catalog
from conversations.providers.base import Payload, ProviderError, TokenCounter
from conversations.providers.cited_documents import documents_of
from conversations.providers.claude import default_model
from conversations.providers.deadline import Deadline
from conversations.providers.endpoints import Endpoint, EndpointReader, anthropic_from_settings
from conversations.providers.errors import code_for_status, code_for_type, provider_error
from conversations.providers.event_stream import StreamEvent, events_in
from conversations.providers.http_client import connection_code, open_http_client
from conversations.providers.http_provider import HTTP_FAILURES, HttpProvider, requested_wait
from conversations.providers.inline_thoughts import THOUGHT_TAGS, InlineThoughts
from conversations.providers.message_stream import Heard, MessageAccumulator
from conversations.providers.model_catalog import LARGE, Sizes
from conversations.providers.stream_reading import read_stream
from conversations.providers.tool_calls import ToolCalls, called_ids

OWN_HOST = ".anthropic.com"
FAILURES = (anthropic.AnthropicError, *HTTP_FAILURES)
"""All that a call can raise; the SDK wraps some of it only."""
log = logging.getLogger("openbook.providers")

TOO_LARGE = re.compile(
    r"prompt is too long|exceeds? (?:the )?context (?:limit|window)|too many (?:total )?tokens|input is too long",
    re.IGNORECASE,
)
"""How the API says it, with the type of any other request that it can't take."""
SPENT = "enforced_spend_limit_reached"


Client = AsyncAnthropic | AsyncAnthropicBedrock | AsyncAnthropicVertex


class AnthropicProvider(HttpProvider[Client]):
    failures = FAILURES
    request_id_header = "request-id"

    def __init__(
        self,
        endpoint: EndpointReader = anthropic_from_settings,
        *,
        name: str = "anthropic",
        default_model: Callable[[], str] = default_model,
    ) -> None:
        super().__init__(endpoint, name=name)
        self._default_model = default_model

    def default_model(self) -> str:
        return self._default_model()

    def cites_documents(self, model: str) -> bool:
        """Claude does, wherever it is asked; others that speak as its API does may not even read documents."""
        return "claude" in model

    def sizes(self, model: str) -> Sizes:
        """Claude is as large wherever it is asked."""
        row = model_catalog.find(Kind.ANTHROPIC, model)
        return Sizes.of(row.context_window, "known", row.max_output) if row else LARGE

    async def _attempt(self, endpoint: Endpoint, payload: Payload, deadline: Deadline) -> AsyncGenerator[Heard]:
        client = await self._client(endpoint)
        stream = cast("AsyncStream[Any]", await deadline.wait(client.messages.create(**payload)))
        reading = MessageAccumulator(
            calls=ToolCalls(called_ids(payload["messages"])),
            documents=documents_of(payload["messages"]),
            inline=InlineThoughts(THOUGHT_TAGS if self._is_compatible(endpoint) else {}),
        )
        request_id = stream.response.headers.get(self.request_id_header, "")
        # The raw events, because the SDK's own reader takes a stream that was cut off for a whole one.
        async with stream, aclosing(self._events(client, stream.response)) as events:
            told = read_stream(events, reading, deadline, request_id, self.failures)
            async with aclosing(told):
                async for heard in told:
                    yield heard
        if reading.untrue_citations:
            log.warning("citations that are not true", extra={"count": reading.untrue_citations})

    def _events(self, client: Client, response: httpx2.Response) -> AsyncGenerator[StreamEvent]:
        return events_in(response)

    def _writes_calls_in_silence(self, endpoint: Endpoint) -> bool:
        """The service itself streams them, servers that are compatible with it may not."""
        return self._is_compatible(endpoint)

    def _is_compatible(self, endpoint: Endpoint) -> bool:
        """Whether another server is asked than the service itself."""
        host = urlsplit(endpoint.base_url).hostname or ""
        return bool(host) and not f".{host}".endswith(OWN_HOST)

    def _open_client(self, endpoint: Endpoint) -> Client:
        return with_own_headers(AsyncAnthropic(api_key=endpoint.key, **client_values(endpoint)), endpoint)

    async def _list_models(self, client: Client) -> object:
        return await client.get("/v1/models", cast_to=object, options={"params": {"limit": 1_000}})

    def token_counter(self) -> TokenCounter | None:
        return self.count_tokens

    async def _count(self, client: Client, model: str, text: str) -> object:
        body = {"model": model, "messages": [{"role": "user", "content": text}]}
        return await client.post("/v1/messages/count_tokens", cast_to=object, body=body)

    def _headers(self, failure: Exception) -> Mapping[str, str]:
        return failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}

    def _describe(self, failure: Exception, endpoint: Endpoint) -> ProviderError:
        match failure:
            case anthropic.APIStatusError():
                return provider_error(
                    code_of(failure),
                    detail=detail_of(failure),
                    secrets=endpoint.secrets,
                    key_name=endpoint.key_name,
                    status=failure.status_code,
                    retry_after=requested_wait(self._headers(failure)),
                )
            case anthropic.APIConnectionError():
                return provider_error(connection_code(failure))
        return super()._describe(failure, endpoint)


def client_values(endpoint: Endpoint) -> dict[str, Any]:
    """What each of the SDK's clients is made with, beside its credentials."""
    return {
        "base_url": endpoint.base_url,
        "default_headers": endpoint.headers,
        "max_retries": 0,
        # Reading is watched by content, as pings defeat a read timeout.
        "timeout": Timeout(None, connect=endpoint.connect_seconds),
        "open_telemetry": False,
        "http_client": open_http_client(endpoint),
    }


def with_own_headers[C: Client](client: C, endpoint: Endpoint) -> C:
    """A connection's, and not those of ANTHROPIC_CUSTOM_HEADERS: they are the operator's."""
    if endpoint.networks is not None:
        client._custom_headers = endpoint.headers
    return client


def code_of(failure: anthropic.APIStatusError) -> str:
    named = failure.type or failure.response.headers.get("x-amzn-errortype", "").partition(":")[0]
    code = code_for_type(named) or code_for_status(failure.status_code)
    if code == "rate_limited" and failure.error_code == SPENT:
        return "spending_limit"
    if code == "invalid_request" and TOO_LARGE.search(detail_of(failure)):
        return "request_too_large"
    return code


def detail_of(failure: anthropic.APIStatusError) -> str:
    """The service's own words; Bedrock tells them without an error around them."""
    message = failure.api_message or (failure.body.get("message") if isinstance(failure.body, dict) else "")
    return message if isinstance(message, str) else ""
