"""Rows of artifacts for tests."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from artifacts.models import Artifact, ArtifactVersion
from conversations.models import Message, Thread


def make_artifact(
    thread: Thread,
    *contents: str,
    title: str = "BRD",
    message: Message | None = None,
    reply_id: Any = None,
    origin: str = "",
    created_at: datetime | None = None,
    **values: Any,
) -> Artifact:
    """An artifact with a version of each of these contents, all of one provenance."""
    at = created_at or timezone.now()
    contents = contents or ("# BRD",)
    artifact = Artifact.objects.create(
        thread=thread,
        user_id=thread.user_id,
        title=title,
        version=len(contents),
        created_at=at,
        updated_at=at,
        **values,
    )
    for number, content in enumerate(contents, start=1):
        ArtifactVersion.objects.create(
            artifact=artifact,
            thread=thread,
            user_id=thread.user_id,
            number=number,
            content=content,
            origin=origin or ("reply" if message or reply_id else "program"),
            message=message,
            reply_id=reply_id,
            created_at=at,
        )
    return artifact
