"""The pages that people meet. What moves on them comes over REST and the WebSocket."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie

from conversations import threads, wire
from conversations.accounts import budget_warnings, session_times, switches
from conversations.accounts.group_access import access_of
from conversations.context.explain.wording import wording
from conversations.errors import ThreadNotFound
from conversations.mcp_client import servers
from conversations.models import Model, Thread
from conversations.replies import model_titles
from conversations.replies.user_content import MOST_FILES
from conversations.runtime.shapes import moment
from conversations.runtime.text import clean
from conversations.threads import forks, model_choices
from conversations.web import answering, search
from conversations.web.examples import EXAMPLES
from conversations.wire.model_list import model_list
from memory import services

CODES = {"assistant", "command"}
"""Keys of tables whose values are no texts."""


class SignedInRequest(HttpRequest):
    user: User


@never_cache
@login_required
def chat(request: SignedInRequest, thread_id: uuid.UUID | None = None) -> HttpResponse:
    """The chat, empty or at one thread. Answers 404 where the thread is unknown or another user's."""
    thread = _opened(request.user, thread_id) if thread_id else None
    sought = clean(request.GET.get("q", "")).strip()[: search.LONGEST]
    page = _page(request.user, thread)
    assistant = thread.assistant.slug if thread else next((each["slug"] for each in page["assistants"]), "")
    hits = search.hits(request.user, sought) if sought else []
    context = {
        "page": page,
        "answers": page["answers"].get(assistant),
        "thread": thread,
        "run_scripts": settings.OPENBOOK_RUN_SCRIPTS,
        "sought": sought,
        "hits": hits,
        "found_in": len(hits),
        "switches": page["switches"],
        "notices": budget_warnings.notices(request.user.pk),
    }
    return render(request, "conversations/chat.html", context)


@never_cache
@login_required
def print_sheet(request: SignedInRequest, thread_id: uuid.UUID) -> HttpResponse:
    """A whole thread for paper; its script loads the turns. Answers 404 as the chat does."""
    thread = _opened(request.user, thread_id)
    page = {
        "user": {"name": request.user.get_username()},
        "assistant": thread.assistant.name,
        "thread": {"id": str(thread.id)},
    }
    return render(request, "conversations/print.html", {"page": page, "thread": thread})


@never_cache
@login_required
@ensure_csrf_cookie
def prompts(request: SignedInRequest) -> HttpResponse:
    """The page on which people keep their prompts. All of it comes over REST."""
    return render(request, "conversations/prompts.html")


def icon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for it beside pages that name none, as the admin's and those of errors."""
    return HttpResponseRedirect(static("conversations/icon.svg"))


def _opened(user: User, thread_id: uuid.UUID) -> Thread:
    try:
        return threads.get(user, thread_id)
    except ThreadNotFound as error:
        raise Http404(error.message) from error


def _page(user: User, thread: Thread | None) -> dict[str, Any]:
    """What the page's script is told, as JSON."""
    preferences = services.preferences_of(user)
    access, on = access_of(user.pk), switches.on_for(user.pk)
    offered = threads.offered_assistants(access).order_by("-is_default", "order", "name")
    return {
        "user": {"id": user.pk, "name": user.get_username(), "staff": user.is_staff},
        "assistants": list(offered.values("slug", "name", "description")),
        "models": dict(Model.objects.values_list("name", "label")),
        "choices": model_list(offered, access),
        "thread": _thread(thread) if thread else None,
        "limits": {
            "message_chars": settings.OPENBOOK_MAX_MESSAGE_CHARS,
            "import_mb": settings.OPENBOOK_MAX_IMPORT_MB,
            "import_zip_mb": max(settings.OPENBOOK_MAX_IMPORT_MB, settings.OPENBOOK_MAX_IMPORT_ZIP_MB),
            "file_mb": settings.OPENBOOK_MAX_FILE_MB,
            "files": MOST_FILES,
        },
        "answers": translated(answering.notes()),
        "titled_by_a_model": settings.OPENBOOK_TITLE_MODEL != model_titles.OFF,
        "shows_costs": settings.OPENBOOK_SHOW_COSTS,
        "examples": translated(EXAMPLES),
        "words": translated(wording()),
        "share_days": settings.OPENBOOK_SHARE_DAYS if "sharing" in on else None,
        "switches": sorted(on),
        "servers": list(servers.usable_by(user).filter(is_active=True).values("id", "name")) if "uploads" in on else [],
        "idle_minutes": idle.total_seconds() / 60 if (idle := session_times.times_of(user).idle) else None,
        "zone": preferences.time_zone if preferences else None,
    }


def translated(table: Any) -> Any:
    """A table of texts, which names none of them as one: in the page's language."""
    match table:
        case str():
            return gettext(table) if table else ""
        case dict():
            return {key: value if key in CODES else translated(value) for key, value in table.items()}
        case list() | tuple():
            return [translated(value) for value in table]
    return table


def _thread(thread: Thread) -> dict[str, Any]:
    model = model_choices.of_threads([thread]).get(thread.id, model_choices.OWN)
    forked = forks.of_threads([thread]).get(thread.id, forks.NONE)
    return {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "remembers": thread.remembers,
        "temporary": thread.temporary,
        "pinned": thread.pinned,
        "archived": thread.archived,
        "tags": thread.tags,
        "project": str(thread.project_id) if thread.project_id else None,
        "forked_from": wire.forked_from(forked),
        "forks": [str(id) for id in forked.forks],
        "updated_at": moment(thread.updated_at),
        "model": model.id,
        "model_note": model.note or None,
    }
