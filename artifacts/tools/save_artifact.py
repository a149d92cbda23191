"""The model puts a document, code or a picture beside the thread: a new artifact, or the next version of one."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from artifacts import services
from artifacts.models import Artifact, ArtifactVersion, Kind
from artifacts.services import ArtifactError, Provenance, SavedVersion
from conversations.models import Reply
from conversations.providers.quoting import quote_name
from conversations.runtime import clock
from conversations.runtime.text import clean, one_line
from conversations.tools.base import Tool, ToolContext, ToolError, ToolResult
from conversations.wire.artifacts import artifact_note

RULES = """\
## Artifacts

Documents, code, diagrams and pages that the person asks for are artifacts: they live beside the conversation, with versions.

- Save an artifact with save_artifact, and only when the newest message asks for one to be made or changed. What an earlier \
message asked for is done or was given up; never make it again on your own.
- What exists already is listed beside the newest message. To change one of these, save it under its exact title, whole; to \
answer a question about it, read it with read_artifact. Never save it again unchanged.
- Save each artifact once, then say in a sentence or two what you made. Don't repeat its content in the conversation.
- Short answers, explanations and snippets stay in the conversation."""


@transaction.atomic
def run(call: ToolContext, input: Mapping[str, Any]) -> ToolResult:
    # Nothing is made for a reply that has ended meanwhile: another one may be at work on the same request.
    mine = Reply.objects.select_for_update(no_key=True).filter(user=call.user_id, id=call.reply_id)
    running = mine.filter(status=Reply.Status.RUNNING)
    if not running.exists():
        raise ToolError("The reply has ended.")
    try:
        saved = _save(call, input)
    except ArtifactError as error:
        raise ToolError(error.message) from error
    artifact = saved.artifact
    if saved.changed:
        text = f"Saved {quote_name(artifact.title)}, version {artifact.version}. It is beside the conversation now."
    else:
        text = f"{quote_name(artifact.title)} says the same already, in version {artifact.version}. Nothing was saved."
    return ToolResult(
        text=f"{text} Its id is {artifact.id}.",
        summary=f"Saved “{artifact.title}”, version {artifact.version}",
        artifact=artifact_note(artifact),
    )


def _save(call: ToolContext, input: Mapping[str, Any]) -> SavedVersion:
    title, content = clean(one_line(input["title"])), clean(input["content"])
    by_preset = bool(call.preset)
    made = Provenance(
        origin=ArtifactVersion.Origin.PRESET if by_preset else ArtifactVersion.Origin.REPLY,
        at=clock.now(),
        reply_id=call.reply_id,
    )
    artifact = known_artifact(call, title)
    if artifact:
        return services.add_version(artifact, content=content, made=made)
    draft = services.ArtifactDraft(
        title=title,
        kind=input["kind"],
        language=clean(one_line(input.get("language", ""))),
        content=content,
        preset=call.preset,
        after_position=call.last_position,
    )
    return services.create(draft, thread_id=call.thread_id, user_id=call.user_id, made=made)


def known_artifact(call: ToolContext, title: str) -> Artifact | None:
    """The artifact whose next version this is: the one with this title, or the one that the preset made before."""
    mine = Artifact.objects.filter(user=call.user_id, thread=call.thread_id, deleted_at=None)
    mine = services.on_path(call.user_id, mine)
    if call.preset:
        return mine.filter(preset=call.preset).order_by("-updated_at").first()
    return services.find_by_title(mine, title)


TOOL = Tool(
    name="save_artifact",
    description=(
        "Save a document, table, code, page, picture or diagram that the newest message asks for, so that it stands beside the "
        "conversation where the person can read, edit and export it. Saving under the title of an artifact that exists makes "
        "its next version; any other title makes a new artifact. Use it only when the newest message asks for something to be "
        "made or changed – not for what earlier messages asked for, not for an answer to a question, and never twice for one "
        "request. The content is the whole artifact, not a part or a difference."
    ),
    schema={
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "What it is, in a few words. Not a file name."},
            "kind": {
                "type": "string",
                "enum": list(Kind.values),
                "description": "document and table are Markdown; html a whole page with its own style and script; svg and "
                "mermaid their source. A table is data in rows and columns, which the person can download as an Excel or CSV "
                "file: use it when they ask for a spreadsheet. It holds nothing but Markdown tables, each below a heading that "
                "names its sheet; copy values of a file as they stand there.",
            },
            "language": {"type": "string", "maxLength": 40, "description": "Of code: python, sql, typescript …"},
            "content": {"type": "string", "minLength": 1, "description": "The whole content."},
        },
        "required": ["title", "kind", "content"],
        "additionalProperties": False,
    },
    run=run,
    doing="Writing",
    streamed="content",
    rules=RULES,
)
