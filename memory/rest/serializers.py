"""What the calls about memory take and give."""

from typing import Any

from rest_framework import serializers

from conversations.rest.serializers import CleanText
from memory.models import Memory
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


class SourceAnswer(serializers.Serializer[Any]):
    """A turn that something rests on."""

    message = serializers.UUIDField(help_text="Id of the turn.")
    thread = serializers.UUIDField(help_text="Id of its thread.")
    position = serializers.IntegerField(
        help_text="Its place in the thread; `/threads/{thread}/#turn-{position}` shows it."
    )
    created_at = serializers.DateTimeField(help_text="When it was said.")


class MemoryAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the memory.")
    content = serializers.CharField(help_text="What is remembered.")
    tags = serializers.ListField(
        child=serializers.CharField(), help_text="`user:{id}`, `thread:{id}`, or the person's own."
    )
    origin = serializers.ChoiceField(
        Memory.Origin.choices, help_text="Found in a conversation, written by the person, or by a program."
    )
    source = SourceAnswer(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        allow_null=True, help_text="The first turn that it rests on and that is still there."
    )
    sources = SourceAnswer(many=True, help_text="All of them.")
    created_at = serializers.DateTimeField(help_text="When it was noted.")
    valid_from = serializers.DateTimeField(allow_null=True, help_text="Since when it holds; null: not known.")
    valid_until = serializers.DateTimeField(
        allow_null=True, help_text="No session that begins then or later is given it; null: it lasts."
    )
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it was replaced or called untrue.")
    superseded_by = serializers.UUIDField(allow_null=True, help_text="The memory that holds instead.")


class TitledThread(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the thread.")
    title = serializers.CharField(allow_blank=True, help_text="Its title.")


class TopicChange(serializers.Serializer[Any]):
    resolved = serializers.BooleanField(help_text="`true`: it is done; `false`: it is open again.")


class TopicAnswer(serializers.Serializer[Any]):
    """Something that was begun in a conversation."""

    id = serializers.UUIDField(help_text="Id of the topic.")
    title = serializers.CharField(help_text="In a few words.")
    thread = TitledThread(allow_null=True, help_text="Where it was begun; null once that is deleted.")
    source = SourceAnswer(  # type: ignore[assignment]
        allow_null=True, help_text="The first turn that opened it and that is still there."
    )
    opened_at = serializers.DateTimeField(help_text="When it was begun.")
    resolved_at = serializers.DateTimeField(allow_null=True, help_text="When it was done; null: it is open.")


class DayAnswer(serializers.Serializer[Any]):
    """A day in the user's own time zone."""

    day = serializers.DateField(help_text="The date.")
    text = serializers.CharField(help_text="The summary.")
    key_moments = serializers.ListField(child=serializers.CharField(), help_text="Short sentences, in order.")
    threads = TitledThread(many=True, help_text="Where it was talked about.")
    updated_at = serializers.DateTimeField(help_text="When the summary was made.")


class PreferencesChange(serializers.Serializer[Any]):
    remembers = serializers.BooleanField(
        required=False, help_text="`false`: nothing remembered is given to any request, and nothing new is remembered."
    )
    time_zone = serializers.CharField(required=False, help_text="IANA name, such as `Europe/Lisbon`.")

    def validate_time_zone(self, name: str) -> str:
        if name not in zone_names():
            raise serializers.ValidationError("There is no such time zone. Take an IANA name, such as Europe/Lisbon.")
        return name


class PreferencesAnswer(serializers.Serializer[Any]):
    remembers = serializers.BooleanField(help_text="Whether anything is remembered, and given to requests.")
    time_zone = serializers.CharField(help_text="IANA name: what “today” means; `UTC` until it is chosen.")


class Everything(serializers.Serializer[Any]):
    all = serializers.BooleanField(help_text="`true`, so that nobody forgets everything by mistake.")

    def validate_all(self, everything: bool) -> bool:
        if not everything:
            raise serializers.ValidationError(
                'Send {"all": true} to forget everything; else forget one memory by its id.'
            )
        return everything


class ForgottenTurnAnswer(serializers.Serializer[Any]):
    message = serializers.UUIDField(help_text="Id of the turn.")
    thread = serializers.UUIDField(help_text="Id of its thread.")
    position = serializers.IntegerField(help_text="Its place in the thread, from 1.")
    role = serializers.ChoiceField(["user", "assistant"], help_text="Whose turn it is.")
    text = serializers.CharField(help_text="As it stood before.")
    why = serializers.ChoiceField(["source", "mention"], help_text="It was said here, or is repeated here.")


class ForgettingAnswer(serializers.Serializer[Any]):
    """What goes."""

    memories = serializers.ListField(child=serializers.UUIDField(), help_text="Ids of the memories that go.")
    turns = ForgottenTurnAnswer(many=True, help_text="Their place stays, as “[forgotten]”.")
    artifacts = serializers.IntegerField(help_text="Versions of artifacts whose content goes.")
    topics = serializers.IntegerField(help_text="Topics that go.")
    titles = serializers.IntegerField(help_text="Threads that get another title.")
    summaries = serializers.IntegerField(help_text="Summaries that are made anew.")
    snapshots = serializers.IntegerField(help_text="Recorded requests of which texts are blanked.")


class ClearingAnswer(serializers.Serializer[Any]):
    """What goes when a thread is cleared."""

    thread = serializers.UUIDField(help_text="Id of the thread, which stays.")
    messages = serializers.IntegerField(help_text="Turns that go, attempts that were replaced among them.")
    quotes = serializers.IntegerField(
        help_text="Replies in other threads that go, as “[forgotten]”: they hold one of the turns word for word, because their "
        "model searched for it."
    )
    memories = serializers.IntegerField(help_text="Memories that go, as they rest on nothing else.")
    topics = serializers.IntegerField(help_text="Topics that go, as they rest on nothing else.")
    titles = serializers.IntegerField(
        help_text="1 where the title goes, as it is the first words of a turn; the next message gives another."
    )
    summaries = serializers.IntegerField(
        help_text="Summaries that go, of its parts and of days; those of days are made anew."
    )
    snapshots = serializers.IntegerField(help_text="Recorded requests of which texts are blanked.")
    kept_artifacts = serializers.IntegerField(help_text="Artifacts of the thread, which stay.")


class FoundSource(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["message", "memory"], help_text="A turn, or something remembered.")
    id = serializers.UUIDField(help_text="Id of the turn or the memory.")
    thread = serializers.UUIDField(allow_null=True, help_text="Id of the turn's thread; null for a memory.")
    position = serializers.IntegerField(
        allow_null=True, help_text="The turn's place in its thread, from 1; null for a memory."
    )
    role = serializers.CharField(allow_null=True, help_text="`user` or `assistant`; null for a memory.")


class FoundAnswer(serializers.Serializer[Any]):
    content = serializers.CharField(help_text="The whole turn, or the fact.")
    score = serializers.FloatField(help_text="How much it bears on the query; comparable within one answer only.")
    source = FoundSource(help_text="Where it stands.")  # type: ignore[assignment]  # it is no name of a field here
    created_at = serializers.DateTimeField(help_text="When it was said or remembered.")


class FoundListAnswer(serializers.Serializer[Any]):
    results = FoundAnswer(many=True, help_text="Best first, at most 50.")
