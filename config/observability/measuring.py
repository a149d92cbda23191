"""Steps as figures: how long they took, and what they used. No content, no ids."""

import asyncio
import time
from contextlib import suppress
from typing import Self

from config.observability import figures, label_values
from config.observability.figures import Figure
from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Reply, Thread
from conversations.providers import get_provider, model_of, provider_name
from conversations.providers.base import ModelCall, ProviderError, Usage
from conversations.runtime.interruption import Stopped
from conversations.runtime.telemetry import ReplyStep, TelemetryListener, TelemetryStep


class MeasuredStep(TelemetryStep):
    def __init__(self, seconds: Figure, labels: dict[str, str]) -> None:
        self._seconds, self._labels, self._began = seconds, labels, time.perf_counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error and (code := code_of(error)):
            self.failed(code)
        self._seconds.record(time.perf_counter() - self._began, self._labels)

    def failed(self, code: str) -> None:
        self._labels["error.type"] = code


class MeasuredRequest(MeasuredStep):
    def __init__(self, labels: dict[str, str], call: ModelCall) -> None:
        super().__init__(figures.REQUEST_SECONDS, labels)
        self._call = call

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        call = self._call
        if call.finished and call.finished.model:
            self._labels["gen_ai.response.model"] = call.finished.model
        if call.first_token_ms is not None:
            figures.FIRST_SECONDS.record(call.first_token_ms / 1000, self._labels)
        super().__exit__(kind, error, trace)
        _record_tokens(call, self._labels)


def _record_tokens(call: ModelCall, labels: dict[str, str]) -> None:
    """Of each call, as the conventions have it: 0 where it failed, or the service told no figures."""
    usage = call.usage
    sent = {**labels, "gen_ai.token.modality": input_modality(call)}
    written = {**labels, "gen_ai.token.modality": "text" if usage.is_told else "unknown"}
    figures.INPUT.record(all_input(usage), sent)
    figures.CACHE_READ.record(usage.cache_read_input_tokens, sent)
    figures.CACHE_WRITE.record(usage.cache_creation_input_tokens, sent)
    figures.OUTPUT.record(usage.output_tokens, written)
    figures.REASONING.record(usage.thinking_tokens, written)
    figures.OPERATION_INPUT.record(all_input(usage), labels)
    figures.OPERATION_OUTPUT.record(usage.output_tokens, labels)


def input_modality(call: ModelCall) -> str:
    """``unknown`` where pictures or documents are among it: services don't tell their tokens apart."""
    if not call.usage.is_told or call.payload is None:
        return "unknown"
    blocks = (
        block for each in call.payload["messages"] if not isinstance(each["content"], str) for block in each["content"]
    )
    return "unknown" if any(block["type"] in ("image", "document") for block in blocks) else "text"


class MeasuredReply(MeasuredStep, ReplyStep):
    def __init__(self) -> None:
        super().__init__(figures.REPLY, {})

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        pass

    def record_opened(self, thread: Thread, reply: Reply) -> None:
        self._labels = reply_labels(thread)

    def record_closed(self, status: str, error_code: str | None, usage: Usage) -> None:
        if error_code:
            self.failed(error_code)
        super().__exit__(None, None, None)


class MeasuringListener(TelemetryListener):
    def reply(self) -> ReplyStep:
        return MeasuredReply()

    def context(self) -> TelemetryStep:
        return MeasuredStep(figures.BUILD, {})

    def model_request(self, snapshot: ContextSnapshot, call: ModelCall) -> TelemetryStep:
        for reason, count in snapshots.left_out(snapshot).items():
            figures.LEFT_OUT.record(count, {"openbook.reason": reason})
        return MeasuredRequest(model_labels(snapshot), call)

    def tool(self, name: str, call_id: str) -> TelemetryStep:
        return MeasuredStep(figures.TOOL_SECONDS, tool_labels(name))


def model_labels(snapshot: ContextSnapshot) -> dict[str, str]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": convention_name(snapshot.provider),
        "gen_ai.request.model": label_values.bounded("gen_ai.request.model", snapshot.model),
    }


def tool_labels(name: str) -> dict[str, str]:
    return {"gen_ai.tool.name": label_values.bounded("gen_ai.tool.name", name), "gen_ai.tool.type": "function"}


def reply_labels(thread: Thread) -> dict[str, str]:
    assistant = thread.assistant
    label_values.learn("gen_ai.agent.name", assistant.name)
    label_values.learn("gen_ai.request.model", assistant.model, assistant.fallback_model)
    labels = {"gen_ai.agent.name": assistant.name}
    with suppress(ProviderError):  # the reply itself says what is wrong
        model = model_of(assistant, get_provider(provider_name(assistant)))
        labels["gen_ai.request.model"] = label_values.bounded("gen_ai.request.model", model)
    return labels


def convention_name(name: str) -> str:
    return label_values.CONVENTIONS.get(name) or label_values.bounded("gen_ai.provider.name", name)


def all_input(usage: Usage) -> int:
    """What came from the cache and went into it is counted too; the Messages API counts it apart."""
    return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens


def code_of(error: BaseException) -> str | None:
    """A word for the kind of error, never what it says. To be stopped is none."""
    if isinstance(error, asyncio.CancelledError | Stopped):
        return None
    return error.code if isinstance(error, ProviderError) else type(error).__name__
