"""Prompts: a person's own, and those that staff wrote for everybody. What isn't theirs is not found."""

import re
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from conversations import threads
from conversations.errors import InvalidMessage, PromptNotFound, PromptNotYours, TooManyPrompts
from conversations.models import Prompt, SharedPrompt
from conversations.runtime import clock

MOST_PROMPTS, MOST_VARIABLES = 500, 20
VARIABLE = re.compile(r"\{\{\s*([^\W_][\w \-]{0,39}?)\s*\}\}")


def variables_of(text: str) -> list[str]:
    """The names between ``{{`` and ``}}``, each once, as they come."""
    return list(dict.fromkeys(VARIABLE.findall(text)))


def of(user: User) -> QuerySet[Prompt]:
    """By name."""
    return Prompt.objects.filter(user=user).order_by("name", "id")


def shared() -> QuerySet[SharedPrompt]:
    return SharedPrompt.objects.filter(is_active=True)


def get(user: User, prompt_id: str | uuid.UUID) -> Prompt | SharedPrompt:
    """One's own, or one for everybody. Raises ``PromptNotFound``."""
    id = threads.identifier(prompt_id, PromptNotFound)
    prompt = of(user).filter(id=id).first() or shared().filter(id=id).first()
    if prompt is None:
        raise PromptNotFound
    return prompt


def own(user: User, prompt_id: str | uuid.UUID) -> Prompt:
    """Raises ``PromptNotFound``, and ``PromptNotYours`` for one that staff wrote."""
    prompt = get(user, prompt_id)
    if isinstance(prompt, SharedPrompt):
        raise PromptNotYours
    return prompt


def create(user: User, *, name: str, text: str) -> Prompt:
    """Raises ``TooManyPrompts``, and ``InvalidMessage``."""
    refuse_variables(text)
    refuse_too_many(user, more=1)
    now = clock.now()
    return Prompt.objects.create(user=user, name=name, text=text, created_at=now, updated_at=now)


def refuse_too_many(user: User, *, more: int = 0) -> None:
    """Raises ``TooManyPrompts``."""
    if of(user).count() + more > MOST_PROMPTS:
        raise TooManyPrompts


def change(prompt: Prompt, **values: Any) -> None:
    """Of ``name`` and ``text``. Raises ``InvalidMessage``."""
    refuse_variables(values.get("text", ""))
    Prompt.objects.filter(user=prompt.user_id, id=prompt.id).update(updated_at=clock.now(), **values)


def refuse_variables(text: str) -> None:
    if len(variables_of(text)) > MOST_VARIABLES:
        raise InvalidMessage(f"A prompt has at most {MOST_VARIABLES} variables. Use some of them again.", field="text")
