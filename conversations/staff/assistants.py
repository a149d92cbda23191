from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations import versions
from conversations.accounts.group_access import installation
from conversations.context.record.assistant_versions import shaping_fields
from conversations.models import Assistant, AssistantVersion, Connection, Fallback, Model, Thread
from conversations.providers import (
    PROVIDERS,
    ProviderError,
    get_provider,
    learn_list_and_wait,
    model_catalog,
    model_of,
    provider_name,
)
from conversations.providers.model_catalog import LARGE
from conversations.runtime.wording import filled, inside, lazy, translated
from conversations.staff import budget_figures, display
from conversations.staff.assistant_versions import versions_view
from conversations.staff.base import PageAdmin
from conversations.staff.model_choice import ASSUMED, SOURCES, ModelInput, misfits
from conversations.tools import registered
from conversations.tools.base import Tool

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Assistant]
    FallbackModelForm = forms.ModelForm[Fallback]
    Inline = admin.StackedInline[Fallback, Assistant]
else:
    ModelForm = FallbackModelForm = forms.ModelForm
    Inline = admin.StackedInline


OFFERED_HELP = lazy(
    "Those that people may choose in place of its own, for a conversation or for one message. None: its own alone."
)
DRAFT = "_draft"
"""The button that saves what is in the form as a draft, and leaves the assistant as it is."""
MODELS = ("model", "rewriting_model", "fallback_model")


def unknown_models(assistant: Assistant) -> dict[str, str]:
    """The ids of models that have no row, by the field that names them."""
    named = {name: getattr(assistant, name) for name in MODELS}
    return {name: id for name, id in named.items() if id and not model_catalog.find(provider_name(assistant), id)}


def assumed(assistant: Assistant, model: str) -> str:
    """What a model without a row is taken for. May ask its service."""
    sizes = LARGE
    with suppress(ProviderError):
        provider = get_provider(provider_name(assistant))
        learn_list_and_wait(provider, model)
        sizes = provider.sizes(model)
    return filled(
        ASSUMED,
        model=model,
        provider=provider_name(assistant),
        window=sizes.context_window,
        output=sizes.max_output,
        source=SOURCES[sizes.source],
    )


def connection_choices() -> list[tuple[str, str]]:
    """Those that are switched off too, or an assistant that names one could not be saved."""
    rows = Connection.objects.values_list("slug", "label", "is_active")
    return [
        (slug, f"{label} ({slug})" if is_active else filled("{label} (switched off)", label=label))
        for slug, label, is_active in rows
    ]


def chosen_models(assistant: Assistant) -> list[int]:
    return list(assistant.offered_models.values_list("pk", flat=True)) if assistant.pk else []


if TYPE_CHECKING:
    MultipleChoice = forms.ModelMultipleChoiceField[Model]
else:
    MultipleChoice = forms.ModelMultipleChoiceField


class OfferedModels(MultipleChoice):
    def label_from_instance(self, obj: Model) -> str:
        return f"{obj.label}, {obj.provider}"


def _tool_label(tool: Tool) -> str:
    server, label = installation(), f"{tool.name}: {inside(gettext(tool.doing))}"
    is_on = server is None or server.allows_tool(tool.name)
    return label if is_on else filled("{label} (switched off)", label=label)


class AssistantForm(ModelForm):
    provider = forms.ChoiceField(
        required=False,
        choices=lambda: [
            ("", filled("The server's default ({provider_name})", provider_name=provider_name())),
            *((name, name) for name in PROVIDERS),
            *connection_choices(),
        ],
        help_text=lazy("Who is asked. The default follows the server's setting."),
    )

    tools = forms.MultipleChoiceField(
        required=False,
        choices=lambda: [(tool.name, _tool_label(tool)) for tool in registered().values()],
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy(
            "What it may do beside writing. What each tool says of itself, and its rules, go into every request."
        ),
    )

    class Meta:
        model = Assistant
        exclude: list[str] = []
        help_texts = {"is_active": lazy("Offered for new threads. Threads forbid a delete: untick this instead.")}
        widgets = {
            "system_prompt": forms.Textarea(attrs={"rows": 20, "class": "vLargeTextField ob-prompt"}),
            **dict.fromkeys(MODELS, ModelInput),
            "offered_models": forms.CheckboxSelectMultiple,
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "offered_models" in self.fields:
            rows = Model.objects.filter(Q(is_active=True) | Q(pk__in=chosen_models(self.instance)))
            self.fields["offered_models"] = OfferedModels(
                rows,
                required=False,
                label=gettext("Offered models"),
                widget=forms.CheckboxSelectMultiple,
                help_text=OFFERED_HELP,
            )
        for name, id in unknown_models(self.instance).items():
            if name in self.fields:
                note = format_html('<strong class="ob-bad">{}</strong>', assumed(self.instance, id))
                self.fields[name].help_text = format_html("{} {}", self.fields[name].help_text, note)

    def clean_system_prompt(self) -> str:
        """Browsers send line ends of their own, which are no change."""
        prompt: str = self.cleaned_data["system_prompt"]
        return prompt.replace("\r\n", "\n")

    def clean_is_default(self) -> bool:
        chosen: bool = self.cleaned_data["is_default"]
        if self.initial.get("is_default") and not chosen:
            raise forms.ValidationError(gettext("One assistant must be the default: mark another one instead."))
        return chosen

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or self.cleaned_data
        if values.get("is_default") and not values.get("is_active"):
            self.add_error(
                "is_active", gettext("The default assistant can't be inactive: make another one the default first.")
            )
        if not self.errors:
            columns = {name: value for name, value in values.items() if name != "offered_models"}
            for name, problem in self.misfits(Assistant(**columns)).items():
                self.add_error(name, problem)
        return values

    def misfits(self, assistant: Assistant) -> dict[str, str]:
        """Sizes are no mistake where nobody chooses the model: what is too large for it is cut to what it can do."""
        try:
            provider = get_provider(provider_name(assistant))
            model = provider.describe(model_of(assistant, provider))
        except ProviderError as error:
            return {"model": translated(error.message)}
        found = {} if provider.has_one_model else misfits(model, assistant)
        is_told = model.pk is not None  # else its sizes are taken for granted, and what is too large for it is cut
        return {field: problem for field, problem in found.items() if is_told or field == "effort"}

    def validate_constraints(self) -> None:
        # A second default is no mistake: saving it takes the mark from the first.
        chosen, self.instance.is_default = self.instance.is_default, False
        super().validate_constraints()
        self.instance.is_default = chosen


def drafted(form: AssistantForm) -> dict[str, Any]:
    """What was changed of what a version holds, by its columns."""
    return {name: form.cleaned_data[name] for name in shaping_fields() if name in form.changed_data}


class FallbackForm(FallbackModelForm):
    provider = forms.ChoiceField(
        choices=lambda: [("", gettext("Choose one")), *((name, name) for name in PROVIDERS), *connection_choices()],
        help_text=lazy("Who is asked."),
    )

    class Meta:
        model = Fallback
        exclude: list[str] = []
        widgets = {"model": ModelInput}


class FallbackInline(Inline):
    """Asked in this order where the model above can't be reached, is overloaded or refuses the key."""

    model = Fallback
    form = FallbackForm
    fields = [("order", "provider", "model")]
    extra = 0
    verbose_name_plural = "asked instead, where its model can't be reached, is overloaded or takes no key of ours"


@admin.register(Assistant)
class AssistantAdmin(PageAdmin[Assistant]):
    form = AssistantForm
    inlines = [FallbackInline]
    list_display = ["name", "slug", "provider_name", "model_name", "total", "is_default", "is_active", "threads"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    readonly_fields = ["threads", "budget_figures"]
    actions = None
    empty_text = "No assistants. Add one: without it nobody can open a thread."
    fieldsets = [
        (None, {"fields": ["name", "slug", "description", ("is_active", "is_default"), "order", "threads"]}),
        ("What it is told", {"fields": ["system_prompt"]}),
        (
            "Which model replies",
            {
                "fields": [
                    "provider",
                    "model",
                    "offered_models",
                    ("max_output_tokens", "thinking_tokens"),
                    "effort",
                    "show_thinking",
                    "reply_minutes",
                    "fallback_model",
                    "fallback_automatic",
                    "cache_lifetime",
                ],
            },
        ),
        (
            "What it is given beside the conversation",
            {
                "fields": ["tools", "uses_memory", "filters_artifacts", ("rewriting", "rewriting_model")],
                "description": "A message that leans on earlier turns (“who are his children?”) can get a contextualised "
                "query beside it. By rules it costs nothing; a model understands more, and takes up to two seconds before the "
                "reply.",
            },
        ),
        (
            "How much context it is given",
            {
                "fields": [
                    "budget_share",
                    ("total_tokens", "hard_cap_tokens"),
                    ("history_tokens_high", "history_tokens_low"),
                    ("history_turns_max", "history_turns_min"),
                    ("memory_tokens", "today_tokens"),
                    ("open_threads_tokens", "last_conversation_tokens"),
                    ("recall_tokens", "file_tokens"),
                    "budget_figures",
                ],
                "description": "In the model's tokens, per request. Keep low mark ≤ high mark ≤ total ≤ hard cap. With a "
                "share of the model's window, the hard cap is that share and all else keeps its proportion to it, so that "
                "a larger model is given more. A change holds from the next message on; what was recorded stays as it is.",
            },
        ),
    ]

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Neither fallbacks nor offered models are part of a version."""
        if DRAFT not in request.POST:
            super().save_related(request, form, formsets, change)

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        if DRAFT not in request.POST:
            return super().construct_change_message(request, form, formsets, add)
        return [{"added": {"name": str(AssistantVersion._meta.verbose_name), "object": "draft"}}]

    def response_change(self, request: HttpRequest, obj: Assistant) -> HttpResponse:
        if DRAFT in request.POST:
            return redirect("admin:conversations_assistant_versions", obj.pk)
        return super().response_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        allowed = super().has_delete_permission(request, obj)
        return allowed and (obj is None or not (obj.is_default or obj.threads.exists()))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(partial(versions_view, self))
        return [path("<path:object_id>/versions/", view, name="conversations_assistant_versions"), *super().get_urls()]

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Assistant, form: AssistantForm, change: bool) -> None:
        assert isinstance(request.user, User)
        if DRAFT in request.POST:
            versions.make_draft(obj, drafted(form), author=request.user)
            return
        if obj.is_default:
            Assistant.objects.filter(is_default=True).exclude(pk=obj.pk).update(is_default=False)
        super().save_model(request, obj, form, change)
        versions.sign(obj, author=request.user)
        for id in sorted(set(unknown_models(obj).values())):
            messages.warning(request, assumed(obj, id))

    @admin.display(description="context tokens", ordering="total_tokens")
    def total(self, assistant: Assistant) -> SafeString | str:
        figures = budget_figures.own_figures(assistant)
        if figures is None:
            share = filled("{budget_share} % of the window", budget_share=assistant.budget_share)
            return display.number(assistant.total_tokens) if assistant.budget_share is None else share
        notes = [figures.origin.said] if assistant.budget_share is not None else []
        return display.with_note(display.number(figures.total), "; ".join(filter(None, [*notes, figures.problem])))

    @admin.display(description="what it comes to")
    def budget_figures(self, assistant: Assistant) -> SafeString | str:
        """As saved, by model that may answer; a field that is refused is told beside it."""
        return budget_figures.table(assistant)

    @admin.display(description="provider", ordering="provider", empty_value=lazy("server's default"))
    def provider_name(self, assistant: Assistant) -> str | None:
        return assistant.provider or None

    @admin.display(description="model", ordering="model", empty_value=lazy("provider's default"))
    def model_name(self, assistant: Assistant) -> str | None:
        if "model" in unknown_models(assistant):
            return display.with_note(assistant.model, gettext("has no row: taken for a plain one"))
        return assistant.model or None

    @admin.display(description="threads")
    def threads(self, assistant: Assistant) -> SafeString | str:
        if assistant.pk is None:
            return display.NOTHING
        return display.list_link(Thread, gettext("its threads"), assistant__id__exact=assistant.pk)
