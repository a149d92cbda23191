"""What a user takes of a day's tokens, and how many replies run: one row decides, and the rows of replies and reservations say
what is right. A token that has limits of its own has a row of the same kind, so that both decide.

No model is called for which no tokens are set aside (``conversations.providers.base.ask``). Of a reply's first request the
statement does it that stores the reply, of each further one the statement that stores that request; the one that ends the
reply puts what was used in the place of all. What is asked beside replies (notes of conversations, trials of connections) has
a row of its own. Nothing is locked while a model is called. What a dead process left behind is given back: a reply's share when
it is ended, a reservation once its time is over.

The same statements set aside and settle what the person's budgets allow (``conversations.accounts.budgets``).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import BigIntegerField, F, QuerySet, Sum
from django.db.models.functions import Coalesce

from conversations.accounts import budgets
from conversations.accounts.budgets import NOTHING_STORED, SOON_SECONDS, Charge
from conversations.accounts.limits import RUNNING, TOKEN, TOKENS, USER, Limits, limits_of, limits_of_token
from conversations.accounts.spending import money_of, tokens_of
from conversations.context.built_context import Context
from conversations.errors import RateLimited
from conversations.models import Allowance, ApiToken, ContextSnapshot, Reply, TokenReservation
from conversations.providers.base import ModelCall, Reservation
from conversations.providers.price_list import rates_in_memory
from conversations.runtime import clock
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.wording import worded

SQL = read_statements(__file__, budgets.PARTS)

LOOKS = 5
"""How often room is looked for while others take it."""
SHARES = {TokenReservation.Purpose.NOTES: 0.5}
"""How much of a day's tokens one purpose may take: what is noted must not keep a person from talking."""
GOES_ON_LATER = worded("What was written and done until then is kept.")
TOO_LITTLE = {
    USER: "It would not fit into a whole day: ask the people who run this server for a higher limit.",
    TOKEN: "It would not fit into a whole day: make a token with a higher limit.",
}
ONE_RUNS = {
    USER: "1 reply is running, and {most} may at once.",
    TOKEN: "1 reply is running with this token, and {most} may at once.",
}
MANY_RUN = {
    USER: "{used} replies are running, and {most} may at once.",
    TOKEN: "{used} replies are running with this token, and {most} may at once.",
}
NO_ROOM = {
    USER: "The day's {most} tokens leave no room: {used} are used, {reserved} set aside for what runs, and this may take "
    "{tokens}.",
    TOKEN: "The {most} tokens a day of this token leave no room: {used} are used, {reserved} set aside for what runs, and "
    "this may take {tokens}.",
}
"""By whose limit it is."""


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
        start = datetime.combine(today, datetime.min.time(), UTC)
        spent = _sum(replies.exclude(status=Reply.Status.RUNNING).filter(created_at__gte=start), "spent")
        running = list(replies.filter(status=Reply.Status.RUNNING).values_list("reserved", flat=True))
        beside = 0
        if token_id is None:
            reservations = TokenReservation.objects.filter(user=user_id)
            spent += _sum(reservations.filter(created_at__gte=start), "spent")
            beside = _sum(reservations.filter(spent=None, expires_at__gt=clock.now()), "reserved")
        row.spent = max(spent, row.spent if row.day == today else 0)
        row.day, row.running, row.reserved = today, len(running), sum(running) + beside
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


def hold_forgettings(user_id: int) -> int:
    """How often something of the user's was forgotten; nothing more is until the transaction ends."""
    row = Allowance.objects.select_for_update(no_key=True).filter(user_id=user_id, token=None)
    forgettings = row.values_list("forgettings", flat=True).first()
    if forgettings is None:
        recounted(user_id)
        forgettings = row.values_list("forgettings", flat=True).get()
    return forgettings


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


def refuse_tokens(user_id: int, token_id: int | None, tokens: int) -> None:
    """The same for a further call, of which no other reply begins."""
    limits = replace(limits_of(User.objects.select_related("limits").get(id=user_id)), running_replies=0)
    if error := refusal(limits, recounted(user_id), tokens, clock.now(), ending=GOES_ON_LATER):
        raise error
    token = ApiToken.objects.filter(id=token_id).first() if token_id else None
    if token and token.tokens_day:
        limits = replace(limits_of_token(token), running_replies=0)
        if error := refusal(limits, recounted(user_id, token.pk), tokens, clock.now(), TOKEN, ending=GOES_ON_LATER):
            raise error


def refusal(
    limits: Limits,
    use: AllowanceUse,
    tokens: int,
    now: datetime,
    whose: str = USER,
    *,
    ending: str = NOTHING_STORED,
) -> RateLimited | None:
    """What speaks against a call that may take so many tokens."""
    if limits.running_replies and use.running >= limits.running_replies:
        return RateLimited(
            worded(
                (ONE_RUNS if use.running == 1 else MANY_RUN)[whose],
                "Wait until one has ended or stop one, then send again. Nothing was stored.",
                used=use.running,
                most=limits.running_replies,
            ),
            limit=RUNNING,
            whose=whose,
            most=limits.running_replies,
            used=use.running,
            retry_after=SOON_SECONDS,
        )
    if limits.tokens_day and use.spent + use.reserved + tokens > limits.tokens_day:
        fits_later = use.spent + tokens <= limits.tokens_day
        seconds = _seconds_to_tomorrow(now)
        hours, minutes = divmod(seconds // 60, 60)
        if tokens > limits.tokens_day:
            when = TOO_LITTLE[whose]
        elif fits_later:
            when = "Replies that run hold the rest: send again when they have ended."
        else:
            when = "A new day begins at 00:00 UTC, in {hours} h {minutes} min."
        return RateLimited(
            worded(
                NO_ROOM[whose],
                when,
                ending,
                most=limits.tokens_day,
                used=use.spent,
                reserved=use.reserved,
                tokens=tokens,
                hours=hours,
                minutes=minutes,
            ),
            limit=TOKENS,
            whose=whose,
            most=limits.tokens_day,
            used=use.spent + use.reserved,
            needed=tokens,
            retry_after=SOON_SECONDS if fits_later else seconds,
        )
    return None


def needed(context: Context) -> int:
    """What a request may read, and write and think, in tokens."""
    return context.model_tokens + context.max_tokens


def charge_of(context: Context) -> Charge:
    """What the call of a request may take."""
    return budgets.charge(
        context.provider, context.model, input_tokens=context.model_tokens, output_tokens=context.max_tokens
    )


def charge_of_snapshot(snapshot: ContextSnapshot) -> Charge:
    """The same of a request beside replies."""
    return budgets.charge(
        snapshot.provider, snapshot.model, input_tokens=snapshot.total_tokens, output_tokens=snapshot.max_tokens
    )


def of_request(context: Context) -> Reservation:
    """For the call of a request that was stored, which set its tokens aside. Reads nothing from the database."""
    rates = rates_in_memory(context.provider, context.model, clock.now())
    return Reservation(tokens=needed(context), input_tokens=context.model_tokens, rates=rates)


@contextmanager
def reserved(
    user_id: int, purpose: TokenReservation.Purpose, charge: Charge, *, lasts: timedelta
) -> Iterator[ModelCall]:
    """A call of a model beside replies, whose tokens are set aside until it has ended. Raises ``RateLimited``."""
    call = ModelCall(reservation=reserve(user_id, purpose, charge, lasts=lasts))
    try:
        yield call
    finally:
        settle(user_id, call)


def reserve(user_id: int, purpose: TokenReservation.Purpose, charge: Charge, *, lasts: timedelta) -> Reservation:
    """To be settled when the call has ended; past ``lasts`` it counts no more. Raises ``RateLimited``."""
    tokens = charge.tokens
    values = {
        "user": user_id,
        "purpose": purpose,
        "lasts": lasts,
        "most_tokens": settings.OPENBOOK_LIMIT_TOKENS_DAY,
        **charge.parameters(),
    }
    for _ in range(LOOKS):
        try:
            with transaction.atomic():
                rows = run(SQL["reserve"], **values)
                if not rows:
                    raise User.DoesNotExist
                [(id, most_tokens, is_new, earlier)] = rows
                _refuse_beyond_share(purpose, most_tokens, earlier, tokens)
        except IntegrityError as error:
            constraint = constraint_of(error)
            if constraint in budgets.CONSTRAINTS:
                budgets.refuse_unless_room(user_id, charge)
            elif constraint == "allowance_tokens":
                refuse_tokens(user_id, None, tokens)
            else:
                raise
            continue
        if is_new:
            recounted(user_id)
        return Reservation(id=id, tokens=tokens, input_tokens=charge.input_tokens, rates=charge.rates)
    refuse_tokens(user_id, None, tokens)
    budgets.refuse_unless_room(user_id, charge)
    raise RateLimited("The day's tokens are being used by others at the same moment.", limit=TOKENS, whose=USER)


def _refuse_beyond_share(purpose: TokenReservation.Purpose, most_tokens: int | None, used: int, tokens: int) -> None:
    share = SHARES.get(purpose)
    if share and most_tokens and used + tokens > share * most_tokens:
        raise RateLimited(
            worded("Notes may take {share} of the day's tokens, which are used.", share=f"{share:.0%}"),
            limit=TOKENS,
            whose=USER,
            most=int(share * most_tokens),
            used=used,
            needed=tokens,
            retry_after=_seconds_to_tomorrow(clock.now()),
        )


def settle(user_id: int, call: ModelCall) -> None:
    """What the call took, in the place of what was set aside for it."""
    assert call.reservation
    values = {"spent": tokens_of(call), "money": money_of(call)}
    run(SQL["settle"], user=user_id, reservation=call.reservation.id, **values)


def spent_on_notes(user_id: int) -> int:
    """Of today's tokens."""
    start = datetime.combine(_today(), datetime.min.time(), UTC)
    notes = TokenReservation.objects.filter(user=user_id, purpose=TokenReservation.Purpose.NOTES, created_at__gte=start)
    return _sum(notes, "spent")


def constraint_of(error: IntegrityError) -> str | None:
    violation = error.__cause__
    return violation.diag.constraint_name if isinstance(violation, psycopg.Error) else None


def _seconds_to_tomorrow(now: datetime) -> int:
    tomorrow = (now + timedelta(days=1)).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((tomorrow - now).total_seconds()) + 1


def _sum(rows: QuerySet[Any], column: str) -> int:
    return int(rows.aggregate(total=Coalesce(Sum(column), 0, output_field=BigIntegerField()))["total"])


def _of(user_id: int, token_id: int | None) -> QuerySet[Reply]:
    every = Reply.objects.filter(user=user_id)
    return every if token_id is None else every.filter(token_id=token_id)


def _today() -> date:
    return clock.now().astimezone(UTC).date()
