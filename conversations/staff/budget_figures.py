"""What the budget of an assistant comes to with each model that may answer as it, in tokens of that model."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.context.tokens.budget import BudgetOrigin, in_tokens
from conversations.models import Assistant, Model
from conversations.providers.answering_model import own_row, row_of
from conversations.runtime.wording import filled, lazy
from conversations.staff import display
from conversations.staff.model_choice import budget_misfits

NOTHING_KNOWN = lazy("Known once the model can be asked.")
IS_ENOUGH = lazy("it fits beside the answer")


@dataclass(frozen=True, kw_only=True)
class BudgetFigures:
    """With one model. ``problem`` is empty where its window holds the budget."""

    model: Model
    role: str
    origin: BudgetOrigin
    total: int
    history: int
    problem: str

    @classmethod
    def of(cls, assistant: Assistant, model: Model, role: str) -> "BudgetFigures":
        origin = BudgetOrigin.with_model(assistant, model)
        there = in_tokens(assistant, model.context_window)
        problems = budget_misfits(model, assistant, origin)
        problem = (
            filled(
                "cut to {room}, as an answer may have {answer}",
                room=display.number(origin.room),
                answer=display.number(origin.answer),
            )
            if origin.is_cut
            else next(iter(problems.values()), "")
        )
        return cls(
            model=model,
            role=role,
            origin=origin,
            total=min(there.total_tokens, origin.room),
            history=there.history_tokens_high,
            problem=problem,
        )


def figures_of(assistant: Assistant) -> list[BudgetFigures]:
    """Its own model first, then those that people may choose, then those that are asked instead; each once."""
    found: dict[tuple[str, str], BudgetFigures] = {}
    for model, role in _models(assistant):
        found.setdefault((model.provider, model.name), BudgetFigures.of(assistant, model, role))
    return list(found.values())


def own_figures(assistant: Assistant) -> BudgetFigures | None:
    """With its own model; ``None`` where that is not known."""
    model = own_row(assistant)
    return BudgetFigures.of(assistant, model, gettext("its own")) if model else None


def table(assistant: Assistant) -> SafeString | str:
    """For its page. Of an assistant that is being added, with its own model alone."""
    figures = figures_of(assistant)
    if not figures:
        return NOTHING_KNOWN
    rows = format_html_join(
        "",
        '<tr><th scope="row">{}</th><td>{}</td><td class="ob-number">{}</td><td class="ob-number">{}</td><td>{}</td></tr>',
        (
            (
                display.with_note(each.model, each.role),
                each.origin.said,
                display.number(each.total),
                display.number(each.history),
                format_html('<strong class="ob-bad">{}</strong>', each.problem) if each.problem else IS_ENOUGH,
            )
            for each in figures
        ),
    )
    head = (
        gettext("Model"),
        gettext("Hard cap"),
        gettext("Whole context"),
        gettext("History, at most"),
        gettext("Its window"),
    )
    return format_html(
        '<div class="ob-scroll" tabindex="0"><table class="ob-budgets">'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        format_html_join("", '<th scope="col">{}</th>', ((name,) for name in head)),
        rows,
    )


def _models(assistant: Assistant) -> Iterator[tuple[Model, str]]:
    if own := own_row(assistant):
        yield own, gettext("its own")
    if assistant.pk is None:
        return
    for row in assistant.offered_models.filter(is_active=True):
        yield row, gettext("may be chosen")
    for entry in assistant.fallbacks.all():
        if instead := row_of(entry.provider, entry.model):
            yield instead, gettext("asked instead")
