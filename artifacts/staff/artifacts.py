"""What the assistant made, and the buttons that make it. Artifacts are read-only: their user changes them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models
from django.db.models import F, FilteredRelation, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from artifacts.models import Artifact, ArtifactVersion, Preset
from artifacts.sources.preset import instruction_text
from artifacts.staff.artifact_page import artifact_page, request_of
from conversations.models import Assistant, ContextSnapshot
from conversations.staff import display
from conversations.staff.access import Sight
from conversations.staff.base import CHANGE_LIST, PageAdmin, thread_column, user_column
from conversations.staff.content import MaskedInspectionAdmin
from conversations.versions import signed


@admin.register(Artifact)
class ArtifactAdmin(MaskedInspectionAdmin[Artifact]):
    change_list_template = CHANGE_LIST
    list_display = ["name", "thread_link", "owner", "versions_count", "origin", "created"]
    list_filter = [
        "kind",
        ("preset", admin.EmptyFieldListFilter),
        ("deleted_at", admin.EmptyFieldListFilter),
        "created_at",
    ]
    list_select_related = ["thread__user", "thread__assistant"]
    search_fields = ["id__exact", "thread__id__exact", "thread__user__username"]
    search_help_text = "The id of an artifact or thread, or a user name."
    ordering = ["-created_at", "-id"]
    fields = ()
    empty_text = "No artifacts. The assistant makes them when somebody asks for one, or clicks a preset."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Artifact]:
        newest = FilteredRelation("versions", condition=Q(versions__number=F("version")))
        return (
            super()
            .get_queryset(request)
            .annotate(newest=newest)
            .annotate(
                newest_size=F("newest__size"),
                newest_origin=F("newest__origin"),
                newest_request=request_of("newest__reply", "newest__created_at"),
            )
        )

    def page_context(self, request: HttpRequest, row: Artifact, sight: Sight) -> dict[str, Any]:
        before, whole = request.GET.get("before", ""), request.GET.get("version", "")
        return {"page": artifact_page(row, before=before, version=whole, shown=sight.shown)}

    @admin.display(description="artifact", ordering="id")
    def name(self, artifact: Artifact) -> SafeString:
        return display.with_note(display.mono(display.short_id(artifact.pk)), artifact.get_kind_display())

    thread_link = thread_column()
    owner = user_column("thread.user")

    @admin.display(description="versions", ordering="version")
    def versions_count(self, artifact: Any) -> SafeString:
        return display.with_note(display.number(artifact.version), display.rough(artifact.newest_size))

    @admin.display(description="newest by", ordering="newest_origin")
    def origin(self, artifact: Any) -> SafeString:
        request = artifact.newest_request
        link = display.link(ContextSnapshot, request, gettext("model request")) if request else ""
        return display.with_note(gettext(ArtifactVersion.Origin(artifact.newest_origin).label), link)

    @admin.display(ordering="created_at")
    def created(self, artifact: Artifact) -> SafeString:
        deleted = format_html(gettext("deleted {}"), display.when(artifact.deleted_at)) if artifact.deleted_at else ""
        return display.with_note(display.when(artifact.created_at), deleted)


@admin.register(Preset)
class PresetAdmin(PageAdmin[Preset]):
    change_list_template = CHANGE_LIST
    list_display = ["name", "slug", "kind", "offered_by", "is_active", "order", "made"]
    list_filter = ["is_active", "kind", "assistants"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    readonly_fields = ["preview", "made"]
    formfield_overrides = {
        models.TextField: {"widget": forms.Textarea(attrs={"rows": 24, "class": "vLargeTextField ob-prompt"})},
        models.ManyToManyField: {"widget": forms.CheckboxSelectMultiple},
    }
    actions = None
    empty_text = "No presets. Add one, and choose which assistants offer it."
    fieldsets = [
        (None, {"fields": ["name", "slug", "description", ("is_active", "order"), "assistants", "made"]}),
        ("What it makes", {"fields": ["prompt", ("kind", "language")]}),
        (
            "What is sent",
            {
                "fields": ["preview"],
                "description": "The last message of the request, after the turns of the thread and the assistant's own prompt. "
                "It never enters the thread. As it was saved last.",
            },
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Preset]:
        return super().get_queryset(request).prefetch_related("assistants")

    def save_model(self, request: HttpRequest, obj: Preset, form: Any, change: bool) -> None:
        with signed(_author(request)):
            super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        with signed(_author(request)):
            super().save_related(request, form, formsets, change)

    def delete_model(self, request: HttpRequest, obj: Preset) -> None:
        with signed(_author(request)):
            super().delete_model(request, obj)

    @admin.display(description="offered by")
    def offered_by(self, preset: Preset) -> SafeString | str:
        return display.links(display.link(Assistant, each.pk, each) for each in preset.assistants.all())

    @admin.display(description="what it made")
    def made(self, preset: Preset) -> SafeString | str:
        if preset.pk is None:
            return display.NOTHING
        return display.list_link(Artifact, gettext("its artifacts"), preset__exact=preset.slug)

    @admin.display(description="instruction")
    def preview(self, preset: Preset) -> SafeString | str:
        if preset.pk is None:
            return display.NOTHING
        return format_html('<div class="ob-text">{}</div>', instruction_text(preset))


def _author(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
