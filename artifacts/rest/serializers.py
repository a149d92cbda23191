"""What the calls about artifacts and presets take and give."""

from typing import Any

from rest_framework import serializers

from artifacts.models import ArtifactVersion, Kind, Preset
from conversations.rest.serializers import CleanText, OneLine, ReplyAnswer


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


class ArtifactAnswer(serializers.Serializer[Any]):
    """An artifact as its newest version has it."""

    id = serializers.UUIDField(help_text="Id of the artifact.")
    thread = serializers.UUIDField(help_text="Id of the thread that it belongs to.")
    title = serializers.CharField(help_text="In one line.")
    kind = serializers.ChoiceField(Kind.choices, help_text="What it is.")
    language = serializers.CharField(help_text="Of code; else empty.")
    content = serializers.CharField(required=False, help_text="Left out of lists with `?content=false`.")
    version = serializers.IntegerField(help_text="Number of the newest version: so many there are.")
    size = serializers.IntegerField(help_text="Characters of the content.")
    created_at = serializers.DateTimeField(help_text="Time of its first version.")
    updated_at = serializers.DateTimeField(help_text="Of the newest version.")
    deleted_at = serializers.DateTimeField(allow_null=True, help_text="When it was deleted; null: it is not.")
    message = serializers.UUIDField(allow_null=True, help_text="The assistant turn that made this version, if one did.")
    reply = serializers.UUIDField(allow_null=True, help_text="The reply that made this version, if one did.")
    preset = serializers.CharField(help_text="The preset that made it; else empty.")
    after_position = serializers.IntegerField(help_text="Position of the newest turn when it was made.")
    origin = serializers.ChoiceField(
        ArtifactVersion.Origin.choices, help_text="Who made this version: the model, a person by hand, or a program."
    )


class VersionAnswer(serializers.Serializer[Any]):
    """One version of an artifact; title and kind are those that the artifact has by now."""

    title = serializers.CharField(help_text="In one line.")
    kind = serializers.ChoiceField(Kind.choices, help_text="What it is.")
    content = serializers.CharField(required=False, help_text="Left out of lists with `?content=false`.")
    version = serializers.IntegerField(help_text="Its number, from 1.")
    size = serializers.IntegerField(help_text="Characters of the content.")
    origin = serializers.ChoiceField(
        ArtifactVersion.Origin.choices, help_text="Who made it: the model, a person by hand, or a program."
    )
    created_at = serializers.DateTimeField(help_text="When it was made.")
    message = serializers.UUIDField(allow_null=True, help_text="The assistant turn that made it, if one did.")
    reply = serializers.UUIDField(allow_null=True, help_text="The reply that made it, if one did.")


class PresetAnswer(serializers.ModelSerializer[Preset]):
    artifact = serializers.UUIDField(allow_null=True, help_text="What it made in this thread, if it did.")

    class Meta:
        model = Preset
        fields = ["slug", "name", "description", "kind", "artifact"]
        extra_kwargs = {"kind": {"help_text": "What it makes."}}


class PresetRequest(serializers.Serializer[Any]):
    client_message_id = serializers.JSONField(
        required=False,
        default=None,
        help_text="Your own id of the click, at most 100 characters: the same one again makes nothing new.",
    )


class MadeAnswer(serializers.Serializer[Any]):
    thread = serializers.UUIDField(help_text="Id of the thread.")
    reply = ReplyAnswer(help_text="The attempt that made it.")
    artifact = ArtifactAnswer(allow_null=True, help_text="Null where it was stopped before it was made.")
    request = serializers.UUIDField(allow_null=True, help_text="The model request; read it at requests/{id}/.")
