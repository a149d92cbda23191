"""Calls of a system's HTTP API that fail loudly."""

import json
from typing import Any

import httpx2

from conformance.memory import MemoryFailed

SECONDS = 60.0


class Api:
    """JSON over HTTP at a base address, with headers of its own."""

    def __init__(self, base_url: str, headers: dict[str, str]) -> None:
        self._client = httpx2.Client(base_url=base_url, headers=headers, timeout=SECONDS, follow_redirects=False)

    def call(self, method: str, path: str, body: object = None, *, may_be: tuple[int, ...] = (), **query: str) -> Any:
        """The JSON of the answer, its text where it is no JSON, None where it is empty or its status one that it ``may_be``."""
        try:
            response = self._client.request(method, path, json=body, params=query or None)
        except httpx2.HTTPError as error:
            raise MemoryFailed(f"{method} {path}: {type(error).__name__}: {error}") from error
        if response.status_code in may_be:
            return None
        if not response.is_success:
            raise MemoryFailed(f"{method} {path} answered {response.status_code}: {response.text[:300]}")
        if not response.content:
            return None
        return json.loads(response.content) if "json" in response.headers.get("content-type", "") else response.text

    def close(self) -> None:
        self._client.close()
