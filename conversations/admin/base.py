"""The admin classes that the others build on."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

CHANGE_LIST = "admin/conversations/change_list.html"
"""For models of other apps, where Django would not look for it."""
STYLES = {"all": ["conversations/admin/admin.css"]}

if TYPE_CHECKING:

    class TypedAdmin[M: Model](admin.ModelAdmin[M]): ...

else:
    # Django's own takes no type parameter at run time.
    class TypedAdmin[M](admin.ModelAdmin):
        pass


class PageAdmin[M: Model](TypedAdmin[M]):
    """A list that says how it fills while it is empty."""

    empty_text = ""
    list_per_page = 50

    class Media:
        css = STYLES


class ReadOnlyAdmin[M: Model](PageAdmin[M]):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False


class InspectionAdmin[M: Model](ReadOnlyAdmin[M]):
    """For what was recorded: nobody adds, changes or deletes it here, whatever their permissions."""

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False
