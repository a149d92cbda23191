"""The shapes of OpenAI's Responses API, as far as Openbook speaks it; docs/messages-api.md has them in a table. Pure."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.context.caller_options import CallerOptions
from conversations.errors import InvalidMessage
from conversations.providers.base import Usage
from conversations.providers.caller_fields import CallerFields
from conversations.replies.events import Event, data_of
from conversations.rest.completions_fields import calls_of, is_parallel, tools_of, with_choice
from conversations.rest.completions_parts import PartReader, ToolPart
from conversations.rest.completions_shapes import STATUSES, WAITING, WITHOUT_EFFECT
from conversations.rest.messages_fields import schema_of
from conversations.rest.messages_shapes import (
    ASSISTANTS,
    Json,
    MessagesCall,
    Refusals,
    SentMessage,
    call_of,
    check_metadata,
    error_body,
    failure,
    frame,
    known_usage,
    open_calls,
    pieces_of,
    refuse,
    sent_message,
    stop_reason,
    tokens_of,
)
from conversations.wire.events import ReplyDeltaData, ReplyEndedData

READ = (
    *("model", "input", "instructions", "previous_response_id", "max_output_tokens", "metadata", "stream"),
    *("tools", "tool_choice", "parallel_tool_calls", "text"),
)
NO_JOBS = "a reply goes on in any case, and is stored"
REFUSED: Refusals = {
    "store": ("what is said is always stored, in a thread of yours", [True]),
    "temperature": (ASSISTANTS, [1]),
    "top_p": (ASSISTANTS, [1]),
    "top_logprobs": ("they are not known", [0]),
    "reasoning": (ASSISTANTS, [{}]),
    "truncation": ("what the model is given is chosen from the record of the thread", ["disabled", "auto"]),
    "service_tier": (ASSISTANTS, ["auto", "default"]),
    "include": ("nothing else is told in an answer", [[]]),
    "stream_options": ("streams are as they are", [{}]),
    "background": (NO_JOBS, [False]),
    "background_options": (NO_JOBS, []),
    "conversation": ("name the reply to go on with as `previous_response_id`, or a thread", []),
    "context_management": ("what the model is given is chosen from the record of the thread", [[]]),
    "max_tool_calls": ("it would count tools that run elsewhere", []),
    "prompt": ("prompts are kept in the thread's own place here", []),
    "image": ("an answer is a text", []),
    "access_programs": ("no model here takes any", []),
    "moderation": ("what is checked here is the operator's to say", []),
}
"""What would change the answer and can't be honoured, and with which values it changes nothing."""
NAMES = {"stop_sequences": "text", "output_config": "text", "thinking": "tool_choice"}
"""Of parameters that the Messages API calls otherwise."""
ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
INCOMPLETE = {
    "max_tokens": "max_output_tokens",
    "model_context_window_exceeded": "max_output_tokens",
    "refusal": "content_filter",
}
"""Why an answer is not whole, by the stop reason of the Messages API."""
ENDED = "response.completed"


def known(name: str) -> bool:
    """Whether there is such a parameter."""
    return name in READ or name in REFUSED or name in WITHOUT_EFFECT


def read_call(body: Any) -> MessagesCall:
    """The call of a body. Raises ``InvalidMessage``."""
    if not isinstance(body, dict):
        raise InvalidMessage("The body must be a JSON object with `model` and `input`.")
    refuse(body, REFUSED)
    check_metadata(body.get("metadata"), {"thread"})
    most = tokens_of(body, "max_output_tokens") if body.get("max_output_tokens") is not None else None
    options = CallerOptions(fields=_fields(body), max_tokens=most)
    said = body.get("input")
    items = [{"role": "user", "content": said}] if isinstance(said, str) else said
    if not items:
        raise InvalidMessage("`input` must be a text or a list of at least one item.", field="input")
    common = {**body, "messages": items, "system": body.get("instructions")}
    call = call_of(common, message_of=_item, options=options, reader=PartReader)
    echo = {name: body[name] for name in ("instructions", "tools", "previous_response_id") if body.get(name)}
    return replace(call, names=NAMES, previous=_previous(body.get("previous_response_id")), echo=echo)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What stays the same of an answer while it is written."""

    id: str
    created: int
    model: str
    call: MessagesCall

    @property
    def message_id(self) -> str:
        return self.id.replace("resp_", "msg_")

    def body(self, status: str, output: Sequence[Json] = (), **more: Any) -> Json:
        options, echo = self.call.options, self.call.echo
        fields = options.fields
        form: Json = {"type": "text"}
        if fields.format:
            form = {"type": "json_schema", "name": "answer", "schema": fields.format, "strict": fields.strict}
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": echo.get("instructions"),
            "max_output_tokens": options.max_tokens,
            "model": self.model,
            "output": list(output),
            "parallel_tool_calls": fields.parallel,
            "previous_response_id": echo.get("previous_response_id"),
            "reasoning": {"effort": None, "summary": None},
            "store": True,
            "temperature": 1.0,
            "text": {"format": form},
            "tool_choice": "required" if fields.choice == "any" else "auto",
            "tools": echo.get("tools", []),
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": None,
            "user": None,
            "metadata": {},
            **more,
        }

    def whole(self, ending: Event) -> Json:
        """What a reply came to, from its last event. One that failed has none, see ``failure``."""
        data, reason = data_of(ending, ReplyEndedData), INCOMPLETE.get(stop_reason(ending))
        text = data["message"]["text"] if data["message"] else ""
        said = [self.message(text)] if text else []
        return self.body(
            "incomplete" if reason else "completed",
            [*said, *map(self.function_call, open_calls(ending))],
            usage=_usage(known_usage(data["usage"])),
            incomplete_details={"reason": reason} if reason else None,
        )

    def message(self, text: str | None = None) -> Json:
        """``None`` where it only begins."""
        content = [] if text is None else [text_part(text)]
        status = "in_progress" if text is None else "completed"
        return {"id": self.message_id, "type": "message", "status": status, "role": "assistant", "content": content}

    def function_call(self, block: Json, *, begun: bool = False) -> Json:
        return {
            "id": f"fc_{block['id']}",
            "type": "function_call",
            "status": "in_progress" if begun else "completed",
            "call_id": block["id"],
            "name": block["name"],
            "arguments": "" if begun else json.dumps(block["input"], ensure_ascii=False),
        }


def text_part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


@dataclass(kw_only=True)
class ResponseFrames:
    """A reply's events as those of the API, numbered in order."""

    answer: Answer
    _number: int = -1
    _text: list[str] | None = None
    _began: bool = False
    _output: list[Json] = field(default_factory=list)

    def of(self, event: Event) -> Iterator[bytes]:
        match event.type:
            case "context.built":
                yield from self._begin()
            case "reply.delta":
                yield from self._speak(data_of(event, ReplyDeltaData)["text"])
            case _ if event.is_last:
                yield from self._end(event)

    def waiting(self) -> Iterator[bytes]:
        yield from self._begin()
        yield WAITING

    def _begin(self) -> Iterator[bytes]:
        if not self._began:
            self._began = True
            for name in ("created", "in_progress"):
                yield self._frame(f"response.{name}", response=self.answer.body("in_progress"))

    def _speak(self, text: str) -> Iterator[bytes]:
        yield from self._begin()
        if self._text is None:
            self._text = []
            yield self._frame("response.output_item.added", output_index=0, item=self.answer.message())
            yield self._part("added", part=text_part(""))
        self._text.append(text)
        yield self._of_text("delta", delta=text, logprobs=[])

    def _end(self, event: Event) -> Iterator[bytes]:
        if failed := failure(event):
            status, error = failed
            told = error_body(STATUSES.get(status, status), error)["error"]
            yield self._frame("error", code=told["code"], message=told["message"], param=told["param"])
            return
        yield from self._begin()
        whole = self.answer.whole(event)
        for index, item in enumerate(whole["output"]):
            yield from self._item(index, item)
        name = "response.incomplete" if whole["incomplete_details"] else ENDED
        yield self._frame(name, response=whole)

    def _item(self, index: int, item: Json) -> Iterator[bytes]:
        if item["type"] == "message":
            text = item["content"][0]["text"]
            if self._text is None:
                yield from self._speak(text)
            yield self._of_text("done", text=text, logprobs=[])
            yield self._part("done", part=item["content"][0])
        else:
            begun = {**item, "status": "in_progress", "arguments": ""}
            yield self._frame("response.output_item.added", output_index=index, item=begun)
            about = {"item_id": item["id"], "output_index": index}
            for piece in pieces_of(json.loads(item["arguments"])):
                yield self._frame("response.function_call_arguments.delta", **about, delta=piece)
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield self._frame("response.function_call_arguments.done", **about, **done)
        yield self._frame("response.output_item.done", output_index=index, item=item)

    @property
    def _place(self) -> Json:
        return {"item_id": self.answer.message_id, "output_index": 0, "content_index": 0}

    def _of_text(self, name: str, **more: Any) -> bytes:
        return self._frame(f"response.output_text.{name}", **self._place, **more)

    def _part(self, name: str, **more: Any) -> bytes:
        return self._frame(f"response.content_part.{name}", **self._place, **more)

    def _frame(self, type: str, **data: Any) -> bytes:
        self._number += 1
        return frame({"type": type, "sequence_number": self._number, **data})


def _usage(usage: Usage) -> Json:
    """Numbers that stand beside others in the Messages API are parts of them here."""
    cached = usage.cache_read_input_tokens
    given = usage.input_tokens + usage.cache_creation_input_tokens + cached
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": usage.cache_creation_input_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "total_tokens": given + usage.output_tokens,
    }


def _fields(body: Json) -> CallerFields:
    tools = tools_of(body.get("tools"), _described, wrong="with a `name`: what runs on the server is the assistant's")
    parallel = is_parallel(body, tools)
    schema, strict = _format(body.get("text"))
    fields = CallerFields(tools=tools, parallel=parallel, format=schema, strict=strict)
    return with_choice(fields, body.get("tool_choice"), _described)


def _described(tool: Any) -> Any:
    return tool if isinstance(tool, dict) and tool.get("type") == "function" else None


def _format(text: Any) -> tuple[Json, bool]:
    match text:
        case None | {"format": None | {"type": "text"}}:
            form: tuple[Json, bool] = {}, True
        case {"format": {"type": "json_schema", "schema": schema, **more}}:
            form = schema_of(schema, "text"), bool(more.get("strict"))
        case {"format": _} | _ if not isinstance(text, dict) or text.get("format") is not None:
            raise InvalidMessage("`text.format` must be text, or json_schema with a `schema`.", field="text")
        case _:
            form = {}, True
    if isinstance(text, dict) and text.get("verbosity") not in (None, "medium"):
        raise InvalidMessage("Leave `text.verbosity` out: the assistant decides.", field="text")
    return form


def _previous(id: Any) -> uuid.UUID | None:
    if id is None:
        return None
    try:
        return uuid.UUID(str(id).removeprefix("resp_"))
    except ValueError:
        raise InvalidMessage(
            "`previous_response_id` must be the id of an answer of this call.", field="previous_response_id"
        ) from None


PARTS: Mapping[str, str] = {
    "input_text": "text",
    "output_text": "text",
    "input_image": "image_url",
    "input_file": "file",
}
"""Of this API, as the parts of Chat Completions."""


def _item(item: Any, number: int) -> SentMessage:
    place = f"input[{number}]"
    match item:
        case {"type": "function_call", "call_id": call, "name": name, "arguments": arguments}:
            called = {"id": call, "function": {"name": name, "arguments": arguments}}
            return SentMessage("assistant", calls_of([called]), place)
        case {"type": "function_call_output", "call_id": call, "output": output}:
            content = output if isinstance(output, str | None) else [_part(part) for part in output]
            return SentMessage("user", [ToolPart(content=content, call=call)], place)
        case {"type": "reasoning"}:
            return SentMessage("assistant", "", place)
        case {"role": str(role), "content": content} if role in ROLES and item.get("type") in (None, "message"):
            parts = content if isinstance(content, str) or content is None else [_part(part) for part in content]
            return sent_message(ROLES[role], parts, place)
    raise InvalidMessage(
        f"`{place}` must be a message with `role` ({', '.join(ROLES)}) and `content`, a function_call or its output.",
        field="input",
    )


def _part(part: Any) -> Any:
    """As Chat Completions has it; one that is none is refused by its type there."""
    type = PARTS.get(str(part.get("type"))) if isinstance(part, dict) else None
    match type:
        case "text":
            return {"type": "text", "text": part.get("text")}
        case "image_url":
            if part.get("file_id"):
                return {"type": "file", "file": {"file_id": part["file_id"]}}
            return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
        case "file":
            return {"type": "file", "file": part}
    return part
