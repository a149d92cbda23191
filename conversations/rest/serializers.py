"""What the API takes, checked by DRF."""

from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from conversations.runtime.text import clean, one_line

PROHIBITIVE = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)


class ThreadFields(serializers.Serializer[Any]):
    title = serializers.CharField(
        max_length=200,
        required=False,
        allow_blank=True,
        help_text="At most 200 characters, in one line; empty: from the first message.",
    )
    assistant = serializers.SlugField(
        required=False, help_text="`companion` (default), `analyst`, or one that staff made."
    )

    def validate_title(self, title: str) -> str:
        return one_line(title)


class ThreadChange(ThreadFields):
    remembers = serializers.BooleanField(
        required=False,
        help_text="`false`: it is given nothing that is remembered, and nothing of it is remembered or recalled elsewhere.",
    )


class MessageRequest(serializers.Serializer[Any]):
    content = serializers.JSONField(help_text="A text, or a list of text blocks.")
    client_message_id = serializers.JSONField(
        required=False,
        default=None,
        help_text="Your own id of the message, at most 100 characters; makes sending idempotent.",
    )
    assistant = serializers.SlugField(required=False, default=None, allow_null=True, help_text="For a new thread only.")


class RetryRequest(serializers.Serializer[Any]):
    model = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=80,
        help_text="The assistant's fallback model, to answer in place of the one that declined, or its own; any other is "
        "refused with 400 `model_not_offered`. Left out: the one that answered last.",
    )


class CleanText(serializers.CharField):
    """A text made such that PostgreSQL can hold it, where DRF would refuse it; nothing else of it changes."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)
        self.validators = [each for each in self.validators if not isinstance(each, PROHIBITIVE)]

    def to_internal_value(self, data: Any) -> str:
        return clean(super().to_internal_value(data))


class OneLine(CleanText):
    """In one line, as a title is shown."""

    def to_internal_value(self, data: Any) -> str:
        return clean(one_line(serializers.CharField.to_internal_value(self, data)))
