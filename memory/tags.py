"""Whom a memory is about. Storing and recalling spell these tags here and nowhere else (C4)."""

import uuid


def user_tag(user_id: int) -> str:
    return f"user:{user_id}"


def thread_tag(thread_id: uuid.UUID) -> str:
    return f"thread:{thread_id}"


def project_tag(project_id: uuid.UUID) -> str:
    return f"project:{project_id}"
