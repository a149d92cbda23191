"""Citations of the Messages API: checked against the documents of the request, and turned into marks of the text. Pure.

Parts of a file are the content blocks of a document. The API tells which blocks a text rests on; the reply says it in words
that any other model can read, and write: ``[report.pdf, p. 4]``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from conversations.providers.file_frames import PART_OPENING

QUOTES = re.compile(r"[\"“”„‟«»]")
PAGE = re.compile(r"page (\d+)")
SPACES = re.compile(r"\s+")
MOST_MARKS = 5
"""Of one text."""


CAN_HOLD_DOCUMENTS = frozenset({"document", "tool_result"})


@dataclass(frozen=True, kw_only=True)
class CitedDocument:
    """``texts`` are those of its content blocks, empty for a picture."""

    title: str
    texts: Sequence[str]


def mark_of(name: str, label: str) -> str:
    """What a reply cites a part of a file with."""
    page = PAGE.fullmatch(label)
    return f"[{name}, p. {page[1]}]" if page else f"[{name}, {QUOTES.sub('', label)}]"


def with_citations(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """With citations of all documents, where there are any of one: the API takes no others beside it."""
    if not any(block.get("citations") for message in messages for block in _documents(message["content"])):
        return messages
    return [{**message, "content": _all_cited(message["content"])} for message in messages]


def _all_cited(content: Any) -> Any:
    return content if isinstance(content, str) else [_cited(block) for block in content]


def _cited(block: Mapping[str, Any]) -> Mapping[str, Any]:
    match block:
        case {"type": "document"}:
            return {**block, "citations": {"enabled": True}}
        case {"type": "tool_result", "content": list(parts)}:
            return {**block, "content": _all_cited(parts)}
    return block


def _documents(content: Any) -> Iterator[Mapping[str, Any]]:
    """In the order in which the API counts them, those in results of tools among them."""
    for block in content if isinstance(content, (list, tuple)) else ():
        if block.get("type") == "document":
            yield block
        elif block.get("type") == "tool_result":
            yield from _documents(block.get("content"))


def documents_of(messages: Sequence[Mapping[str, Any]]) -> list[CitedDocument]:
    """All documents of a request, in the order in which the API counts them."""
    return [_document(block) for message in messages for block in _documents(message["content"])]


def _document(block: Mapping[str, Any]) -> CitedDocument:
    content = block["source"].get("content", ())
    texts = [str(part.get("text", "")) for part in content] if isinstance(content, list) else []
    return CitedDocument(title=str(block.get("title") or ""), texts=texts)


def marks_for(citation: object, documents: Sequence[CitedDocument]) -> list[str]:
    """The marks of the parts that a citation names. None where it is not true: the blocks are not there, hold no part, or say
    something else than what is cited."""
    match citation:
        case {
            "type": "content_block_location",
            "document_index": int(place),
            "start_block_index": int(first),
            "end_block_index": int(end),
            "cited_text": str(text),
        } if 0 <= place < len(documents) and 0 <= first < end <= len(documents[place].texts):
            document = documents[place]
            texts = document.texts[first:end]
            if SPACES.sub("", "".join(texts)) == SPACES.sub("", text):
                return list(dict.fromkeys(_marks(document.title, texts)))[:MOST_MARKS]
    return []


def _marks(title: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if part := PART_OPENING.match(text):
            yield mark_of(title, unescape(part["label"]))
