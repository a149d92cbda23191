"""The server of the Model Context Protocol behind a real socket, and clients of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from conversations.accounts import tokens
from conversations.models import Scope
from conversations.runtime.db import in_database
from tests.asgi_server import serving
from tests.conversations.rest.conftest import api, others_api

__all__ = ["api", "others_api"]

ERAS = ("legacy", "2026-07-28")
"""With a handshake, as of 2025-11-25 and before, and without."""


@pytest.fixture
async def site() -> AsyncIterator[str]:
    """The URL of the site, without a slash."""
    async with serving(get_asgi_application()) as url:
        yield url


async def token_of(user: User, *scopes: Scope, name: str = "laptop", **more: Any) -> str:
    return await in_database(tokens.issue)(user=user, name=name, scopes=scopes or [Scope.READ, Scope.WRITE], **more)


@asynccontextmanager
async def connected(site: str, token: str, era: str = ERAS[1]) -> AsyncIterator[Client]:
    """The SDK's own client."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{site}/mcp/", http_client=http), mode=era) as client,
    ):
        yield client
