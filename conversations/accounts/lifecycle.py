"""A person's own account: where they are signed in, and its end, which they have a day to take back."""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext, gettext_noop

from artifacts.models import Artifact
from conversations import audit
from conversations.errors import ReplyInProgress
from conversations.models import AccountDeletion, ApiToken, ContextSnapshot, File, Message, Thread
from conversations.runtime import clock
from conversations.threads import deletion
from memory.forgetting import ledger
from memory.models import DailySummary, Memory, Topic

log = logging.getLogger("openbook.accounts")

DELAY = timedelta(days=1)
MOST_SIGN_INS = 30
ADDRESS_UNKNOWN = "::"
"""That of a sign-in that came by a socket without any."""
# The first that is named wins: most browsers name others beside themselves.
BROWSERS = {"Edg": "Edge", "OPR": "Opera", "FxiOS": "Firefox", "Firefox": "Firefox", "CriOS": "Chrome"}
BROWSERS |= {"Chrome": "Chrome", "Safari": "Safari", "curl": "curl", "python": gettext_noop("a Python program")}
SYSTEMS = {"iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "Mac OS": "Mac"}
SYSTEMS |= {"CrOS": "ChromeOS", "Linux": "Linux"}


def browser_of(user_agent: str) -> str:
    """In words that a person recognises."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), gettext_noop("a browser"))
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    browser = gettext(browser)
    return gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system} if system else browser


def sign_ins_of(user: User) -> list[UserSession]:
    """Where the user is signed in now, the newest first, each with ``browser`` and ``address`` in words, and the name of the
    ``provider`` by which they came, if any. Rows of ended sessions go."""
    sessions: list[UserSession] = UserSession.objects.purge_and_list(user)
    for session in sessions:
        session.browser = browser_of(session.user_agent)
        session.provider = session.data.get("name", "") if isinstance(session.data, dict) else ""
        session.address = "" if session.ip == ADDRESS_UNKNOWN else session.ip
    return sorted(sessions, key=lambda session: session.created_at, reverse=True)


def make_room(user: User) -> None:
    """One more sign-in is to come: the oldest end where there would be too many."""
    oldest = UserSession.objects.filter(user=user).order_by("-created_at")[MOST_SIGN_INS - 1 :]
    sign_out(oldest)


def sign_out(sessions: Iterable[UserSession]) -> int:
    """End these sessions. Returns how many there were."""
    ended = list(sessions)
    with transaction.atomic():
        get_adapter().end_sessions(ended)
        for user_id, count in Counter(session.user_id for session in ended).items():
            audit.record(audit.AuditKind.SESSIONS_ENDED, target=(User._meta.label, user_id), details={"count": count})
    return len(ended)


def clear_sign_ins(now: datetime) -> None:
    """Sessions that have run out, and sign-ins whose session has ended."""
    Session.objects.filter(expire_date__lte=now).delete()
    UserSession.objects.filter(~Exists(Session.objects.filter(session_key=OuterRef("session_key")))).delete()


def what_goes(user: User) -> dict[str, int]:
    """What is deleted with the account, by what it is called."""
    threads = Thread.objects.filter(user=user)
    return {
        gettext_noop("conversations"): threads.count(),
        gettext_noop("messages"): Message.objects.filter(user=user, thread__in=threads).count(),
        gettext_noop("artifacts"): Artifact.objects.filter(user=user, thread__in=threads).count(),
        gettext_noop("files"): File.objects.filter(user=user).count(),
        gettext_noop("notes"): Memory.objects.filter(user=user).count(),
        gettext_noop("days and topics"): (
            DailySummary.objects.filter(user=user).count() + Topic.objects.filter(user=user).count()
        ),
        gettext_noop("records of what a model was given"): (
            ContextSnapshot.objects.filter(user=user, thread__in=threads).count()
        ),
        gettext_noop("access tokens"): ApiToken.objects.filter(user=user).count(),
    }


def ask_deletion(user: User, session_key: str | None = None) -> AccountDeletion:
    """Delete the account in a day. Until then nothing is answered, and this session can only take it back.

    Raises ``LedgerAway``.
    """
    with transaction.atomic():
        deletion = leave(user, asked_at=clock.now())
        ledger.note(ledger.Kind.LEAVING, ledger.account_id(user))
        sign_out(UserSession.objects.filter(user=user).exclude(session_key=session_key or ""))
    log.info("account to be deleted", extra={"user_id": user.pk})
    return deletion


def leave(user: User, *, asked_at: datetime) -> AccountDeletion:
    """To be deleted a day after it was asked for first."""
    defaults = {"asked_at": asked_at, "due_at": asked_at + DELAY}
    return AccountDeletion.objects.get_or_create(user=user, defaults=defaults)[0]


def keep(user: User) -> None:
    """Raises ``LedgerAway``."""
    with transaction.atomic():
        stay(user)
        ledger.note(ledger.Kind.STAYING, ledger.account_id(user))
    log.info("account kept", extra={"user_id": user.pk})


def stay(user: User) -> None:
    AccountDeletion.objects.filter(user=user).delete()


def delete_due(now: datetime) -> int:
    """Delete the accounts whose day is over. Returns how many; one in which a reply still runs waits for the next time."""
    deleted = 0
    for user_id in list(AccountDeletion.objects.filter(due_at__lte=now).values_list("user_id", flat=True)):
        with transaction.atomic():
            # Whoever keeps it in this moment comes before or after, not in between.
            due_deletion = AccountDeletion.objects.select_for_update().filter(user=user_id, due_at__lte=now).first()
            if due_deletion is None:
                continue
            try:
                deletion.delete_user(due_deletion.user)
            except ReplyInProgress:
                continue
        deleted += 1
        log.info("account deleted", extra={"user_id": user_id})
    return deleted
