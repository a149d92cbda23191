"""The one way by which mail goes out, where the operator has set a mail server up.

A request only stores a row, so that it neither waits for a mail server nor fails by one. A worker sends it within seconds, and
tries again for a day. What could not be sent stays as a row, which staff see.
"""

import json
import logging
import smtplib
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage, mailers
from django.db.models import Q, QuerySet
from django.utils.translation import get_language, override

from conversations.accounts import letters
from conversations.models import OutgoingMail
from conversations.models.mail import PURPOSE
from conversations.runtime import clock, encryption, rate_counters
from conversations.runtime.request_ids import current_address
from memory.services import language_of

log = logging.getLogger("openbook.mail")

DELAYS = [timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180, 360, 720)]
"""After each attempt that failed; after the last one it is given up."""
AWAY_REST = timedelta(minutes=1)
"""For all mails, after the server could not be reached: a worker waits for it once in this time, not once a mail."""
FAILED_KEPT = timedelta(days=30)
AT_ONCE = 50
HOUR, NOTICES_HOUR = 3_600, 10
"""Of one kind, to one person."""


class ServerAway(Exception):
    """The mail server was not reached, or did not let us in. ``problem`` names the kind of failure."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


class Refused(Exception):
    """The server answered that it does not take this mail. ``for_good``: it will not take it later either."""

    def __init__(self, problem: str, *, for_good: bool) -> None:
        self.problem, self.for_good = problem, for_good


def is_possible() -> bool:
    return bool(settings.MAILERS)


def post(kind: str, to: str, *, user: User | None = None, **values: letters.Plain) -> None:
    """Have a mail sent. ``kind`` is one of ``OutgoingMail.Kind``; ``values`` are what it is filled with. In the language that
    ``user`` chose, else in that of the current page. Does nothing where no mail server is set up, or there is no address."""
    if not is_possible() or not to:
        return
    now = clock.now()
    OutgoingMail.objects.create(
        user=user,
        kind=kind,
        recipient=to,
        language=(get_language() or "")[:10],
        content=encryption.encrypt(json.dumps(values), purpose=PURPOSE),
        created_at=now,
        due_at=now,
    )


def notify(user: User, what: str, *, to: str = "") -> None:
    """Tell the owner of an account what was changed, at the address of the account or at ``to``. ``what`` is one of
    ``letters.NOTICES``."""
    if not is_possible() or not (to or user.email) or not user.is_active:
        return
    count, _ = rate_counters.count(f"notice.{what}.{user.pk}", seconds=HOUR)
    if count > NOTICES_HOUR:  # a program that makes a token each time it starts
        return
    at, address = clock.now(), current_address.get()
    post("notice", to or user.email, user=user, what=what, at=f"{at:%Y-%m-%d %H:%M}", address=address or "–")


def due(now: datetime) -> QuerySet[OutgoingMail]:
    return OutgoingMail.objects.filter(due_at__lte=now).order_by("due_at", "id")


def failed() -> QuerySet[OutgoingMail]:
    """Those that were given up."""
    return OutgoingMail.objects.filter(due_at=None)


def forget_failed(now: datetime) -> None:
    failed().filter(created_at__lt=now - FAILED_KEPT).delete()


def try_again(mails: QuerySet[OutgoingMail]) -> int:
    return mails.update(due_at=clock.now(), attempts=0)


def send_due(must_stop: Callable[[], bool] = lambda: False) -> int:
    """Send what is due. Returns how many a mail server took. Several workers may do so at the same time."""
    sent = 0
    for mail in due(clock.now()).select_related("user")[:AT_ONCE]:
        if must_stop() or not is_possible() or not _take(mail):
            continue
        try:
            _send(mail)
        except ServerAway as error:
            _failed(mail, error.problem)
            now = clock.now()
            OutgoingMail.objects.filter(due_at__lte=now).update(due_at=now + AWAY_REST)
            break
        except Refused as error:
            _failed(mail, error.problem, for_good=error.for_good)
        else:
            mail.delete()
            sent += 1
    return sent


def _take(mail: OutgoingMail) -> bool:
    """Note the attempt before it is made: a worker that dies in it leaves the mail to be tried again, not lost. False: another
    worker has it."""
    delay = DELAYS[min(mail.attempts, len(DELAYS) - 1)]
    mail.attempts += 1
    mine = OutgoingMail.objects.filter(pk=mail.pk, due_at=mail.due_at)
    mail.due_at = clock.now() + delay
    return bool(mine.update(attempts=mail.attempts, due_at=mail.due_at))


def _send(mail: OutgoingMail) -> None:
    """Raises ``ServerAway`` and ``Refused``."""
    try:
        values = json.loads(encryption.decrypt(bytes(mail.content), purpose=PURPOSE))
    except encryption.NotDecryptable:
        raise Refused("encrypted with another SECRET_KEY", for_good=True) from None
    with override((language_of(mail.user) if mail.user else "") or mail.language or settings.LANGUAGE_CODE):
        letter = letters.write(mail.kind, to=mail.recipient, user=mail.user, values=values)
        try:
            _hand_over(EmailMessage(letter.subject, letter.text, to=[mail.recipient]))
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            raise Refused(
                f"recipient refused: {codes[0] if codes else ''}", for_good=min(codes, default=0) >= 500
            ) from None
        except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as error:
            raise Refused(f"{type(error).__name__}: {error.smtp_code}", for_good=error.smtp_code >= 500) from None
        except (OSError, smtplib.SMTPException) as error:  # the second is one of the first
            code = f": {error.smtp_code}" if isinstance(error, smtplib.SMTPResponseException) else ""
            raise ServerAway(f"{type(error).__name__}{code}") from None
        except ValueError as error:  # an address that can't be written into a header
            raise Refused(type(error).__name__, for_good=True) from None


def _hand_over(message: EmailMessage) -> None:
    backend = mailers["default"]
    try:
        backend.send_messages([message])
    finally:
        backend.close()  # Django leaves a connection open whose login was refused


def _failed(mail: OutgoingMail, problem: str, *, for_good: bool = False) -> None:
    given_up = for_good or mail.attempts > len(DELAYS)
    state = {"due_at": None} if given_up else {}
    OutgoingMail.objects.filter(pk=mail.pk).filter(Q(due_at=mail.due_at)).update(problem=problem[:100], **state)
    level = logging.ERROR if given_up else logging.WARNING
    words = "a mail was given up" if given_up else "a mail could not be sent; it is tried again"
    log.log(level, words, extra={"mail": str(mail.pk), "kind": mail.kind, "cause": problem, "attempt": mail.attempts})
