"""Claude by the clouds that sell it, with the SDK's own clients. Their packages are imported once they are asked."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

import httpx2
from anthropic import AsyncAnthropicBedrock, AsyncAnthropicVertex
from anthropic.lib.bedrock._stream_decoder import get_response_stream_shape
from django.conf import settings
from django.utils.module_loading import import_string

from conversations.providers import model_catalog, usable_key
from conversations.providers.anthropic import AnthropicProvider, Client, client_values, with_own_headers
from conversations.providers.base import Payload, ProviderError, TokenCounter
from conversations.providers.clouds import CLOUDS, Cloud, access_key
from conversations.providers.endpoints import Endpoint, EndpointReader, bedrock_from_settings, vertex_from_settings
from conversations.providers.errors import provider_error
from conversations.providers.event_stream import StreamEvent
from conversations.providers.messages_api import RequestParts, messages_api_payload
from conversations.providers.model_listing import OfferedModel

MISSING = (
    "The {what} of {cloud} is missing. Whoever runs this Openbook can set {setting}, or enter it at the connection."
)
NO_MODEL = (
    "No model of {cloud} is offered. Whoever runs this Openbook can add one under Models, as the cloud names it, or set "
    "OPENBOOK_MODEL."
)
NOT_READ = "-"
"""Stands in for a key while a client is made, which would else look for one in the environment."""


class CloudProvider(AnthropicProvider):
    lists_models = False

    def __init__(
        self, cloud: Cloud, endpoint: EndpointReader, *, name: str, default_model: Callable[[], str] | None = None
    ) -> None:
        super().__init__(endpoint, name=name, default_model=default_model or self._first_offered)
        self._cloud = cloud
        self.request_id_header = cloud.request_id
        self._codes = (
            [(import_string(path), code) for path, code in cloud.failures.items()] if cloud.is_installed else []
        )
        self.failures = (*AnthropicProvider.failures, *(failure for failure, _ in self._codes))

    def render(self, parts: RequestParts) -> Payload:
        """As for the Messages API, but for what the clouds don't take."""
        return messages_api_payload(replace(parts, previous_message_id=None))

    def obstacle_at(self, endpoint: Endpoint) -> ProviderError | None:
        if endpoint.problem:
            return endpoint.problem
        if not self._cloud.is_installed:
            return provider_error("cloud_missing")
        for what, setting in self._cloud.needs.items():
            if not (getattr(endpoint, what) and endpoint.base_url):  # no address: the region can be none
                words = MISSING.format(what=what, cloud=self._cloud.name, setting=setting)
                return ProviderError("misconfigured", words, retryable=False)
        is_fine = usable_key(endpoint.key) or not (endpoint.key or endpoint.needs_key)
        return None if is_fine else provider_error("authentication", key_name=endpoint.key_name)

    async def models(self, *, seconds: float = 0) -> list[OfferedModel]:
        return []

    def _is_compatible(self, endpoint: Endpoint) -> bool:
        return False

    def token_counter(self) -> TokenCounter | None:
        return self.count_tokens if self._cloud.counts_tokens else None

    def _first_offered(self) -> str:
        if settings.OPENBOOK_MODEL:
            return str(settings.OPENBOOK_MODEL)
        if offered := model_catalog.offered(self.name):
            return offered[0].name
        raise ProviderError("misconfigured", NO_MODEL.format(cloud=self._cloud.name), retryable=False)

    def _describe(self, failure: Exception, endpoint: Endpoint) -> ProviderError:
        code = next((code for kind, code in self._codes if isinstance(failure, kind)), None)
        if code is None or isinstance(failure, RecursionError):
            return super()._describe(failure, endpoint)
        return provider_error(code, key_name=endpoint.key_name)


class BedrockProvider(CloudProvider):
    def __init__(
        self,
        endpoint: EndpointReader = bedrock_from_settings,
        *,
        name: str = "bedrock",
        default_model: Callable[[], str] | None = None,
    ) -> None:
        super().__init__(CLOUDS["bedrock"], endpoint, name=name, default_model=default_model)
        if self._cloud.is_installed:
            get_response_stream_shape()  # read from files once a process: not while a first answer comes

    def _open_client(self, endpoint: Endpoint) -> AsyncAnthropicBedrock:
        """With an API key, an access key, or what the machine has: its environment, its files, its role."""
        client = AsyncAnthropicBedrock(api_key=NOT_READ, aws_region=endpoint.region, **client_values(endpoint))
        pair = access_key(endpoint.key)
        client.api_key = None if pair else endpoint.key or None
        if pair:
            client.aws_access_key, client.aws_secret_key = pair[:2]
            client.aws_session_token = pair[2] or None
        return with_own_headers(client, endpoint)

    async def _events(self, client: Client, response: httpx2.Response) -> AsyncGenerator[StreamEvent]:
        """In Amazon's own frames, which the SDK reads."""
        told = cast("AsyncGenerator[Any]", client._make_sse_decoder().aiter_bytes(response.aiter_bytes()))
        async with aclosing(told):
            async for event in told:
                yield StreamEvent(event.data)


class VertexProvider(CloudProvider):
    """With the machine's Application Default Credentials."""

    def __init__(self) -> None:
        super().__init__(CLOUDS["vertex"], vertex_from_settings, name="vertex")

    def _open_client(self, endpoint: Endpoint) -> AsyncAnthropicVertex:
        client = AsyncAnthropicVertex(region=endpoint.region, project_id=endpoint.project, **client_values(endpoint))
        return with_own_headers(client, endpoint)
