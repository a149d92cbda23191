"""The overview as a page: what was chosen in the address, and the choices that there are."""

from collections.abc import Mapping
from typing import Any

from conversations.models import Assistant, ContextSnapshot
from conversations.staff import display
from conversations.staff.overview.charts import FLOOR, HEIGHT, LEFT, RIGHT_EDGE, WIDTH
from conversations.staff.overview.usage_charts import RANGES, overview

PLANE = {
    "width": WIDTH,
    "height": HEIGHT,
    "left": LEFT,
    "right": RIGHT_EDGE,
    "floor": FLOOR,
    "below": FLOOR + 20,
}


def overview_context(query: Mapping[str, str]) -> dict[str, Any]:
    """What the template shows. An unknown choice is none."""
    shown = next((one for one in RANGES if one.slug == query.get("range")), RANGES[0])
    chosen = query.get("assistant", "")
    assistant = int(chosen) if chosen.isdecimal() else None
    model = query.get("model", "")
    page = overview(shown, assistant=assistant, model=model)
    names = dict(Assistant.objects.values_list("pk", "name"))
    return {
        "page": page,
        "plane": PLANE,
        "title": "Overview of model requests",
        "range": shown,
        "ranges": RANGES,
        "assistant": assistant,
        "assistants": [
            (pk, names.get(pk, display.NOTHING)) for pk in sorted({*page.assistants, *filter(None, [assistant])})
        ],
        "model": model,
        "models": sorted({*page.models, *filter(None, [model])}),
        "empty_text": "No model requests in this time. Each message that somebody sends makes one, counted here at once.",
        "requests_url": display.list_url(ContextSnapshot, **_filters(assistant, model)),
    }


def _filters(assistant: int | None, model: str) -> dict[str, object]:
    return ({"assistant": assistant} if assistant else {}) | ({"model": model} if model else {})
