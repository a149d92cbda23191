"""What the schema says of a call, kept as it is written until somebody asks for the schema.

drf-spectacular's ``extend_schema`` makes classes and serializers of it at once: a tenth of a second of each start.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, Unpack, cast

from drf_spectacular.utils import OpenApiParameter


class Description(TypedDict, total=False):
    """As ``extend_schema`` takes it, with shapes by ``described``. What is left out is told from the view."""

    request: Any
    responses: Any
    parameters: Sequence[OpenApiParameter]
    description: str
    operation_id: str


def describe[Handler: Callable[..., Any]](**description: Unpack[Description]) -> Callable[[Handler], Handler]:
    def keep(handler: Handler) -> Handler:
        vars(handler)["description"] = description
        return handler

    return keep


def description_of(view: Any, method: str) -> Description:
    """Of a view or its class; empty where nothing was said of the method."""
    return cast("Description", getattr(getattr(view, method.lower(), None), "description", {}))
