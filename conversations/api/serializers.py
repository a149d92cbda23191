"""What the API takes. What it gives is in ``conversations.wire``, shared with the socket."""

from typing import Any

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from artifacts.models import ArtifactVersion, Kind, Preset
from conversations.context.caching import MESSAGE, SYSTEM, CacheState
from conversations.context.problems import ProblemKind
from conversations.context.reasons import Reason
from conversations.context.rewriting import RewritingOutcome
from conversations.models import Assistant, ContextSnapshot
from conversations.text import clean, one_line
from memory.models import Memory

PROHIBITIVE = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)


class ThreadFields(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
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


class ReplyAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.CharField(help_text="running, completed, stopped, interrupted or failed.")
    error = serializers.DictField(allow_null=True)
    request = serializers.UUIDField(allow_null=True, help_text="The newest model request of the reply.")
    message_history_count = serializers.IntegerField(allow_null=True, help_text="Earlier turns that it was given.")
    total_tokens = serializers.IntegerField(allow_null=True, help_text="Estimated tokens that it was given.")


class MessageAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    position = serializers.IntegerField(help_text="Order within the thread, from 1.")
    role = serializers.ChoiceField(["user", "assistant"])
    content = serializers.ListField(child=serializers.DictField(), help_text="Content blocks of the Messages API.")
    text = serializers.CharField()
    status = serializers.CharField()
    created_at = serializers.DateTimeField()
    token_count = serializers.IntegerField(help_text="Estimated tokens.")
    client_message_id = serializers.CharField(allow_null=True)
    reply = ReplyAnswer(allow_null=True)


class MatchAnswer(serializers.Serializer[Any]):
    """The newest turn of a thread that holds all of the words."""

    message = serializers.UUIDField(help_text="Id of the turn.")
    position = serializers.IntegerField(help_text="Its place in the thread; `/threads/{id}/#turn-{position}` shows it.")
    role = serializers.ChoiceField(["user", "assistant"], help_text="Whose turn it is.")
    created_at = serializers.DateTimeField(help_text="When it was said.")
    excerpt = serializers.CharField(help_text="About 160 characters of it around the first of the words, on one line.")
    words = serializers.ListField(child=serializers.CharField(), help_text="The words as they stand in the excerpt.")


class ThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    title = serializers.CharField()
    assistant = serializers.SlugField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    message_count = serializers.IntegerField()
    running_reply = serializers.UUIDField(allow_null=True)
    remembers = serializers.BooleanField(help_text="Whether it takes part in memory.")
    match = MatchAnswer(
        required=False, allow_null=True, help_text="With `?q=` only: where the words stand; null: in the title alone."
    )


class ExchangeAnswer(serializers.Serializer[Any]):
    thread = serializers.UUIDField()
    user_message = MessageAnswer()
    reply = ReplyAnswer()
    assistant_message = MessageAnswer(allow_null=True)
    request = serializers.UUIDField(allow_null=True, help_text="The model request; read it at requests/{id}/.")


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


class ArtifactFields(serializers.Serializer[Any]):
    title = OneLine(required=False, help_text="At most 200 characters, in one line.")
    kind = serializers.ChoiceField(Kind.choices, required=False)
    language = OneLine(required=False, max_length=40, help_text="Of code: python, sql …")
    content = CleanText(required=False)


class NewArtifact(ArtifactFields):
    title = OneLine(help_text="At most 200 characters, in one line.")
    kind = serializers.ChoiceField(Kind.choices, default=Kind.DOCUMENT)
    content = CleanText()


class ArtifactChange(ArtifactFields):
    version = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="What the change is based on: where there is a newer one by now, it is refused with 409 `version_conflict`.",
    )


class ArtifactAnswer(serializers.Serializer[Any]):
    """An artifact as its newest version has it."""

    id = serializers.UUIDField()
    thread = serializers.UUIDField()
    title = serializers.CharField()
    kind = serializers.ChoiceField(Kind.choices)
    language = serializers.CharField(help_text="Of code; else empty.")
    content = serializers.CharField(required=False, help_text="Left out of lists with `?content=false`.")
    version = serializers.IntegerField(help_text="Number of the newest version: so many there are.")
    size = serializers.IntegerField(help_text="Characters of the content.")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField(help_text="Of the newest version.")
    deleted_at = serializers.DateTimeField(allow_null=True)
    message = serializers.UUIDField(allow_null=True, help_text="The assistant turn that made this version, if one did.")
    reply = serializers.UUIDField(allow_null=True, help_text="The reply that made this version, if one did.")
    preset = serializers.CharField(help_text="The preset that made it; else empty.")
    after_position = serializers.IntegerField(help_text="Position of the newest turn when it was made.")
    origin = serializers.ChoiceField(
        ArtifactVersion.Origin.choices, help_text="Who made this version: the model, a person by hand, or a program."
    )


class VersionAnswer(serializers.Serializer[Any]):
    """One version of an artifact; title and kind are those that the artifact has by now."""

    title = serializers.CharField()
    kind = serializers.ChoiceField(Kind.choices)
    content = serializers.CharField(required=False, help_text="Left out of lists with `?content=false`.")
    version = serializers.IntegerField(help_text="Its number, from 1.")
    size = serializers.IntegerField(help_text="Characters of the content.")
    origin = serializers.ChoiceField(ArtifactVersion.Origin.choices)
    created_at = serializers.DateTimeField()
    message = serializers.UUIDField(allow_null=True, help_text="The assistant turn that made it, if one did.")
    reply = serializers.UUIDField(allow_null=True, help_text="The reply that made it, if one did.")


class PresetAnswer(serializers.ModelSerializer[Preset]):
    artifact = serializers.UUIDField(allow_null=True, help_text="What it made in this thread, if it did.")

    class Meta:
        model = Preset
        fields = ["slug", "name", "description", "kind", "artifact"]


class PresetRequest(serializers.Serializer[Any]):
    client_message_id = serializers.JSONField(
        required=False,
        default=None,
        help_text="Your own id of the click, at most 100 characters: the same one again makes nothing new.",
    )


class MadeAnswer(serializers.Serializer[Any]):
    thread = serializers.UUIDField()
    reply = ReplyAnswer()
    artifact = ArtifactAnswer(allow_null=True, help_text="Null where it was stopped before it was made.")
    request = serializers.UUIDField(allow_null=True, help_text="The model request; read it at requests/{id}/.")


class SectionAnswer(serializers.Serializer[Any]):
    name = serializers.CharField(
        help_text="`base`, `memory`, `today`, `open_threads` or `last_conversation` of the system text; `history`; `message`."
    )
    tokens = serializers.IntegerField(help_text="Estimated tokens.")
    text = serializers.CharField(allow_null=True, help_text="Null once deleted or forgotten.")
    forgotten_at = serializers.DateTimeField(
        allow_null=True, help_text="When something in it was forgotten at the person's wish."
    )


class ItemAnswer(serializers.Serializer[Any]):
    """A turn, or a memory, topic or summary, that was given or might have been; or a range of turns far before the window."""

    kind = serializers.ChoiceField(["message", "range", "memory", "topic", "summary"])
    included = serializers.BooleanField()
    reason = serializers.ChoiceField(Reason.values, help_text="Why it is included or not.")
    id = serializers.UUIDField(required=False, allow_null=True, help_text="Not of ranges; null of a turn to come.")
    tokens = serializers.IntegerField(required=False, help_text="Estimated tokens; not of ranges.")
    position = serializers.IntegerField(required=False, help_text="Of turns: the place in the thread, from 1.")
    thread = serializers.UUIDField(
        required=False, help_text="Of recalled turns: where they were said, maybe elsewhere."
    )
    score = serializers.FloatField(
        required=False, help_text="Of what was looked for: how much it bears on this message, beside the others."
    )
    first = serializers.IntegerField(required=False, help_text="Of ranges: the position of the first turn.")
    last = serializers.IntegerField(required=False, help_text="Of ranges: the position of the last turn.")
    count = serializers.IntegerField(required=False, help_text="Of ranges: how many turns.")


class RewritingAnswer(serializers.Serializer[Any]):
    """The contextualised query of a message that leans on earlier turns."""

    outcome = serializers.ChoiceField(RewritingOutcome.values)
    query = serializers.CharField(
        allow_null=True,
        help_text="As it stands beside the message, with the mark that says whose it is; null: there is none.",
    )


class ProblemAnswer(serializers.Serializer[Any]):
    """A source that failed, and was left out."""

    source = serializers.CharField(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        help_text="`preferences`, `memory`, `today`, `open_threads`, `last_conversation` or `recall`."
    )
    kind = serializers.ChoiceField([kind.value for kind in ProblemKind])
    message = serializers.CharField()


class CacheAnswer(serializers.Serializer[Any]):
    """What is expected of the provider's prompt cache."""

    state = serializers.ChoiceField(CacheState.values)
    marks = serializers.ListField(
        child=serializers.ChoiceField([SYSTEM, MESSAGE]), help_text="What a mark stands after, as far as one pays."
    )
    expected = serializers.IntegerField(help_text="Estimated tokens that should be read from it.")


class TimingsAnswer(serializers.Serializer[Any]):
    """Milliseconds that building the context took."""

    history = serializers.FloatField()
    memory = serializers.FloatField()
    rewrite = serializers.FloatField()
    tokens = serializers.FloatField()
    total = serializers.FloatField()


class UsageAnswer(serializers.Serializer[Any]):
    """Tokens as the provider reports them; 0 until then."""

    input_tokens = serializers.IntegerField(help_text="Neither read from the prompt cache nor written to it.")
    output_tokens = serializers.IntegerField()
    cache_read_input_tokens = serializers.IntegerField()
    cache_creation_input_tokens = serializers.IntegerField()


class DuplicatesAnswer(serializers.Serializer[Any]):
    rules = serializers.BooleanField(help_text="The system text says when to make an artifact.")
    tool_wording = serializers.BooleanField(help_text="Tools were offered, with their wording.")
    filtered_turns = serializers.IntegerField(help_text="Turns left out because their artifact was made.")
    silent = serializers.BooleanField(help_text="A preset's request, which enters no thread.")


class SnapshotAnswer(serializers.Serializer[Any]):
    """What one model request was given, what was left out and why."""

    id = serializers.UUIDField(allow_null=True, help_text="Null: a preview, nothing is stored.")
    thread = serializers.UUIDField(allow_null=True)
    message = serializers.UUIDField(allow_null=True, help_text="The turn to answer.")
    reply = serializers.UUIDField(allow_null=True, help_text="Null: a preview, or of no reply.")
    purpose = serializers.ChoiceField(
        ContextSnapshot.Purpose.values,
        help_text="`rewrite` asks a small model for the contextualised query only, `consolidation` for what to remember.",
    )
    round = serializers.IntegerField(help_text="Which request of the reply, or which attempt, from 1.")
    created_at = serializers.DateTimeField()
    provider = serializers.CharField()
    model = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the request as canonical JSON.")
    message_history_count = serializers.IntegerField(help_text="Earlier turns that it was given.")
    message_history_tokens = serializers.IntegerField(help_text="Estimated tokens of these.")
    today_summary_present = serializers.BooleanField()
    open_threads_count = serializers.IntegerField(help_text="Unresolved topics that it was given.")
    last_conversation_present = serializers.BooleanField()
    total_tokens = serializers.IntegerField(help_text="Estimated tokens of everything.")
    budget = serializers.IntegerField(help_text="Estimated tokens that it should take.")
    hard_cap = serializers.IntegerField(help_text="Estimated tokens that it never exceeds.")
    sections = SectionAnswer(many=True, help_text="Its parts, in the order sent.")
    items = ItemAnswer(many=True, help_text="Each turn, memory, topic and summary exactly once.")
    rewriting = RewritingAnswer()
    against_duplicates = DuplicatesAnswer(help_text="What kept artifacts from being made twice.")
    problems = ProblemAnswer(many=True, help_text="Sources that failed; the reply goes on without them.")
    cache = CacheAnswer(allow_null=True, help_text="Null where there is nothing to tell.")
    diagnostics = serializers.DictField(allow_null=True, help_text="What the provider says about its prompt cache.")
    request = serializers.DictField(
        allow_null=True, help_text="Exactly what the provider is given; null once any of it was deleted or forgotten."
    )
    forgotten_at = serializers.DateTimeField(
        allow_null=True, help_text="When any of it was last forgotten at the person's wish."
    )
    timings_ms = TimingsAnswer(help_text="Milliseconds.")
    usage = UsageAnswer(help_text="Tokens as reported.")
    stop_reason = serializers.CharField(help_text="The provider's; empty until it ends.")
    status = serializers.ChoiceField(ContextSnapshot.Status.values)
    error = serializers.DictField(allow_null=True)


class AssistantAnswer(serializers.ModelSerializer[Assistant]):
    class Meta:
        model = Assistant
        fields = ["slug", "name", "description"]


class ImportedMessage(serializers.Serializer[Any]):
    """The order of the list is the order of the turns."""

    id = serializers.UUIDField(required=False)
    role = serializers.ChoiceField(["user", "assistant"])
    content = serializers.JSONField(help_text="A text, or a list of content blocks of the Messages API.")
    created_at = serializers.DateTimeField(
        required=False, help_text="Without it: as the message before; without a time zone: UTC."
    )
    status = serializers.ChoiceField(
        ["complete", "incomplete", "refused", "stopped", "interrupted", "failed"], default="complete"
    )


class ImportedVersion(serializers.Serializer[Any]):
    content = serializers.CharField()
    created_at = serializers.DateTimeField(required=False, help_text="Without it: as the version before.")
    origin = serializers.ChoiceField(ArtifactVersion.Origin.choices, default=ArtifactVersion.Origin.PROGRAM)
    message = serializers.JSONField(
        required=False, help_text="The assistant's message that made it: its id, or its place in the list from 1 on."
    )


class ImportedArtifact(serializers.Serializer[Any]):
    """With `versions`, what `message` and `origin` beside them say does not count."""

    id = serializers.UUIDField(required=False)
    title = serializers.CharField(max_length=200)
    kind = serializers.ChoiceField(Kind.choices, default=Kind.DOCUMENT)
    language = serializers.CharField(required=False, max_length=40, help_text="Of code: python, sql …")
    preset = serializers.SlugField(required=False, help_text="The preset that made it.")
    after_position = serializers.IntegerField(
        required=False, min_value=0, help_text="Place of the newest message when it was made, from 1 on."
    )
    content = serializers.CharField(required=False, help_text="The only version, or once more the last of `versions`.")
    versions = ImportedVersion(many=True, required=False, help_text="The newest last.")
    created_at = serializers.DateTimeField(required=False)
    origin = serializers.ChoiceField(ArtifactVersion.Origin.choices, default=ArtifactVersion.Origin.PROGRAM)
    message = serializers.JSONField(
        required=False, help_text="The assistant's message that made it: its id, or its place in the list from 1 on."
    )


class ImportedSummary(serializers.Serializer[Any]):
    """Of a part of a thread. The days that `GET days/` lists are made of them."""

    id = serializers.UUIDField(required=False)
    first = serializers.IntegerField(min_value=1, help_text="Place of its first message in the list, from 1 on.")
    last = serializers.IntegerField(min_value=1, help_text="Place of its last message.")
    text = serializers.CharField(max_length=10_000, allow_blank=True)
    key_moments = serializers.ListField(child=serializers.CharField(), required=False)
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages that it rests on."
    )
    started_at = serializers.DateTimeField(required=False, help_text="Without it: that of its first message.")
    ended_at = serializers.DateTimeField(required=False, help_text="Without it: that of its last message.")
    made_by = serializers.CharField(required=False, max_length=80, help_text="The model that wrote it, or `rules`.")
    made_at = serializers.DateTimeField(required=False)
    stale_since = serializers.DateTimeField(required=False, help_text="Since when it waits to be made anew.")


class ImportedThread(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    title = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text="Without it: from the first message of the user."
    )
    assistant = serializers.SlugField(required=False, help_text="Without it: the default one.")
    created_at = serializers.DateTimeField(required=False, help_text="Without it: that of the first message.")
    messages = ImportedMessage(many=True, required=False)
    artifacts = ImportedArtifact(many=True, required=False)
    remembers = serializers.BooleanField(required=False, help_text="`false`: nothing of it is remembered.")
    summaries = ImportedSummary(many=True, required=False, help_text="Without them they are made after a while.")


class ImportedMemory(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    content = serializers.CharField(max_length=10_000)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        help_text="`user:…` becomes the caller's own; `thread:…` stays where the thread is in the document.",
    )
    source = serializers.UUIDField(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        required=False, help_text="The message of the document that it comes from: the first of `sources`."
    )
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages of the document that it comes from."
    )
    origin = serializers.ChoiceField(Memory.Origin.choices, required=False, help_text="`program` unless it is told.")
    created_at = serializers.DateTimeField(required=False)
    valid_from = serializers.DateTimeField(required=False)
    valid_until = serializers.DateTimeField(required=False)
    ended_at = serializers.DateTimeField(required=False, help_text="When it was replaced or called untrue.")


class ImportedTopic(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    title = serializers.CharField(max_length=200)
    thread = serializers.UUIDField(required=False, help_text="The thread of the document in which it was begun.")
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages that opened it."
    )
    opened_at = serializers.DateTimeField(required=False)
    resolved_at = serializers.DateTimeField(required=False)


class ImportedPreferences(serializers.Serializer[Any]):
    """They count where the caller has not chosen yet."""

    time_zone = serializers.CharField(required=False)
    remembers = serializers.BooleanField(required=False)


class Book(serializers.Serializer[Any]):
    """A document of the format `openbook/1`. What it holds beyond these fields is ignored."""

    format = serializers.ChoiceField(["openbook/1"])
    threads = ImportedThread(many=True, required=False)
    memories = ImportedMemory(many=True, required=False)
    topics = ImportedTopic(many=True, required=False)
    preferences = ImportedPreferences(required=False)


class FoundSource(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["message", "memory"])
    id = serializers.UUIDField()
    thread = serializers.UUIDField(allow_null=True)
    position = serializers.IntegerField(allow_null=True)
    role = serializers.CharField(allow_null=True, help_text="`user` or `assistant`; null for a memory.")


class FoundAnswer(serializers.Serializer[Any]):
    content = serializers.CharField(help_text="The whole turn, or the fact.")
    score = serializers.FloatField(help_text="How much it bears on the query; comparable within one answer only.")
    source = FoundSource()  # type: ignore[assignment]  # it is no name of a field here
    created_at = serializers.DateTimeField()


class FoundListAnswer(serializers.Serializer[Any]):
    results = FoundAnswer(many=True)


class ImportedThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    message_count = serializers.IntegerField()


class ImportAnswer(serializers.Serializer[Any]):
    threads = ImportedThreadAnswer(many=True, help_text="In the order of the document.")
    memories = serializers.IntegerField(help_text="How many were stored.")
    left_out = serializers.IntegerField(
        required=False, help_text="Conversations of another product's export in which nothing was said, if any."
    )
