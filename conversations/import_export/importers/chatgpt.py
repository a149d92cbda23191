"""A conversation of ChatGPT's data export: a tree of messages, of which the path to ``current_node`` was shown. Pure."""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from conversations.import_export.importers.parts import (
    BESIDE,
    Piece,
    ThreadFiles,
    as_list,
    content_of,
    derived_id,
    fenced,
    moment_of,
    stored_id,
    text_in,
    titled,
    unknown,
    written_by,
)

CITATION = re.compile("\ue200[^\ue200\ue201]*+\ue201|[\ue200-\ue2ff]|【\\d[^【】†]*+†[^【】]*+】")
"""Marks that only their page could resolve."""
UNSAID = {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context", "app_pairing_content"}
ASSET = re.compile(r"(?:[\w-]+://)?(file[-_][A-Za-z0-9]+)")
"""The id of a file in the address that a message has for it, such as ``sediment://file_00…``."""
SOUNDS = {"audio_asset_pointer", "real_time_user_audio_video_asset_pointer"}
PLAIN = {"text", "multimodal_text", "code", "execution_output"}
LANGUAGE = re.compile(r"[\w+#-]{1,20}")
STATUSES = {"in_progress": "interrupted", "finished_partial_completion": "incomplete"}

Message = dict[str, Any]


class Asset(NamedTuple):
    """A file that a message shows. ``note`` stands in its place where it has no name and no bytes."""

    asset: str
    note: str


def thread_of(conversation: dict[str, Any]) -> dict[str, Any]:
    id = stored_id(conversation.get("conversation_id") or conversation.get("id"), "chatgpt")
    files, left_out = ThreadFiles(id) if id else ThreadFiles(), Counter[str]()
    path = _path(conversation)
    turns = [turn | {"content": content_of(turn["content"])} for turn in _turns(path, id, files, left_out)]
    if beside := _beside(conversation, path):
        left_out[BESIDE] = beside
    return {
        "id": str(id) if id else None,
        **titled(conversation.get("title")),
        "created_at": moment_of(conversation.get("create_time")),
        "messages": turns,
        **files.listed,
        "left_out": dict(left_out),
    }


def _turns(
    path: list[Message], thread: uuid.UUID | None, files: ThreadFiles, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """What follows one another on the assistant's side – tools and their results among it – is one turn, as shown."""
    turn: dict[str, Any] | None = None
    for message in path:
        pieces = _pieces(message, files, left_out)
        if not pieces:
            continue
        role = "user" if _author(message) == "user" else "assistant"
        if turn and role == turn["role"] == "assistant":
            turn["content"] += pieces
        else:
            if turn:
                yield turn
            turn = {"role": role, "content": pieces, "created_at": moment_of(message.get("create_time"))}
            # A conversation that was branched off repeats the messages of the other, ids and all.
            if thread and isinstance(message.get("id"), str):
                turn["id"] = str(derived_id(thread, message["id"]))
        if role == "assistant":
            turn["status"] = STATUSES.get(str(message.get("status")), "complete")
        if _author(message) == "assistant":
            turn |= _writer(message)
    if turn:
        yield turn


def _path(conversation: dict[str, Any]) -> list[Message]:
    """The messages from the first to the current one. Nodes may be missing, or name each other in a circle."""
    nodes = {name: node for name, node in conversation["mapping"].items() if isinstance(node, dict)}
    place = conversation.get("current_node")
    if not isinstance(place, str) or place not in nodes:
        place = _newest_leaf(nodes)
    path, seen = [], set()
    while isinstance(place, str) and place in nodes and place not in seen:
        seen.add(place)
        path.append(nodes[place].get("message"))
        place = nodes[place].get("parent")
    return [message for message in reversed(path) if isinstance(message, dict) and not _is_hidden(message)]


def _beside(conversation: dict[str, Any], path: list[Message]) -> int:
    """Messages of people and the model that were shown on other branches."""
    nodes = [node for node in conversation["mapping"].values() if isinstance(node, dict)]
    messages = [node["message"] for node in nodes if isinstance(node.get("message"), dict)]
    taken = {id(message) for message in path}
    others = (each for each in messages if id(each) not in taken and not _is_hidden(each) and _author(each) != "tool")
    return sum(bool(_pieces(message, ThreadFiles(), Counter())) for message in others)


def _newest_leaf(nodes: dict[str, Any]) -> str | None:
    """The newest message that none in the export follows."""
    parents = {node.get("parent") for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [name for name, node in nodes.items() if name not in parents and isinstance(node.get("message"), dict)]
    return max(leaves, key=lambda name: moment_of(nodes[name]["message"].get("create_time")) or "", default=None)


def _author(message: Message) -> str:
    author = message.get("author")
    return str(author.get("role")) if isinstance(author, dict) else ""


def _writer(message: Message) -> dict[str, str]:
    match message.get("metadata"):
        case dict(metadata):
            return written_by(metadata.get("model_slug"), metadata.get("default_model_slug"))
    return {}


def _is_hidden(message: Message) -> bool:
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    return hidden or message.get("weight") == 0 or _author(message) not in {"user", "assistant", "tool"}


def _pieces(message: Message, files: ThreadFiles, left_out: Counter[str]) -> list[Piece]:
    """What was shown of a message, with a block for each file."""
    content = message.get("content")
    kind = str(content.get("content_type")) if isinstance(content, dict) else ""
    if not isinstance(content, dict) or kind in UNSAID:
        return []
    recipient = message.get("recipient")
    asks_tool = _author(message) == "assistant" and isinstance(recipient, str) and recipient not in {"all", ""}
    if asks_tool and kind != "code":
        return [f"[used {recipient}]"]
    if _author(message) == "tool" and kind not in {"execution_output", "multimodal_text"}:
        return []  # pages, files and notes to the model: nobody saw them
    said = [f"[used {recipient}]", *_parts(content)] if asks_tool else list(_parts(content))
    has_text = any(isinstance(piece, str) and piece.strip() for piece in said)
    left_out.update(map(unknown, _unsaid_kinds(content, has_text=has_text)))
    names = _attachments(message)
    shown = {piece.asset for piece in said if isinstance(piece, Asset)}
    said += [Asset(id, "") for id in names if id not in shown]
    created_at = moment_of(message.get("create_time"))
    pieces: list[Piece] = []
    for piece in said:
        if isinstance(piece, Asset):
            name = names.get(piece.asset)
            pieces.append(
                files.named(
                    piece.asset, name, created_at=created_at, asset=piece.asset, note=None if name else piece.note
                )
            )
        elif text := CITATION.sub("", piece).strip():
            pieces.append(text)
    return pieces


def _unsaid_kinds(content: dict[str, Any], *, has_text: bool) -> Iterator[str]:
    """The types of parts that are not known and have no text; of sound only where nothing else tells what was spoken."""
    for part in as_list(content.get("parts")):
        if isinstance(part, dict) and not any(_part(part)) and part.get("content_type") not in UNSAID:
            kind = str(part.get("content_type") or part.get("type") or "unknown")
            if not (has_text and kind in SOUNDS):
                yield kind
    if not has_text and not as_list(content.get("parts")) and content.get("content_type") not in PLAIN:
        yield str(content.get("content_type"))


def _attachments(message: Message) -> dict[str, Any]:
    """The names of the files that belong to a message, by the ids that they have there."""
    metadata = message.get("metadata")
    given = as_list(metadata.get("attachments")) if isinstance(metadata, dict) else []
    files = [file for file in given if isinstance(file, dict)]
    return {
        str(file.get("id") or f"{message.get('id')}:{place}"): file.get("name") or "a file"
        for place, file in enumerate(files)
    }


def _parts(content: dict[str, Any]) -> "Iterator[str | Asset]":
    text = content.get("text")
    match content.get("content_type"):
        case "code" | "execution_output" as kind if isinstance(text, str) and text.strip():
            language = str(content.get("language") or "") if kind == "code" else ""
            known = LANGUAGE.fullmatch(language) and language != "unknown"
            yield fenced(text, language if known else "")
            return
    if isinstance(text, str):
        yield text
    for part in as_list(content.get("parts")):
        yield from _part(part)


def _part(part: Any) -> "Iterator[str | Asset]":
    match part:
        case str():
            yield part
        case {"content_type": "image_asset_pointer"}:
            prompt = _prompt(part.get("metadata"))
            if prompt:
                yield f"[image: {prompt}]"
            pointer = part.get("asset_pointer")
            asset = ASSET.match(pointer) if isinstance(pointer, str) else None
            note = "" if prompt else "[image]"
            if asset:
                yield Asset(asset[1], note)
            else:
                yield note
        case {"content_type": "video_container_asset_pointer"}:
            yield "[video]"
        case {"text": str(text)}:  # also what was spoken; the sound beside it says no more
            yield text
        case dict() if text := text_in(part):
            yield text


def _prompt(metadata: Any) -> str:
    """What a picture was made of; empty where that is not told."""
    match metadata:
        case {"dalle": {"prompt": str(prompt)}}:
            return prompt
    return ""
