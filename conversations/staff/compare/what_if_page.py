"""What a request would have been with other settings: the form, and where each part of the answer comes from."""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext

from conversations.accounts.group_access import ALL, installation
from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.explain.section_names import HISTORY, label_of
from conversations.context.record.request_record import (
    MemoryChoice,
    NotReplayable,
    QueryChoice,
    Record,
    Settings,
    record_of,
)
from conversations.context.replay import ReplayedContexts
from conversations.context.rules.fitting import INSTRUCTION
from conversations.context.sources import Place, all_sources
from conversations.context.tokens.budget import in_tokens
from conversations.models import Assistant, ContextSnapshot
from conversations.providers import ProviderError, get_provider, model_of, provider_name
from conversations.runtime.db import read_only
from conversations.runtime.wording import filled, lazy
from conversations.staff.compare.compare_page import ComparePage, compare_page
from conversations.staff.compare.sides import side_of, side_of_context, summaries_of
from conversations.tools import tools_for

MOST_TOKENS, MOST_TURNS = 2_000_000, 2_000
BUDGETS = {
    "total_tokens": (lazy("Whole context"), 0, MOST_TOKENS),
    "hard_cap_tokens": (lazy("Hard cap"), 1, MOST_TOKENS),
    "history_tokens_high": (lazy("History, at most"), 0, MOST_TOKENS),
    "history_tokens_low": (lazy("History, after it drops"), 0, MOST_TOKENS),
    "history_turns_max": (lazy("Turns, at most"), 2, MOST_TURNS),
    "history_turns_min": (lazy("Turns, after it drops"), 0, MOST_TURNS),
}
"""Columns of an assistant with what they are called, and the least and the most of each."""
ASCENDING = (
    ("history_tokens_low", "history_tokens_high", "total_tokens", "hard_cap_tokens"),
    ("history_turns_min", "history_turns_max"),
)
"""Of these each is at most the next."""
TODAY = lazy("the assistant as it is today")
ELSEWHERE = (TODAY, True)
"""Where a part comes from that is another than it was, and whether that is of today. Sources say it of theirs."""
NOT_EXACT = lazy(
    "With its own settings it does not come out as it was sent, so not all of the difference below "
    "comes of what you changed. The assistant's budget for history or its switches were changed "
    "since, a turn beside the window was forgotten, or a part of it had to be cut for this one "
    "message."
)


class WhatIfForm(forms.Form):
    """What is left empty stays as it was, or as the other assistant has it."""

    assistant = forms.ModelChoiceField(
        Assistant.objects.all(), required=False, label=lazy("Assistant"), empty_label=lazy("the same")
    )
    filtering = forms.ChoiceField(
        label=lazy("Fulfilled artifact requests"),
        required=False,
        choices=[("", lazy("the same")), ("on", lazy("left out")), ("off", lazy("kept"))],
    )
    memory = forms.ChoiceField(
        label=lazy("Memory"),
        required=False,
        choices=[("", lazy("as recorded")), *((value, lazy(label)) for value, label in MemoryChoice.choices[1:])],
    )
    query = forms.ChoiceField(
        label=lazy("Contextualised query"),
        required=False,
        choices=[("", lazy("as recorded")), *((value, lazy(label)) for value, label in QueryChoice.choices[1:])],
    )

    def __init__(self, record: Record, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.record = record
        self.changes: dict[str, int] = {}
        budgets = {name: _budget_field(name, record.settings.assistant) for name in BUDGETS}
        assistant = self.fields.pop("assistant")
        self.fields = {"assistant": assistant, **budgets, **self.fields}

    @property
    def is_asked(self) -> bool:
        """Whether something was to be another."""
        return any(self.data.get(name) for name in self.fields)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if self.errors:
            return values
        try:
            self.settings = _settings(self.record, values)
        except ProviderError as error:
            raise forms.ValidationError(error.message) from error
        fixed = {name for name in BUDGETS if values[name] is not None}
        for names in ASCENDING:
            figures = {name: getattr(self.settings.assistant, name) for name in names}
            self.changes |= {
                name: figure for name, figure in fitting(figures, fixed).items() if figure != figures[name]
            }
        if self.changes:
            changes = gettext(" and ").join(
                filled(
                    "“{name}” {change} to {figure}",
                    name=BUDGETS[name][0],
                    change=gettext("raised") if figure > getattr(self.settings.assistant, name) else gettext("lowered"),
                    figure=figure,
                )
                for name, figure in self.changes.items()
            )
            raise forms.ValidationError(
                filled("These figures contradict one another. They fit with {changes}.", changes=changes)
            )
        return values

    @property
    def fitting_query(self) -> str:
        """The query of this form with the figures that fit; empty where nothing contradicts."""
        if not self.changes:
            return ""
        given = {name: value for name in self.fields if (value := self.data.get(name))}
        return urlencode(given | self.changes)


def fitting(figures: Mapping[str, int], fixed: Collection[str]) -> dict[str, int]:
    """The figures in ascending order, with those that were ``fixed`` as they are; where these contradict one another the
    later ones are raised. Pure."""
    names = list(figures)
    wanted = dict(figures)
    for name, figure in zip(
        names, accumulate((figures[name] if name in fixed else 0 for name in names), max), strict=True
    ):
        wanted[name] = figure if name in fixed else max(figures[name], figure)
    for before, name in zip(names[-2::-1], names[:0:-1], strict=True):
        if before not in fixed:
            wanted[before] = min(wanted[before], wanted[name])
    return wanted


def _budget_field(name: str, assistant: Assistant) -> forms.IntegerField:
    least, most = BUDGETS[name][1:]
    field = forms.IntegerField(label=BUDGETS[name][0], required=False, min_value=least, max_value=most)
    field.widget.attrs["placeholder"] = getattr(assistant, name)
    return field


def _settings(record: Record, values: dict[str, Any]) -> Settings:
    other: Assistant | None = values["assistant"]
    chosen = _of_assistant(other) if other else record.settings
    assistant = copy.copy(chosen.assistant)
    for name in BUDGETS:
        if values[name] is not None:
            setattr(assistant, name, values[name])
    if values["filtering"]:
        assistant.filters_artifacts = values["filtering"] == "on"
    memory = MemoryChoice(values["memory"] or MemoryChoice.RECORDED)
    if memory is MemoryChoice.NOW:
        assistant.uses_memory = True
    query = QueryChoice(values["query"]) if values["query"] else chosen.query
    return replace(chosen, assistant=assistant, memory=memory, query=query)


def _of_assistant(other: Assistant) -> Settings:
    """As it is today."""
    assistant = copy.copy(other)
    assistant.provider = provider_name(other)
    provider = get_provider(assistant.provider)
    assistant.model = model_of(other, provider)
    assistant = in_tokens(assistant, provider.describe(assistant.model).context_window)
    off = other.rewriting == Assistant.Rewriting.OFF
    return Settings(
        assistant=assistant,
        tools=tools_for(other, provider, access=installation() or ALL),
        query=QueryChoice.OFF if off else QueryChoice.RECORDED,
    )


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a part of the request that was made again comes from."""

    label: str
    comes_from: str
    is_now: bool = False


@dataclass(frozen=True, kw_only=True)
class WhatIfPage:
    """``refusal`` says why the request can't be made again; then there is nothing else."""

    refusal: str = ""
    form: WhatIfForm | None = None
    is_exact: bool = False
    warning: str = ""
    origins: Sequence[Origin] = ()
    compared: ComparePage | None = None


def what_if_page(snapshot: ContextSnapshot, query_data: Any, *, shown: bool) -> WhatIfPage:
    try:
        record = record_of(snapshot)
    except NotReplayable as error:
        return WhatIfPage(refusal=str(error))
    form = WhatIfForm(record, query_data)
    wanted = form.settings if form.is_valid() else record.settings
    with read_only():
        remade = replay.remake(record, wanted)
    if not form.is_asked or form.errors:
        return WhatIfPage(form=form, is_exact=remade.is_exact, warning="" if remade.is_exact else NOT_EXACT)
    sent = side_of(snapshot, shown=shown)
    other = side_of_context(remade.other, snapshot.thread_id, shown=shown)
    return WhatIfPage(
        form=form,
        is_exact=remade.is_exact,
        warning="" if remade.is_exact else NOT_EXACT,
        origins=origins(record, wanted, remade),
        compared=compare_page(sent, other, summaries_of(sent)),
    )


def origins(record: Record, wanted: Settings, remade: ReplayedContexts) -> list[Origin]:
    """Honest about what is as it was and what is of today."""
    own, other = _texts(remade.own), _texts(remade.other)
    history = Origin(label=label_of(HISTORY), comes_from=gettext("the thread as it was, chosen by the settings above"))
    return [history, *(_origin(name, own.get(name) == text, wanted) for name, text in other.items())]


def _origin(name: str, is_same: bool, wanted: Settings) -> Origin:
    label = label_of(name)
    source = next((source for source in all_sources() if source.name == name), None)
    stands = source is not None and source.place is Place.STANDING
    if stands and wanted.memory is MemoryChoice.NOW:
        return Origin(label=label, comes_from=gettext("memory as it is now"), is_now=True)
    if is_same:
        return Origin(label=label, comes_from=gettext("the record"))
    if stands:
        return Origin(label=label, comes_from=gettext("the record, cut anew to its room"))
    comes_from, is_now = source.comes_from if source else ELSEWHERE
    return Origin(label=label, comes_from=comes_from, is_now=is_now)


def _texts(context: Context) -> dict[str, str]:
    """By name; of what a reply did in its rounds nothing is another but its length."""
    return {part.name: part.text for part in [*context.sections, *context.parts.beside] if part.name != INSTRUCTION}
