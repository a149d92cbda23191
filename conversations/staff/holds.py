"""Legal holds, begun and ended by staff with the right to it, and the rows that they keep."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.files import storage
from conversations.holds import actions
from conversations.holds.actions import HoldSubject
from conversations.models import ContentAccess, HeldRow, LegalHold, Project
from conversations.runtime.wording import counted, lazy
from conversations.staff import access, display
from conversations.staff.base import PageAdmin, column
from conversations.staff.content import CONTENT_FORM, MaskedInspectionAdmin, content_column, is_shown
from memory.forgetting.ledger import LedgerAway

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[LegalHold]
else:
    ModelForm = forms.ModelForm


class HoldForm(ModelForm):
    person = forms.CharField(
        label=lazy("Person"), max_length=150, help_text=lazy("The user name of whose content it is.")
    )

    class Meta:
        model = LegalHold
        fields = ["project_id", "reason", "tells_reason"]
        labels = {"project_id": lazy("Project id")}
        widgets = {"reason": forms.Textarea({"rows": 3, "class": "vLargeTextField"})}
        help_texts = {"project_id": lazy("The only project that it is about; empty: all that the person has.")}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        user = User.objects.filter(username=values.get("person", "")).first()
        if user is None:
            raise ValidationError(
                {"person": gettext("Nobody is called so. Give the user name, as the list of users has it.")}
            )
        project = values.get("project_id")
        if project and not Project.objects.filter(id=project, user=user).exists():
            raise ValidationError({"project_id": gettext("This person has no project with this id.")})
        values["subject"] = HoldSubject(user=user, project_id=project)
        return values


@admin.register(LegalHold)
class LegalHoldAdmin(PageAdmin[LegalHold]):
    list_display = ["began", "user_name", "of_project", "state", "began_by", "rows"]
    list_filter = ["began_at", ("ended_at", admin.EmptyFieldListFilter)]
    search_fields = ["user_name", "project_id__exact", "id__exact"]
    search_help_text = "A user name, or the id of a project or of a hold."
    ordering = ["-id"]
    actions = ["end_holds"]
    empty_text = "No holds. While one lasts, what its person deletes or forgets is kept where only this right leads."
    fields = ["user_name", "of_project", "reason", "tells_reason", "state", ("began", "began_by"), "rows"]

    began = column("began", "began_at", display.when, sort="began_at")

    def get_fields(self, request: HttpRequest, obj: LegalHold | None = None) -> Any:
        return self.fields if obj else ["person", "project_id", "reason", "tells_reason"]

    def get_readonly_fields(self, request: HttpRequest, obj: LegalHold | None = None) -> Any:
        return [field for field in self.fields if isinstance(field, str)] + ["began", "began_by"] if obj else []

    def get_form(self, request: HttpRequest, obj: LegalHold | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **(kwargs if obj else {**kwargs, "form": HoldForm}))

    def has_delete_permission(self, request: HttpRequest, obj: LegalHold | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: LegalHold, form: Any, change: bool) -> None:
        if change:
            return
        begun = actions.begin(
            form.cleaned_data["subject"],
            reason=obj.reason,
            tells_reason=obj.tells_reason,
            by=request.user.get_username(),
        )
        obj.__dict__.update(begun.__dict__)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except LedgerAway as error:
            self.message_user(request, error.message, messages.ERROR)
            return HttpResponse(status=302, headers={"Location": request.path})

    @admin.action(
        permissions=["change"],
        description="End this legal hold: what it alone keeps is deleted",
        description_plural="End these legal holds: what they alone keep is deleted",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def end_holds(self, request: HttpRequest, queryset: QuerySet[LegalHold]) -> None:
        lasting = list(queryset.filter(ended_at=None))
        try:
            for hold in lasting:
                actions.end(hold, by=request.user.get_username())
                self.log_change(request, hold, "Ended.")
        except LedgerAway as error:
            self.message_user(request, error.message, messages.ERROR)
            return
        self.message_user(request, counted("{count} legal hold ended.", "{count} legal holds ended.", len(lasting)))

    @admin.display(description="project")
    def of_project(self, hold: LegalHold) -> SafeString | str:
        return display.mono(hold.project_id) if hold.project_id else gettext("all that the person has")

    @admin.display
    def state(self, hold: LegalHold) -> SafeString | str:
        if hold.ended_at is None:
            return gettext("lasts")
        at = display.moment(hold.ended_at)
        done = gettext("all released") if hold.released_at else gettext("being released")
        return f"{gettext('ended')} {at} ({hold.ended_by or '–'}), {done}"

    @admin.display(description="held rows")
    def rows(self, hold: LegalHold) -> SafeString | str:
        count = HeldRow.objects.filter(user=hold.user_id).count()
        return display.list_link(HeldRow, display.number(count), user__id__exact=hold.user_id) if count else "0"


@admin.register(HeldRow)
class HeldRowAdmin(MaskedInspectionAdmin[HeldRow]):
    change_form_template = CONTENT_FORM
    owner_id = "user_id"
    list_display = ["held", "owner", "kind", "row", "thread_link", "project"]
    list_filter = ["kind", "held_at"]
    search_fields = ["thread_id__exact", "project_id__exact", "row_id__exact"]
    search_help_text = "The id of a thread, a project or a row, as it was."
    ordering = ["-id"]
    empty_text = "Nothing. What a person deletes while a legal hold covers it appears here until the hold ends."
    fields = [("held", "owner"), ("kind", "row"), ("thread_link", "project"), "checksum", "bytes", "content"]

    held = column("time", "held_at", display.when, sort="held_at")
    row = column("id of the row", "row_id", display.mono)
    project = column("project", "project_id", lambda pk: display.mono(pk) if pk else display.NOTHING)
    content = content_column("content", "data", display.pretty)

    def get_queryset(self, request: HttpRequest) -> QuerySet[HeldRow]:
        # No join: a row outlives the person.
        name = User.objects.filter(pk=OuterRef("user")).values("username")
        hold = LegalHold.objects.filter(user=OuterRef("user")).values("user_name")
        named = super().get_queryset(request).annotate(owner_name=Subquery(name), held_name=Subquery(hold[:1]))
        return named.order_by("-id")

    def get_urls(self) -> list[URLPattern]:
        own = path("<int:id>/bytes/", self.admin_site.admin_view(self.bytes_view), name="conversations_heldrow_bytes")
        return [own, *super().get_urls()]

    def bytes_view(self, request: HttpRequest, id: int) -> HttpResponseBase:
        """The file itself, or the picture of a page, as it was given."""
        row = self.allowed(request, self.get_object(request, str(id)))
        if not row.place:
            raise Http404
        sight = access.look(
            request,
            user=row.user_id,
            what=str(self.opts.verbose_name),
            object_id=row.pk,
            thread=row.thread_id,
            action=ContentAccess.Action.EXPORT,
        )
        if not sight.shown:
            raise PermissionDenied(gettext("State a reason first, on the page of the row."))
        answer = FileResponse(
            storage.open_bytes(row.place), as_attachment=True, filename=row.data.get("name") or row.row_id
        )
        answer["Content-Type"] = "application/octet-stream"
        add_never_cache_headers(answer)
        return answer

    @admin.display(description="user")
    def owner(self, row: HeldRow) -> SafeString | str:
        name = getattr(row, "owner_name", None)
        if name:
            return display.link(User, row.user_id, name)
        return f"{getattr(row, 'held_name', None) or row.user_id} ({gettext('deleted')})"

    @admin.display(description="thread")
    def thread_link(self, row: HeldRow) -> SafeString | str:
        return display.mono(row.thread_id) if row.thread_id else display.NOTHING

    @admin.display(description="SHA-256")
    def checksum(self, row: HeldRow) -> SafeString:
        return display.digest(bytes(row.digest), shown=is_shown(row))

    @admin.display(description="bytes")
    def bytes(self, row: HeldRow) -> SafeString | str:
        if not row.place or not is_shown(row):
            return display.NOTHING if not row.place else display.masked()
        address = reverse("admin:conversations_heldrow_bytes", args=[row.pk])
        return format_html('<a href="{}">{}</a>', address, gettext("Download"))
