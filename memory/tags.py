"""Whom a memory is about. Storing and recalling spell these tags here and nowhere else (C4)."""

import uuid

PROJECT = "project"


def user_tag(user_id: int) -> str:
    return f"user:{user_id}"


def thread_tag(thread_id: uuid.UUID) -> str:
    return f"thread:{thread_id}"


def project_tag(project_id: uuid.UUID) -> str:
    return f"{PROJECT}:{project_id}"


def project_in(place: str) -> uuid.UUID | None:
    """The project that a place of notes is (``Memory.confined_to``)."""
    kind, _, id = place.partition(":")
    return uuid.UUID(id) if kind == PROJECT else None
