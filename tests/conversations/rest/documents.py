"""Documents of the format `openbook/1`, as tests send them and get them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import models

from artifacts.models import Artifact, ArtifactVersion
from conversations.models import Message, Thread, text_blocks
from memory.models import Memory, ThreadSummary, Topic

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
TABLES: list[type[models.Model]] = [Thread, Message, Artifact, ArtifactVersion, Memory, ThreadSummary, Topic]
CALL = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "чай"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Tea"}]}


def iso(minute: float) -> str:
    return (NINE + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def make_message(role: str, content: Any, minute: float, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "created_at": iso(minute), **fields}


def document(*threads: Any, memories: Any = ()) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": list(threads), "memories": list(memories)}


def talk(turns: int, **fields: Any) -> dict[str, Any]:
    messages = [make_message(("user", "assistant")[number % 2], f"Turn {number}", number) for number in range(turns)]
    return {"title": f"{turns} turns", "created_at": iso(0), "messages": messages, **fields}


async def counts() -> list[int]:
    return [await table._default_manager.acount() for table in TABLES]


FULL = document(
    {
        "id": "00000000-0000-7000-8000-000000000001",
        "title": "Tea",
        "assistant": "analyst",
        "created_at": iso(0),
        "messages": [
            make_message("user", text_blocks("Draw a cup 🍵"), 0, id="00000000-0000-7000-8000-000000000011"),
            make_message("assistant", [*text_blocks("Here."), CALL], 1.5, id="00000000-0000-7000-8000-000000000012"),
            make_message("user", [RESULT], 1, id="00000000-0000-7000-8000-000000000013"),
            make_message("user", text_blocks('"Two" in a row\n'), 2, id="00000000-0000-7000-8000-000000000014"),
            make_message(
                *("assistant", text_blocks("…"), 3),
                id="00000000-0000-7000-8000-000000000015",
                status="failed",
                model="gpt-4o",
            ),
        ],
        "artifacts": [
            {
                "id": "00000000-0000-7000-8000-000000000021",
                "title": "Cup",
                "kind": "svg",
                "language": "",
                "preset": "brd",
                "after_position": 2,
                "content": "<svg/>",
                "created_at": iso(1.6),
                "origin": "hand",
                "message": None,
                "versions": [
                    {
                        "content": "<svg></svg>",
                        "created_at": iso(1.7),
                        "origin": "reply",
                        "message": "00000000-0000-7000-8000-000000000012",
                    },
                    {"content": "<svg/>", "created_at": iso(1.8), "origin": "hand", "message": None},
                ],
            },
            {
                "id": "00000000-0000-7000-8000-000000000022",
                "title": "Notes",
                "kind": "document",
                "language": "en",
                "preset": "",
                "after_position": 0,
                "content": "",
                "created_at": iso(3),
                "origin": "program",
                "message": None,
            },
        ],
        "summaries": [
            {
                "id": "00000000-0000-7000-8000-000000000041",
                "first": 1,
                "last": 3,
                "text": "A cup was drawn.",
                "key_moments": ["A cup"],
                "sources": ["00000000-0000-7000-8000-000000000011", "00000000-0000-7000-8000-000000000013"],
                "started_at": iso(0),
                "ended_at": iso(1),
                "made_by": "rules",
                "made_at": iso(9),
            },
            {
                "id": "00000000-0000-7000-8000-000000000042",
                "first": 4,
                "last": 5,
                "text": "",
                "key_moments": [],
                "sources": [],
                "started_at": iso(2),
                "ended_at": iso(3),
                "made_by": "",
                "made_at": iso(9),
                "stale_since": iso(10),
            },
        ],
    },
    {
        "id": "00000000-0000-7000-8000-000000000002",
        "title": "",
        "assistant": "companion",
        "created_at": iso(5),
        "pinned": True,
        "archived": True,
        "tags": ["Work", "rust & tide"],
        "remembers": False,
        "messages": [],
        "artifacts": [],
    },
    memories=[
        {
            "id": "00000000-0000-7000-8000-000000000031",
            "content": "Likes tea",
            "tags": ["drinks", "thread:00000000-0000-7000-8000-000000000001", "user:1"],
            "origin": "conversation",
            "source": "00000000-0000-7000-8000-000000000011",
            "sources": ["00000000-0000-7000-8000-000000000011"],
            "created_at": iso(7),
            "said_at": iso(8),
            "valid_from": iso(6),
            "valid_until": iso(9),
            "ended_at": None,
            "superseded_by": None,
            "settled_at": iso(8),
        },
        {
            "id": "00000000-0000-7000-8000-000000000032",
            "content": "Is tall",
            "tags": ["user:1"],
            "origin": "program",
            "source": None,
            "sources": [],
            "created_at": iso(8),
            "said_at": iso(8),
            "valid_from": None,
            "valid_until": None,
            "ended_at": iso(9),
            "superseded_by": "00000000-0000-7000-8000-000000000031",
            "settled_at": None,
        },
    ],
) | {
    "prompts": [],
    "preferences": {"time_zone": "Asia/Tokyo", "remembers": False, "language": "fr"},
    "topics": [
        {
            "id": "00000000-0000-7000-8000-000000000051",
            "title": "A saucer",
            "thread": "00000000-0000-7000-8000-000000000001",
            "sources": ["00000000-0000-7000-8000-000000000014"],
            "opened_at": iso(2),
            "resolved_at": None,
        },
        {
            "id": "00000000-0000-7000-8000-000000000052",
            "title": "Milk",
            "thread": None,
            "sources": [],
            "opened_at": iso(2),
            "resolved_at": iso(4),
        },
    ],
}


def of_user(book: dict[str, Any], user: User) -> dict[str, Any]:
    """The same document, about another user."""
    parsed: dict[str, Any] = json.loads(json.dumps(book).replace('"user:1"', f'"user:{user.id}"'))
    return parsed
