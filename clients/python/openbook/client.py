"""The clients: ``Client``, and ``AsyncClient`` with the same methods."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NotRequired, Self, TypedDict, Unpack

import httpx2

from openbook import calls, types
from openbook.call import ROOT, Call, Page
from openbook.errors import Attempts, ConnectionFailed, OpenbookError, api_error
from openbook.progress import Event, MessageOptions, Progress, events_call, message_call, read_event

RETRIES = 5
TIMEOUT = 60.0
"""Seconds without a byte. A server that streams a reply writes something each 15 seconds."""

BROKE_OFF = "The stream broke off."


def _root(url: str) -> str:
    return url.rstrip("/") + ROOT


def _headers(token: str) -> dict[str, str]:
    return {"User-Agent": "openbook-client", **({"Authorization": f"Token {token}"} if token else {})}


def _sent(call: Call[Any]) -> dict[str, Any]:
    """The arguments of ``httpx2``'s ``build_request``."""
    body = {} if call.body is None else {"json": call.body}
    return {"method": call.method, "url": call.path, "params": call.parameters or None, **body}


class Turn(TypedDict):
    """Something that was said. ``model`` is the one that wrote an answer."""

    role: Literal["user", "assistant"]
    content: str
    model: NotRequired[str]


def _newest(thread: str) -> Call[Page[types.MessageAnswer]]:
    return calls.threads_messages_list(thread, before="end", page_size=1)


def _appending(
    turns: Sequence[Turn], thread: str | None, newest: list[types.MessageAnswer]
) -> Call[types.ImportAnswer]:
    """The import of a thread's newest turn, by which it is known, and of what follows that."""
    known: list[Any] = [{"id": turn["id"], "role": turn["role"], "content": turn["content"]} for turn in newest]
    imported: dict[str, Any] = {"messages": [*known, *turns], **({"id": thread} if thread else {})}
    return Call("POST", "import/", body={"format": "openbook/1", "threads": [imported]})


def _appended(answer: types.ImportAnswer) -> str:
    """Raises ``OpenbookError`` where the turns were not taken, as a reply was being written in the thread."""
    taken: list[Any] = [*answer["threads"], *answer.get("longer", [])]
    if not taken:
        raise OpenbookError("The turns were not taken: the thread is being written to in this moment.")
    return str(taken[0]["id"])


def _upload(file: Path | bytes, name: str, project: str | None) -> dict[str, Any]:
    """Those of a file that is sent."""
    content, name = (file.read_bytes(), name or file.name) if isinstance(file, Path) else (file, name)
    return {
        "method": "POST", "url": "files/", "files": {"file": (name, content)},
        "params": {"project": project} if project else None,
    }  # fmt: skip


def _failure(response: httpx2.Response) -> OpenbookError | None:
    """``None`` for a success."""
    if response.is_success:
        return None
    try:
        body = response.json()
    except ValueError:
        body = None
    return api_error(response.status_code, body, response.headers.get("Retry-After"))


def _answer(call: Call[Any], response: httpx2.Response) -> Any:
    if call.is_binary:
        return response.content
    return response.json() if response.content else None


def _next[T](call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    """The call of the page behind this one, at the same server."""
    return Call("GET", call.path, query=dict(httpx2.URL(page["next"]).params)) if page["next"] else None


def _message(content: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a message, with an id of its own, by which sending it again has no effect."""
    return {"content": content, "client_message_id": str(uuid.uuid4()), **options}


class ReplyStream(Progress):
    """The events of a reply, one after the other, across cuts. ``text`` and the ids are as far as it was read."""

    def __init__(self, client: "Client", call: Call[Any], reply: str = "", seq: int = 0) -> None:
        super().__init__(call, reply, seq)
        self._events = client._follow(self)

    def __iter__(self) -> Iterator[Event]:
        return self._events

    def texts(self) -> Iterator[str]:
        """The pieces of the answer. Raises ``ReplyFailed`` at its end."""
        for event in self:
            if event["type"] == "reply.delta":
                yield event["data"]["text"]
        self.check()

    def wait(self) -> Self:
        """Read it to its end. Raises ``ReplyFailed``."""
        for _ in self.texts():
            pass
        return self


class AsyncReplyStream(Progress):
    """The same, asynchronously."""

    def __init__(self, client: "AsyncClient", call: Call[Any], reply: str = "", seq: int = 0) -> None:
        super().__init__(call, reply, seq)
        self._events = client._follow(self)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def texts(self) -> AsyncIterator[str]:
        async for event in self:
            if event["type"] == "reply.delta":
                yield event["data"]["text"]
        self.check()

    async def wait(self) -> Self:
        async for _ in self.texts():
            pass
        return self


class Client:
    """An installation of Openbook at ``url``, as the person whose ``token`` it is.

    ``send(calls.…)`` makes any call of the API, ``all(calls.…)`` goes through all pages of a list. Every method raises
    ``ApiError`` for what the server refuses and ``ConnectionFailed`` where it is not reached after ``retries`` more attempts.
    ``http`` may be a client of yours, with a proxy or certificates.
    """

    def __init__(
        self, url: str, token: str = "", *, retries: int = RETRIES, timeout: float = TIMEOUT, http: httpx2.Client | None = None
    ) -> None:  # fmt: skip
        self.http = http or httpx2.Client(timeout=timeout)
        self.http.base_url = httpx2.URL(_root(url))
        self.http.headers.update(_headers(token))
        self.retries = retries

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.http.close()

    def send[T](self, call: Call[T]) -> T:
        attempts = Attempts(self.retries)
        while True:
            try:
                response = self.http.request(**_sent(call))
                failure = _failure(response)
            except httpx2.TransportError as error:
                failure = ConnectionFailed(str(error))
            if failure is None:
                return _answer(call, response)  # type: ignore[no-any-return]
            time.sleep(attempts.fail(call, failure))

    def all[T](self, call: Call[Page[T]]) -> Iterator[T]:
        """What a list holds, page by page as it is read."""
        following: Call[Page[T]] | None = call
        while following:
            page = self.send(following)
            yield from page["results"]
            following = _next(following, page)

    def stream(
        self, content: str | list[dict[str, Any]], thread: str | None = None, **options: Unpack[MessageOptions]
    ) -> ReplyStream:
        """Send a message and read its reply as it is written; without a thread in a new one."""
        return ReplyStream(self, message_call(thread, _message(content, options)))

    def resume(self, reply: str, after: int = 0) -> ReplyStream:
        """The events of a reply behind the ``seq`` that you have, also after its end."""
        return ReplyStream(self, events_call(reply, after), reply, after)

    def ask(
        self, content: str | list[dict[str, Any]], thread: str | None = None, **options: Unpack[MessageOptions]
    ) -> ReplyStream:
        """Send a message and wait for the answer, which is ``text``. Raises ``ReplyFailed``."""
        return self.stream(content, thread, **options).wait()

    def search(self, query: str) -> list[types.FoundAnswer]:
        """What would be recalled for these words, best first."""
        return self.send(calls.memories_search_get(q=query))["results"]

    def remember(self, text: str, tags: list[str] | None = None) -> types.MemoryAnswer:
        return self.send(calls.memories_create({"content": text, "tags": tags or []}))

    def forget(self, memory: str) -> types.ForgettingAnswer:
        """A note, and what repeats it, for good."""
        return self.send(calls.memories_forget_create(memory))

    def history(self, thread: str) -> list[types.MessageAnswer]:
        """The turns of a thread's active path, oldest first."""
        return list(self.all(calls.threads_messages_list(thread)))

    def append(self, turns: Sequence[Turn], thread: str | None = None) -> str:
        """Keep what was said elsewhere behind the newest turn of a thread, or in a new one. Asks no model. Returns the
        thread's id."""
        newest = self.send(_newest(thread))["results"] if thread else []
        return _appended(self.send(_appending(turns, thread, newest)))

    def upload(self, file: Path | bytes, name: str = "", *, project: str | None = None) -> types.FileAnswer:
        """A file; its ``id`` goes into ``files`` of a message. Not tried again by itself."""
        call = _upload(file, name, project)
        try:
            response = self.http.request(**call)
        except httpx2.TransportError as error:
            raise ConnectionFailed(str(error)) from error
        if failure := _failure(response):
            raise failure
        return response.json()  # type: ignore[no-any-return]

    def _follow(self, progress: Progress) -> Iterator[Event]:
        attempts = Attempts(self.retries)
        while not progress.has_ended:
            call = progress.call
            failure: OpenbookError = ConnectionFailed(BROKE_OFF)
            try:
                with self.http.stream(**_sent(call)) as response:
                    if not response.is_success:
                        response.read()
                        failure = _failure(response) or failure
                    else:
                        for line in response.iter_lines():
                            if (event := read_event(line)) and (event := progress.take(event)):
                                attempts.succeed()
                                yield event
            except httpx2.TransportError as error:
                failure = ConnectionFailed(str(error))
            if progress.has_ended:
                return
            time.sleep(attempts.fail(call, failure))


class AsyncClient:
    """The same as ``Client``, asynchronously."""

    def __init__(
        self, url: str, token: str = "", *,
        retries: int = RETRIES, timeout: float = TIMEOUT, http: httpx2.AsyncClient | None = None,
    ) -> None:  # fmt: skip
        self.http = http or httpx2.AsyncClient(timeout=timeout)
        self.http.base_url = httpx2.URL(_root(url))
        self.http.headers.update(_headers(token))
        self.retries = retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self.http.aclose()

    async def send[T](self, call: Call[T]) -> T:
        attempts = Attempts(self.retries)
        while True:
            try:
                response = await self.http.request(**_sent(call))
                failure = _failure(response)
            except httpx2.TransportError as error:
                failure = ConnectionFailed(str(error))
            if failure is None:
                return _answer(call, response)  # type: ignore[no-any-return]
            await asyncio.sleep(attempts.fail(call, failure))

    async def all[T](self, call: Call[Page[T]]) -> AsyncIterator[T]:
        following: Call[Page[T]] | None = call
        while following:
            page = await self.send(following)
            for each in page["results"]:
                yield each
            following = _next(following, page)

    def stream(
        self, content: str | list[dict[str, Any]], thread: str | None = None, **options: Unpack[MessageOptions]
    ) -> AsyncReplyStream:
        return AsyncReplyStream(self, message_call(thread, _message(content, options)))

    def resume(self, reply: str, after: int = 0) -> AsyncReplyStream:
        return AsyncReplyStream(self, events_call(reply, after), reply, after)

    async def ask(
        self, content: str | list[dict[str, Any]], thread: str | None = None, **options: Unpack[MessageOptions]
    ) -> AsyncReplyStream:
        return await self.stream(content, thread, **options).wait()

    async def search(self, query: str) -> list[types.FoundAnswer]:
        return (await self.send(calls.memories_search_get(q=query)))["results"]

    async def remember(self, text: str, tags: list[str] | None = None) -> types.MemoryAnswer:
        return await self.send(calls.memories_create({"content": text, "tags": tags or []}))

    async def forget(self, memory: str) -> types.ForgettingAnswer:
        return await self.send(calls.memories_forget_create(memory))

    async def history(self, thread: str) -> list[types.MessageAnswer]:
        return [turn async for turn in self.all(calls.threads_messages_list(thread))]

    async def append(self, turns: Sequence[Turn], thread: str | None = None) -> str:
        newest = (await self.send(_newest(thread)))["results"] if thread else []
        return _appended(await self.send(_appending(turns, thread, newest)))

    async def upload(self, file: Path | bytes, name: str = "", *, project: str | None = None) -> types.FileAnswer:
        call = await asyncio.to_thread(_upload, file, name, project)
        try:
            response = await self.http.request(**call)
        except httpx2.TransportError as error:
            raise ConnectionFailed(str(error)) from error
        if failure := _failure(response):
            raise failure
        return response.json()  # type: ignore[no-any-return]

    async def _follow(self, progress: Progress) -> AsyncIterator[Event]:
        attempts = Attempts(self.retries)
        while not progress.has_ended:
            call = progress.call
            failure: OpenbookError = ConnectionFailed(BROKE_OFF)
            try:
                async with self.http.stream(**_sent(call)) as response:
                    if not response.is_success:
                        await response.aread()
                        failure = _failure(response) or failure
                    else:
                        async for line in response.aiter_lines():
                            if (event := read_event(line)) and (event := progress.take(event)):
                                attempts.succeed()
                                yield event
            except httpx2.TransportError as error:
                failure = ConnectionFailed(str(error))
            if progress.has_ended:
                return
            await asyncio.sleep(attempts.fail(call, failure))
