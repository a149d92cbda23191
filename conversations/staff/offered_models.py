"""Models that a connection offers, made rows of the table of models."""

from collections.abc import Sequence
from copy import copy
from urllib.parse import urlsplit

from django.db import transaction

from conversations.models import Connection, Model, ModelPrice
from conversations.models.connections import Kind
from conversations.providers import model_catalog
from conversations.providers.connections import ADDRESSES, address_of
from conversations.providers.model_catalog import SMALL_WINDOW, Sizes
from conversations.providers.model_listing import OfferedModel


@transaction.atomic
def add_models(connection: Connection, offered: Sequence[OfferedModel]) -> list[Model]:
    """The rows that are new, in this order. What the table knows of the maker's model of that name holds here too; prices are
    those of who is asked."""
    known = set(Model.objects.filter(provider=connection.slug).values_list("name", flat=True))
    last = Model.objects.filter(provider=connection.slug).count()
    rows = [
        row_of(connection, model, order=last + number) for number, model in enumerate(offered) if model.id not in known
    ]
    Model.objects.bulk_create(rows)
    for row in rows:
        add_prices(row)
    transaction.on_commit(model_catalog.reread)
    return rows


def add_prices(row: Model) -> bool:
    """Give a model the prices that are known of where it is asked. Whether any are."""
    from conversations.providers.known_prices import known_prices  # noqa: PLC0415  (takes a twentieth of a start)

    address, twin = address_of(row.provider), model_catalog.find(Kind.ANTHROPIC, row.name)
    if twin and urlsplit(address).hostname == urlsplit(ADDRESSES[Kind.ANTHROPIC]).hostname:
        prices = [copy(price) for price in twin.prices.all()]
    else:
        prices = known_prices(address, row.name)
    for price in prices:
        price.pk, price.model = None, row
    return bool(ModelPrice.objects.bulk_create(prices))


def row_of(connection: Connection, offered: OfferedModel, *, order: int) -> Model:
    from conversations.providers.known_prices import known_window  # noqa: PLC0415  (takes a twentieth of a start)

    twin = model_catalog.find(connection.kind, offered.id)
    listed = known_window(address_of(connection.slug), offered.id)
    window = offered.context_window or (twin.context_window if twin else listed or SMALL_WINDOW)
    sizes = Sizes.of(window, "known", offered.max_output or (twin.max_output if twin else 0))
    abilities = {name: getattr(twin, name) for name in ABILITIES} if twin else {}
    return Model(
        provider=connection.slug,
        name=offered.id,
        label=offered.label,
        context_window=sizes.context_window,
        max_output=sizes.max_output,
        order=order,
        **abilities,
    )


ABILITIES = (
    *("thinking", "thinks_unasked", "thinking_off", "efforts", "default_effort", "takes_tools", "takes_images"),
    *("cacheable_from", "token_factor"),
)
