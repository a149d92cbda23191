"""A conversation of Claude's data export: a list of messages, with branches where one was edited or answered again. Pure."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conversations.import_export.importers.parts import (
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
from conversations.import_export.importers.trees import in_order, laid_out, nearest, of, rooted

UNSAID = {"thinking", "redacted_thinking", "tool_result", "token_budget", "text", "tool_use"}
"""Blocks of which nothing was said to the person, and those of the types above that are not as they are documented."""
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}

Message = dict[str, Any]


def thread_of(conversation: dict[str, Any]) -> dict[str, Any]:
    id = stored_id(conversation.get("uuid"), "claude")
    messages = [message for message in conversation["chat_messages"] if isinstance(message, dict)]
    files, left_out = ThreadFiles(id) if id else ThreadFiles(), Counter[str]()
    every = [_turn(message, files, left_out, model=conversation.get("model")) for message in messages]
    said = {place: turn for place, turn in enumerate(every) if turn["role"] and turn["content"]}
    parents, end = _tree(messages, conversation.get("current_leaf_message_uuid"))
    shown = nearest(parents, said)
    turns = {place: said[place] for place in parents if place in said}
    return {
        "id": str(id) if id else None,
        **titled(conversation.get("name")),
        "created_at": moment_of(conversation.get("created_at")),
        **laid_out(turns, {place: of(shown, parents[place]) for place in turns}, of(shown, end)),
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


def _tree(messages: list[Message], leaf: Any) -> tuple[dict[int, int | None], int | None]:
    """The place of the message that each follows, in order, and that of the current one, else the last. Where no two follow the
    same, each follows the one before, whatever it names: older exports name nothing, and one that is named may be gone."""
    uuids = [uuid if isinstance(uuid := message.get("uuid"), str) else "" for message in messages]
    named = [parent if isinstance(parent := message.get("parent_message_uuid"), str) else "" for message in messages]
    known = {uuid: place for place, uuid in enumerate(uuids) if uuid}
    last = len(messages) - 1 if messages else None
    names = any(parent in known for parent in named)
    followed = [parent for parent in named if parent or names]
    if len(set(followed)) == len(followed):
        return {place: place - 1 if place else None for place in range(len(messages))}, last
    end = known.get(leaf, last) if isinstance(leaf, str) else last
    parents = rooted({place: known.get(parent) for place, parent in enumerate(named)}, end)
    return {place: parents[place] for place in in_order(parents, dict(enumerate(range(len(messages)))))}, end


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
