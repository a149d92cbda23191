"""The admin classes that the others build on."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest

from conversations.models import Thread
from conversations.staff import display
from conversations.staff.audited import AuditedAdmin

CHANGE_LIST = "admin/conversations/change_list.html"
"""For models of other apps, where Django would not look for it."""
STYLES: dict[str, Sequence[str]] = {"all": ["conversations/css/parts.css", "conversations/admin/admin.css"]}
LINKED = {"user__id__exact", "thread__id__exact", "thread__user__id__exact"}
"""What links to a list filter it by, beside the filters that it offers."""
COMPARED = ["", *(f"__{how}" for how in ("exact", "id__exact", "in", "isnull", "isempty", "gt", "gte", "lt", "lte"))]
DATED = [f"__{part}" for part in ("year", "month", "day")]


def column(title: str, value: str, show: Callable[[Any], object], *, sort: str | None = None) -> Any:
    """A column of a list, or a field of a page: an attribute of the row as it is shown. A dot leads to a related row's."""
    read = attrgetter(value)

    @admin.display(description=title, ordering=sort)
    def shown(self: object, row: Model) -> object:
        return show(read(row))

    return shown


def user_column(value: str = "user") -> Any:
    """Whose row it is, with the way to their page; sorted by name."""
    sort = f"{value.replace('.', '__')}__username"
    return column("user", value, lambda user: display.link(User, user.pk, user), sort=sort)


def thread_column() -> Any:
    """The thread that the row belongs to, if to one."""
    return column("thread", "thread_id", lambda pk: display.id_link(Thread, pk) if pk else display.NOTHING)


class OfferedLookups[M: Model](AuditedAdmin[M]):
    """A list that is asked for by what it offers and nothing else."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """What the list offers and nothing else: by `?title__startswith=` a masked text could be guessed letter by letter."""
        offered: set[str | None] = {*LINKED}
        for chosen in self.get_list_filter(request):
            if isinstance(chosen, type) and issubclass(chosen, admin.SimpleListFilter):
                offered.add(chosen.parameter_name)
            else:
                field = chosen[0] if isinstance(chosen, tuple | list) else chosen
                offered |= {f"{field}{how}" for how in COMPARED}
        if self.date_hierarchy:
            offered |= {f"{self.date_hierarchy}{how}" for how in [*COMPARED, *DATED]}
        return lookup in offered


class PageAdmin[M: Model](OfferedLookups[M]):
    """A list that says how it fills while it is empty."""

    empty_text = ""
    list_per_page = 50

    class Media:
        css = STYLES


class ReadOnlyAdmin[M: Model](PageAdmin[M]):
    def allowed(self, request: HttpRequest, row: M | None) -> M:
        """The row, for a page of ours beside Django's own. Refused or not found as they would be there."""
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        if row is None:
            raise Http404
        return row

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False


class InspectionAdmin[M: Model](ReadOnlyAdmin[M]):
    """For what was recorded: nobody adds, changes or deletes it here, whatever their permissions."""

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False
