"""What stands in the file: rows that staff edit in the admin, by names that hold anywhere, checked by the same forms.

Each section is a list of rows. A row is known by its ``key``; other rows are named by theirs, such as ``anthropic/claude-x``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from allauth.socialaccount.models import SocialApp
from django import forms
from django.contrib.auth.models import Group
from django.db.models import Model as Row
from django.db.models import QuerySet

from artifacts.models import Preset
from conversations.models import (
    Assistant,
    Budget,
    Connection,
    Fallback,
    GroupAccess,
    GroupSignIn,
    Model,
    ModelPrice,
    Moderator,
    RetentionRule,
    SharedPrompt,
)
from conversations.staff.assistants import AssistantForm, FallbackForm
from conversations.staff.budgets import AccessForm
from conversations.staff.connection_form import ConnectionForm
from conversations.staff.language_models import LanguageModelForm
from conversations.staff.moderation import ModeratorForm
from conversations.staff.plain_values import editable
from conversations.staff.prompts import PromptForm
from conversations.staff.retention import RuleForm
from conversations.staff.sign_in_providers import ProviderForm

FORMAT = "openbook.installation/1"


@dataclass(frozen=True, kw_only=True)
class Section:
    """``fields`` stand beside the key, ``secrets`` by reference. ``form`` checks and saves a row."""

    name: str
    model: type[Row]
    key: tuple[str, ...]
    fields: tuple[str, ...]
    form: type[Any] = forms.ModelForm
    secrets: tuple[str, ...] = ()
    only: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> tuple[str, ...]:
        return (*self.key, *self.fields, *self.secrets)

    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.filter(**self.only).order_by(*self.key)


SECTIONS = (
    Section(name="groups", model=Group, key=("name",), fields=("permissions",)),
    Section(
        name="connections",
        model=Connection,
        key=("slug",),
        fields=editable(Connection, "slug", "created_at", "updated_at"),
        form=ConnectionForm,
        secrets=("key", "headers"),
    ),
    Section(
        name="models",
        model=Model,
        key=("provider", "name"),
        fields=editable(Model, "provider", "name"),
        form=LanguageModelForm,
    ),
    Section(
        name="prices",
        model=ModelPrice,
        key=("model", "since", "above"),
        fields=editable(ModelPrice, "model", "since", "above"),
    ),
    Section(
        name="assistants",
        model=Assistant,
        key=("slug",),
        fields=editable(Assistant, "slug"),
        form=AssistantForm,
    ),
    Section(
        name="fallbacks",
        model=Fallback,
        key=("assistant", "provider", "model"),
        fields=("order",),
        form=FallbackForm,
    ),
    Section(name="presets", model=Preset, key=("slug",), fields=editable(Preset, "slug")),
    Section(name="prompts", model=SharedPrompt, key=("name",), fields=("text", "is_active"), form=PromptForm),
    Section(
        name="group_access", model=GroupAccess, key=("group",), fields=editable(GroupAccess, "group"), form=AccessForm
    ),
    Section(name="budgets", model=Budget, key=("group",), fields=editable(Budget, "group")),
    Section(
        name="group_sign_in",
        model=GroupSignIn,
        key=("group",),
        fields=("requires_second_factor", "session_hours", "session_idle_minutes"),
    ),
    Section(name="moderators", model=Moderator, key=("name",), fields=editable(Moderator, "name"), form=ModeratorForm),
    Section(
        name="retention",
        model=RetentionRule,
        key=("kind", "group"),
        fields=("days", "note"),
        form=RuleForm,
        only={"project": None},
    ),
    Section(
        name="sign_in_providers",
        model=SocialApp,
        key=("provider", "provider_id"),
        fields=("name", "details"),
        form=ProviderForm,
        secrets=("secret",),
    ),
)
"""In the order in which they are applied: what is named by others comes first."""
