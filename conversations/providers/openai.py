"""Models behind any server that speaks OpenAI's Chat Completions, by the official SDK."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any

import httpx2
import openai
from django.conf import settings
from openai import AsyncOpenAI, AsyncStream, Timeout

from conversations.providers import model_catalog, refusals
from conversations.providers.base import Finished, Payload, ProviderError, TokenCounter
from conversations.providers.chat_calls import PiecedCalls
from conversations.providers.chat_completions import chat_payload
from conversations.providers.chat_errors import error_in, refusal_details, stream_error
from conversations.providers.chat_stream import ChatAccumulator
from conversations.providers.deadline import Deadline
from conversations.providers.dialects import CountCall, Dialect, count_call_at, dialect_at, is_cloud
from conversations.providers.endpoints import Endpoint, EndpointReader, openai_from_settings
from conversations.providers.errors import StreamError, provider_error
from conversations.providers.event_stream import events_in
from conversations.providers.http_client import connection_code, open_http_client
from conversations.providers.http_provider import HTTP_FAILURES, HttpProvider, obstacle_of, requested_wait
from conversations.providers.inline_thoughts import THOUGHT_TAGS, InlineThoughts
from conversations.providers.known_prices import known_window
from conversations.providers.listed_models import ListedModels
from conversations.providers.message_stream import Heard
from conversations.providers.messages_api import RequestParts
from conversations.providers.model_catalog import LARGE, SMALL, Sizes
from conversations.providers.stream_reading import read_stream
from conversations.providers.tool_calls import ToolCalls

LIST_SECONDS = 3.0
NO_KEY = "none"
"""What a server is told that wants no key: the SDK wants to say something."""
FAILURES = (openai.OpenAIError, *HTTP_FAILURES)


class OpenAIProvider(HttpProvider[AsyncOpenAI]):
    marks_cache = False  # these servers cache prefixes by themselves, if they do
    failures = FAILURES

    def __init__(
        self,
        endpoint: EndpointReader = openai_from_settings,
        *,
        name: str = "openai",
        default_model: Callable[[], str] | None = None,
    ) -> None:
        super().__init__(endpoint, name=name)
        self._default_model = default_model
        self._listed = ListedModels(lambda: self.models(seconds=LIST_SECONDS))

    def default_model(self) -> str:
        """The server's setting, the first that staff are offered, or the first that the service itself named, as far as it was
        asked. Raises ``ProviderError``."""
        return self._named_model() or self._listed.first(self._endpoint())

    def sizes(self, model: str) -> Sizes:
        endpoint = self._endpoint()
        told = self._listed.find(endpoint, model)
        if told and told.context_window:
            return Sizes.of(told.context_window, "told", told.max_output)
        if window := known_window(endpoint.base_url, model):
            return Sizes.of(window, "known")
        return LARGE if is_cloud(self._dialect()) else SMALL

    def forces_tools(self) -> bool:
        return self._dialect().takes_choice

    def lacks_list(self, model: str = "") -> bool:
        endpoint = self._endpoint()
        if not self._listed.is_due(endpoint) or self.wait() or obstacle_of(endpoint):
            return False
        try:
            name = model or self._named_model()
        except ProviderError:
            return False
        is_known = name and (model_catalog.find(self.name, name) or known_window(endpoint.base_url, name))
        return not is_known

    async def learn_list(self) -> None:
        await self._listed.learn(self._endpoint())

    def forget_list(self) -> None:
        """The service may offer others now."""
        self._listed.forget(self._endpoint())

    def _named_model(self) -> str:
        """The default one, as far as it is not for the service to name. Raises ``ProviderError``."""
        if self._default_model:
            return self._default_model()
        if settings.OPENBOOK_MODEL:
            return str(settings.OPENBOOK_MODEL)
        offered = model_catalog.offered(self.name)
        return offered[0].name if offered else ""

    def program(self) -> Mapping[str, object]:
        """The dialect that a request is written in: the address may be another one when it is rendered again."""
        return {"name": self.name, "dialect": self._dialect().as_dict()}

    def render(self, parts: RequestParts) -> Payload:
        """The body of the request, in the dialect that its ``program`` recorded or in that of the server."""
        program = parts.program
        return chat_payload(parts, Dialect.of(program["dialect"]) if program else self._dialect())

    async def _attempt(self, endpoint: Endpoint, payload: Payload, deadline: Deadline) -> AsyncGenerator[Heard]:
        client = await self._client(endpoint)
        tags = THOUGHT_TAGS if dialect_of(endpoint).thoughts_in_text else {}
        reading = ChatAccumulator(calls=PiecedCalls(ToolCalls(called_ids(payload))), inline=InlineThoughts(tags))
        try:
            stream = await deadline.wait(
                client.post(
                    "/chat/completions", cast_to=object, body=payload, stream=True, stream_cls=AsyncStream[object]
                )
            )
        except openai.APIStatusError as failure:
            error = error_of(failure)
            if error.code == "model_not_found":
                self._listed.forget(endpoint)
            if error.code != refusals.CODE:
                raise
            yield refused(error, payload, request_id_of(failure.response))
            return
        # The bytes themselves, because the SDK takes a stream that was cut off for a whole one and hides signs of life.
        async with stream, aclosing(events_in(stream.response)) as events:
            told = read_stream(events, reading, deadline, request_id_of(stream.response), self.failures)
            async with aclosing(told):
                async for heard in told:
                    yield heard

    def _writes_calls_in_silence(self, endpoint: Endpoint) -> bool:
        return not dialect_of(endpoint).streams_calls

    def _open_client(self, endpoint: Endpoint) -> AsyncOpenAI:
        client = AsyncOpenAI(
            **client_values(endpoint),
            # Reading is watched by content, as signs of life defeat a read timeout.
            timeout=Timeout(None, connect=endpoint.connect_seconds),
            http_client=open_http_client(endpoint),
        )
        if endpoint.networks is not None:
            # Without what the environment says of the operator's own account.
            client._custom_headers, client.organization, client.project = endpoint.headers, None, None
        return client

    async def _list_models(self, client: AsyncOpenAI) -> object:
        return await client.get("/models", cast_to=object)

    async def moderate(self, model: str, text: str, *, seconds: float, picture: str = "") -> Sequence[str]:
        shown: Any = [{"type": "image_url", "image_url": {"url": picture}}] if picture else text

        async def examined(client: AsyncOpenAI) -> Sequence[str]:
            body = {"input": shown} | ({"model": model} if model else {})
            return flagged_categories(await client.post("/moderations", cast_to=object, body=body))

        return await self._asked(examined, seconds)

    def token_counter(self) -> TokenCounter | None:
        return self.count_tokens if self._count_call() else None

    async def _count(self, client: AsyncOpenAI, model: str, text: str) -> object:
        call = self._count_call()
        assert call
        return await client.post(call.url, cast_to=object, body={"model": model, call.field: text})

    def _count_call(self) -> CountCall | None:
        endpoint = self._endpoint()
        return count_call_at(endpoint.base_url, endpoint.server)

    def _dialect(self) -> Dialect:
        return dialect_of(self._endpoint())

    def _headers(self, failure: Exception) -> Mapping[str, str]:
        return failure.response.headers if isinstance(failure, openai.APIStatusError) else {}

    def _describe(self, failure: Exception, endpoint: Endpoint) -> ProviderError:
        match failure:
            case openai.APIStatusError():
                error = error_of(failure)
                return provider_error(
                    error.code,
                    detail=error.detail,
                    secrets=endpoint.secrets,
                    key_name=endpoint.key_name,
                    status=failure.status_code,
                    retry_after=requested_wait(self._headers(failure)),
                )
            case openai.APIConnectionError():
                return provider_error(connection_code(failure))
        return super()._describe(failure, endpoint)


def flagged_categories(answer: object) -> list[str]:
    """Of the answer of ``POST /moderations``, those that are true. Raises ``ValueError`` where it is no such answer."""
    match answer:
        case {"results": [{"flagged": bool(flagged), "categories": dict(categories)}, *_]}:
            named = [name for name, is_seen in categories.items() if is_seen is True]
            return (named or ["flagged"]) if flagged else []
    raise ValueError("not an answer of a moderation model")


def dialect_of(endpoint: Endpoint) -> Dialect:
    return dialect_at(endpoint.base_url, endpoint.server)


def client_values(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "api_key": endpoint.key or NO_KEY,
        "base_url": endpoint.base_url,
        "default_headers": endpoint.headers,
        "max_retries": 0,
    }


def refused(error: StreamError, payload: Payload, request_id: str) -> Finished:
    """A filter before the model declined the request: to whoever asked that is the same as the model declining it."""
    details = refusal_details(error.detail)
    return Finished(
        stop_reason=refusals.STOP_REASON, request_id=request_id, model=payload["model"], stop_details=details
    )


def error_of(failure: openai.APIStatusError) -> StreamError:
    body = failure.body
    with suppress(ValueError):
        body = json.loads(body) if isinstance(body, str) else body
    told = (error_in(body) or body) if isinstance(body, dict) else {"message": body if isinstance(body, str) else ""}
    return stream_error(told, failure.status_code)


def request_id_of(response: httpx2.Response) -> str:
    return str(response.headers.get("x-request-id", ""))


def called_ids(payload: Payload) -> frozenset[str]:
    return frozenset(call["id"] for message in payload["messages"] for call in message.get("tool_calls", ()))
