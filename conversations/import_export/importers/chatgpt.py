"""A conversation of ChatGPT's data export: a tree of messages, of which the path to ``current_node`` was shown last. Pure.

An answer that was made again and a message that was edited stand beside the first under the same parent.
"""

import re
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from conversations.import_export.importers.parts import (
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
from conversations.import_export.importers.trees import in_order, laid_out, nearest, of, rooted

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
    turns = _turns(_shown(conversation, files, left_out), files.space)
    return {
        "id": str(id) if id else None,
        **titled(conversation.get("title")),
        "created_at": moment_of(conversation.get("create_time")),
        **turns,
        **files.listed,
        "left_out": dict(left_out),
    }


@dataclass(frozen=True)
class Shown:
    """The messages of which something was shown, in order, and the nearest such before each. ``end`` is the current one."""

    messages: dict[str, tuple[Message, list[Piece]]]
    parents: dict[str, str | None]
    end: str | None


def _shown(conversation: dict[str, Any], files: ThreadFiles, left_out: Counter[str]) -> Shown:
    nodes = {name: node for name, node in conversation["mapping"].items() if isinstance(node, dict)}
    current = conversation.get("current_node")
    if not isinstance(current, str) or current not in nodes:
        current = _newest_leaf(nodes)
    named = {name: node.get("parent") for name, node in nodes.items()}
    parents = rooted({name: parent if isinstance(parent, str) else None for name, parent in named.items()}, current)
    messages = {name: nodes[name]["message"] for name in parents if isinstance(nodes[name].get("message"), dict)}
    shown: dict[str, tuple[Message, list[Piece]]] = {}
    for name in in_order(parents, {name: time for name in messages if (time := _time(messages[name])) is not None}):
        message = messages.get(name)
        if message and not _is_hidden(message) and (pieces := _pieces(message, files, left_out)):
            shown[name] = message, pieces
    above = nearest(parents, shown)
    return Shown(
        messages=shown,
        parents={name: of(above, parents[name]) for name in shown},
        end=of(above, current),
    )


def _turns(shown: Shown, space: uuid.UUID) -> dict[str, list[dict[str, Any]]]:
    """What follows one another on the assistant's side – tools and their results among it – is one turn, as shown, unless
    something else follows there as well, or the conversation was left there."""
    followers = Counter(shown.parents.values())
    heads: dict[str, str] = {}
    turns: dict[str, dict[str, Any]] = {}
    ids: set[str] = set()
    for name, (message, pieces) in shown.messages.items():
        before, role = shown.parents[name], "user" if _author(message) == "user" else "assistant"
        head = of(heads, before)
        is_more = head is not None and role == turns[head]["role"] == "assistant"
        if head is not None and is_more and followers[before] == 1 and before != shown.end:
            heads[name] = head
            turns[head]["content"] += pieces
        else:
            heads[name] = name
            # A conversation that was branched off repeats the messages of the other, ids and all.
            own = message["id"] if isinstance(message.get("id"), str) and message["id"] not in ids else name
            ids.add(own)
            created_at = moment_of(message.get("create_time"))
            id = str(derived_id(space, own))
            turns[name] = {"role": role, "content": pieces, "created_at": created_at, "id": id}
        if role == "assistant":
            turns[heads[name]]["status"] = STATUSES.get(str(message.get("status")), "complete")
        if _author(message) == "assistant":
            turns[heads[name]] |= _writer(message)
    whole = {name: turn | {"content": content_of(turn["content"])} for name, turn in turns.items()}
    return laid_out(whole, {name: of(heads, shown.parents[name]) for name in turns}, of(heads, shown.end))


def _time(message: Message) -> float | None:
    """Seconds since 1970; ``None`` for what is no time."""
    moment = moment_of(message.get("create_time"))
    return datetime.fromisoformat(moment).timestamp() if moment else None


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
