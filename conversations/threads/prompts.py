"""Prompts: a person's own, and those that staff wrote for everybody. What isn't theirs is not found."""

import re
import uuid
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit, threads
from conversations.audit import AuditKind
from conversations.errors import InvalidMessage, PromptNotFound, PromptNotYours, TooManyPrompts
from conversations.holds import custody
from conversations.models import Prompt, SharedPrompt
from conversations.runtime import clock
from conversations.runtime.wording import worded
from memory.forgetting import ledger

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


def get_to(user: User, act: str, prompt_id: str | uuid.UUID) -> Prompt | SharedPrompt:
    """One to ``change`` or ``delete``. Raises ``PromptNotFound``, and ``PromptNotYours`` for one for everybody unless they are
    staff who may."""
    prompt = get(user, prompt_id)
    if isinstance(prompt, SharedPrompt):
        _refuse_unless_staff(user, act)
    return prompt


def create(user: User, *, name: str, text: str, shared: bool = False) -> Prompt | SharedPrompt:
    """Raises ``TooManyPrompts``, ``InvalidMessage``, and ``PromptNotYours`` for one for everybody unless they are staff who may
    add one."""
    refuse_variables(text)
    now = clock.now()
    if shared:
        _refuse_unless_staff(user, "add")
        with transaction.atomic():
            prompt = SharedPrompt.objects.create(name=name, text=text, created_at=now, updated_at=now)
            audit.record(AuditKind.ROW_ADDED, target=prompt)
        return prompt
    refuse_too_many(user, more=1)
    return Prompt.objects.create(user=user, name=name, text=text, created_at=now, updated_at=now)


def _refuse_unless_staff(user: User, act: str) -> None:
    if not (user.is_staff and user.has_perm(f"conversations.{act}_sharedprompt")):
        raise PromptNotYours


def refuse_too_many(user: User, *, more: int = 0) -> None:
    """Raises ``TooManyPrompts``."""
    if of(user).count() + more > MOST_PROMPTS:
        raise TooManyPrompts


@transaction.atomic
def delete(prompt: Prompt | SharedPrompt) -> None:
    """Where it is a person's own, it doesn't come back with a backup."""
    if isinstance(prompt, Prompt):
        custody.keep(prompt.user_id, Prompt.objects.filter(id=prompt.id))
        ledger.note(ledger.Kind.PROMPT, prompt.id)
    else:
        audit.record(AuditKind.ROW_DELETED, target=prompt)
    prompt.delete()


@transaction.atomic
def change(prompt: Prompt | SharedPrompt, **values: Any) -> None:
    """Of ``name`` and ``text``. Raises ``InvalidMessage``."""
    refuse_variables(values.get("text", ""))
    rows: QuerySet[Any]
    if isinstance(prompt, SharedPrompt):
        rows = shared().filter(id=prompt.id)
        audit.record(AuditKind.ROW_CHANGED, target=prompt, details={"fields": sorted(values)})
    else:
        rows = Prompt.objects.filter(user=prompt.user_id, id=prompt.id)
        custody.keep(prompt.user_id, rows)
    rows.update(updated_at=clock.now(), **values)


def refuse_variables(text: str) -> None:
    if len(variables_of(text)) > MOST_VARIABLES:
        words = worded("A prompt has at most {most} variables. Use some of them again.", most=MOST_VARIABLES)
        raise InvalidMessage(words, field="text")
