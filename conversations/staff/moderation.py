"""The checks of what people send and models answer, and what they found."""

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext

from conversations.models import ModerationFinding, Moderator, Reply, Stage
from conversations.moderation import moderators, patterns
from conversations.moderation.checks import Examined
from conversations.runtime.wording import filled, lazy, translated
from conversations.staff import connection_addresses, display
from conversations.staff.base import InspectionAdmin, PageAdmin, column, thread_column, user_column
from conversations.staff.connections import give_database_back

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Moderator]
else:
    ModelForm = forms.ModelForm

Kind = Moderator.Kind
NEEDED = {Kind.PATTERNS: "patterns", Kind.WEBHOOK: "url"}


class ModeratorForm(ModelForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("patterns", "url"):
            if name in self.fields:
                self.fields[name].widget.attrs |= {"dir": "ltr", "spellcheck": "false"}

    def clean_patterns(self) -> str:
        text: str = self.cleaned_data["patterns"]
        try:
            patterns.compiled(text)
        except patterns.InvalidPattern as error:
            message = filled("Line {line} can\u2019t be used: {reason}", line=error.line, reason=error.reason)
            raise ValidationError(message) from error
        return text

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        return connection_addresses.clean_address(url, "openai") if url else ""

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        needed = NEEDED.get(values.get("kind", ""))
        if needed and not values.get(needed) and needed not in self.errors:
            self.add_error(needed, lazy("This kind of check needs it."))
        if not values.get("examines_messages") and not values.get("examines_replies"):
            self.add_error("examines_messages", lazy("Choose what it examines: messages, replies or both."))
        return values


class TrialForm(forms.Form):
    """A text as it would come at a stage. Pictures and files are not tried."""

    stage = forms.ChoiceField(choices=[(stage.value, lazy(str(stage.label))) for stage in Stage], label=lazy("As"))
    text = forms.CharField(
        max_length=20_000, label=lazy("Text"), widget=forms.Textarea({"rows": 8, "cols": 80, "dir": "auto"})
    )


@admin.register(Moderator)
class ModeratorAdmin(PageAdmin[Moderator]):
    form = ModeratorForm
    list_display = [
        "name",
        "kind",
        "is_active",
        "examines_messages",
        "examines_replies",
        "action",
        "when_failing",
        "order",
    ]
    list_filter = ["is_active", "kind", "action"]
    search_fields = ["name"]
    actions = None
    fieldsets = [
        (None, {"fields": ["name", "kind", ("is_active", "order"), ("examines_messages", "examines_replies")]}),
        ("What comes of it", {"fields": ["action", "words", "when_failing", "seconds"]}),
        ("A list of patterns", {"fields": ["patterns"]}),
        ("A moderation model", {"fields": ["provider", "model", "sees_pictures"]}),
        ("A service of one\u2019s own", {"fields": ["url"]}),
    ]
    empty_text = "No checks: what people send and models answer is not examined. Add one to mark or refuse some of it."

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.try_view)
        return [path("<path:object_id>/try/", view, name="conversations_moderator_try"), *super().get_urls()]

    def try_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What the check, as it is saved, makes of a text. Nothing of it is stored."""
        moderator = self.get_object(request, object_id)
        if not self.has_change_permission(request, moderator):
            raise PermissionDenied
        if moderator is None:
            raise Http404
        form = TrialForm(request.POST or None)
        verdict = None
        if request.method == "POST" and form.is_valid():
            assert request.user.pk
            give_database_back()
            examined = Examined(
                stage=Stage(form.cleaned_data["stage"]),
                text=form.cleaned_data["text"],
                user_id=request.user.pk,
                thread_id="",
                reply_id="",
                assistant="",
            )
            [verdict] = async_to_sync(moderators.examine)([moderator], examined)
        context = self.admin_site.each_context(request) | {
            "title": filled("Try {name}", name=moderator.name),
            "opts": self.opts,
            "original": moderator,
            "form": form,
            "verdict": verdict,
            "words": verdict and translated(verdict.words),
            "result": verdict and gettext(str(ModerationFinding.Result(verdict.result).label)),
            "took": verdict and display.milliseconds(verdict.milliseconds),
        }
        return TemplateResponse(request, "admin/conversations/moderator/try.html", context)

    def save_model(self, request: HttpRequest, obj: Moderator, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        moderators.reread()

    def delete_model(self, request: HttpRequest, obj: Moderator) -> None:
        super().delete_model(request, obj)
        moderators.reread()


@admin.register(ModerationFinding)
class ModerationFindingAdmin(InspectionAdmin[ModerationFinding]):
    list_display = ["time", "result_shown", "moderator", "stage", "named", "owner", "thread_link", "reply_link"]
    list_filter = ["result", "stage", "moderator", "at"]
    list_select_related = ["user"]
    search_fields = ["thread__id__exact", "reply__id__exact", "user__username"]
    search_help_text = "The id of a thread or reply, or a user name."
    ordering = ["-id"]
    show_full_result_count = False
    fields = [
        ("time", "result_shown"), ("moderator", "stage"), "named", "problem", ("owner", "thread_link", "reply_link"), "took",
    ]  # fmt: skip
    empty_text = (
        "Nothing was checked. Moderators examine what people send and models answer; none is active, or none was asked."
    )

    time = column("time", "at", display.when, sort="id")
    owner = user_column()
    thread_link = thread_column()
    reply_link = column("reply", "reply_id", lambda pk: display.id_link(Reply, pk))
    named = column("what it saw", "labels", lambda labels: ", ".join(labels) or display.NOTHING)
    took = column("took", "milliseconds", display.milliseconds)

    @admin.display(description="result", ordering="result")
    def result_shown(self, finding: ModerationFinding) -> str:
        return finding.get_result_display()
