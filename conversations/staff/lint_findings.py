"""What the linter found about requests: ids and figures, which staff see whether or not they may read content."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from conversations.linter import findings, lint, rules
from conversations.models import Assistant, ContextSnapshot, LintFinding
from conversations.runtime import clock
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import PageAdmin, column
from conversations.staff.cache_forecasts import forecasts
from conversations.tasks import lint_context
from memory.models import Memory

FIGURES = (
    ("requests", gettext_noop("of {number} requests")),
    ("missing", gettext_noop("at most {number} tokens are missing")),
    ("most", gettext_noop("at most {number} tokens were used")),
    ("budget", gettext_noop("the budget is {number} tokens")),
)


def label_of(row: LintFinding) -> str:
    """In a line, with what it is about."""
    return f"{_rule_label(row)}: {row.subject}" if row.subject else _rule_label(row)


def _rule_label(row: LintFinding) -> str:
    return str(rules.BY_SLUG[row.rule].label) if row.rule in rules.BY_SLUG else row.rule


@admin.register(LintFinding)
class LintFindingAdmin(PageAdmin[LintFinding]):
    """Staff accept a finding, with a reason, or mend what it names; whether it is mended the next look tells."""

    change_list_template = "admin/conversations/lintfinding/change_list.html"
    list_display = ["title", "assistant", "stand", "cost", "mended_by", "tokens", "times", "request_link", "seen"]
    list_display_links = ["title"]
    list_filter = ["state", "assistant"]
    list_select_related = ["assistant"]
    actions = None
    fields = [
        ("title", "stand"), "advice", ("assistant_link", "mended_by"), ("times", "tokens", "cost"), "figures",
        ("request_link", "memories"), ("first_seen", "seen", "since"), "reason", "accepted_by",
    ]  # fmt: skip
    empty_text = (
        "Nothing was found. Workers look through the requests of the last thirty days each night; "
        "manage.py lint_context looks now."
    )

    times = column("how often", "count", display.number, sort="count")
    tokens = column("tokens a month", "tokens_month", display.number, sort="tokens_month")
    cost = column("cost a month", "cost_month", display.money, sort="cost_month")
    seen = column("last seen", "seen_at", display.when, sort="seen_at")
    first_seen = column("first seen", "first_seen_at", display.when)
    since = column("so since", "state_since", display.when)
    request_link = column(
        "example", "example_id", lambda pk: display.id_link(ContextSnapshot, pk) if pk else display.NOTHING
    )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        own = {"forecasts": forecasts(), "may_look": super().has_change_permission(request)}
        return super().changelist_view(request, {**(extra_context or {}), **own})

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.look_view)
        return [path("look/", view, name="conversations_lintfinding_look"), *super().get_urls()]

    def look_view(self, request: HttpRequest) -> HttpResponse:
        """Have the workers look now, not only at night."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not super().has_change_permission(request):
            raise PermissionDenied
        lint_context.enqueue()
        messages.success(request, gettext("Workers look now. Reload the page in a minute."))
        return redirect("admin:conversations_lintfinding_changelist")

    def get_ordering(self, request: HttpRequest) -> Any:
        return findings.ORDERING

    def get_readonly_fields(self, request: HttpRequest, obj: LintFinding | None = None) -> list[str]:
        names = [name for row in self.fields or () for name in ([row] if isinstance(row, str) else row)]
        return [name for name in names if name != "reason"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LintFinding | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: LintFinding | None = None) -> bool:
        is_mended = obj is not None and obj.state == LintFinding.State.MENDED
        return super().has_change_permission(request, obj) and not is_mended

    def save_model(self, request: HttpRequest, obj: LintFinding, form: Any, change: bool) -> None:
        assert isinstance(request.user, User)
        lint.accept(obj.pk, obj.reason, by=request.user, now=clock.now())

    @admin.display(description="finding", ordering="rule")
    def title(self, row: LintFinding) -> SafeString | str:
        return display.with_note(_rule_label(row), row.subject) if row.subject else _rule_label(row)

    @admin.display(description="what to do")
    def advice(self, row: LintFinding) -> str:
        return str(rules.BY_SLUG[row.rule].advice) if row.rule in rules.BY_SLUG else display.NOTHING

    @admin.display(description="state", ordering="state")
    def stand(self, row: LintFinding) -> str:
        return gettext(str(LintFinding.State(row.state).label))

    @admin.display(description="assistant")
    def assistant_link(self, row: LintFinding) -> SafeString:
        return display.link(Assistant, row.assistant_id, row.assistant.name)

    @admin.display(description="mended by")
    def mended_by(self, row: LintFinding) -> SafeString:
        """The field on the assistant's page, which saves a draft, too."""
        label = getattr(Assistant._meta.get_field(row.setting), "verbose_name", row.setting)
        url = display.change_url(Assistant, row.assistant_id)
        return format_html('<a href="{}#id_{}">{}</a>', url, row.setting, gettext(str(label)))

    @admin.display(description="figures")
    def figures(self, row: LintFinding) -> SafeString | str:
        return (
            ", ".join(filled(text, number=row.details[name]) for name, text in FIGURES if name in row.details)
            or display.NOTHING
        )

    @admin.display(description="memories")
    def memories(self, row: LintFinding) -> SafeString | str:
        return display.links(display.id_link(Memory, pk) for pk in row.details.get("memories", ()))
