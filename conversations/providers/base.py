"""What the reply engine and a model provider say to each other.

A provider turns a rendered request into a stream of events. It knows nothing of threads, snapshots or sockets, and the
reply engine knows nothing of HTTP: a new provider is one file with a ``Provider`` and a line in
``providers/__init__.py``.
"""

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypedDict, TypeGuard

from conversations.models import Model
from conversations.providers import model_catalog
from conversations.providers.messages_api import RequestParts, messages_api_payload
from conversations.providers.model_catalog import LARGE, Sizes
from conversations.providers.model_listing import OfferedModel
from conversations.providers.prices import UNKNOWN, Rates

Payload = dict[str, Any]
"""The exact request as JSON: what the snapshot stores, its digest proves and the provider is given."""


class Program(TypedDict):
    """The program through which a provider calls its model: how it is called, and what it is known to add to a request.

    ``adds`` are texts, by their place in the request, that take about ``adds_tokens``; ``sets`` are other parts of it.
    """

    name: str
    version: str
    arguments: list[str]
    environment: dict[str, str]
    adds: dict[str, str]
    adds_tokens: int
    sets: dict[str, str]
    quotes: NotRequired[bool]
    """Whether nothing in a turn passes for another turn."""


OFFLINE = "offline"
"""The name of the provider that no model stands behind."""


class ProviderError(Exception):
    """A model call that did not end well. Says whether trying the same again can help.

    ``code`` is stable and machine-readable, ``message`` is for the person who reads it and says what to do. ``retry_after``
    are the seconds that the provider asks to wait for, where it does.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = retryable
        self.status = status
        self.retry_after = retry_after


WHOLE = frozenset({"end_turn", "stop_sequence"})
"""Stop reasons that mean that the model said all it wanted. A word that isn't known means that it did not."""


COUNTED_TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""The numbers of ``Usage`` that add up to all tokens of a request."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the provider reports them. Of those written to the prompt cache, some stay for an hour; of the output, some are
    thinking: these two are parts of other numbers."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_creation_1h_input_tokens: int = 0
    thinking_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    @property
    def is_told(self) -> bool:
        """No request takes nothing: where all is 0, the service told nothing."""
        return self != Usage()


NO_USAGE = Usage()
MOST_TOKENS = 100_000_000


def is_token_figure(value: object) -> TypeGuard[int]:
    """Whether a request may have so many tokens: services tell texts, negative and absurd figures, too."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS


REASON = re.compile(r"[a-z][a-z0-9_]{0,39}")
ID = re.compile(r"[\w.:+/=@-]{1,100}", re.ASCII)


def plain_reason(stop_reason: str) -> str:
    """A stop reason as it may be kept: a service may write a sentence there, about what it was told."""
    return stop_reason if not stop_reason or REASON.fullmatch(stop_reason) else "unknown"


def plain_id(id: str) -> str:
    """An id that a service gave, where it is one."""
    return id if ID.fullmatch(id) else ""


class Unreserved(Exception):
    """A model was to be called for which no tokens are set aside: a mistake of ours."""


@dataclass(kw_only=True)
class Reservation:
    """Tokens of a person's day that are set aside for one call of a model; ``conversations.accounts.allowances`` alone makes
    it. ``input_tokens`` are those of the request, as estimated. ``id`` is of its row; a reply's stand in the reply itself.
    ``rates`` are what the model costs."""

    tokens: int
    input_tokens: int
    rates: Rates = UNKNOWN
    id: int | None = None
    is_used: bool = False

    def use(self) -> None:
        """Raises ``Unreserved`` the second time."""
        if self.is_used:
            raise Unreserved("Its tokens are set aside for one call, which has been made.")
        self.is_used = True


@dataclass(frozen=True, kw_only=True)
class TextDelta:
    """The next piece of the reply's text, never empty."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ThinkingStarted:
    """The model begins to think. What it thinks may stay silent for minutes."""


@dataclass(frozen=True, kw_only=True)
class ThinkingDelta:
    """The next piece of what it shows of its thinking, never empty."""

    text: str


@dataclass(frozen=True, kw_only=True)
class ThinkingDone:
    """The whole block of the Messages API, to be given back unchanged within the same reply."""

    block: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolStarted:
    """The model begins to call a tool."""

    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ToolDelta:
    """The next piece of the JSON of a tool call's input, never empty."""

    id: str
    json: str


@dataclass(frozen=True, kw_only=True)
class ToolCalled:
    """The whole call. ``input`` is ``None`` where what the model wrote is no JSON object."""

    id: str
    name: str
    input: dict[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class UsageSoFar:
    """What the provider has told of a call that goes on: mostly its input at the start, its output at the end. Later figures
    replace earlier ones. So they are known also where the call then fails or is stopped."""

    usage: Usage
    request_id: str = ""
    message_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The last event of every stream that ended well; a stream without it was cut off.

    ``stop_reason`` is the Messages API's own word; one that Openbook doesn't know means "incomplete", not success.
    ``model`` is the one that the provider says has answered.
    ``diagnostics`` is what the provider says about its prompt cache, ``stop_details`` why it declined, in its own words.
    """

    stop_reason: str
    usage: Usage = field(default_factory=Usage)
    request_id: str = ""
    message_id: str = ""
    model: str = ""
    diagnostics: Mapping[str, Any] | None = None
    stop_details: Mapping[str, Any] | None = None


ThinkingEvent = ThinkingStarted | ThinkingDelta | ThinkingDone
ProviderEvent = TextDelta | ThinkingEvent | ToolStarted | ToolDelta | ToolCalled | UsageSoFar | Finished


@dataclass(kw_only=True)
class ModelCall:
    """One call of a model, as far as it has come, kept by whoever reads its events. ``finished`` once it ended well.

    ``first_token_ms`` is when something was there to be seen, which thinking is not. ``written`` is what the model wrote and
    showed of its thinking, piece by piece; ``payload`` is what it was sent, once it is asked,
    ``answer`` its words and whole tool calls.
    """

    reservation: Reservation | None = None
    payload: Payload | None = None

    began: float = field(default_factory=time.perf_counter)
    thinks_since: float | None = None
    thought_seconds: float | None = None
    so_far: UsageSoFar = field(default_factory=lambda: UsageSoFar(usage=Usage()))
    first_token_ms: int | None = None
    finished: Finished | None = None
    written: list[str] = field(default_factory=list)
    answer: list[TextDelta | ToolCalled] = field(default_factory=list)

    def note(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta() | ThinkingDelta():
                self.written.append(event.text)
            case ToolDelta():
                self.written.append(event.json)
        match event:
            case TextDelta() | ToolCalled():
                self.answer.append(event)
        match event:
            case UsageSoFar():
                self.so_far = event
            case Finished():
                self.finished = event
            case ThinkingStarted():
                self.thinks_since = time.perf_counter()
            case ThinkingDone():
                self.thought_seconds, self.thinks_since = self.thinking_seconds, None
            case ThinkingDelta():
                pass
            case _ if self.first_token_ms is None:
                self.first_token_ms = int((time.perf_counter() - self.began) * 1000)

    @property
    def thinking_seconds(self) -> float | None:
        """How long it has thought so far; ``None`` where it didn't."""
        if self.thinks_since is None:
            return self.thought_seconds
        return (self.thought_seconds or 0.0) + time.perf_counter() - self.thinks_since

    @property
    def usage(self) -> Usage:
        """As far as the provider has told it."""
        return self.finished.usage if self.finished else self.so_far.usage


TokenCounter = Callable[[str, str], Awaitable[int]]
"""The tokens that a model, by its id, makes of a text, give or take the few of an envelope. Raises ``ProviderError``."""


class Provider(ABC):
    name: str
    rewrites = True
    """Whether a model stands behind it that can put a query into other words."""
    proposes = False
    """Whether its small model may write titles and notes, which stand only where they are no worse than the rules'."""
    calls_tools = True
    """Whether it can be given tools."""
    takes_formats = True
    """Whether it can be told the format of an answer."""
    takes_stops = True
    """Whether it can be told texts at which an answer is to end."""
    sends_pictures = True
    """Whether a model that takes images is given them; else it is told that there is one."""
    marks_cache = True
    """Whether it can be told what to put into a prompt cache."""
    cache_expires = True
    """Whether its prompt cache forgets what isn't used for a while."""
    has_one_model = False
    """Whether it answers with its default model, whatever an assistant names."""
    lists_models = True
    """Whether it can tell which models it offers."""
    first_token_seconds: float | None = None
    """How long its first sign of life may take; ``None`` is ``OPENBOOK_FIRST_TOKEN_SECONDS``."""

    @abstractmethod
    def default_model(self) -> str:
        """Of assistants that name none. May read the database."""

    def render(self, parts: RequestParts) -> Payload:
        """The exact body of a request. Pure but for ``program``, where the parts hold none: the same parts give the same
        bytes."""
        return messages_api_payload(parts)

    def sizes(self, model: str) -> Sizes:
        """Of a model that has no row, as far as its service told or its maker is known."""
        return LARGE

    def describe(self, model: str) -> Model:
        """What a model can do: its row, or one that is not stored. Reads the database."""
        return model_catalog.get(self.name, model, self.sizes(model))

    def cites_documents(self, model: str) -> bool:
        """Whether the service cites the documents of a request by itself."""
        return False

    def forces_tools(self) -> bool:
        """Whether it can be told that a tool must be called."""
        return self.calls_tools

    def lacks_list(self, model: str = "") -> bool:
        """Whether ``learn_list`` would tell something of a model, by default of the default one. Reads the database."""
        return False

    async def learn_list(self) -> None:
        """Ask the service what it offers, for some seconds at most, and remember it. Raises nothing."""
        return

    def obstacle(self) -> ProviderError | None:
        """What keeps it from answering, as far as that can be told without asking it."""
        return None

    def wait(self, model: str = "") -> float:
        """The seconds for which this process does not ask it for a model, or for any of them, as it did not answer the last
        times; 0 where it is asked."""
        return 0.0

    def program(self) -> Mapping[str, object] | None:
        """What ``render`` needs beside the context, for example the program that stands between it and its model. It is
        recorded with the request, so that the request can be rendered again; ``adds_tokens`` in it count as the request's."""
        return None

    async def models(self, *, seconds: float = math.inf) -> list[OfferedModel]:
        """What the service offers now; nothing where it doesn't tell. Raises ``ProviderError``."""
        return []

    async def moderate(self, model: str, text: str, *, seconds: float, picture: str = "") -> Sequence[str]:
        """The categories in which its moderation model sees something wrong with a text, or with a picture (an address that
        holds it), none where it sees nothing. ``model`` may be empty, for its own choice. To be called by ``moderate`` of this
        module alone. Raises ``ProviderError``, always where it has no such model."""
        raise ProviderError(
            "no_moderation",
            f"The provider {self.name} has no moderation model. Name a connection that speaks OpenAI's interface.",
            retryable=False,
        )

    def token_counter(self) -> TokenCounter | None:
        """What counts the tokens of texts as the model does; ``None`` where the service can't be asked for that."""
        return None

    @abstractmethod
    def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        """Call the model once, for so many seconds at most. Yields deltas, thinking – each time as ``ThinkingStarted``,
        ``ThinkingDelta`` …, ``ThinkingDone`` – and tool calls – each as ``ToolStarted``, ``ToolDelta`` …,
        ``ToolCalled`` – in the order in which the model makes them, ``UsageSoFar`` whenever it is told, then exactly one
        ``Finished``. Raises ``ProviderError`` and nothing else.

        Closing the iterator, or cancelling the task that reads it, ends the call at once. Only ``ask`` calls this.
        """


async def ask(
    provider: Provider, payload: Payload, call: ModelCall, *, seconds: float = math.inf
) -> AsyncGenerator[ProviderEvent]:
    """What the model says, as ``Provider.stream`` has it; ``call`` is kept up to date. The only way to a model: nothing is sent
    for which ``call`` has no tokens set aside. Raises ``Unreserved``."""
    if call.reservation is None:
        raise Unreserved("No tokens are set aside for this call.")
    call.reservation.use()
    call.payload = payload
    async with aclosing(provider.stream(payload, seconds=seconds)) as events:
        async for event in events:
            call.note(event)
            yield event


async def moderate(
    provider: Provider, model: str, text: str, picture: str, call: ModelCall, *, seconds: float
) -> Sequence[str]:
    """As ``Provider.moderate``, for which ``call`` has tokens set aside. Raises ``Unreserved``."""
    if call.reservation is None:
        raise Unreserved("No tokens are set aside for this call.")
    call.reservation.use()
    categories = await provider.moderate(model, text, picture=picture, seconds=seconds)
    call.note(Finished(stop_reason="end_turn"))
    return categories


async def whole_text(
    provider: Provider, payload: Payload, is_too_long: Callable[[str], bool], call: ModelCall
) -> str | None:
    """The text of an answer; ``None`` where reading was given up, as it got too long. ``call`` is kept up to date.

    Raises ``ProviderError``, also where the answer was cut off.
    """
    answer = ""
    async with aclosing(ask(provider, payload, call)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                answer += event.text
                if is_too_long(answer):
                    return None
    if call.finished is None:
        raise ProviderError("cut_off", "The answer was cut off.", retryable=True)
    return answer
