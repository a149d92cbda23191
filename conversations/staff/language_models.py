"""The models that replies come from: what they can do and what they cost."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import Effort, Model, ModelPrice
from conversations.providers import model_catalog
from conversations.providers.price_list import own_prices
from conversations.providers.prices import price_of
from conversations.runtime.wording import filled, lazy
from conversations.staff import display
from conversations.staff.base import PageAdmin, column
from conversations.staff.model_choice import ModelInput, owners
from conversations.staff.offered_models import add_prices

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Model]
    PriceInline = admin.TabularInline[ModelPrice, Model]
else:
    ModelForm, PriceInline = forms.ModelForm, admin.TabularInline

PRICES_FILLED_IN = lazy(
    "Its prices are those that the package genai-prices lists for this service. Check them against your bill."
)
BY_OWN_PRICES = lazy("by OPENBOOK_PRICES")


class LanguageModelForm(ModelForm):
    provider = forms.ChoiceField(
        choices=lambda: [(name, name) for name in owners()],
        help_text=lazy("Whose model it is; the Claude CLI uses Anthropic's."),
    )
    efforts = forms.MultipleChoiceField(
        required=False,
        choices=[(value, lazy(label)) for value, label in Effort.choices],
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("The levels that it takes; none where it takes no effort."),
    )

    class Meta:
        model = Model
        exclude: list[str] = []
        widgets = {"small_model": ModelInput}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        default = values.get("default_effort")
        if default and default not in values.get("efforts", []):
            self.add_error("default_effort", gettext("Tick it among the efforts, or choose another one."))
        if values.get("max_output", 0) >= values.get("context_window", float("inf")):
            self.add_error("max_output", gettext("It leaves no room for a request: keep it below the context window."))
        return values


class ModelPriceInline(PriceInline):
    model = ModelPrice
    extra = 0
    verbose_name_plural = "prices, in USD for a million tokens"


@admin.register(Model)
class LanguageModelAdmin(PageAdmin[Model]):
    form = LanguageModelForm
    inlines = [ModelPriceInline]
    list_display = ["named", "provider", "sizes", "thinks", "effort", "price", "factor", "is_active"]
    list_filter = ["provider"]
    search_fields = ["name", "label"]
    actions = None
    empty_text = "No models. Add those that your assistants name: until then they are taken for plain ones."
    fieldsets = [
        (None, {"fields": ["provider", "name", "label", ("is_active", "order")]}),
        ("How much it takes", {"fields": [("context_window", "max_output"), "token_factor", "cacheable_from"]}),
        (
            "How it thinks",
            {"fields": ["thinking", "thinks_unasked", "thinking_off", "efforts", "default_effort"]},
        ),
        (
            "What it is used with",
            {"fields": [("takes_tools", "takes_images"), "small_model", "uses_memory", "system_prompt"]},
        ),
    ]

    factor = column("token factor", "token_factor", "{:.2f}".format, sort="token_factor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        return super().get_queryset(request).prefetch_related("prices")

    def save_model(self, request: HttpRequest, obj: Model, form: LanguageModelForm, change: bool) -> None:
        super().save_model(request, obj, form, change)
        transaction.on_commit(model_catalog.reread)

    def save_related(self, request: HttpRequest, form: LanguageModelForm, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change and not form.instance.prices.exists() and add_prices(form.instance):
            messages.info(request, PRICES_FILLED_IN)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        super().delete_model(request, obj)
        transaction.on_commit(model_catalog.reread)

    @admin.display(description="model", ordering="name")
    def named(self, row: Model) -> SafeString:
        return display.with_note(row.label, display.mono(row.name))

    @admin.display(description="window, longest answer", ordering="context_window")
    def sizes(self, row: Model) -> SafeString:
        return display.with_note(
            display.number(row.context_window),
            filled("answers {number}", number=row.max_output),
        )

    @admin.display(description="thinking", ordering="thinking")
    def thinks(self, row: Model) -> SafeString | str:
        if row.thinking == Model.Thinking.NONE:
            return display.NOTHING
        unasked = gettext("unasked") if row.thinks_unasked else gettext("when told")
        off = filled("off by {means}", means=row.thinking_off) if row.thinking_off else gettext("never off")
        return display.with_note(row.thinking, f"{unasked}, {off}")

    @admin.display(ordering="default_effort")
    def effort(self, row: Model) -> SafeString | str:
        if not row.efforts:
            return display.NOTHING
        return display.with_note(
            row.default_effort or display.NOTHING,
            filled("{first} to {last}", first=row.efforts[0], last=row.efforts[-1]),
        )

    @admin.display(description="price now")
    def price(self, row: Model) -> SafeString | str:
        """Of a million tokens in and out, of a short request."""
        own = own_prices()
        known = model_catalog.prices_of(row)
        price = price_of({**known, **own}, provider=row.provider, model=row.name, at=timezone.now(), prompt=0)
        if price is None:
            return display.NOTHING
        is_own = price != price_of(known, provider=row.provider, model=row.name, at=timezone.now(), prompt=0)
        return display.with_note(in_and_out(price), BY_OWN_PRICES if is_own else longer(row))


def in_and_out(price: ModelPrice) -> SafeString:
    return format_html(gettext("{} in, {} out"), *(f"${usd.normalize():f}" for usd in (price.input, price.output)))


def longer(row: Model) -> str:
    steps = sorted({price.above for price in row.prices.all()} - {0})
    return filled("more above {number} tokens", number=steps[0]) if steps else ""
