"""What the calls about artifacts and presets take."""

from typing import Any

from rest_framework import serializers

from artifacts.models import Kind
from conversations.rest.serializers import CleanText, OneLine


class ArtifactFields(serializers.Serializer[Any]):
    title = OneLine(required=False, help_text="At most 200 characters, in one line.")
    kind = serializers.ChoiceField(Kind.choices, required=False, help_text="What it is.")
    language = OneLine(required=False, max_length=40, help_text="Of code: python, sql …")
    content = CleanText(required=False, help_text="1 to 500,000 characters, unless the operator set another limit.")


class NewArtifact(ArtifactFields):
    title = OneLine(help_text="At most 200 characters, in one line.")
    kind = serializers.ChoiceField(
        Kind.choices, default=Kind.DOCUMENT, help_text="What it is; `document` unless it is said."
    )
    content = CleanText(help_text="1 to 500,000 characters, unless the operator set another limit.")


class ArtifactChange(ArtifactFields):
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="What the change is based on: where there is a newer one by now, it is refused with 409 `version_conflict`.",
    )


class PresetRequest(serializers.Serializer[Any]):
    client_message_id = serializers.JSONField(
        required=False,
        default=None,
        help_text="Your own id of the click, at most 100 characters: the same one again makes nothing new.",
    )
