"""Turns as PydanticAI's messages, and back, as the JSON that its ``ModelMessagesTypeAdapter`` reads and writes. Pure."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from conversations.models import text_blocks

Block = dict[str, Any]
Json = dict[str, Any]

NOT_SHOWN = "[{}: not part of this history]"


def model_messages(messages: Iterable[Json]) -> list[Json]:
    """Messages of the Messages API as requests and responses; a result bears the name of the tool that was called."""
    called: dict[str, str] = {}
    return [_response(each, called) if each["role"] == "assistant" else _request(each, called) for each in messages]


def turns_of(messages: Iterable[Json]) -> list[tuple[str, list[Block]]]:
    """A run's new messages as turns, role and blocks: what the person asked, and all that was said and done for it.

    Instructions and system prompts belong to the agent, thinking to its model: neither is kept.
    """
    pairs = [(role, block) for message in messages for role, block in _blocks(message)]
    return [(role, [block for _, block in run]) for role, run in groupby(pairs, key=lambda each: each[0])]


def _request(message: Json, called: dict[str, str]) -> Json:
    parts = []
    for block in message["content"]:
        match block["type"]:
            case "text":
                parts.append({"part_kind": "user-prompt", "content": block["text"]})
            case "tool_result":
                parts.append(_return(block, called))
            case "image" if block["source"]["type"] == "base64":
                parts.append({"part_kind": "user-prompt", "content": [_binary(block["source"])]})
            case other:
                parts.append({"part_kind": "user-prompt", "content": NOT_SHOWN.format(other)})
    return {"kind": "request", "parts": parts}


def _response(message: Json, called: dict[str, str]) -> Json:
    parts = []
    for block in message["content"]:
        if block["type"] == "text":
            parts.append({"part_kind": "text", "content": block["text"]})
        elif block["type"] == "tool_use":
            called[block["id"]] = block["name"]
            call = {"tool_name": block["name"], "args": block["input"], "tool_call_id": block["id"]}
            parts.append({"part_kind": "tool-call", **call})
    return {"kind": "response", "parts": parts}


def _return(block: Block, called: dict[str, str]) -> Json:
    return {
        "part_kind": "tool-return",
        "tool_name": called[block["tool_use_id"]],
        "tool_call_id": block["tool_use_id"],
        "content": _text(block.get("content", "")),
        "outcome": "failed" if block.get("is_error") else "success",
    }


def _binary(source: Json) -> Json:
    return {"kind": "binary", "data": source["data"], "media_type": source["media_type"]}


def _blocks(message: Json) -> Iterator[tuple[str, Block]]:
    for part in message["parts"]:
        match part["part_kind"]:
            case "user-prompt":
                yield from (("user", block) for block in _prompt(part["content"]))
            case "text" if part["content"]:
                yield "assistant", text_blocks(part["content"])[0]
            case "tool-call":
                yield "assistant", _call(part)
            case "tool-return":
                yield "assistant", _result(part)


def _prompt(content: str | Sequence[Any]) -> Iterator[Block]:
    for piece in [content] if isinstance(content, str) else content:
        match piece:
            case str() | {"kind": "text"}:
                text = piece if isinstance(piece, str) else piece["content"]
                yield from text_blocks(text) if text.strip() else []
            case {"kind": "binary", "media_type": str(media_type), "data": data} if media_type.startswith("image/"):
                source = {"type": "base64", "media_type": media_type, "data": data}
                yield {"type": "image", "source": source}
            case {"kind": str(kind)}:
                yield text_blocks(NOT_SHOWN.format(kind))[0]


def _call(part: Json) -> Block:
    args = json.loads(part["args"] or "{}") if isinstance(part["args"], str | None) else part["args"]
    return {"type": "tool_use", "id": part["tool_call_id"], "name": part["tool_name"], "input": args}


def _result(part: Json) -> Block:
    content = part["content"]
    block = {
        "type": "tool_result",
        "tool_use_id": part["tool_call_id"],
        "content": content if isinstance(content, str) else json.dumps(content, ensure_ascii=False),
    }
    return block if part.get("outcome", "success") == "success" else block | {"is_error": True}


def _text(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
