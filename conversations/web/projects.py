"""The pages on which people look after their projects, and what they want every answer to know. They need no script."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from artifacts.models import Preset
from conversations import threads
from conversations.accounts import instructions, switches
from conversations.accounts.group_access import access_of
from conversations.errors import OpenbookError, ProjectNotFound
from conversations.files import store
from conversations.files.of_projects import MOST_FILES
from conversations.holds import coverage
from conversations.models import File, Project
from conversations.models.projects import LONGEST_INSTRUCTIONS
from conversations.runtime.text import clean, one_line
from conversations.runtime.wording import translated
from conversations.threads import deletion, model_choices, projects
from conversations.web.views import SignedInRequest

MOST_LISTED = 50
COLOURS = {
    Project.Colour.GREY: gettext_lazy("Grey"),
    Project.Colour.RED: gettext_lazy("Red"),
    Project.Colour.ORANGE: gettext_lazy("Orange"),
    Project.Colour.YELLOW: gettext_lazy("Yellow"),
    Project.Colour.GREEN: gettext_lazy("Green"),
    Project.Colour.TEAL: gettext_lazy("Teal"),
    Project.Colour.BLUE: gettext_lazy("Blue"),
    Project.Colour.PURPLE: gettext_lazy("Purple"),
    Project.Colour.PINK: gettext_lazy("Pink"),
}
SWITCHES = ("uses_outside_memory", "shares_memory")


@never_cache
@login_required
@require_POST
def instruct(request: SignedInRequest) -> HttpResponse:
    written = {name: clean(request.POST.get(name, ""))[:LONGEST_INSTRUCTIONS] for name in ("about", "style")}
    instructions.instruct(request.user, **written)
    success(request, _("Kept. Every answer is given it from now on."))
    return redirect("account")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def listing(request: SignedInRequest) -> HttpResponse:
    """All projects, and the form that makes one."""
    name = one_line(clean(request.POST.get("name", "")))[:100]
    if request.method == "POST" and name:
        try:
            return redirect("project", projects.create(request.user, name=name).id)
        except OpenbookError as problem:
            error(request, translated(problem.message))
    context = {"projects": projects.counted(projects.of(request.user)), "name": name}
    return render(request, "conversations/projects.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, project_id: UUID) -> HttpResponse:
    """One project: what it holds, and its settings."""
    project = _project(request, project_id)
    if request.method == "POST":
        try:
            projects.change(project, **_settings(request.POST, project))
            success(request, _("Kept."))
            return redirect("project", project.id)
        except OpenbookError as problem:
            error(request, translated(problem.message))
    files = list(store.of(request.user).filter(project=project))
    held = threads.of(request.user).filter(project=project).order_by("-updated_at", "-id")
    access = access_of(request.user.pk)
    context: dict[str, Any] = {
        "project": project,
        "threads": held[:MOST_LISTED],
        "thread_count": held.count(),
        "files": files,
        "models": model_choices.choices_of(project.assistant or threads.assistant_named(None, access), access),
        "presets": Preset.objects.filter(is_active=True).order_by("order", "name"),
        "data": {
            "project": str(project.id),
            "limits": {"file_mb": settings.OPENBOOK_MAX_FILE_MB, "files": MOST_FILES},
            "reading": [str(file.id) for file in files if file.state == File.State.READING],
        },
        "can_upload": "uploads" in switches.on_for(request.user.pk),
        "colours": COLOURS.items(),
        "assistants": threads.offered_assistants(access).order_by("order", "name"),
        "longest": LONGEST_INSTRUCTIONS,
    }
    return render(request, "conversations/project.html", context)


@never_cache
@login_required
@require_POST
def begin(request: SignedInRequest, project_id: UUID) -> HttpResponse:
    """A new conversation in it."""
    project = _project(request, project_id)
    access = access_of(request.user.pk)
    thread = threads.unsaved(user=request.user, assistant=threads.assistant_named(None, access), title="")
    projects.opened_in(project, thread, assistant=None, model="", access=access)
    thread.save(force_insert=True)
    return redirect("thread", thread.id)


@never_cache
@login_required
@require_POST
def delete(request: SignedInRequest, project_id: UUID) -> HttpResponse:
    """Its threads stay or go, as the form says."""
    project = _project(request, project_id)
    goes = request.POST.get("threads", "")
    held = coverage.notice(request.user.pk, project=project.id)
    try:
        deletion.delete_project(project, threads_go=goes if goes in {"keep", "delete"} else None)
    except OpenbookError as problem:
        error(request, translated(problem.message))
        return redirect("project", project.id)
    success(request, " ".join([_("The project is deleted."), held]).strip())
    return redirect("projects")


def _project(request: SignedInRequest, project_id: UUID) -> Project:
    try:
        return projects.get(request.user, project_id)
    except ProjectNotFound as problem:
        raise Http404(problem.message) from None


def _settings(form: QueryDict, project: Project) -> dict[str, Any]:
    colour, assistant = form.get("colour", ""), form.get("assistant") or None
    return {
        "name": one_line(clean(form.get("name", "")))[:100] or project.name,
        "colour": colour if colour in Project.Colour.values else project.colour,
        "instructions": clean(form.get("instructions", "")).strip()[:LONGEST_INSTRUCTIONS],
        "assistant": assistant,
        "model": _model(form.get("model", ""), assistant),
        "presets": form.getlist("presets"),
        **{name: name in form for name in SWITCHES},
    }


def _model(id: str, assistant: str | None) -> str:
    """Its own where another assistant was chosen at the same time, which does not offer this model."""
    offered = model_choices.choices_of(threads.assistant_named(assistant))
    return id if any(choice.whole_id == id for choice in offered) else ""
