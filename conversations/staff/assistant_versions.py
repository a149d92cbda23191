"""The versions of an assistant as a page of the admin: what each changed, and which may be published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from conversations import versions
from conversations.context.record.assistant_versions import differences, shaping_fields
from conversations.models import Assistant, AssistantVersion
from conversations.runtime.wording import filled
from conversations.staff.compare.text_diff import Piece, diffed

PRESETS = "presets"
MOST = 100
"""Of the newest."""


@dataclass(frozen=True, kw_only=True)
class SettingChange:
    """``pieces`` of a longer text, else the two values."""

    label: str
    before: str = ""
    after: str = ""
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    version: AssistantVersion
    is_current: bool
    changes: Sequence[SettingChange]


def rows_of(assistant: Assistant) -> Iterator[VersionRow]:
    """Newest first, each with what it changed of the one before."""
    found = list(versions.versions_of(assistant)[: MOST + 1])
    for version, before in zip(found[:MOST], [*found[1:], None], strict=False):
        yield VersionRow(
            version=version,
            is_current=version.pk == assistant.version_id,
            changes=changes_between(before.content, version.content) if before else (),
        )


def changes_between(before: dict[str, Any], after: dict[str, Any]) -> list[SettingChange]:
    """What reads the same is no change: a column that a version doesn't have yet, and an empty one."""
    labels = {column: str(field.verbose_name) for column, field in shaping_fields().items()}
    return [
        SettingChange(label=labels.get(name, name), pieces=diffed(str(was or ""), str(now or "")))
        if name == "system_prompt"
        else SettingChange(label=labels.get(name, name), before=_told(was), after=_told(now))
        for name, (was, now) in differences(before, after).items()
        if name != PRESETS and _told(was) != _told(now)
    ] + list(_changed_presets(before.get(PRESETS, {}), after.get(PRESETS, {})))


def _changed_presets(before: dict[str, Any], after: dict[str, Any]) -> Iterator[SettingChange]:
    for slug in sorted({*before, *after}):
        was, now = before.get(slug), after.get(slug)
        if was != now:
            label = filled("Preset {name}", name=(now or was or {})["name"])
            yield SettingChange(label=label, pieces=diffed(_preset_text(was), _preset_text(now)))


def _preset_text(preset: dict[str, str] | None) -> str:
    """All that it tells the model; nothing where the assistant does not offer it."""
    if preset is None:
        return ""
    head = ", ".join(filter(None, [preset["name"], preset["kind"], preset["language"]]))
    return f"{head}\n\n{preset['prompt']}"


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value in (None, "") else str(value)


def versions_view(admin: Any, request: HttpRequest, object_id: str) -> HttpResponse:
    assistant = admin.get_object(request, object_id)
    if not admin.has_view_permission(request, assistant):
        raise PermissionDenied
    if assistant is None:
        raise Http404
    if request.method == "POST":
        return _publish(admin, request, assistant)
    context = admin.admin_site.each_context(request) | {
        "title": filled("Versions of {name}", name=assistant.name),
        "opts": admin.opts,
        "original": assistant,
        "rows": list(rows_of(assistant)),
        "may_replay": request.user.has_perm("conversations.add_replay"),
        "may_publish": admin.has_change_permission(request, assistant),
    }
    return TemplateResponse(request, "admin/conversations/assistant/versions.html", context)


def _publish(admin: Any, request: HttpRequest, assistant: Assistant) -> HttpResponse:
    if not admin.has_change_permission(request, assistant):
        raise PermissionDenied
    number = request.POST.get("publish", "")
    version = versions.versions_of(assistant).filter(number=int(number)).first() if number.isdecimal() else None
    if version is None:
        raise Http404
    assert isinstance(request.user, User)
    changed = versions.publish(version, author=request.user)
    assert changed.version
    messages.success(
        request,
        filled(
            "{name} is at version {number} from the next message on.",
            name=assistant.name,
            number=changed.version.number,
        ),
    )
    return redirect("admin:conversations_assistant_versions", assistant.pk)
