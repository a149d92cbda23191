"""Projects and a person's own instructions in a document: what is written of them, and how it is read."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from conversations.accounts.instructions import instructions_of
from conversations.import_export.document_files import described_files
from conversations.import_export.records import FileRecord, InstructionsRecord, ProjectRecord
from conversations.import_export.values import Fields
from conversations.models import File, Project
from conversations.models.projects import LONGEST_INSTRUCTIONS
from conversations.threads import projects

NAME_CHARS, SLUG_CHARS, MODEL_CHARS = 100, 50, 121
WRITTEN = (
    "id",
    "name",
    "colour",
    "instructions",
    "model",
    "presets",
    "uses_outside_memory",
    "shares_memory",
    "created_at",
)


def written_instructions(user: User) -> dict[str, str] | None:
    """``None`` where the person wrote none."""
    own = instructions_of(user)
    return {"about": own.about, "style": own.style} if own.about or own.style else None


def written_projects(user: User, *, with_bytes: bool) -> list[dict[str, Any]]:
    """Each with its files, whose bytes lie beside the document where ``with_bytes``."""
    own = list(projects.of(user).select_related("assistant"))
    files: dict[uuid.UUID | None, list[File]] = {}
    for file in File.objects.filter(user=user, project__in=own).order_by("id") if own else ():
        files.setdefault(file.project_id, []).append(file)
    return [
        {name: getattr(project, name) for name in WRITTEN}
        | {"assistant": project.assistant and project.assistant.slug}
        | {"files": described_files(files.get(project.id, ()), with_bytes=with_bytes)}
        for project in own
    ]


def read_instructions(value: Any, place: str) -> InstructionsRecord:
    fields = Fields.of(value, place)
    about, style = (_optional(fields, name) for name in ("about", "style"))
    return InstructionsRecord(about=about, style=style)


def read_project(
    project: Fields, *, id: uuid.UUID, known: bool, files: Sequence[FileRecord], now: Any
) -> ProjectRecord:
    name = project.line("name", most=NAME_CHARS)
    if not name:
        project.refuse("name", "is empty.")
    switches: Mapping[str, bool] = {
        switch: project.switch(switch, default=False) for switch in ("uses_outside_memory", "shares_memory")
    }
    return ProjectRecord(
        id=id,
        name=name,
        colour=project.choice("colour", Project.Colour.values, default=Project.Colour.GREY),
        instructions=_optional(project, "instructions"),
        assistant=project.line("assistant", most=SLUG_CHARS),
        model=project.line("model", most=MODEL_CHARS),
        presets=tuple(project.texts("presets", most=SLUG_CHARS)),
        created_at=project.moment("created_at") or now,
        files=files,
        known=known,
        **switches,
    )


def _optional(fields: Fields, name: str) -> str:
    return "" if fields.get(name) is None else fields.text(name, most=LONGEST_INSTRUCTIONS)
