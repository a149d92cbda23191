"""What people uploaded: that it is there and how its reading went. What stands in it is not shown here."""

from django.contrib import admin
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.context.files.unread import unread
from conversations.models import File
from conversations.runtime.wording import filled, lazy
from conversations.staff import display
from conversations.staff.base import column, thread_column, user_column
from conversations.staff.content import MaskedInspectionAdmin, content_column, is_shown
from conversations.staff.uses import uses_url


@admin.register(File)
class FileAdmin(MaskedInspectionAdmin[File]):
    change_form_template = "admin/conversations/used_form.html"
    owner_id = "user_id"
    list_display = ["created", "owner", "thread_link", "kind", "takes", "status", "problem", "parts", "tokens"]
    list_filter = ["kind", "state", ("thread", admin.EmptyFieldListFilter), "created_at"]
    list_select_related = ["user"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a file or a thread, or a user name."
    ordering = ["-id"]
    empty_text = "No files. One appears here when somebody uploads it, and goes after a day unless a message has it."
    fields = [
        ("named", "titled"), ("owner", "thread_link"), ("kind", "media_type", "takes"),
        ("status", "tries"), "failure", "missing", ("pages", "parts", "tokens"), ("created", "identifier", "digest"),
    ]  # fmt: skip

    identifier = column("id", "id", display.mono)
    created = column("time", "created_at", display.when, sort="created_at")
    owner = user_column()
    thread_link = thread_column()
    problem = column("error", "error", display.error_code)
    parts = column("parts", "parts_read", display.number, sort="parts_read")
    tokens = column("tokens", "token_count", display.number, sort="token_count")
    tries = column("readings begun", "attempt", display.number)
    named = content_column("name", "name")
    titled = content_column(lazy("title in it"), "title")
    missing = content_column(
        lazy("left out"), "left_out", lambda entries: "\n".join(each["text"] for each in unread(entries))
    )
    status = column("state", "state", display.status, sort="state")

    def get_urls(self) -> list[URLPattern]:
        return [uses_url(self), *super().get_urls()]

    @admin.display(description="size")
    def takes(self, file: File) -> str:
        return str(filesizeformat(file.size)) if is_shown(file) or file.size >= 1024 else gettext("less than 1 KB")

    @admin.display(description="SHA-256")
    def digest(self, file: File) -> SafeString:
        return display.digest(bytes(file.sha256), shown=is_shown(file))

    @admin.display(description="pages, slides or sheets")
    def pages(self, file: File) -> str:
        total = display.number(file.pages_total)
        return (
            filled("{pages_read} read of {total}", pages_read=file.pages_read, total=total)
            if file.pages_read
            else total
        )

    @admin.display(description="error")
    def failure(self, file: File) -> SafeString | str:
        return display.folded(display.error_object(file.error, shown=is_shown(file)))
