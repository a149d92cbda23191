"""What a user's replies take of a day's tokens, and how many run: one row decides, and the replies' own rows say what is right.
A token that has limits of its own has a row of the same kind, so that both decide.

The statement that stores a reply reserves what it may take, the one that ends it puts what was used in its place. Nothing is
locked while the model is called. A reply that a dead process left behind gives back its share when it is ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery

from conversations.accounts.limits import RUNNING, TOKEN, TOKENS, USER, Limits, limits_of, limits_of_token
from conversations.errors import RateLimited
from conversations.models import Allowance, ApiToken, Message, Reply, Thread
from conversations.providers.base import COUNTED_TOKENS
from conversations.runtime import clock

SOON_SECONDS = 5
"""When to try again where it depends on the end of a reply."""
TOO_LITTLE = {
    USER: "ask the people who run this server for a higher limit.",
    TOKEN: "make a token with a higher limit.",
}


@dataclass(frozen=True, kw_only=True)
class AllowanceUse:
    """What a user uses, or a token: replies that run, and today's tokens, used and set aside."""

    running: int
    spent: int
    reserved: int


def use_of(user_id: int, token_id: int | None = None) -> AllowanceUse:
    """As the row has it: the user's, or that of a token with limits of its own."""
    row = Allowance.objects.filter(user_id=user_id, token_id=token_id).first()
    if row is None:
        return AllowanceUse(running=0, spent=0, reserved=0)
    return AllowanceUse(running=row.running, spent=row.spent if row.day == _today() else 0, reserved=row.reserved)


def recounted(user_id: int, token_id: int | None = None) -> AllowanceUse:
    """As the replies have it; the row is put right. What was used today is never forgotten with a deleted thread."""
    with transaction.atomic():
        today = _today()
        whose = {"user_id": user_id, "token_id": token_id}
        Allowance.objects.bulk_create([Allowance(**whose, day=today)], ignore_conflicts=True)
        # Whoever begins or ends a reply writes this row in the same statement: what is read under its lock is complete.
        row = Allowance.objects.select_for_update().get(**whose)
        replies = _of(user_id, token_id)
        spent = _spent_since(replies, user_id, datetime.combine(today, datetime.min.time(), UTC))
        running = list(replies.filter(status=Reply.Status.RUNNING).values_list("reserved", flat=True))
        row.spent = max(spent, row.spent if row.day == today else 0)
        row.day, row.running, row.reserved = today, len(running), sum(running)
        Allowance.objects.filter(**whose).update(
            day=today,
            spent=row.spent,
            running=row.running,
            reserved=row.reserved,
            most_running=None,
            most_tokens=None,
        )
    return AllowanceUse(running=row.running, spent=row.spent, reserved=row.reserved)


def note_forgetting(user_id: int) -> None:
    """In the transaction that forgets, after the locks of threads and before anything is looked for: whoever stores a reply
    that was built before waits for its end, and builds anew."""
    own = Allowance.objects.filter(user_id=user_id, token=None)
    if not own.update(forgettings=F("forgettings") + 1):
        recounted(user_id)
        own.update(forgettings=F("forgettings") + 1)


def forgettings_of(user_id: int) -> int:
    known = Allowance.objects.filter(user_id=user_id, token=None).values_list("forgettings", flat=True)
    return known.first() or 0


def hold_forgettings(user_id: int, known: int) -> bool:
    """Whether nothing of the user's was forgotten since there were so many; then nothing is until the transaction ends."""
    row = Allowance.objects.select_for_update(no_key=True).filter(user_id=user_id, token=None)
    return (row.values_list("forgettings", flat=True).first() or 0) == known


def refuse_unless_room(user_id: int, token_id: int | None, tokens: int) -> None:
    """Raise ``RateLimited`` where a reply that may take so many tokens has no room, with its user or with its token."""
    limits = limits_of(User.objects.select_related("limits").get(id=user_id))
    if error := refusal(limits, recounted(user_id), tokens, clock.now()):
        raise error
    token = ApiToken.objects.filter(id=token_id).first() if token_id else None
    if token is None or not (token.running_replies or token.tokens_day):
        return
    if error := refusal(limits_of_token(token), recounted(user_id, token.pk), tokens, clock.now(), TOKEN):
        raise error


def refusal(limits: Limits, use: AllowanceUse, tokens: int, now: datetime, whose: str = USER) -> RateLimited | None:
    """What speaks against a reply that may take so many tokens."""
    if limits.running_replies and use.running >= limits.running_replies:
        by = " with this token" if whose == TOKEN else ""
        replies = "1 reply is" if use.running == 1 else f"{use.running:,} replies are"
        return RateLimited(
            f"{replies} running{by}, and {limits.running_replies:,} may at once. Wait until one has ended or "
            "stop one, then send again. Nothing was stored.",
            limit=RUNNING,
            whose=whose,
            most=limits.running_replies,
            used=use.running,
            retry_after=SOON_SECONDS,
        )
    if limits.tokens_day and use.spent + use.reserved + tokens > limits.tokens_day:
        fits_later = use.spent + tokens <= limits.tokens_day
        tomorrow = (now + timedelta(days=1)).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if tokens > limits.tokens_day:
            when = f"It would not fit into a whole day: {TOO_LITTLE[whose]}"
        elif fits_later:
            when = "Replies that run hold the rest: send again when they have ended."
        else:
            hours, minutes = divmod(int((tomorrow - now).total_seconds()) // 60, 60)
            when = f"A new day begins at 00:00 UTC, in {hours} h {minutes} min."
        those = f"{limits.tokens_day:,} tokens"
        day = f"The {those} a day of this token" if whose == TOKEN else f"The day's {those}"
        return RateLimited(
            f"{day} leave no room: {use.spent:,} are used, {use.reserved:,} set aside for "
            f"replies that run, and this one may take {tokens:,}. {when} Nothing was stored.",
            limit=TOKENS,
            whose=whose,
            most=limits.tokens_day,
            used=use.spent + use.reserved,
            needed=tokens,
            retry_after=SOON_SECONDS if fits_later else int((tomorrow - now).total_seconds()) + 1,
        )
    return None


def used_by(usage: Mapping[str, int]) -> int:
    """The tokens that a request read and wrote, whether from a cache or not."""
    return sum(usage.get(name, 0) for name in COUNTED_TOKENS)


def _spent_since(replies: QuerySet[Reply], user_id: int, start: datetime) -> int:
    ended = replies.exclude(status=Reply.Status.RUNNING).filter(created_at__gte=start)
    recent = Thread.objects.filter(user_id=user_id, updated_at__gte=start).values("id")  # by its index
    written = Message.objects.filter(user=user_id, reply=OuterRef("id")).values("token_count")
    rows = ended.filter(thread__in=recent).annotate(written=Subquery(written))
    total = 0
    for status, usage, stop_reason, wrote, reserved in rows.values_list(
        "status", "usage", "stop_reason", "written", "reserved"
    ):
        took = spent(status, usage, stop_reason=stop_reason, written=wrote or 0)
        total += reserved if took is None else took
    return total


def spent(status: str, usage: Mapping[str, int], *, stop_reason: str, written: int) -> int | None:
    """What a reply that has ended took; ``None`` is what was set aside for it.

    Of an answer that was left before its end – it has no ``stop_reason`` – the provider has told the input only; the
    estimated tokens of its turn, ``written``, are the least that it took beside. One that was stopped before it wrote
    anything may have thought for long, so all that was set aside counts: else to stop would be a way around the limit.
    """
    is_told = bool(stop_reason) or status == Reply.Status.COMPLETED
    if status == Reply.Status.STOPPED and not is_told and not (usage and written):
        return None
    if is_told or not usage:
        return used_by(usage)
    output = usage.get("output_tokens", 0)
    return used_by(usage) - output + max(output, written)


def _of(user_id: int, token_id: int | None) -> QuerySet[Reply]:
    every = Reply.objects.filter(user=user_id)
    return every if token_id is None else every.filter(token_id=token_id)


def _today() -> date:
    return clock.now().astimezone(UTC).date()
