"""What the API takes. What it gives is in ``conversations.wire``, shared with the socket."""

from typing import Any, get_args

from django.core.validators import ProhibitNullCharactersValidator
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from artifacts.models import ArtifactVersion, Kind
from conversations.context.prompt_cache import LIVES, MESSAGE, SYSTEM, CacheState
from conversations.context.reasons import Reason
from conversations.context.rewriting import RewritingOutcome
from conversations.context.source_problems import ProblemKind
from conversations.models import Assistant, ContextSnapshot, Effort
from conversations.providers.thinking import Display, Mode
from conversations.replies.endings import NextStep
from conversations.runtime.text import clean, one_line
from memory.models import Memory

PROHIBITIVE = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)


class ErrorObject(serializers.Serializer[Any]):
    """What went wrong, and what to do."""

    type = serializers.CharField(help_text="Its kind, such as `invalid_request`, `not_found`, `conflict`, `model`.")
    code = serializers.CharField(help_text="Exactly what it is, such as `reply_in_progress`. It never changes.")
    message = serializers.CharField(help_text="For people: what to do.")
    details = serializers.DictField(help_text="What more there is to know, by `code`; may be empty.")
    request_id = serializers.CharField(help_text="The server's log tells more under it; also in `X-Request-ID`.")


class ErrorAnswer(serializers.Serializer[Any]):
    """Every failure has this shape."""

    error = ErrorObject(help_text="What went wrong.")


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


class RefusalAnswer(serializers.Serializer[Any]):
    """Why the model declined."""

    category = serializers.CharField(
        allow_null=True,
        help_text="The provider's word: `cyber`, `bio`, `frontier_llm`, `reasoning_extraction`, `general_harms` or a newer "
        "one; null: it gave none.",
    )
    message = serializers.CharField(help_text="For people: why, and what to do.")


class ReplyAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the reply.")
    status = serializers.CharField(help_text="running, completed, stopped, interrupted or failed.")
    error = serializers.DictField(
        allow_null=True, help_text="The error object of a reply that failed or was interrupted; else null."
    )
    stop_reason = serializers.CharField(
        help_text="Why the model stopped, in its provider's word; empty: it didn't say."
    )
    refusal = RefusalAnswer(allow_null=True, help_text="Of a reply that the model declined to give, or to go on with.")
    ways = serializers.ListField(
        child=serializers.ChoiceField([way.value for way in NextStep]),
        help_text="What can be done now, the most promising first, while it answers the newest message: `retry` it, "
        "`continue` it, `rephrase` the message, or let `fallback_model` retry it (`fallback`).",
    )
    fallback_model = serializers.CharField(
        allow_null=True, help_text="The model that may be asked in place of the one that declined."
    )
    model = serializers.CharField(allow_null=True, help_text="The model that was asked; null: not known yet.")
    fallback_for = serializers.CharField(
        allow_null=True, help_text="The model that declined, where this one was asked in its place."
    )
    continues = serializers.UUIDField(
        allow_null=True, help_text="The reply that was cut short and that this one goes on with: its text comes first."
    )
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When it ended; null: it is running.")
    request = serializers.UUIDField(allow_null=True, help_text="The newest model request of the reply.")
    message_history_count = serializers.IntegerField(allow_null=True, help_text="Earlier turns that it was given.")
    total_tokens = serializers.IntegerField(allow_null=True, help_text="Estimated tokens that it was given.")


class MessageAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the turn.")
    position = serializers.IntegerField(help_text="Order within the thread, from 1.")
    role = serializers.ChoiceField(["user", "assistant"], help_text="Whose turn it is.")
    content = serializers.ListField(child=serializers.DictField(), help_text="Content blocks of the Messages API.")
    text = serializers.CharField(help_text="The text of the blocks.")
    status = serializers.CharField(
        help_text="`complete`, or else `incomplete`, `refused`, `stopped`, `interrupted`, `failed`, `forgotten`. A turn of the "
        "user is `refused` while the newest reply to it was: later contexts leave it out."
    )
    created_at = serializers.DateTimeField(help_text="When it was said.")
    token_count = serializers.IntegerField(help_text="Estimated tokens.")
    client_message_id = serializers.CharField(allow_null=True, help_text="The sender's own id of it, if there was one.")
    reply = ReplyAnswer(
        allow_null=True,
        help_text="Of the user: the newest reply to it. Of the assistant: the reply that wrote it. Null: imported.",
    )


class MatchAnswer(serializers.Serializer[Any]):
    """The newest turn of a thread that holds all of the words."""

    message = serializers.UUIDField(help_text="Id of the turn.")
    position = serializers.IntegerField(help_text="Its place in the thread; `/threads/{id}/#turn-{position}` shows it.")
    role = serializers.ChoiceField(["user", "assistant"], help_text="Whose turn it is.")
    created_at = serializers.DateTimeField(help_text="When it was said.")
    excerpt = serializers.CharField(help_text="About 160 characters of it around the first of the words, on one line.")
    words = serializers.ListField(child=serializers.CharField(), help_text="The words as they stand in the excerpt.")


class ThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the thread.")
    title = serializers.CharField(help_text="Empty until the first message.")
    assistant = serializers.SlugField(help_text="Slug of the assistant that answers in it.")
    created_at = serializers.DateTimeField(help_text="When it was opened.")
    updated_at = serializers.DateTimeField(help_text="Time of its last turn.")
    message_count = serializers.IntegerField(help_text="Turns on the path that the chat shows.")
    running_reply = serializers.UUIDField(
        allow_null=True, help_text="Id of the reply that is being written; null: none is."
    )
    remembers = serializers.BooleanField(help_text="Whether it takes part in memory.")
    match = MatchAnswer(
        required=False, allow_null=True, help_text="With `?q=` only: where the words stand; null: in the title alone."
    )


class ExchangeAnswer(serializers.Serializer[Any]):
    thread = serializers.UUIDField(help_text="Id of the thread.")
    user_message = MessageAnswer(help_text="The turn that was sent.")
    reply = ReplyAnswer(help_text="The attempt that answered it.")
    assistant_message = MessageAnswer(
        allow_null=True, help_text="The answer; null where it was stopped before its first word."
    )
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

    kind = serializers.ChoiceField(["message", "range", "memory", "topic", "summary"], help_text="What it is.")
    included = serializers.BooleanField(help_text="Whether the model was given it.")
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

    outcome = serializers.ChoiceField(RewritingOutcome.values, help_text="What became of asking for one.")
    query = serializers.CharField(
        allow_null=True,
        help_text="As it stands beside the message, with the mark that says whose it is; null: there is none.",
    )


class ProblemAnswer(serializers.Serializer[Any]):
    """A source that failed, and was left out."""

    source = serializers.CharField(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        help_text="`preferences`, `memory`, `today`, `open_threads`, `last_conversation` or `recall`; `size` where the request "
        "was too large for the model and was built once more."
    )
    kind = serializers.ChoiceField([kind.value for kind in ProblemKind], help_text="What went wrong with it.")
    message = serializers.CharField(help_text="In words.")


class CacheAnswer(serializers.Serializer[Any]):
    """What is expected of the provider's prompt cache."""

    state = serializers.ChoiceField(CacheState.values, help_text="What is expected of it, in a word.")
    marks = serializers.ListField(
        child=serializers.ChoiceField([SYSTEM, MESSAGE]), help_text="What a mark stands after, as far as one pays."
    )
    expected = serializers.IntegerField(help_text="Tokens that should be read from it.")
    lifetime = serializers.ChoiceField(
        list(LIVES), help_text="How long its entries live: what costs less with the person's latest pauses."
    )
    cost_five_minutes = serializers.FloatField(
        allow_null=True,
        help_text="What the prompts after these pauses cost with entries of five minutes, as a part of the price without a "
        "cache; null where there are too few pauses.",
    )
    cost_hour = serializers.FloatField(allow_null=True, help_text="The same with entries of an hour.")


class TimingsAnswer(serializers.Serializer[Any]):
    """Milliseconds that building the context took."""

    history = serializers.FloatField(help_text="Milliseconds for reading and cutting the history.")
    memory = serializers.FloatField(help_text="Milliseconds for memory, the tiers and recall.")
    rewrite = serializers.FloatField(help_text="Milliseconds for the contextualised query.")
    tokens = serializers.FloatField(help_text="Milliseconds for counting tokens.")
    total = serializers.FloatField(help_text="Milliseconds from the start to the end of building.")


class UsageAnswer(serializers.Serializer[Any]):
    """Tokens as the provider reports them; 0 until then."""

    input_tokens = serializers.IntegerField(help_text="Neither read from the prompt cache nor written to it.")
    output_tokens = serializers.IntegerField(help_text="Tokens that the model wrote.")
    cache_read_input_tokens = serializers.IntegerField(help_text="Tokens read from the prompt cache.")
    cache_creation_input_tokens = serializers.IntegerField(help_text="Tokens written to the prompt cache.")
    cache_creation_1h_input_tokens = serializers.IntegerField(help_text="Of these, tokens that stay there for an hour.")
    thinking_tokens = serializers.IntegerField(help_text="Of the tokens that the model wrote, its thinking.")


class ThinkingAnswer(serializers.Serializer[Any]):
    """What a request says of thinking, which counts as output."""

    mode = serializers.ChoiceField(
        [*get_args(Mode)], help_text="The Messages API's word. Empty: nothing is said, and the model does not think."
    )
    display = serializers.ChoiceField(
        [*get_args(Display)], help_text="What it shows of it: `summarized`, or `omitted`. Empty: nothing is said of it."
    )
    effort = serializers.ChoiceField(["", *Effort.values], help_text="Empty: the model's default.")
    room = serializers.IntegerField(help_text="Tokens of `max_tokens` that are meant for thinking, not for the answer.")


class DuplicatesAnswer(serializers.Serializer[Any]):
    rules = serializers.BooleanField(help_text="The system text says when to make an artifact.")
    tool_wording = serializers.BooleanField(help_text="Tools were offered, with their wording.")
    filtered_turns = serializers.IntegerField(help_text="Turns left out because their artifact was made.")
    silent = serializers.BooleanField(help_text="A preset's request, which enters no thread.")


class SnapshotAnswer(serializers.Serializer[Any]):
    """What one model request was given, what was left out and why."""

    id = serializers.UUIDField(allow_null=True, help_text="Null: a preview, nothing is stored.")
    thread = serializers.UUIDField(allow_null=True, help_text="Id of the thread; null: a preview for a new one.")
    message = serializers.UUIDField(allow_null=True, help_text="The turn to answer.")
    reply = serializers.UUIDField(allow_null=True, help_text="Null: a preview, or of no reply.")
    purpose = serializers.ChoiceField(
        ContextSnapshot.Purpose.values,
        help_text="`rewrite` asks a small model for the contextualised query only, `consolidation` for what to remember.",
    )
    round = serializers.IntegerField(help_text="Which request of the reply, or which attempt, from 1.")
    created_at = serializers.DateTimeField(help_text="When it was recorded, before the model was called.")
    provider = serializers.CharField(help_text="`anthropic`, `claude_cli` or `offline`.")
    model = serializers.CharField(help_text="The provider's name of the model.")
    fallback_for = serializers.CharField(
        allow_null=True, help_text="The model that declined, where this one was asked in its place."
    )
    max_tokens = serializers.IntegerField(help_text="Most tokens of its answer and of thinking together.")
    thinking = ThinkingAnswer(help_text="How it thinks.")
    digest = serializers.CharField(help_text="SHA-256 of the request as canonical JSON.")
    message_history_count = serializers.IntegerField(help_text="Earlier turns that it was given.")
    message_history_tokens = serializers.IntegerField(help_text="Estimated tokens of these.")
    today_summary_present = serializers.BooleanField(help_text="Whether it was given what was said earlier that day.")
    open_threads_count = serializers.IntegerField(help_text="Unresolved topics that it was given.")
    last_conversation_present = serializers.BooleanField(
        help_text="Whether it was given the summary of the last conversation."
    )
    total_tokens = serializers.IntegerField(
        help_text="Tokens of everything, estimated before the model is asked, in the model's own count, as all here."
    )
    token_factor = serializers.FloatField(
        help_text="The model's tokens for each that the estimate counts: learnt from what it reported, or as shipped."
    )
    budget = serializers.IntegerField(help_text="Tokens of the model that it should take.")
    hard_cap = serializers.IntegerField(help_text="Tokens of the model that it never exceeds.")
    sections = SectionAnswer(many=True, help_text="Its parts, in the order sent.")
    items = ItemAnswer(many=True, help_text="Each turn, memory, topic and summary exactly once.")
    rewriting = RewritingAnswer(help_text="What became of the message's contextualised query.")
    against_duplicates = DuplicatesAnswer(help_text="What kept artifacts from being made twice.")
    problems = ProblemAnswer(many=True, help_text="Sources that failed; the reply goes on without them.")
    cache = CacheAnswer(allow_null=True, help_text="Null where there is nothing to tell.")
    diagnostics = serializers.DictField(
        allow_null=True, help_text="What the provider says about its prompt cache, and its program about itself."
    )
    request = serializers.DictField(
        allow_null=True, help_text="Exactly what the provider is given; null once any of it was deleted or forgotten."
    )
    forgotten_at = serializers.DateTimeField(
        allow_null=True, help_text="When any of it was last forgotten at the person's wish."
    )
    timings_ms = TimingsAnswer(help_text="Milliseconds.")
    thinking_ms = serializers.IntegerField(
        allow_null=True,
        help_text="Milliseconds that the model thought; null where it didn't, or where nothing came of it yet.",
    )
    first_token_ms = serializers.IntegerField(
        allow_null=True, help_text="Milliseconds until the first word, or tool call, that could be seen."
    )
    usage = UsageAnswer(help_text="Tokens as reported.")
    stop_reason = serializers.CharField(help_text="The provider's; empty until it ends.")
    stop_details = serializers.DictField(
        allow_null=True,
        help_text="What the provider says about why it declined, as it came: type, category, explanation.",
    )
    status = serializers.ChoiceField(ContextSnapshot.Status.values, help_text="How it went.")
    error = serializers.DictField(allow_null=True, help_text="The error object of a request that failed; else null.")


class AssistantAnswer(serializers.ModelSerializer[Assistant]):
    class Meta:
        model = Assistant
        fields = ["slug", "name", "description"]
        extra_kwargs = {"name": {"help_text": "As people are shown it."}}


class ImportedMessage(serializers.Serializer[Any]):
    """The order of the list is the order of the turns."""

    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    role = serializers.ChoiceField(["user", "assistant"], help_text="Whose turn it is.")
    content = serializers.JSONField(help_text="A text, or a list of content blocks of the Messages API.")
    created_at = serializers.DateTimeField(
        required=False, help_text="Without it: as the message before; without a time zone: UTC."
    )
    status = serializers.ChoiceField(
        ["complete", "incomplete", "refused", "stopped", "interrupted", "failed"],
        default="complete",
        help_text="How it ended; of a user's message `complete`, or `refused` where a model declined to answer it.",
    )
    offline = serializers.BooleanField(
        required=False, help_text="`true`: words of the offline responder, which no model is given."
    )


class ImportedVersion(serializers.Serializer[Any]):
    content = serializers.CharField(help_text="1 to 500,000 characters, unless the operator set another limit.")
    created_at = serializers.DateTimeField(required=False, help_text="Without it: as the version before.")
    origin = serializers.ChoiceField(
        ArtifactVersion.Origin.choices, default=ArtifactVersion.Origin.PROGRAM, help_text="Who made it."
    )
    message = serializers.JSONField(
        required=False,
        help_text="The assistant's message that made it: its id, or its place in the list from 1 on.",
    )


class ImportedArtifact(serializers.Serializer[Any]):
    """With `versions`, what `message` and `origin` beside them say does not count."""

    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    title = serializers.CharField(max_length=200, help_text="1 to 200 characters.")
    kind = serializers.ChoiceField(Kind.choices, default=Kind.DOCUMENT, help_text="What it is.")
    language = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Of code: python, sql …"
    )
    preset = serializers.CharField(required=False, allow_blank=True, help_text="The preset that made it; else empty.")
    after_position = serializers.IntegerField(
        required=False, min_value=0, help_text="Place of the newest message when it was made, from 1 on."
    )
    content = serializers.CharField(required=False, help_text="The only version, or once more the last of `versions`.")
    versions = ImportedVersion(many=True, required=False, help_text="The newest last.")
    created_at = serializers.DateTimeField(
        required=False, help_text="Without it: that of its first version, or of the thread."
    )
    origin = serializers.ChoiceField(
        ArtifactVersion.Origin.choices, default=ArtifactVersion.Origin.PROGRAM, help_text="Who made it."
    )
    message = serializers.JSONField(
        required=False,
        help_text="The assistant's message that made it: its id, or its place in the list from 1 on.",
    )


class ImportedSummary(serializers.Serializer[Any]):
    """Of a part of a thread. The days that `GET days/` lists are made of them."""

    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    first = serializers.IntegerField(min_value=1, help_text="Place of its first message in the list, from 1 on.")
    last = serializers.IntegerField(min_value=1, help_text="Place of its last message.")
    text = serializers.CharField(max_length=10_000, allow_blank=True, help_text="What was talked of.")
    key_moments = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="What mattered most, a sentence each."
    )
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages that it rests on."
    )
    started_at = serializers.DateTimeField(required=False, help_text="Without it: that of its first message.")
    ended_at = serializers.DateTimeField(required=False, help_text="Without it: that of its last message.")
    made_by = serializers.CharField(required=False, max_length=80, help_text="The model that wrote it, or `rules`.")
    made_at = serializers.DateTimeField(required=False, help_text="Without it: the time of the import.")
    stale_since = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Since when it waits to be made anew."
    )


class ImportedThread(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    title = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text="Without it: from the first message of the user."
    )
    assistant = serializers.SlugField(required=False, help_text="Without it: the default one.")
    created_at = serializers.DateTimeField(required=False, help_text="Without it: that of the first message.")
    messages = ImportedMessage(many=True, required=False, help_text="The oldest first.")
    artifacts = ImportedArtifact(many=True, required=False, help_text="What was made in it.")
    remembers = serializers.BooleanField(required=False, help_text="`false`: nothing of it is remembered.")
    summaries = ImportedSummary(many=True, required=False, help_text="Without them they are made after a while.")


class ImportedMemory(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    content = serializers.CharField(max_length=10_000, help_text="1 to 10,000 characters.")
    tags = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        help_text="`user:…` becomes the caller's own; `thread:…` stays where the thread is in the document.",
    )
    source = serializers.UUIDField(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        required=False,
        allow_null=True,
        help_text="The message of the document that it comes from: the first of `sources`.",
    )
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages of the document that it comes from."
    )
    origin = serializers.ChoiceField(Memory.Origin.choices, required=False, help_text="`program` unless it is told.")
    created_at = serializers.DateTimeField(required=False, help_text="Without it: the time of the import.")
    valid_from = serializers.DateTimeField(required=False, allow_null=True, help_text="Since when it holds.")
    valid_until = serializers.DateTimeField(
        required=False, allow_null=True, help_text="No session that begins then or later is given it."
    )
    ended_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="When it was replaced or called untrue."
    )


class ImportedTopic(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False, help_text="Kept; a new one without it.")
    title = serializers.CharField(max_length=200, help_text="At most 200 characters.")
    thread = serializers.UUIDField(
        required=False, allow_null=True, help_text="The thread of the document in which it was begun."
    )
    sources = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="The messages that opened it."
    )
    opened_at = serializers.DateTimeField(required=False, help_text="Without it: the time of the import.")
    resolved_at = serializers.DateTimeField(required=False, allow_null=True, help_text="Without it: it is still open.")


class ImportedPreferences(serializers.Serializer[Any]):
    """They count where the caller has not chosen yet."""

    time_zone = serializers.CharField(required=False, help_text="As in `Europe/Lisbon`.")
    remembers = serializers.BooleanField(required=False, help_text="`false`: nothing is remembered.")


class Book(serializers.Serializer[Any]):
    """A document of the format `openbook/1`. What it holds beyond these fields is ignored."""

    format = serializers.ChoiceField(["openbook/1"], help_text="Name and version of the format.")
    threads = ImportedThread(many=True, required=False, help_text="Conversations, with their artifacts.")
    memories = ImportedMemory(many=True, required=False, help_text="What is remembered of the person.")
    topics = ImportedTopic(many=True, required=False, help_text="What was talked of, across conversations.")
    preferences = ImportedPreferences(required=False, help_text="Those of the person; they count where there are none.")


class ImportedThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Id of the thread.")
    message_count = serializers.IntegerField(help_text="Turns that it has.")


class ImportAnswer(serializers.Serializer[Any]):
    threads = ImportedThreadAnswer(many=True, help_text="In the order of the document.")
    memories = serializers.IntegerField(help_text="How many were stored.")
    left_out = serializers.IntegerField(
        required=False, help_text="Conversations of another product's export in which nothing was said, if any."
    )
