"""Projects of people: that they are there, what they hold and whether their memory is their own. Their words are masked."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from conversations.models import Project
from conversations.staff import display
from conversations.staff.base import column, user_column
from conversations.staff.content import CONTENT_FORM, MaskedInspectionAdmin, content_column
from conversations.threads import projects


@admin.register(Project)
class ProjectAdmin(MaskedInspectionAdmin[Project]):
    change_form_template = CONTENT_FORM
    owner_id, thread_id = "user_id", None
    list_display = ["created", "owner", "colour", "threads", "files", "uses_outside_memory", "shares_memory"]
    list_filter = ["uses_outside_memory", "shares_memory", "created_at"]
    list_select_related = ["user"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "The id of a project, or a user name."
    ordering = ["-id"]
    empty_text = "No projects. One appears here when somebody makes it."
    fields = [
        "named", "instructed", ("owner", "colour"), ("assistant", "model"), ("uses_outside_memory", "shares_memory"),
        ("threads", "files"), ("created", "identifier"),
    ]  # fmt: skip

    identifier = column("id", "id", display.mono)
    created = column("time", "created_at", display.when, sort="created_at")
    owner = user_column()
    threads = column("threads", "thread_count", display.number)
    files = column("files", "file_count", display.number)
    named = content_column("name", "name")
    instructed = content_column("instructions", "instructions")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return projects.counted(super().get_queryset(request))
