"""One row of everything that a person can have, with one word in all of their texts, to find it where it must not be."""

from datetime import timedelta
from typing import Any

from allauth.socialaccount.models import SocialApp
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import models
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from artifacts.models import Preset
from conversations import audit
from conversations.accounts import service_accounts
from conversations.accounts.tokens import issue
from conversations.models import (
    Assistant,
    AuditEvent,
    AuditKind,
    Banner,
    Budget,
    Connection,
    ContentAccess,
    Dataset,
    Experiment,
    HeldRow,
    Instructions,
    Invitation,
    LegalHold,
    LintFinding,
    McpCall,
    McpServer,
    McpSignIn,
    McpTool,
    Message,
    ModerationFinding,
    Moderator,
    Notice,
    OutgoingMail,
    Project,
    Prompt,
    Replay,
    RetentionRule,
    Schedule,
    ServiceAccount,
    Share,
    SharedPrompt,
    Thread,
    Webhook,
    WebhookDelivery,
)
from conversations.models import Model as LanguageModel
from conversations.webhooks import webhooks
from memory.models import Consolidation
from memory.tasks import consolidate_user
from tests.artifacts.factories import make_artifact
from tests.conversations.connections import make_connection
from tests.conversations.factories import (
    make_dataset,
    make_experiment,
    make_feedback,
    make_file,
    make_finding,
    make_invitation,
    make_lint_finding,
    make_mcp_call,
    make_mcp_sign_in,
    make_moderator,
    make_project,
    make_prompt,
    make_replay,
    make_reply,
    make_schedule,
    make_share,
    make_shared_prompt,
    make_snapshot,
    make_thread,
    make_webhook,
)
from tests.memory.factories import make_daily_summary, make_memory, make_thread_summary, make_topic

NEEDLE = "Xylophonist"

type Row = dict[str, object]
"""Primary keys by the name of the model, as the admin writes it: ``conversations_thread``."""


def make_ended_hold(person: User) -> LegalHold:
    now = timezone.now()
    return LegalHold.objects.create(
        user=person,
        user_name=person.username,
        subject=str(person.pk),
        reason="A lawsuit",
        began_at=now,
        began_by="root",
        ended_at=now,
        released_at=now,
    )


def belongings(person: User) -> Row:
    """One row of every model that the admin knows, the needle in all that a person can have written or caused."""
    earlier = make_thread(person, [f"I was a {NEEDLE}.", "I see."], title=NEEDLE, instructions=NEEDLE)
    turn = earlier.messages.get(position=1)
    now = earlier.created_at
    told: dict[str, Any] = {"text": f"Was a {NEEDLE}.", "key_moments": [NEEDLE]}
    part = make_thread_summary(earlier, now, sources=[turn.id], **told)
    memory = make_memory(person, f"A {NEEDLE}.", tags=[NEEDLE, f"user:{person.pk}"], sources=[turn.id])
    said = [f"Was I a {NEEDLE}?", f"Yes, a {NEEDLE}.", NEEDLE]
    thread = make_thread(person, said, title=NEEDLE, tags=[NEEDLE], instructions=NEEDLE)
    error = {"type": "model", "code": "invalid_request", "message": NEEDLE, "details": {"quoted": NEEDLE}}
    refusal = {"type": "refusal", "category": "cyber", "explanation": NEEDLE}
    reply = make_reply(thread, status="failed", error=error)
    snapshot = make_snapshot(
        reply=reply,
        status="failed",
        error=error,
        stop_reason="refusal",
        stop_details=refusal,
        diagnostics={"x": NEEDLE},
    )
    issue(user=person, name="script")
    file = make_file(
        person, NEEDLE.encode(), name=NEEDLE, title=NEEDLE, parts=[NEEDLE], picture=NEEDLE.encode(), error=error
    )
    file.left_out = [{"what": "chart", "why": "not_read", "count": 1, "places": [NEEDLE]}]
    file.save()
    file.parts.update(label=NEEDLE, heading=NEEDLE)
    blocks = [{"type": "text", "text": NEEDLE}, {"type": "tool_use", "id": "1", "name": "x", "input": {"q": NEEDLE}}]
    count = {"token_count": 1, "token_total": 99, "position": 4, "depth": 4, "parent": thread.messages.get(position=3)}
    message = Message.objects.create(
        thread=thread,
        user=person,
        role="assistant",
        text=NEEDLE,
        content=blocks,
        citations=[{"text": f"[{NEEDLE}, p. 1]", "file": str(file.pk), "name": NEEDLE, "part": 1, "given": True}],
        reply=snapshot.reply,
        created_at=now,
        client_message_id=NEEDLE,
        model=NEEDLE,
        **count,
    )
    Instructions.objects.create(user=person, about=NEEDLE, style=NEEDLE, updated_at=now)
    feedback = make_feedback(message, reason="other", text=NEEDLE, request=snapshot)
    consolidate_user.enqueue(person.pk)
    rows: dict[type[models.Model], object] = {
        Thread: thread.pk,
        Message: message.pk,
        type(snapshot): snapshot.pk,
        type(feedback): feedback.pk,
        apps.get_model("conversations", "Reply"): snapshot.reply_id,
        apps.get_model("conversations", "ApiToken"): person.api_tokens.get().pk,
        Assistant: Assistant.objects.get(slug="companion").pk,
        Connection: (Connection.objects.first() or make_connection("https://models.example")).pk,
        SocialApp: SocialApp.objects.get_or_create(
            provider="openid_connect", provider_id="a-row", defaults={"name": "A row", "client_id": "openbook"}
        )[0].pk,
        LanguageModel: LanguageModel.objects.get(provider="offline").pk,
        ContentAccess: looked(person).pk,
        AuditEvent: audit.record(AuditKind.SIGN_IN, actor=person, target=person).pk,
        apps.get_model("artifacts", "Artifact"): make_artifact(
            thread, NEEDLE, f"{NEEDLE}s", title=NEEDLE, language=NEEDLE, reply_id=snapshot.reply_id
        ).pk,
        Preset: Preset.objects.get(slug="brd").pk,
        type(memory): memory.pk,
        type(part): part.pk,
        apps.get_model("memory", "DailySummary"): make_daily_summary(person, "2026-11-20", parts=[part.pk], **told).pk,
        apps.get_model("memory", "Topic"): make_topic(person, NEEDLE, thread=thread, sources=[turn.id]).pk,
        type(file): file.pk,
        Prompt: make_prompt(person, NEEDLE, name=NEEDLE).pk,
        Schedule: make_schedule(person, NEEDLE, thread=thread).pk,
        SharedPrompt: make_shared_prompt().pk,
        Notice: Notice.objects.get_or_create(title="A draft", text="Be kind.", version=None)[0].pk,
        Banner: Banner.objects.get_or_create(
            text="It was so.", defaults={"starts_at": now - timedelta(days=1), "ends_at": now}
        )[0].pk,
        Moderator: (Moderator.objects.first() or make_moderator(is_active=False)).pk,
        ModerationFinding: make_finding(reply).pk,
        Dataset: make_dataset(snapshot).pk,
        Experiment: (Experiment.objects.first() or make_experiment(make_dataset())).pk,
        LintFinding: (LintFinding.objects.first() or make_lint_finding(example=snapshot)).pk,
        Replay: (Replay.objects.first() or make_replay()).pk,
        Budget: Budget.objects.create(group=Group.objects.create(name=f"of {person.pk}")).pk,
        Project: make_project(person, NEEDLE, instructions=NEEDLE).pk,
        LegalHold: make_ended_hold(person).pk,
        HeldRow: HeldRow.objects.create(
            user=person,
            thread_id=thread.pk,
            kind="conversations.Message",
            row_id=str(message.pk),
            data={"text": NEEDLE},
            digest=bytes(32),
            place=file.place,
            held_at=now,
        ).pk,
        RetentionRule: RetentionRule.objects.get_or_create(kind="accesses", defaults={"days": 0})[0].pk,
        Share: make_share(thread, title=True).pk,
        Invitation: make_invitation(person).pk,
        McpCall: (call := make_mcp_call(thread, reply=snapshot.reply_id, call_id="1")).pk,
        McpTool: call.tool_id,
        McpServer: call.tool.server_id,
        McpSignIn: make_mcp_sign_in(call.tool.server, person).pk,
        Webhook: (webhook := make_webhook(person)).pk,
        WebhookDelivery: webhooks.ping(webhook).pk,
        OutgoingMail: OutgoingMail.objects.create(
            user=person, kind="plain", recipient="x@example.org", content=b"x", created_at=now, due_at=now
        ).pk,
        Consolidation: Consolidation.objects.create(user=person).pk,
        User: person.pk,
        Group: Group.objects.get(name="Support").pk,
        ServiceAccount: service_accounts.make(username=f"program of {person}", purpose="a program").pk,
        DBTaskResult: DBTaskResult.objects.get().pk,
    }
    return {model._meta.label_lower.replace(".", "_"): pk for model, pk in rows.items()}


def looked(user: User, **values: Any) -> ContentAccess:
    now = timezone.now()
    given = {"at": now, "action": "read", "what": "thread", "object_id": "x", "reason": "Ticket 7", "request_id": "r"}
    return ContentAccess.objects.create(staff=user, user=user, **{"staff_name": "kim"} | given | values)
