"""The model reads what stands beside the thread: it is told of it, but not what it says."""

import uuid
from collections.abc import Mapping
from typing import Any

from artifacts import services
from artifacts.models import Artifact
from conversations.providers.quoting import quote_name
from conversations.runtime.text import clean, one_line
from conversations.tools.base import Tool, ToolContext, ToolError, ToolResult


def run(call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    artifact = artifact_named(call, input["artifact"])
    versions = services.standing_versions(call.user_id, artifact.id).order_by("number")
    newest = versions.last()
    version = versions.filter(number=input["version"]).first() if "version" in input else newest
    if newest is None or version is None:
        known = f"versions 1 to {newest.number if newest else 0}"
        raise ToolError(f"{quote_name(artifact.title)} has {known}, no version {input.get('version')}.")
    head = f"{quote_name(artifact.title)} ({artifact.kind}), version {version.number} of {newest.number}:"
    summary = f"Read “{artifact.title}”, version {version.number}"
    return ToolResult(text=f"{head}\n\n{version.content}", summary=summary)


def artifact_named(call: ToolContext, named: str) -> Artifact:
    """By its id, else by its title. Raises ``ToolError``."""
    mine = Artifact.objects.filter(user=call.user_id, thread=call.thread_id, deleted_at=None)
    mine = services.on_path(call.user_id, mine)
    try:
        artifact = mine.filter(id=uuid.UUID(named)).first()
    except ValueError:
        artifact = services.find_by_title(mine, clean(one_line(named)))
    if artifact is None:
        titles = list(mine.order_by("-created_at").values_list("title", flat=True)[:20])
        there = f"There are: {', '.join(map(quote_name, titles))}." if titles else "There are none yet."
        raise ToolError(f"There is no such artifact in this thread. {there}")
    return artifact


TOOL = Tool(
    name="read_artifact",
    description=(
        "Read what an artifact of this thread says, to answer a question about it or before changing it. The artifacts that "
        "exist are listed beside the newest message."
    ),
    schema={
        "type": "object",
        "properties": {
            "artifact": {"type": "string", "minLength": 1, "description": "Its id or its title."},
            "version": {"type": "integer", "minimum": 1, "description": "The newest, if left out."},
        },
        "required": ["artifact"],
        "additionalProperties": False,
    },
    run=run,
    doing="Reading",
)
