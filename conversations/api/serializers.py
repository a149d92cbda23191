"""What the API takes. What it gives is in ``conversations.wire``, shared with the socket."""

from typing import Any

from rest_framework import serializers

from conversations.models import Assistant
from conversations.text import one_line


class TokenRequest(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=4_096, trim_whitespace=False)
    name = serializers.CharField(max_length=80, default="API", help_text="What you recognise it by.")


class TokenAnswer(serializers.Serializer[Any]):
    token = serializers.CharField(help_text="Shown once. Use it as `Authorization: Token …`.")


class ThreadFields(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
    assistant = serializers.SlugField(
        required=False, help_text="`companion` (default), `analyst`, or one that staff made."
    )

    def validate_title(self, title: str) -> str:
        return one_line(title)


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


class ThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    title = serializers.CharField()
    assistant = serializers.SlugField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    message_count = serializers.IntegerField()
    running_reply = serializers.UUIDField(allow_null=True)


class ExchangeAnswer(serializers.Serializer[Any]):
    thread = serializers.UUIDField()
    user_message = MessageAnswer()
    reply = ReplyAnswer()
    assistant_message = MessageAnswer(allow_null=True)
    request = serializers.UUIDField(allow_null=True, help_text="The model request; read it at requests/{id}/.")


class SnapshotAnswer(serializers.Serializer[Any]):
    """What one model request was given, what was left out and why."""

    id = serializers.UUIDField(allow_null=True)
    thread = serializers.UUIDField(allow_null=True)
    message = serializers.UUIDField(allow_null=True)
    reply = serializers.UUIDField(allow_null=True)
    round = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    provider = serializers.CharField()
    model = serializers.CharField()
    digest = serializers.CharField(help_text="SHA-256 of the request as canonical JSON.")
    message_history_count = serializers.IntegerField()
    message_history_tokens = serializers.IntegerField(help_text="Estimated tokens.")
    today_summary_present = serializers.BooleanField()
    open_threads_count = serializers.IntegerField()
    last_conversation_present = serializers.BooleanField()
    total_tokens = serializers.IntegerField(help_text="Estimated tokens of everything.")
    budget = serializers.IntegerField()
    hard_cap = serializers.IntegerField()
    sections = serializers.ListField(child=serializers.DictField())
    items = serializers.ListField(child=serializers.DictField())
    request = serializers.DictField(
        allow_null=True, help_text="Exactly what the provider is given; null once forgotten."
    )
    timings_ms = serializers.DictField()
    usage = serializers.DictField()
    stop_reason = serializers.CharField()
    status = serializers.CharField()
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


class ImportedArtifact(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    title = serializers.CharField(max_length=200)
    kind = serializers.ChoiceField(["document", "code", "html", "svg", "mermaid", "table"], default="document")
    content = serializers.CharField()
    created_at = serializers.DateTimeField(required=False)
    message = serializers.JSONField(
        required=False, help_text="The assistant's message that made it: its id, or its place in the list from 1 on."
    )


class ImportedThread(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    title = serializers.CharField(
        max_length=200, required=False, allow_blank=True, help_text="Without it: from the first message of the user."
    )
    assistant = serializers.SlugField(required=False, help_text="Without it: the default one.")
    created_at = serializers.DateTimeField(required=False, help_text="Without it: that of the first message.")
    messages = ImportedMessage(many=True, required=False)
    artifacts = ImportedArtifact(many=True, required=False)


class ImportedMemory(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False)
    content = serializers.CharField(max_length=10_000)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        help_text="`user:…` becomes the caller's own; `thread:…` stays where the thread is in the document.",
    )
    source = serializers.UUIDField(  # type: ignore[assignment]  # DRF moves fields out of the class, so nothing is hidden
        required=False, help_text="The message of the document that it comes from."
    )
    created_at = serializers.DateTimeField(required=False)
    valid_until = serializers.DateTimeField(required=False)


class Book(serializers.Serializer[Any]):
    """A document of the format `openbook/1`. What it holds beyond these fields is ignored."""

    format = serializers.ChoiceField(["openbook/1"])
    threads = ImportedThread(many=True, required=False)
    memories = ImportedMemory(many=True, required=False)


class ImportedThreadAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    message_count = serializers.IntegerField()


class ImportAnswer(serializers.Serializer[Any]):
    threads = ImportedThreadAnswer(many=True, help_text="In the order of the document.")
    memories = serializers.IntegerField(help_text="How many were stored.")
