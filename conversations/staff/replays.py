"""Replays as pages of the admin: ids and figures, which staff see whether or not they may read content."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, gettext_noop

from conversations.context.explain.section_names import label_of, section_names
from conversations.context.reasons import Reason
from conversations.models import Assistant, AssistantVersion, Replay
from conversations.regression import replays
from conversations.regression.conditions import InvalidCondition, parse
from conversations.regression.lifted_rules import CHOICES, LIFTED
from conversations.regression.outcomes import KINDS
from conversations.regression.report import Report, Total, junit
from conversations.runtime import clock
from conversations.runtime.wording import counted, filled, lazy, marked
from conversations.staff import display
from conversations.staff.run_admin import RunAdmin

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Replay]
else:
    ModelForm = forms.ModelForm

MOST_VERSIONS = 20
"""Of an assistant, the newest."""
BAR_WIDTH = 120
DAYS = {1: lazy("the last day"), 7: lazy("the last week"), 30: lazy("the last 30 days"), 90: lazy("the last 90 days")}
KIND_LABELS = {
    "turns": gettext_noop("Turns"),
    "memories": gettext_noop("Notes and topics"),
    "parts": gettext_noop("Parts of files"),
}
CHANGED = marked("{count} request would differ", "{count} requests would differ")
DEFAULT_CONDITIONS = "lost.turns > 1 %\nlost.cited > 1 %\ncost > 5 %"


def tried_choices() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """By assistant: its versions, newest first, and this release."""
    for assistant in Assistant.objects.all():
        versions = AssistantVersion.objects.filter(assistant=assistant)[:MOST_VERSIONS]
        yield (
            assistant.name,
            [
                *((f"{assistant.pk}:{version.pk}", version_label(version)) for version in versions),
                (f"{assistant.pk}:", gettext("this release of Openbook")),
            ],
        )


def tried_label(row: Replay) -> str:
    if row.rule:
        return filled("without the rule “{rule}”", rule=gettext(str(Reason(row.rule).label)))
    return version_label(row.version)


def version_label(version: AssistantVersion | None) -> str:
    if version is None:
        return gettext("this release of Openbook")
    label = gettext("version {number}") if version.published_at else gettext("draft {number}")
    return " · ".join(filter(None, [label.format(number=version.number), version.note]))


class ReplayForm(ModelForm):
    tried = forms.ChoiceField(choices=tried_choices, label=lazy("What is tried"))
    rule = forms.ChoiceField(
        choices=lambda: [("", gettext("none: all hold")), *((code, gettext(label)) for code, label in CHOICES)],
        required=False,
        label=lazy("Without the rule"),
        help_text=lazy(
            "What requests would have been, had it not left turns out or given what is remembered. Only with this release of "
            "Openbook."
        ),
    )
    days = forms.TypedChoiceField(choices=DAYS.items(), coerce=int, initial=7, label=lazy("On requests of"))
    fail_on = forms.CharField(
        required=False,
        initial=DEFAULT_CONDITIONS,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "ltr", "spellcheck": "false"}),
        label=lazy("Fails where"),
        help_text=lazy("A condition a line, such as “lost.turns > 1 %” or “cost > 5 %”."),
    )

    class Meta:
        model = Replay
        fields = ["sample"]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("rule") and not values.get("tried", "").endswith(":"):
            self.add_error("rule", gettext("Either a version is tried or a rule is lifted: choose this release."))
        return values

    def clean_fail_on(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["fail_on"].splitlines() if line.strip()]
        try:
            return [parse(line).text for line in lines]
        except InvalidCondition as error:
            raise forms.ValidationError(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Before and after, with the two bars of them."""

    name: str
    label: str
    before: str
    after: str
    growth: str
    was: float = 0
    now: float = 0


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """What the requests lose, gain and hold elsewhere."""

    label: str
    lost: int
    losing: int
    gained: int
    moved: int


@dataclass(frozen=True, kw_only=True)
class ReasonRow:
    label: str
    reason: str
    count: int
    width: float


@dataclass(frozen=True, kw_only=True)
class WorstRow:
    id: str
    url: str
    lost: int
    gained: int


@dataclass(frozen=True, kw_only=True)
class ReplayPage:
    verdict: str
    is_failed: bool
    conditions: Sequence[tuple[str, str]]
    report: Report
    kinds: Sequence[KindRow]
    totals: Sequence[Figure]
    sections: Sequence[Figure]
    reasons: Sequence[ReasonRow]
    worst: Sequence[WorstRow]


def page_of(row: Replay) -> ReplayPage:
    report = Report.of(row.figures)
    cases = [(each.text, each.why_it_fails(report)) for each in replays.conditions_of(row)]
    return ReplayPage(
        verdict=verdict(row, report, [name for name, why in cases if why]),
        is_failed=any(why for _, why in cases),
        conditions=cases,
        report=report,
        kinds=[
            KindRow(
                label=gettext(KIND_LABELS[kind]),
                lost=report.lost[kind],
                losing=report.losing[kind],
                gained=report.gained[kind],
                moved=report.moved[kind],
            )
            for kind in KINDS
        ],
        totals=[
            _figure("tokens", gettext("Tokens"), report.tokens),
            _figure("cached", gettext("Expected from the prompt cache"), report.cached),
            _figure("cost", gettext("Cost without a cache"), report.cost, show=display.money),
        ],
        sections=sections_of(report),
        reasons=reasons_of(report),
        worst=[
            WorstRow(
                id=each["request"],
                url=reverse(
                    "admin:conversations_contextsnapshot_compare",
                    args=[each["request"]],
                    query={"rule": row.rule} if row.rule else {"version": row.version_id or "release"},
                ),
                lost=each["lost"],
                gained=each["gained"],
            )
            for each in report.worst
        ],
    )


def verdict(row: Replay, report: Report, failed: Sequence[str]) -> str:
    if row.state == Replay.State.RUNNING:
        return filled("{done} of {count} requests so far", done=report.requests, count=row.requests)
    if row.state == Replay.State.FAILED:
        return filled("It could not go on: {problem}", problem=row.problem)
    if not report.requests:
        return gettext("There were no requests to build again.")
    if failed:
        return filled("Fails: {conditions}", conditions=", ".join(failed))
    if report.identical == report.requests:
        return gettext("Nothing would change: each request stays the same, byte for byte.")
    return counted(*CHANGED, report.changed)


def sections_of(report: Report) -> list[Figure]:
    most = max((float(max(total.before, total.after)) for total in report.sections.values()), default=0.0) or 1.0
    order = {name: place for place, name in enumerate(section_names())}
    return [
        _figure(name, gettext(label_of(name)), total, scale=BAR_WIDTH / most)
        for name, total in sorted(report.sections.items(), key=lambda each: order.get(each[0], len(order)))
        if total.before or total.after
    ]


def reasons_of(report: Report) -> list[ReasonRow]:
    """Why what is lost is not in the request any more, most often first."""
    rows = [(kind, reason, count) for kind in KINDS for reason, count in report.reasons[kind].most_common()]
    most = max([*(count for *_, count in rows), 1])
    labels: dict[str, str] = dict(Reason.choices)
    return [
        ReasonRow(
            label=gettext(KIND_LABELS[kind]),
            reason=gettext(labels.get(reason, "Not chosen")),
            count=count,
            width=round(BAR_WIDTH * count / most, 1),
        )
        for kind, reason, count in rows
    ]


def _figure(name: str, label: str, total: Total, *, show: Any = None, scale: float = 0) -> Figure:
    written = show or (lambda value: display.number(int(value)))
    return Figure(
        name=name,
        label=label,
        before=written(total.before),
        after=written(total.after),
        growth=f"{total.growth:+.1f} %".replace("-", "−") if total.before else display.NOTHING,
        was=round(float(total.before) * scale, 1),
        now=round(float(total.after) * scale, 1),
    )


@admin.register(Replay)
class ReplayAdmin(RunAdmin[Replay]):
    """Whoever may add one may cancel it."""

    form = ReplayForm
    change_form_template = "admin/conversations/replay/change_form.html"
    list_display = ["started", "assistant", "tried", "stand", "progress", "by"]
    list_filter = ["state", "assistant"]
    list_select_related = ["assistant", "version", "author"]
    fields = ["tried", "rule", "days", "sample", "fail_on"]
    empty_text = "No replays. Add one to try a draft of an assistant on past requests."

    def get_urls(self) -> list[URLPattern]:
        files = {"report.json": self.json_view, "junit.xml": self.junit_view}
        own = [
            path(
                f"<uuid:id>/{name}",
                self.admin_site.admin_view(view),
                name=f"conversations_replay_{name.partition('.')[0]}",
            )
            for name, view in files.items()
        ]
        return [*own, *super().get_urls()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return isinstance(request.user, User) and request.user.has_perm("conversations.add_replay")

    def get_fields(self, request: HttpRequest, obj: Replay | None = None) -> Any:
        return self.fields if obj is None else ["assistant"]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        pk, rule = request.GET.get("version", ""), request.GET.get("rule", "")
        if rule in LIFTED:
            return {"tried": f"{request.GET.get('assistant', '')}:", "rule": rule}
        versions = AssistantVersion.objects.filter(
            **({"pk": pk} if pk.isdecimal() else {"assistant__is_default": True})
        )
        version = versions.first()
        return {"tried": f"{version.assistant_id}:{version.pk}"} if version else {}

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Replay:
        assert isinstance(request.user, User)
        values = form.cleaned_data
        assistant, _, version = values["tried"].partition(":")
        return replays.start(
            Assistant.objects.get(pk=assistant),
            AssistantVersion.objects.get(pk=version, assistant=assistant) if version else None,
            since=clock.now() - timedelta(days=values["days"]),
            rule=Reason(values["rule"]) if values["rule"] else None,
            sample=values["sample"],
            conditions=values["fail_on"],
            author=request.user,
        )

    def cancel(self, id: UUID) -> bool:
        return replays.cancel(id)

    def page(self, request: HttpRequest, row: Replay) -> dict[str, Any]:
        return {
            "title": filled("{assistant}: {tried}", assistant=row.assistant, tried=tried_label(row)),
            "replay": page_of(row),
            "may_publish": _may_publish(request, row),
            "sample": row.sample,
        }

    def json_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        row = self.allowed(request, self.get_object(request, str(id)))
        report = Report.of(row.figures)
        answer = JsonResponse(report.answer(replays.failed(row, report)), json_dumps_params={"indent": 2})
        return _as_file(answer, f"replay-{row.pk}.json")

    def junit_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        row = self.allowed(request, self.get_object(request, str(id)))
        text = junit(row.assistant.slug, list(page_of(row).conditions))
        return _as_file(HttpResponse(text, content_type="application/xml"), f"replay-{row.pk}.xml")

    @admin.display(description="what is tried")
    def tried(self, row: Replay) -> str:
        return tried_label(row)

    @admin.display(description="state", ordering="state")
    def stand(self, row: Replay) -> str:
        if row.state == Replay.State.DONE and replays.failed(row, Report.of(row.figures)):
            return gettext("done: a condition fails")
        return gettext(str(Replay.State(row.state).label))

    @admin.display(description="requests")
    def progress(self, row: Replay) -> str:
        done = display.number(row.figures.get("requests", 0))
        return filled("{done} of {count}", done=done, count=display.number(row.requests))


def _may_publish(request: HttpRequest, row: Replay) -> bool:
    """Whether it tried a version that is not the assistant's, and has ended."""
    is_other = row.version_id is not None and row.version_id != row.assistant.version_id
    return is_other and row.state == Replay.State.DONE and request.user.has_perm("conversations.change_assistant")


def _as_file(response: HttpResponse, name: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
