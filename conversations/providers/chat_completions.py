"""A context as the body of a Chat Completions request, and back. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from conversations.providers.base import Payload
from conversations.providers.caller_fields import ANY, CallerFields
from conversations.providers.dialects import Dialect
from conversations.providers.history import blocks_of, calls_of, definitions_for, with_ids_once
from conversations.providers.messages_api import RequestParts

BETWEEN = "\n\n"
OTHER_KINDS = {"image": "[image]", "document": "[document]"}
"""What stands for blocks that are not sent yet."""
SHOWN_AFTER = "[The picture comes in the next message.]"
"""In the result of a tool, which holds nothing but text here."""

Blocks = Sequence[Mapping[str, Any]]
Message = dict[str, Any]


def chat_payload(parts: RequestParts, dialect: Dialect) -> Payload:
    """The exact body of the request, as a server of this dialect takes it."""
    messages, tools, tool_choice = parts.messages, parts.all_tools, parts.tool_choice
    if calls_of(messages):
        messages = with_ids_once(messages)
        if not tools:
            tools, tool_choice = definitions_for(messages), "none"
    instructions = texts_of(parts.system)
    payload: Payload = {
        "model": parts.model,
        dialect.most_tokens: parts.max_tokens,
        "messages": [
            *([{"role": "system", "content": instructions}] if instructions else []),
            *in_order((said for message in messages for said in chat_messages(message, dialect)), dialect),
        ],
        "stream": True,
        **dialect.thinking_fields(parts.thinking),
    }
    if dialect.asks_usage:
        payload["stream_options"] = {"include_usage": True}
    if tools and (dialect.takes_choice or tool_choice != "none"):
        payload["tools"] = [function_of(tool) for tool in tools]
        if choice := tool_choice or tool_choice_of(parts.caller):
            payload["tool_choice"] = choice
        if not parts.caller.parallel:
            payload["parallel_tool_calls"] = False
    if parts.caller.stop_sequences:
        payload["stop"] = [*parts.caller.stop_sequences]
    if parts.caller.format:
        schema = {"name": "answer", "schema": dict(parts.caller.format), "strict": parts.caller.strict}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    return payload


def tool_choice_of(caller: CallerFields) -> str | dict[str, Any]:
    """What a request says of which tools are called; empty where the model decides."""
    if caller.tool:
        return {"type": "function", "function": {"name": caller.tool}}
    return "required" if caller.choice == ANY else ""


def chat_messages(message: Mapping[str, Any], dialect: Dialect) -> Iterator[Message]:
    """A message of the Messages API: results of tools become messages of their own."""
    content = blocks(message["content"])
    if message["role"] == "assistant":
        yield from assistant_messages(content, dialect)
        return
    for are_results, part in groupby(
        with_pictures_after(content), key=lambda block: block.get("type") == "tool_result"
    ):
        if are_results:
            yield from (result_message(block, dialect) for block in part)
        else:
            yield {"role": "user", "content": user_content(list(part))}


def with_pictures_after(content: Blocks) -> Blocks:
    """With the pictures of results behind the results, as what the user says."""
    results = blocks_of(content, "tool_result")
    moved = [part for block in results for part in blocks(block.get("content") or "") if is_picture(part)]
    if not moved:
        return content
    words = {"type": "text", "text": SHOWN_AFTER}
    parts = [[words if is_picture(part) else part for part in blocks(block.get("content") or "")] for block in results]
    texts = [{**block, "content": said} for block, said in zip(results, parts, strict=True)]
    return [*texts, *moved, *(block for block in content if block["type"] != "tool_result")]


def in_order(messages: Iterable[Message], dialect: Dialect) -> Iterator[Message]:
    """With a word of the assistant where a server refuses the person's right after the results of tools."""
    before = ""
    for message in messages:
        if dialect.after_results and (before, message["role"]) == ("tool", "user"):
            yield {"role": "assistant", "content": dialect.after_results}
        yield message
        before = message["role"]


def assistant_messages(content: Blocks, dialect: Dialect) -> Iterator[Message]:
    calls = [call_of(block, dialect) for block in blocks_of(content, "tool_use")]
    text = texts_of(content)
    if text and calls and not dialect.words_with_calls:
        yield {"role": "assistant", "content": text}
        text = ""
    message: Message = {"role": "assistant", "content": text if text or not calls else None}
    if calls:
        message["tool_calls"] = calls
    thoughts = BETWEEN.join(str(block.get("thinking", "")) for block in blocks_of(content, "thinking"))
    if dialect.thoughts and calls and (thoughts or dialect.thoughts_due):
        message[dialect.thoughts] = thoughts
    yield message


def call_of(block: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False, separators=(",", ":"))
    function = {"name": block["name"], "arguments": arguments}
    return {"id": dialect.call_id(block["id"]), "type": "function", "function": function}


def result_message(block: Mapping[str, Any], dialect: Dialect) -> Message:
    said = texts_of(blocks(block.get("content") or ""))
    return {"role": "tool", "tool_call_id": dialect.call_id(block["tool_use_id"]), "content": said}


def function_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
    if tool.get("strict"):
        function["strict"] = True
    return {"type": "function", "function": {name: value for name, value in function.items() if value != ""}}


def user_content(content: Blocks) -> str | list[dict[str, Any]]:
    """A text, or where there are pictures a list of parts in their order."""
    if not any(map(is_picture, content)):
        return texts_of(content)
    runs = groupby(content, key=is_picture)
    return [
        part
        for are_pictures, run in runs
        for part in (map(picture_part, run) if are_pictures else [{"type": "text", "text": texts_of(list(run))}])
    ]


def is_picture(block: Mapping[str, Any]) -> bool:
    """Whether its bytes are in it."""
    source = block.get("source")
    return block.get("type") == "image" and isinstance(source, Mapping) and source.get("type") == "base64"


def picture_part(block: Mapping[str, Any]) -> dict[str, Any]:
    source = block["source"]
    return {"type": "image_url", "image_url": {"url": f"data:{source['media_type']};base64,{source['data']}"}}


def texts_of(content: Blocks) -> str:
    texts = (block["text"] if block["type"] == "text" else OTHER_KINDS.get(block["type"], "") for block in content)
    return BETWEEN.join(text for text in texts if text)


def blocks(content: str | Blocks) -> Blocks:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def as_messages_api(payload: Payload) -> Payload:
    """What stands in a body, in the shape of the Messages API, for all that looks into requests: system text, turns and tools.
    What a body says of a text's parts is gone, so it is one block each."""
    said = payload["messages"]
    system = [block for message in said if message["role"] == "system" for block in text_block(message["content"])]
    turns = [turn_of(message) for message in said if message["role"] != "system"]
    tools = [tool["function"] for tool in payload.get("tools", ())]
    return {
        "model": payload["model"],
        "system": system,
        "messages": list(with_parts_joined(turns)),
        "tools": [
            {"name": tool["name"], "description": tool.get("description", ""), "input_schema": tool["parameters"]}
            for tool in tools
        ],
    }


def turn_of(message: Mapping[str, Any]) -> Message:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        return {"role": "user", "content": [result]}
    calls = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", ())
    ]
    return {"role": message["role"], "content": [*text_block(message["content"]), *calls]}


def with_parts_joined(turns: Iterable[Message]) -> Iterator[Message]:
    """Results, and what the person says after them, are one message to the Messages API; so are words and the calls after
    them."""
    before: Message | None = None
    for turn in turns:
        if before and belongs_to(before, turn):
            before["content"] = [*before["content"], *turn["content"]]
            continue
        if before:
            yield before
        before = turn
    if before:
        yield before


def belongs_to(before: Message, turn: Message) -> bool:
    """Whether a turn goes on with the one before it."""
    if turn["role"] != before["role"]:
        return False
    part, at = (before["content"][-1:], "tool_result") if turn["role"] == "user" else (turn["content"][:1], "tool_use")
    return [block["type"] for block in part] == [at]


def text_block(content: str | Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    if not isinstance(content, str):
        return [dict(part) if part["type"] == "text" else picture_block(part) for part in content or ()]
    return [{"type": "text", "text": content}] if content else []


def picture_block(part: Mapping[str, Any]) -> dict[str, Any]:
    head, _, data = str(part["image_url"]["url"]).partition(";base64,")
    source = {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
    return {"type": "image", "source": source}
