"""Presets as staff keep them, for their programs."""

from artifacts.models import Preset
from conversations.models import Scope
from conversations.rest.staff_rows import Table, views_of
from conversations.staff.plain_values import editable

PRESETS = Table(
    name="presets",
    one="a preset",
    about="Presets, offered or not, with what they tell the model.",
    model=Preset,
    scope=Scope.STAFF_ASSISTANTS,
    key="slug",
    fields=editable(Preset),
    prefetched=("assistants",),
)
PresetRowList, PresetRowDetail = views_of(PRESETS)
