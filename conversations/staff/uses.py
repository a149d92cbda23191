"""Which past requests held a note, a turn or a file, what it cost, and what each would have been without it; and what a note
would have changed that nobody had made. Ids and figures alone, but for the words that staff write themselves."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import partial
from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.contrib.admin.widgets import AdminDateWidget
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext

from conversations.context.explain import uses
from conversations.context.explain.uses import Holding, Use, Uses
from conversations.context.reasons import Reason
from conversations.context.sources import AddedNote
from conversations.models import ContextSnapshot, File, Message
from conversations.regression import counterfactual
from conversations.regression.outcomes import KINDS, Outcome
from conversations.runtime.wording import counted, lazy, marked
from conversations.staff import display
from conversations.staff.base import ReadOnlyAdmin
from conversations.staff.compare import added_notes
from conversations.staff.lagging_pages import lagging_page
from conversations.staff.trace import trace_reads
from conversations.staff.trace.trace_views import shown
from memory.models import Memory

type Held = Memory | Message | File
PAGE = 50
CHANGED = marked("{count} request would differ", "{count} requests would differ")
SEES_REQUESTS = "conversations.view_contextsnapshot"


@dataclass(frozen=True, kw_only=True)
class UseRow:
    use: Use
    page: str
    without: str


@dataclass(frozen=True, kw_only=True)
class UsesPage:
    """``older``: the id that the next page comes before."""

    uses: Uses
    cost: str
    rows: Sequence[UseRow]
    older: uuid.UUID | None


def uses_url(pages: ReadOnlyAdmin[Any]) -> URLPattern:
    view = pages.admin_site.admin_view(partial(uses_view, pages))
    return path("<uuid:id>/uses/", view, name=f"{pages.opts.app_label}_{pages.opts.model_name}_uses")


@lagging_page
def uses_view(pages: ReadOnlyAdmin[Any], request: HttpRequest, id: uuid.UUID) -> HttpResponse:
    """It shows no content, so it takes no reason."""
    row = pages.allowed(request, pages.get_object(request, str(id)))
    if not request.user.has_perm(SEES_REQUESTS):
        raise PermissionDenied
    page = uses_page(row, before=_id(request.GET.get("before", "")))
    return shown(pages, request, row, "uses.html", title=gettext("Uses"), page=page, owner=owner_of(row))


def uses_page(row: Held, *, before: uuid.UUID | None) -> UsesPage:
    holding = holding_of(row)
    found = uses.requests_holding(holding, most=PAGE + 1, before=before)
    return UsesPage(
        uses=uses.use_of(holding),
        cost=display.money(uses.spent(holding)),
        rows=[_row(use, row.pk) for use in found[:PAGE]],
        older=found[PAGE - 1].request if len(found) > PAGE else None,
    )


def holding_of(row: Held) -> Holding:
    """A turn stands in requests of its own thread, and is recalled in others."""
    if isinstance(row, File):
        return uses.of_file(row.user_id, row.pk)
    if isinstance(row, Memory):
        return uses.of_items(row.user_id, [row.pk])
    outcomes = trace_reads.outcomes(row.thread, row.position)
    here = [each.id for each in outcomes if each.is_held and each.reason is not Reason.RECALLED]
    return uses.of_items(row.thread.user_id, [row.pk], here=here, estimated=row.token_count)


def owner_of(row: Held) -> int:
    return row.thread.user_id if isinstance(row, Message) else row.user_id


def _row(use: Use, id: uuid.UUID) -> UseRow:
    compare = reverse("admin:conversations_contextsnapshot_compare", args=[use.request])
    return UseRow(use=use, page=display.change_url(ContextSnapshot, use.request), without=f"{compare}?without={id}")


def _id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


class NoteForm(forms.Form):
    text = forms.CharField(max_length=2_000, widget=forms.Textarea(attrs={"rows": 3}), label=lazy("Note"))
    since = forms.DateField(widget=AdminDateWidget(), label=lazy("As of"))

    def clean_since(self) -> datetime:
        day = self.cleaned_data["since"]
        if day > timezone.localdate():
            raise forms.ValidationError(gettext("This day has not come yet."))
        return timezone.make_aware(datetime.combine(day, time.min))


@dataclass(frozen=True, kw_only=True)
class ChangedRow:
    """A request that would differ: how much it would gain and lose, and by how many tokens it would grow."""

    id: uuid.UUID
    page: str
    compare: str
    gained: int
    lost: Sequence[str]
    growth: int


def added_url(pages: ModelAdmin[User]) -> URLPattern:
    view = pages.admin_site.admin_view(partial(added_view, pages))
    return path("<int:id>/added/", view, name="auth_user_added")


def added_view(pages: ModelAdmin[User], request: HttpRequest, id: int) -> HttpResponse:
    """What would it have known if … Nothing is stored, and no content is shown."""
    if not (pages.has_view_permission(request) and request.user.has_perm(SEES_REQUESTS)):
        raise PermissionDenied
    person = User.objects.filter(pk=id).first()
    if person is None:
        raise Http404
    form = NoteForm(request.POST or None)
    context: dict[str, Any] = {"title": gettext("What would it have known if …"), "form": form}
    if request.method == "POST" and form.is_valid():
        note = AddedNote(text=form.cleaned_data["text"], at=form.cleaned_data["since"])
        known, address = counterfactual.with_note(person.pk, note), added_notes.written(note, person.pk)
        context |= {
            "verdict": counted(*CHANGED, len(known.outcomes)),
            "known": known,
            "rows": [_changed(outcome, address) for outcome in known.outcomes],
        }
    whole = {
        **pages.admin_site.each_context(request),
        "opts": pages.opts,
        "original": person,
        "media": pages.media + form.media,
    }
    return TemplateResponse(request, "admin/conversations/added.html", whole | context)


def _changed(outcome: Outcome, address: str) -> ChangedRow:
    return ChangedRow(
        id=outcome.request,
        page=display.change_url(ContextSnapshot, outcome.request),
        compare=reverse(
            "admin:conversations_contextsnapshot_compare", args=[outcome.request], query={"added": address}
        ),
        gained=sum(len(outcome.gained(kind)) for kind in KINDS),
        lost=sorted(name for kind in KINDS for name in outcome.lost(kind)),
        growth=outcome.after.tokens - outcome.before.tokens,
    )
