"""The choice of a model in a form: what is offered, what is assumed of one that has no row, and what it can't do."""

from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_noop

from conversations.context.rules.fitting import MESSAGE_ROOM
from conversations.context.tokens.budget import BudgetOrigin
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.tokens.thinking import plan_for
from conversations.models import Assistant, Connection, Effort, Model
from conversations.providers import PROVIDERS, model_catalog
from conversations.runtime.wording import filled, lazy
from conversations.staff import display

ASSUMED = gettext_noop(
    "The model {model} has no row among those of {provider}. It is taken for one with a window of "
    "{window} tokens{source} and answers of up to {output}, without thinking, effort or prompt "
    "cache; its tokens count as estimated, and its price is not known."
)
SOURCES = {
    "told": lazy(", as its service tells,"),
    "known": lazy(", as is known of it,"),
    "assumed": lazy(", which is assumed, as its service does not tell,"),
}


def owners() -> list[str]:
    """The providers that have models of their own, connections among them."""
    own = [provider for provider in PROVIDERS if provider not in model_catalog.ROWS_OF]
    return [*own, *Connection.objects.values_list("slug", flat=True)]


class ModelInput(forms.TextInput):
    """Offers the models of the table; any other id can be written."""

    def __init__(self) -> None:
        super().__init__({"class": "vTextField"})

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        list_id = f"{name}_offered"
        rows = [row for provider in owners() for row in model_catalog.offered(provider)]
        options = format_html_join(
            "", '<option value="{}">{}, {}</option>', ((r.name, r.label, r.provider) for r in rows)
        )
        field = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        return format_html('{}<datalist id="{}">{}</datalist>', field, list_id, options)


def misfits(model: Model, assistant: Assistant) -> dict[str, str]:
    """What an assistant is to do that its model can't, by field. Pure."""
    labels: dict[str, str] = {}
    written = assistant.max_output_tokens + plan_for(model, assistant).room
    wanted = assistant.max_output_tokens + (assistant.thinking_tokens if model.thinking != Model.Thinking.NONE else 0)
    longest = filled(
        "{model} writes at most {max_output} tokens", model=model, max_output=display.number(model.max_output)
    )
    if assistant.max_output_tokens > model.max_output:
        labels["max_output_tokens"] = f"{longest}."
    elif wanted > model.max_output:
        room = display.number(model.max_output - assistant.max_output_tokens)
        labels["thinking_tokens"] = filled(
            "{longest}, thinking included, which leaves {room} for it.", longest=longest, room=room
        )
    labels |= budget_misfits(model, assistant, BudgetOrigin.of(assistant, window=model.context_window, answer=written))
    if assistant.effort and assistant.effort not in model.efforts:
        efforts = ", ".join(effort for effort in Effort.values if effort in model.efforts)
        labels["effort"] = (
            filled("{model} takes only {efforts}.", model=model, efforts=efforts)
            if efforts
            else filled("{model} takes no effort: leave it empty.", model=model)
        )
    return labels


def budget_misfits(model: Model, assistant: Assistant, origin: BudgetOrigin) -> dict[str, str]:
    """What is wrong with the budget of an assistant for its model, by field: the window doesn't hold it beside the answer, or a
    share of it doesn't hold what the assistant is told. Pure."""
    if origin.is_cut:
        window = filled(
            "{model} takes {window} tokens, and an answer with its thinking may have {answer} of them: keep",
            model=model,
            window=display.number(origin.window),
            answer=display.number(origin.answer),
        )
        if origin.share is None:
            return {
                "hard_cap_tokens": filled(
                    "{window} the hard cap to {room}.", window=window, room=display.number(origin.room)
                )
            }
        return {
            "budget_share": filled(
                "{window} the share to {room} percent.", window=window, room=origin.room * 100 // max(origin.window, 1)
            )
        }
    told = round(estimate_tokens(model.system_prompt or assistant.system_prompt) * model.token_factor) + MESSAGE_ROOM
    if origin.share is not None and told > origin.wanted:
        return {
            "budget_share": filled(
                "{words} of {model}: its system prompt and a message of usual length take about {told}.",
                words=origin.words,
                model=model,
                told=display.number(told),
            )
        }
    return {}
