"""Supermemory, through its official SDK. Each user has a namespace, each memory is one document there, with the memory's id.

Documents are stored for retrieval only: nothing is derived from them, so that what is deleted is gone.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any

from django.conf import settings
from supermemory import APIStatusError, APITimeoutError, AsyncSupermemory, NotFoundError
from supermemory.requests import FilterExpressionParams
from supermemory.types import DeleteDocumentsResult, SearchResponse

from memory.backends.base import BackendError, BackendInvalidAnswer, BackendRefused, BackendTimedOut, MirroredFact

WRITING_SECONDS = 10.0
LONGEST_QUESTION = 1_000
MOST_AT_ONCE = 100
MEMORY, CONTAINER = "memory", "container"
"""Keys of a document's metadata."""
REFUSALS = {400, 413, 422}
UNUSABLE = "What Supermemory answered can't be used."


class SupermemoryBackend:
    """Used in one event loop alone, that of ``calling``: connections belong to it."""

    is_local = False

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], AsyncSupermemory] = {}

    async def close(self) -> None:
        while self._clients:
            await self._clients.popitem()[1].close()

    async def facts(self, user_id: int, containers: Sequence[str], *, about: str, most: int) -> Sequence[uuid.UUID]:
        of_these: list[FilterExpressionParams] = [
            {"field": CONTAINER, "operator": "eq", "value": container} for container in containers
        ]
        response = await self._asked(
            lambda client: client.search(
                namespace(user_id),
                query=about[:LONGEST_QUESTION],
                filter={"operator": "or", "operands": of_these},
                search_mode="chunks",
                threshold=0,
                limit=most,
                include={"documents": True},
            ),
            seconds=settings.OPENBOOK_MEMORY_SECONDS,
        )
        return memory_ids(response)

    async def remember(self, user_id: int, fact: MirroredFact, *, again: bool) -> None:
        if again:  # adding under the same id would append
            try:
                await self._asked(
                    lambda client: client.documents.update(namespace(user_id), str(fact.id), **_document(fact))
                )
            except _DocumentMissing:
                pass
            else:
                return
        await self._asked(lambda client: client.add(namespace(user_id), id=str(fact.id), **_document(fact)))

    async def forget(self, user_id: int, ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
        some = sorted(ids)[:MOST_AT_ONCE]
        try:
            result = await self._asked(
                lambda client: client.documents.delete(namespace(user_id), ids=[*map(str, some)])
            )
        except _DocumentMissing:  # the whole namespace
            return some
        doubtful = failed_ids(result)
        return [id for id in some if str(id) not in doubtful or await self._has_not(user_id, id)]

    async def _has_not(self, user_id: int, id: uuid.UUID) -> bool:
        try:
            await self._asked(lambda client: client.documents.get(namespace(user_id), str(id)))
        except _DocumentMissing:
            return True
        return False

    async def _asked[T](
        self, call: Callable[[AsyncSupermemory], Awaitable[T]], *, seconds: float = WRITING_SECONDS
    ) -> T:
        try:
            client = self._client(settings.SUPERMEMORY_API_KEY, settings.SUPERMEMORY_BASE_URL)
            # The SDK's own time-out begins anew with every byte.
            async with asyncio.timeout(seconds):
                return await call(client)
        except (TimeoutError, APITimeoutError) as error:
            raise BackendTimedOut(f"Supermemory did not answer within {seconds:g} s.") from error
        except NotFoundError as error:
            raise _DocumentMissing("Supermemory has no such document.") from error
        except APIStatusError as error:
            raise _refusal(error.status_code) from error
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise BackendInvalidAnswer(UNUSABLE) from error  # the SDK trips over what it doesn't expect
        except Exception as error:
            raise BackendError(f"Supermemory could not be asked: {type(error).__name__}.") from error

    def _client(self, key: str, url: str) -> AsyncSupermemory:
        """Made at first use and kept: to make one takes a tenth of a second."""
        if (key, url) not in self._clients:
            self._clients[key, url] = AsyncSupermemory(
                api_key=key, base_url=url, timeout=WRITING_SECONDS, max_retries=0
            )
        return self._clients[key, url]


class _DocumentMissing(BackendError):
    """There is no such document."""


def namespace(user_id: int) -> str:
    return f"openbook_user_{user_id}"


def memory_ids(response: SearchResponse) -> list[uuid.UUID]:
    """The memories that the results name, best first, each once. The SDK checks no types. Raises ``BackendInvalidAnswer``."""
    try:
        results = list(response.results)
        ids = [id for result in results for id in _memory_ids(result)]
    except (AttributeError, TypeError) as error:
        raise BackendInvalidAnswer(UNUSABLE) from error
    if results and not ids:
        raise BackendInvalidAnswer("What Supermemory found names no memory.")
    return list(dict.fromkeys(ids))


def _memory_ids(result: Any) -> Iterator[uuid.UUID]:
    document = result.included and result.included.document
    for metadata in (result.metadata, document and document.metadata):
        try:
            yield uuid.UUID((metadata or {})[MEMORY])
        except (KeyError, ValueError):
            continue
        return


def failed_ids(result: DeleteDocumentsResult) -> set[str]:
    """Which documents were not deleted. Raises ``BackendInvalidAnswer``. Pure."""
    try:
        return {error.id for error in result.errors}
    except (AttributeError, TypeError) as error:
        raise BackendInvalidAnswer(UNUSABLE) from error


def _document(fact: MirroredFact) -> dict[str, Any]:
    metadata = {MEMORY: str(fact.id), CONTAINER: fact.container}
    return {"content": fact.text, "metadata": metadata, "task_type": "superrag"}


def _refusal(status: int) -> BackendError:
    if status < 300:  # what isn't JSON comes as an error of a good status
        return BackendInvalidAnswer(UNUSABLE)
    error = BackendRefused if status in REFUSALS else BackendError
    return error(f"Supermemory answered with status {status}.")
