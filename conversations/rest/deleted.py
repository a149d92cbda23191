"""The answer to a deletion: nothing, or what a legal hold keeps of it."""

from typing import Annotated, Any, TypedDict

from rest_framework.response import Response

from conversations.rest.serializers import described


class HeldAnswer(TypedDict):
    """It is deleted for its person, while a legal hold keeps a copy."""

    held: Annotated[str, "What is kept, for how long and, where it is told, why."]


RESPONSES: dict[int, Any] = {204: None, 200: described(HeldAnswer)}


def deleted(held: str) -> Response:
    """``held``: what `conversations.holds.coverage.notice` says; empty: 204."""
    return Response(HeldAnswer(held=held)) if held else Response(status=204)
