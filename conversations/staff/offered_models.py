"""Models that a connection offers, made rows of the table of models."""

from collections.abc import Sequence

from django.db import transaction

from conversations.models import Connection, Model
from conversations.providers import model_catalog
from conversations.providers.model_listing import OfferedModel

UNTOLD_WINDOW, UNTOLD_OUTPUT = 8_192, 2_048
"""Of servers that don't say: what even a small model takes. Too small a window costs context, too large a one every reply."""


@transaction.atomic
def add_models(connection: Connection, offered: Sequence[OfferedModel]) -> list[Model]:
    """The rows that are new, in this order. What the table knows of the maker's model of that name holds here too, but for its
    price."""
    known = set(Model.objects.filter(provider=connection.slug).values_list("name", flat=True))
    last = Model.objects.filter(provider=connection.slug).count()
    rows = [
        row_of(connection, model, order=last + number) for number, model in enumerate(offered) if model.id not in known
    ]
    Model.objects.bulk_create(rows)
    transaction.on_commit(model_catalog.reread)
    return rows


def row_of(connection: Connection, offered: OfferedModel, *, order: int) -> Model:
    twin = model_catalog.find(connection.kind, offered.id)
    window = offered.context_window or (twin.context_window if twin else UNTOLD_WINDOW)
    output = offered.max_output or (twin.max_output if twin else UNTOLD_OUTPUT)
    abilities = {name: getattr(twin, name) for name in ABILITIES} if twin else {}
    return Model(
        provider=connection.slug,
        name=offered.id,
        label=offered.label,
        context_window=window,
        max_output=min(output, window - 1),
        order=order,
        **abilities,
    )


ABILITIES = (
    *("thinking", "thinks_unasked", "thinking_off", "efforts", "default_effort", "takes_tools", "takes_images"),
    *("cacheable_from", "token_factor"),
)
