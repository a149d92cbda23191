"""Rows for tests, with every count as the application would have stored it."""

import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import accumulate, count
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from conversations.context.builder import build_context
from conversations.context.built_context import Context
from conversations.context.files.ranking import part_terms
from conversations.context.gather.material import BuildRequest, ThreadScope
from conversations.context.record import snapshots
from conversations.context.sessions import Session
from conversations.context.tokens.estimate import estimate_tokens, turn_tokens
from conversations.context.turns.turn import Turn
from conversations.files import storage
from conversations.files.store import file_block
from conversations.mcp_client import servers
from conversations.models import (
    Assistant,
    Case,
    ContextBlock,
    ContextSnapshot,
    Dataset,
    Experiment,
    Feedback,
    File,
    FilePart,
    Invitation,
    LintFinding,
    McpCall,
    McpServer,
    McpSignIn,
    McpTool,
    Message,
    ModerationFinding,
    Moderator,
    Project,
    Prompt,
    Replay,
    Reply,
    Schedule,
    Share,
    SharedPrompt,
    Thread,
    TurnFile,
    Webhook,
    WebhookEvent,
    text_blocks,
)
from conversations.moderation import moderators
from conversations.providers import Provider
from conversations.providers.offline import OfflineProvider
from conversations.runtime.db import read_only
from conversations.runtime.ids import uuid7
from conversations.schedules import schedules
from conversations.schedules.schedules import Times
from conversations.sharing import shares
from conversations.sharing.shares import Shows, Terms
from conversations.webhooks import webhooks
from memory.scope import scope_of

numbers = count(1)


def make_user(username: str = "", **values: Any) -> User:
    return User.objects.create_user(username or f"user{next(numbers)}", **values)


def make_thread(user: User | None = None, turns: Sequence[str] = (), **values: Any) -> Thread:
    """A thread with turns of these texts, the user's and the assistant's in turn, beginning with the user's."""
    now = timezone.now()
    counts = {"message_count": len(turns), "last_position": len(turns)}
    assistant = Assistant.objects.get(slug="companion")
    values = {"assistant": assistant, "created_at": now, "updated_at": now} | counts | values
    thread = Thread.objects.create(user=user or make_user(), **values)
    Message.objects.bulk_create(chain(thread, turns))
    return thread


def chain(thread: Thread, texts: Sequence[str]) -> list[Message]:
    """Turns that follow one another, not stored yet."""
    tokens = [turn_tokens(text_blocks(text)) for text in texts]
    ids = [uuid7() for _ in texts]
    parents: list[uuid.UUID | None] = [None, *ids]
    return [
        Message(
            id=ids[index],
            thread=thread,
            user_id=thread.user_id,
            parent_id=parents[index],
            position=index + 1,
            depth=index + 1,
            role=[Message.Role.USER, Message.Role.ASSISTANT][index % 2],
            text=text,
            token_count=tokens[index],
            token_total=total,
            created_at=thread.created_at,
        )
        for index, (text, total) in enumerate(zip(texts, accumulate(tokens), strict=True))
    ]


def make_reply(thread: Thread | None = None, *, status: str = "completed", **values: Any) -> Reply:
    """A reply to the newest user turn of the thread."""
    thread = thread or make_thread(turns=["Hello?"])
    now = timezone.now()
    ended = None if status == Reply.Status.RUNNING else now
    question = thread.messages.filter(role=Message.Role.USER, is_active=True).latest("position")
    about = {"user_message": question, "owner": "test", "lease_until": now, "created_at": now, "ended_at": ended}
    return Reply.objects.create(thread=thread, user_id=thread.user_id, status=status, **about | values)


def make_dataset(*requests: ContextSnapshot, **expected: str) -> Dataset:
    """Of these requests, each with the same expectations; another name each."""
    dataset = Dataset.objects.create(name=f"dataset {uuid7()}", created_at=timezone.now())
    for each in requests:
        Case.objects.create(
            dataset=dataset, request=each, thread_id=each.thread_id, created_at=timezone.now(), **expected
        )
    return dataset


def make_experiment(dataset: Dataset, **values: Any) -> Experiment:
    """Of the first version, which is over."""
    now = timezone.now()
    about = {"versions": [1], "cases": dataset.cases.count(), "state": "done", "created_at": now, "ended_at": now}
    return Experiment.objects.create(dataset=dataset, **about | values)


def make_feedback(message: Message, **values: Any) -> Feedback:
    """What the person of an answer said of it."""
    now = timezone.now()
    about = {"thread_id": message.thread_id, "assistant_id": message.thread.assistant_id, "message": message}
    told = {"value": -1, "created_at": now, "updated_at": now}
    return Feedback.objects.create(user_id=message.thread.user_id, **about | told | values)


def make_snapshot(
    thread: Thread | None = None,
    *,
    reply: Reply | None = None,
    round: int = 1,
    provider: Provider | None = None,
    **end: Any,
) -> ContextSnapshot:
    """The model request of a reply, built and recorded as the application does it, and ended with these values."""
    reply = reply or make_reply(thread)
    snapshot = record(make_context(reply, provider), reply, round=round)
    end = {"status": ContextSnapshot.Status.COMPLETED, "ended_at": timezone.now()} | end
    ContextSnapshot.objects.filter(pk=snapshot.pk).update(**end)
    return ContextSnapshot.objects.get(pk=snapshot.pk)


def make_context(reply: Reply, provider: Provider | None = None, **options: Any) -> Context:
    """What a provider is given for a reply, the offline responder if none is named; not recorded."""
    question = reply.user_message
    assert question
    with read_only():
        return build_context(build_request(reply.thread, Turn.of(question), provider=provider, **options))


def build_request(
    thread: Thread,
    newest: Turn,
    *,
    provider: Provider | None = None,
    session: Session | None = None,
    at: datetime | None = None,
    **values: Any,
) -> BuildRequest:
    """For a context of this thread at a time, that of the turn if none is named."""
    at = at or newest.created_at
    assert at
    scope = ThreadScope(
        user_id=thread.user_id,
        thread_id=thread.id,
        session=session or Session(started_at=at),
        cleared_through=thread.cleared_through,
        memory=scope_of(thread.user_id, thread.project_id),
    )
    return BuildRequest(
        scope=scope,
        assistant=thread.assistant,
        provider=provider or OfflineProvider(),
        newest=newest,
        at=at,
        **values,
    )


def record(context: Context, reply: Reply, *, round: int = 1) -> ContextSnapshot:
    """The request of a reply, which may have ended."""
    snapshot = snapshots.of_reply(context, reply, round=round)
    ContextBlock.objects.bulk_create(snapshots.blocks(context, snapshot), ignore_conflicts=True)
    snapshot.save(force_insert=True)
    return snapshot


def make_file(
    user: User, content: bytes = b"words", *, parts: Sequence[str] = (), picture: bytes = b"", **values: Any
) -> File:
    """A file whose bytes lie in the storage, with parts of these texts; the first one has the picture."""
    values = {"name": "notes.txt", "kind": "text", "media_type": "text/plain", "created_at": timezone.now()} | values
    counts = {"size": len(content), "sha256": sha256(content).digest(), "parts_read": len(parts)}
    tokens = [estimate_tokens(text) for text in parts]
    places = [keep_bytes(each) for each in (content, picture) if each]
    with transaction.atomic():
        file = File.objects.create(user=user, place=places[0], token_count=sum(tokens), **counts | values)
        FilePart.objects.bulk_create(
            FilePart(
                file=file,
                number=number,
                label=f"section {number}",
                text=text,
                token_count=tokens[number - 1],
                terms=part_terms(user.pk, f"section {number}", text),
                picture=places[1] if picture and number == 1 else "",
            )
            for number, text in enumerate(parts, 1)
        )
        storage.claim(places)
    return file


def make_thread_with_file(
    user: User,
    parts: Sequence[str],
    *,
    turns: Sequence[str] = ("Read this.", "I did."),
    name: str = "report.pdf",
    **values: Any,
) -> tuple[Thread, File]:
    """A thread whose first turn brought a file, with all of it."""
    thread = make_thread(user, **{"message_count": len(turns), "last_position": len(turns)} | values)
    known: dict[str, Any] = {"kind": "pdf", "media_type": "application/pdf", "state": File.State.READY}
    file = make_file(user, parts=parts, thread=thread, name=name, **known)
    messages = chain(thread, turns)
    messages[0].content = [file_block(file), *messages[0].blocks]
    Message.objects.bulk_create(messages)
    numbers = list(range(1, len(parts) + 1))
    TurnFile.objects.create(thread=thread, position=1, place=0, file=file, numbers=numbers, outlined=False)
    return thread, file


def make_share(thread: Thread, **shows: bool) -> Share:
    """A link to the thread up to its newest turn, wherever sharing is off, too."""
    with override_settings(OPENBOOK_SHARING=True):
        return shares.of_thread(thread, Terms(shows=Shows(**shows)))


def make_webhook(user: User, *events: str, url: str = "https://hooks.example.org/openbook") -> Webhook:
    return webhooks.create(user, name="Tickets", url=url, events=events or WebhookEvent.values)[0]


def make_mcp_call(thread: Thread, *, reply: uuid.UUID | None = None, call_id: str = "toolu_1") -> McpCall:
    """A call of a tool of a server of the person's, which waits for an answer."""
    name = f"tickets-{secrets.token_hex(4)}"
    server = servers.create(thread.user, name=name, url="https://tickets.example.org/mcp")
    tool = McpTool.objects.create(server=server, name="create", schema={"type": "object"}, read_only=False, digest="d")
    return McpCall.objects.create(
        user=thread.user,
        thread=thread,
        tool=tool,
        reply_id=reply or uuid7(),
        call_id=call_id,
        tool_digest="d",
        input_digest="d",
        state=McpCall.State.ASKED,
    )


def make_mcp_sign_in(server: McpServer, user: User) -> McpSignIn:
    return McpSignIn.objects.create(user=user, server=server, issuer="https://id.example.org/")


def make_schedule(
    user: User, content: str = "What is new?", *, thread: Thread | None = None, when: Times | None = None
) -> Schedule:
    """Sent once, tomorrow, unless it says when."""
    when = when or Times(at=timezone.now() + timedelta(days=1))
    return schedules.create(user, content=content, when=when, thread=thread.id if thread else None)


def keep_bytes(content: bytes) -> str:
    """Its place in the storage of files."""
    path = storage.scratch_root() / uuid7().hex
    path.write_bytes(content)
    return storage.keep(path)


def make_prompt(user: User, text: str = "Tell me about {{topic}}.", name: str = "Topic") -> Prompt:
    now = timezone.now()
    return Prompt.objects.create(user=user, name=name, text=text, created_at=now, updated_at=now)


def make_shared_prompt(text: str = "Sum up {{what}}.", name: str = "Summary") -> SharedPrompt:
    now = timezone.now()
    return SharedPrompt.objects.create(name=name, text=text, created_at=now, updated_at=now)


def make_moderator(**values: Any) -> Moderator:
    """A list that refuses messages that name a falcon, unless they say otherwise. It counts at once."""
    given = {
        "name": "Projects",
        "kind": Moderator.Kind.PATTERNS,
        "patterns": "falcon",
        "action": "refuse",
        "seconds": 60,
    }
    row = Moderator.objects.create(**given | values)
    moderators.reread()
    return row


def make_finding(reply: Reply) -> ModerationFinding:
    return ModerationFinding.objects.create(
        at=timezone.now(),
        user_id=reply.user_id,
        thread_id=reply.thread_id,
        reply=reply,
        stage="message",
        moderator="Projects",
        result="marked",
        labels=["line 1"],
        milliseconds=1,
    )


def make_lint_finding(**values: Any) -> LintFinding:
    """What the linter found in the companion's requests: a tool that nobody called."""
    now = timezone.now()
    about = {"rule": "unused_tool", "subject": "draw_chart", "setting": "tools", "count": 40, "tokens_month": 4_000}
    times = dict.fromkeys(("first_seen_at", "seen_at", "state_since"), now)
    return LintFinding.objects.create(assistant=Assistant.objects.get(slug="companion"), **about | times | values)


def make_replay(**values: Any) -> Replay:
    """Of the companion, as this release of the code."""
    now = timezone.now()
    about = {"since": now, "created_at": now, "ended_at": now, "requests": 0, "state": "done"}
    return Replay.objects.create(assistant=Assistant.objects.get(slug="companion"), **about | values)


def make_project(user: User, name: str = "Garden", **values: Any) -> Project:
    now = timezone.now()
    return Project.objects.create(user=user, name=name, **{"created_at": now, "updated_at": now} | values)


def make_invitation(maker: User, **fields: Any) -> Invitation:
    now = timezone.now()
    values = {"digest": secrets.token_bytes(32), "created_at": now, "expires_at": now + timedelta(days=1)} | fields
    return Invitation.objects.create(made_by=maker, **values)
