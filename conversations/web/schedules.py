"""The pages on which people have messages sent at a time, see what came of them, change, pause and delete them. They need no
script."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.messages import error, success
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from conversations import threads
from conversations.errors import ThreadNotFound
from conversations.models import Schedule, Thread
from conversations.runtime.wording import translated
from conversations.schedules import schedules, sending
from conversations.web.schedule_form import ScheduleForm
from conversations.web.views import SignedInRequest
from memory.forgetting.ledger import LedgerAway
from memory.services import preferences_of, zone_of

PER_PAGE = 50
EVERY_DAY, WEEKDAYS_ALONE = [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5]
PASSING = {each.code for each in sending.WAITING}


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest) -> HttpResponse:
    """The caller's scheduled messages, and the form that makes one: in the conversation that the address names, or anew."""
    thread = _thread(request)
    begun = {"content": request.GET.get("content", "")}
    form = ScheduleForm(request.POST or None, user=request.user, thread=thread, initial=begun)
    if form.is_valid() and form.stored():
        success(request, _("It is scheduled."))
        return redirect("schedules")
    rows = Paginator(schedules.of(request.user).select_related("thread"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "thread": thread,
        "listed": rows,
        "entries": list(_entries(request, list(rows))),
        "most": settings.OPENBOOK_SCHEDULES,
    }
    return _shown(request, "conversations/schedules.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def detail(request: SignedInRequest, schedule_id: UUID) -> HttpResponse:
    """One scheduled message, to be changed."""
    schedule = _mine(request, schedule_id)
    form = ScheduleForm(request.POST or None, user=request.user, thread=schedule.thread, schedule=schedule)
    if form.is_valid() and form.stored():
        success(request, _("Kept."))
        return redirect("schedules")
    return _shown(request, "conversations/schedule.html", {"form": form, "schedule": schedule})


@never_cache
@login_required
@require_POST
def pause(request: SignedInRequest, schedule_id: UUID) -> HttpResponse:
    """It goes on where it is paused, and the other way round."""
    schedule = _mine(request, schedule_id)
    schedules.change(schedule, paused=not schedule.paused)
    return redirect("schedules")


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: SignedInRequest, schedule_id: UUID) -> HttpResponse:
    """Ask first, then delete it."""
    schedule = _mine(request, schedule_id)
    if request.method != "POST":
        return render(request, "conversations/delete_schedule.html", {"schedule": schedule})
    try:
        schedules.delete(schedule)
        success(request, _("It is deleted."))
    except LedgerAway as refusal:
        error(request, translated(refusal.message))
    return redirect("schedules")


def _shown(request: SignedInRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """With times as clocks of the person's show them."""
    zone = zone_of(preferences_of(request.user))
    with timezone.override(zone):
        return render(request, template, context | {"zone": str(zone)})


def _thread(request: SignedInRequest) -> Thread | None:
    named = request.GET.get("thread")
    try:
        return threads.get(request.user, named) if named else None
    except ThreadNotFound as refusal:
        raise Http404 from refusal


def _entries(request: SignedInRequest, listed: list[Schedule]) -> Iterator[dict[str, Any]]:
    states = schedules.last_states(request.user, listed)
    for each in listed:
        yield {
            "schedule": each,
            "days": _days(each.days),
            "status": states.get(each.last_reply) if each.last_reply else None,
            "waits": each.last_error in PASSING,
        }


def _days(days: list[int]) -> str:
    if days in (EVERY_DAY, WEEKDAYS_ALONE):
        return _("every day") if days == EVERY_DAY else _("Monday to Friday")
    return ", ".join(str(WEEKDAYS[day - 1]) for day in days)


def _mine(request: SignedInRequest, schedule_id: UUID) -> Schedule:
    """Answers 404 for another person's."""
    return get_object_or_404(schedules.of(request.user).select_related("thread"), id=schedule_id)
