"""A person's own account: where they are signed in, and its end, which they have a day to take back."""

import importlib
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone

from artifacts.models import Artifact
from conversations import deletion, sign_in, signed_in
from conversations.errors import ReplyInProgress
from conversations.models import AccountDeletion, ApiToken, ContextSnapshot, Message, SignIn, Thread
from memory.models import DailySummary, Memory, Topic

log = logging.getLogger("openbook.accounts")

DELAY = timedelta(days=1)
MOST_SHOWN = 30
# The first that is named wins: most browsers name others beside themselves.
BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "FxiOS": "Firefox",
    "Firefox": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
}
BROWSERS |= {"Safari": "Safari", "curl": "curl", "python": "a Python program"}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "Mac",
    "CrOS": "ChromeOS",
}
SYSTEMS |= {"Linux": "Linux"}


def browser_of(user_agent: str) -> str:
    """In words that a person recognises; what a program says of itself is not kept."""
    browser = next((name for mark, name in BROWSERS.items() if mark in user_agent), "a browser")
    system = next((name for mark, name in SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser


def record_sign_in(request: HttpRequest, user: User) -> None:
    """The session of this request is now the user's."""
    values = {
        "user": user,
        "at": timezone.now(),
        "address": sign_in.address_of(request)[:45],
        "browser": browser_of(request.headers.get("User-Agent", "")),
    }
    SignIn.objects.update_or_create(session_key=request.session.session_key, defaults=values)


def follow(session_key: str | None, request: HttpRequest) -> None:
    """The session of this request had another key before."""
    SignIn.objects.filter(session_key=session_key or "").update(session_key=request.session.session_key)


def sign_ins_of(user: User) -> list[SignIn]:
    """Where the user is signed in now, the newest first, as many as fit a page. Rows of ended sessions go."""
    rows = list(SignIn.objects.filter(user=user).order_by("-at")[:MOST_SHOWN])
    ended = [row for row in rows if not _goes_on(row)]
    SignIn.objects.filter(id__in=[row.pk for row in ended]).delete()
    return [row for row in rows if row not in ended]


def sign_out(rows: Iterable[SignIn]) -> int:
    """End these sessions. Returns how many there were."""
    store = importlib.import_module(settings.SESSION_ENGINE).SessionStore
    ended = list(rows)
    with transaction.atomic():
        for row in ended:
            store().delete(row.session_key)
        SignIn.objects.filter(id__in=[row.pk for row in ended]).delete()
    return len(ended)


def sign_out_elsewhere(user: User, session_key: str | None) -> int:
    """End all the user's sessions but this one. Returns how many there were."""
    return sign_out(SignIn.objects.filter(user=user).exclude(session_key=session_key or ""))


def clear_sign_ins(now: datetime) -> None:
    """Sessions that have run out, and sign-ins whose session has ended."""
    Session.objects.filter(expire_date__lte=now).delete()
    SignIn.objects.filter(~Exists(Session.objects.filter(session_key=OuterRef("session_key")))).delete()


def what_goes(user: User) -> dict[str, int]:
    """What is deleted with the account, by what it is called."""
    threads = Thread.objects.filter(user=user)
    return {
        "conversations": threads.count(),
        "messages": Message.objects.filter(thread__in=threads).count(),
        "artifacts": Artifact.objects.filter(thread__in=threads).count(),
        "notes": Memory.objects.filter(user=user).count(),
        "days and topics": DailySummary.objects.filter(user=user).count() + Topic.objects.filter(user=user).count(),
        "records of what a model was given": ContextSnapshot.objects.filter(thread__in=threads).count(),
        "access tokens": ApiToken.objects.filter(user=user).count(),
    }


def ask_deletion(user: User, session_key: str | None) -> AccountDeletion:
    """Delete the account in a day. Until then nothing is answered, and this session can only take it back."""
    now = timezone.now()
    with transaction.atomic():
        asked, _ = AccountDeletion.objects.get_or_create(user=user, defaults={"asked_at": now, "due_at": now + DELAY})
        sign_out_elsewhere(user, session_key)
    log.info("account to be deleted", extra={"user_id": user.pk})
    return asked


def keep(user: User) -> None:
    AccountDeletion.objects.filter(user=user).delete()
    log.info("account kept", extra={"user_id": user.pk})


def delete_due(now: datetime) -> int:
    """Delete the accounts whose day is over. Returns how many; one in which a reply still runs waits for the next time."""
    deleted = 0
    for user_id in list(AccountDeletion.objects.filter(due_at__lte=now).values_list("user_id", flat=True)):
        with transaction.atomic():
            # Whoever keeps it in this moment comes before or after, not in between.
            asked = AccountDeletion.objects.select_for_update().filter(user=user_id, due_at__lte=now).first()
            if asked is None:
                continue
            try:
                deletion.delete_user(asked.user)
            except ReplyInProgress:
                continue
        deleted += 1
        log.info("account deleted", extra={"user_id": user_id})
    return deleted


def _goes_on(row: SignIn) -> bool:
    request = signed_in.as_of_now(row.session_key)
    return request is not None and request.user.pk == row.user_id
