"""Calls of models as tests make them, which take nothing of anybody's day."""

from conversations.providers.base import ModelCall, Reservation


def reserved_call(input_tokens: int = 100) -> ModelCall:
    """One call, for which tokens are set aside."""
    return ModelCall(reservation=Reservation(tokens=input_tokens + 100, input_tokens=input_tokens))
