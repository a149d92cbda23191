"""The links themselves: the one way to ask for a person's, to make one, and to open one by its token.

A token has 256 random bits. Its digest finds the row, whatever becomes of SECRET_KEY; the token lies beside it encrypted, as
the list of a person's links shows their addresses again. Derived from the row's id by a key it would need no column, but a new
SECRET_KEY would break every link that was handed on.
"""

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from artifacts.models import Artifact
from conversations import audit, threads
from conversations.accounts import switches
from conversations.accounts.session_user import is_leaving
from conversations.accounts.tokens import digest
from conversations.errors import (
    InvalidMessage,
    MessageNotFound,
    ShareNotFound,
    TemporaryThread,
    TooManyShares,
    VersionNotFound,
)
from conversations.models import Message, Share, Thread
from conversations.models.shares import PURPOSE
from conversations.runtime import clock, encryption
from conversations.runtime.wording import worded
from conversations.sharing.path import is_shown
from memory.forgetting import ledger

MOST = 500
"""Links that work, of one person."""
DAYS = 30
"""Where nobody says for how long, unless the server allows fewer."""
LONGEST_TOKEN = 100


@dataclass(frozen=True, kw_only=True)
class Shows:
    """What of a thread stands on the page beside what was said; of an artifact beside what it says."""

    book: bool = False
    files: bool = False
    names: bool = False
    title: bool = False


@dataclass(frozen=True, kw_only=True)
class Terms:
    """``expires_at``: from then on it opens nothing; ``None``: in thirty days, or fewer where the server allows fewer."""

    shows: Shows = Shows()
    expires_at: datetime | None = None


def of(user: User) -> QuerySet[Share]:
    """The links of a person that show anything, newest first: also those that have expired, none that were revoked."""
    turns = Message.objects.filter(id=OuterRef("message"), user=user, thread=OuterRef("thread"))
    artifacts = Artifact.objects.filter(id=OuterRef("artifact"), user=user, deleted_at=None)
    there_is = Q(Exists(turns)) | Q(Exists(artifacts))
    return (
        Share.objects.filter(there_is, user=user, thread__user=user, revoked_at=None)
        .select_related("thread")
        .order_by("-id")
    )


def of_thread(thread: Thread, terms: Terms, *, message_id: UUID | str | None = None) -> Share:
    """A link to the thread up to a turn, the newest of the active path unless one is named."""
    switches.demand(thread.user_id, "sharing")
    if message_id is None:
        message = threads.messages_of(thread).exclude(status=Message.Status.FORGOTTEN).last()
        if message is None:
            raise InvalidMessage("There is nothing to share yet: the thread has no turns.", field="message")
    else:
        message = threads.message_of(thread.user, message_id)
    if message.thread_id != thread.id or not is_shown(message):
        raise MessageNotFound
    return _made(thread.user, terms, thread=thread, message=message)


def of_artifact(artifact: Artifact, user: User, terms: Terms, *, version: int | None = None) -> Share:
    """A link to one version of an artifact, or to whichever is the newest when somebody opens it."""
    switches.demand(user.pk, "sharing")
    if version is not None and not artifact.versions.filter(user=user, number=version).exists():
        raise VersionNotFound
    return _made(user, terms, thread=threads.get(user, artifact.thread_id), artifact=artifact, version=version)


@transaction.atomic
def revoke(shares: QuerySet[Share]) -> int:
    """They open nothing from now on, nor after an older backup was restored. Returns how many were not revoked before.

    Raises ``LedgerAway``, and revokes nothing then.
    """
    ids = list(shares.select_for_update().filter(revoked_at=None).order_by("id").values_list("id", flat=True))
    for id in ids:
        ledger.note(ledger.Kind.SHARE, id)
    return shares.filter(id__in=ids).update(revoked_at=clock.now())


def address_of(share: Share) -> str | None:
    """Its path on this server; ``None`` where it can't be read again: it was made under a SECRET_KEY that is gone."""
    try:
        return f"/s/{encryption.decrypt(bytes(share.token), purpose=PURPOSE)}/"
    except encryption.NotDecryptable:
        return None


def opened(token: str) -> Share:
    """The share of this token, with its thread, its person and its artifact. Raises ``ShareNotFound``, whatever the reason."""
    if not settings.OPENBOOK_SHARING or len(token) > LONGEST_TOKEN:
        raise ShareNotFound
    working = Share.objects.filter(revoked_at=None, expires_at__gt=clock.now(), user__is_active=True)
    rows = working.select_related("thread__assistant", "user__deletion", "artifact")
    share = rows.filter(digest=digest(token)).first()
    if share is None or is_leaving(share.user) or (share.artifact and share.artifact.deleted_at):
        raise ShareNotFound
    if "sharing" not in switches.on_for(share.user_id):
        raise ShareNotFound
    return share


def count_view(share: Share) -> None:
    Share.objects.filter(user=share.user_id, id=share.id).update(views=F("views") + 1)


def working_links(user: User) -> QuerySet[Share]:
    return Share.objects.filter(user=user, revoked_at=None, expires_at__gt=clock.now())


def refuse_too_many(user: User, more: int) -> None:
    """Where somebody is to get links of another person. Raises ``TooManyShares``."""
    if working_links(user).count() + more > MOST:
        words = worded(
            "Nobody may have more than {most} links that work. Hand over fewer, or to somebody else.", most=MOST
        )
        raise TooManyShares(words, limit=MOST)


def most_days() -> int:
    days: int = settings.OPENBOOK_SHARE_DAYS
    return days


@transaction.atomic
def _made(user: User, terms: Terms, *, thread: Thread, **of: object) -> Share:
    if thread.temporary:
        raise TemporaryThread
    now = clock.now()
    if working_links(user).count() >= MOST:
        words = worded("You have {most} links that work. Revoke one you don’t need, then try again.", most=MOST)
        raise TooManyShares(words, limit=MOST)
    token = secrets.token_urlsafe(32)
    shown = {f"shows_{name}": value for name, value in asdict(terms.shows).items()}
    share = Share.objects.create(
        user=user,
        digest=digest(token),
        token=encryption.encrypt(token, purpose=PURPOSE),
        created_at=now,
        expires_at=terms.expires_at or now + timedelta(days=min(DAYS, most_days())),
        thread=thread,
        **shown,
        **of,
    )
    shows = [name for name, value in asdict(terms.shows).items() if value]
    audit.record(audit.AuditKind.SHARE_MADE, target=share, details={"thread": str(thread.id), "shows": shows})
    return share
