"""Accounts that are shut: whatever they have open ends within seconds, in whichever process it runs.

Sessions and tokens end here. What is open longer than a request asks by itself whether it still may: running replies with
each renewal of their lease (``conversations/replies/events.sql``), streams and downloads (``conversations/rest/streams.py``),
sockets (``conversations/web/access_checks.py``), bodies that still come (``config/server/senders.py``), and an upload before
it is kept (``conversations/files/uploads.py``). So it ends where a row was changed by hand, too.
"""

import logging

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.db import transaction

from conversations.accounts import lifecycle, tokens
from conversations.audit import record
from conversations.audit.recording import Actor
from conversations.models import AuditKind

log = logging.getLogger("openbook.accounts")


@transaction.atomic
def deactivate(user: User, *, actor: Actor = None) -> bool:
    """Shut the account: its sessions and tokens end for good. What it has stays. Whether it was active."""
    was_active = bool(User.objects.filter(pk=user.pk, is_active=True).update(is_active=False))
    user.is_active = False
    end_access(user)
    if was_active:
        record(AuditKind.ACCOUNT_DEACTIVATED, actor=actor, target=user)
        log.info("account deactivated", extra={"user_id": user.pk})
    return was_active


def end_access(user: User) -> None:
    lifecycle.sign_out(UserSession.objects.filter(user=user))
    tokens.revoke(tokens.of(user))


@transaction.atomic
def activate(user: User, *, actor: Actor = None) -> bool:
    """Open the account again; tokens have to be made anew. Whether it was shut."""
    was_shut = bool(User.objects.filter(pk=user.pk, is_active=False).update(is_active=True))
    user.is_active = True
    if was_shut:
        record(AuditKind.ACCOUNT_REACTIVATED, actor=actor, target=user)
    return was_shut
