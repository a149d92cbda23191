"""A conversation of Claude's data export: a list of messages, with branches where one was edited. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conversations.import_export.importers.parts import (
    BESIDE,
    Piece,
    ThreadFiles,
    as_list,
    attached,
    content_of,
    moment_of,
    paragraphs,
    stored_id,
    text_in,
    text_name,
    titled,
    unknown,
    written_by,
)

UNSAID = {"thinking", "redacted_thinking", "tool_result", "token_budget", "text", "tool_use"}
"""Blocks of which nothing was said to the person, and those of the types above that are not as they are documented."""
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}

Message = dict[str, Any]


def thread_of(conversation: dict[str, Any]) -> dict[str, Any]:
    id = stored_id(conversation.get("uuid"), "claude")
    messages = [message for message in conversation["chat_messages"] if isinstance(message, dict)]
    files, left_out = ThreadFiles(id) if id else ThreadFiles(), Counter[str]()
    path = _path(messages, conversation.get("current_leaf_message_uuid"))
    turns = [_turn(message, files, left_out, model=conversation.get("model")) for message in path]
    if beside := len(messages) - len(path):
        left_out[BESIDE] = beside
    return {
        "id": str(id) if id else None,
        **titled(conversation.get("name")),
        "created_at": moment_of(conversation.get("created_at")),
        "messages": [turn for turn in turns if turn["role"] and turn["content"]],
        **files.listed,
        "left_out": dict(left_out),
    }


def _turn(message: Message, files: ThreadFiles, left_out: Counter[str], *, model: Any) -> dict[str, Any]:
    """``model`` is the conversation's, for messages that name none."""
    id, role = stored_id(message.get("uuid"), "claude"), ROLES.get(str(message.get("sender")))
    turn = {
        "role": role,
        "content": content_of(_pieces(message, files, left_out)),
        "created_at": moment_of(message.get("created_at")),
    }
    writer = written_by(message.get("model"), model) if role == "assistant" else {}
    return turn | writer | ({"id": str(id)} if id else {})


def _path(messages: list[Message], leaf: Any) -> list[Message]:
    """All of them, or where one has two answers those that lead to the current one, else to the last."""
    parents = [message.get("parent_message_uuid") for message in messages]
    named = [parent for parent in parents if isinstance(parent, str)]
    if len(set(named)) == len(named):
        return messages
    known = {message["uuid"]: message for message in messages if isinstance(message.get("uuid"), str)}
    path: list[Message] = []
    message = known.get(leaf, messages[-1]) if isinstance(leaf, str) else messages[-1]
    while message and message not in path:
        path.append(message)
        parent = message.get("parent_message_uuid")
        message = known.get(parent, {}) if isinstance(parent, str) else {}
    return path[::-1]


def _pieces(message: Message, files: ThreadFiles, left_out: Counter[str]) -> list[Piece]:
    blocks = list(_blocks(as_list(message.get("content")), left_out))
    if not paragraphs(blocks) and isinstance(message.get("text"), str):
        blocks = [message["text"]]
    return [*blocks, *_files(message, files)]


def _blocks(blocks: list[Any], left_out: Counter[str]) -> Iterator[str]:
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                yield text
            case {"type": "tool_use", "name": "artifacts", "input": {"content": str(content), "title": str(title)}}:
                yield attached(title, content)
            case {"type": "tool_use", "name": str(name)}:
                yield f"[used {name}]"
            case {"type": "image"}:
                yield "[image]"
            case {"type": str(kind)} if kind not in UNSAID:
                if text := text_in(block):
                    yield text
                else:
                    left_out[unknown(kind)] += 1


def _files(message: Message, files: ThreadFiles) -> Iterator[Piece]:
    """Of attachments there is the text, of other files only the name – unless their bytes are somewhere."""
    created_at = moment_of(message.get("created_at"))
    for place, file in enumerate(as_list(message.get("attachments"))):
        if isinstance(file, dict):
            name, text = file.get("file_name"), file.get("extracted_content")
            if isinstance(text, str) and text.strip():
                note = attached(name, text)
                key = f"{message.get('uuid')}:{place}"
                yield files.named(key, text_name(name), created_at=created_at, note=note, text=text)
            else:
                yield files.named(f"{message.get('uuid')}:{place}", name, created_at=created_at)
    told: set[str] = set()
    for file in [*as_list(message.get("files")), *as_list(message.get("files_v2"))]:
        if isinstance(file, dict):
            asset = str(file.get("file_uuid") or file.get("file_name"))
            if asset not in told:
                told.add(asset)
                yield files.named(asset, file.get("file_name"), created_at=created_at, asset=asset)
