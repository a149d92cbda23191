"""What the calls about memory take."""

from typing import Any

from rest_framework import serializers

from conversations.rest.serializers import CleanText
from memory.services import zone_names

LONGEST = 10_000
MOST_TAGS = 20


class MemoryChange(serializers.Serializer[Any]):
    content = CleanText(required=False, max_length=LONGEST, help_text="1 to 10,000 characters.")
    tags = serializers.ListField(
        child=CleanText(max_length=100),
        max_length=MOST_TAGS,
        required=False,
        help_text="`user:{id}`: holds everywhere. `thread:{id}` alone: holds in that thread. Else what you like.",
    )
    valid_until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="No session that begins then or later is given it."
    )

    def validate_content(self, content: str) -> str:
        if not content.strip():
            raise serializers.ValidationError("Say what is to be remembered.")
        return content.strip()


class NewMemory(MemoryChange):
    content = CleanText(max_length=LONGEST, help_text="1 to 10,000 characters.")


class TopicChange(serializers.Serializer[Any]):
    resolved = serializers.BooleanField(help_text="`true`: it is done; `false`: it is open again.")


class PreferencesChange(serializers.Serializer[Any]):
    remembers = serializers.BooleanField(
        required=False, help_text="`false`: nothing remembered is given to any request, and nothing new is remembered."
    )
    time_zone = serializers.CharField(required=False, help_text="IANA name, such as `Europe/Lisbon`.")

    def validate_time_zone(self, name: str) -> str:
        if name not in zone_names():
            raise serializers.ValidationError("There is no such time zone. Take an IANA name, such as Europe/Lisbon.")
        return name


class Everything(serializers.Serializer[Any]):
    all = serializers.BooleanField(help_text="`true`, so that nobody forgets everything by mistake.")

    def validate_all(self, everything: bool) -> bool:
        if not everything:
            raise serializers.ValidationError(
                'Send {"all": true} to forget everything; else forget one memory by its id.'
            )
        return everything
