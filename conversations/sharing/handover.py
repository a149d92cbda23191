"""Links of people who have left go on under somebody else: what one shows is copied into a thread of the new owner's, and it
shows that from then on.

So a manager gets to read nothing that the link did not show, and the leaver's account can be deleted without taking it away.
Only an account that is shut is a leaver's. Who deletes their own account takes their links along.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from conversations import audit
from conversations.accounts.managers import groups_managed_by
from conversations.errors import CannotHandOver, FileNotFound, PersonNotFound, ShareNotFound, SharingOff
from conversations.files import storage
from conversations.import_export.records import FileRecord, ThreadRecord
from conversations.import_export.store import store
from conversations.models import File, Share
from conversations.runtime import clock
from conversations.runtime.ids import uuid7
from conversations.sharing import copying, page, shares

RIGHT = "conversations.hand_over_share"
MOST_NAMES = 100
PIECE = 2**18


def links_of(leaver: User) -> QuerySet[Share]:
    """Those that would open if the account were active, newest first."""
    return shares.of(leaver).filter(expires_at__gt=clock.now()).select_related("thread__assistant", "user", "artifact")


def may_see(user: User | AnonymousUser) -> bool:
    return _has_right(user) or groups_managed_by(user).exists()


def leavers_seen_by(user: User | AnonymousUser) -> QuerySet[User]:
    """People whose account is shut and who have links that somebody could take over, by name: those of the groups that the user
    manages, or all of them for staff who have the right. ``links`` says how many there are, expired ones not."""
    working = Share.objects.filter(user=OuterRef("pk"), revoked_at=None, expires_at__gt=clock.now())
    leavers = User.objects.filter(Exists(working), is_active=False)
    if not _has_right(user):
        leavers = leavers.filter(Exists(_groups_shared(user)))
    now = Q(shares__revoked_at=None, shares__expires_at__gt=clock.now())
    return leavers.annotate(links=Count("shares", filter=now)).order_by("username")


def leaver_seen_by(user: User | AnonymousUser, leaver_id: int | str) -> User:
    """Raises ``PersonNotFound``."""
    text = str(leaver_id)
    is_id = text.isascii() and text.isdecimal() and len(text) < 10
    leaver = leavers_seen_by(user).filter(pk=int(text)).first() if is_id else None
    if leaver is None:
        raise PersonNotFound
    return leaver


def new_owners(user: User, leaver: User) -> QuerySet[User]:
    """Who may get the links, by name: whoever is in a group of the leaver's that the user manages, and the user; for staff who
    have the right everybody but themselves, as they read what people wrote under a record only."""
    active = User.objects.filter(is_active=True, deletion=None, service_account=None).order_by("username")
    groups = groups_managed_by(user).filter(user=leaver.pk)
    near = Q(pk__in=User.objects.filter(groups__in=groups)) | Q(pk__in=[user.pk] if groups.exists() else [])
    return active.filter(near | ~Q(pk=user.pk)) if _has_right(user) else active.filter(near)


def hand_over(
    user: User,
    leaver: User,
    *,
    to: str,
    read_later: Callable[[File], object],
    share_ids: Iterable[UUID | str] | None = None,
) -> tuple[User, list[UUID]]:
    """Give the links of these ids, or all that work, to whoever has the user name ``to``. Returns them, and the ids of the
    links: one that shows nothing any more stays behind. ``read_later`` sees to it that a copied file is read. Not to be called
    in a transaction: what is noted of copied bytes has to outlive a failure.

    Raises ``CannotHandOver`` where it is nobody who may get them, and what storing raises: ``FilesFull``, ``TooManyShares``.
    """
    if not settings.OPENBOOK_SHARING:
        raise SharingOff
    receiver = new_owners(user, leaver).filter(username=to.strip()).first()
    if receiver is None:
        raise CannotHandOver
    rows = links_of(leaver) if share_ids is None else links_of(leaver).filter(id__in=list(share_ids))
    links = list(rows)
    shares.refuse_too_many(receiver, len(links))
    return receiver, [link.id for link in links if _moved(link, user, receiver, read_later)]


def _moved(link: Share, user: User, receiver: User, read_later: Callable[[File], object]) -> bool:
    """Whether there was something to take over, and nobody else did."""
    files = _copied_files(link)
    try:
        record = copying.record_of(link, files)
        with transaction.atomic():
            if not Share.objects.select_for_update().filter(id=link.id, user=link.user_id, revoked_at=None).exists():
                raise ShareNotFound
            store(user=receiver, records=[record], read_later=read_later)
            Share.objects.filter(id=link.id).update(user=receiver, **_as_of(record, link))
            details = {"from": link.user_id, "to": receiver.pk}
            audit.record(audit.AuditKind.HANDED_OVER, actor=user, target=link, details=details)
    except BaseException as error:
        storage.discard([file.place for file in files.values()])
        if isinstance(error, ShareNotFound):
            return False
        raise
    return True


def _as_of(record: ThreadRecord, link: Share) -> Mapping[str, object]:
    """What of the link is of the copy. The copy has no book and is said by nobody who could be named; views, the end and the
    address stay."""
    is_artifact = link.artifact_id is not None
    return {
        "thread": record.id,
        "message": None if is_artifact else record.turns[-1].id,
        "artifact": record.artifacts[0].id if is_artifact else None,
        "version": 1 if link.version else None,
        "shows_names": False,
        "shows_book": False,
    }


def _copied_files(link: Share) -> dict[UUID, FileRecord]:
    """Those that the link shows, with bytes of their own."""
    return {file.id: _copied(file) for file in page.files_of(link) if _is_there(file)} if link.shows_files else {}


def _is_there(file: File) -> bool:
    try:
        storage.open_bytes(file.place).close()
    except FileNotFound:
        return False
    return True


def _copied(file: File) -> FileRecord:
    descriptor, name = tempfile.mkstemp(prefix="handed-over-", dir=storage.scratch_root())
    path, digest = Path(name), hashlib.sha256()
    try:
        with storage.open_bytes(file.place) as source, os.fdopen(descriptor, "wb") as target:
            while piece := source.read(PIECE):
                target.write(piece)
                digest.update(piece)
        place = storage.keep(path)
    finally:
        path.unlink(missing_ok=True)
    return FileRecord(
        id=uuid7(),
        name=file.name,
        kind=file.kind,
        media_type=file.media_type,
        size=file.size,
        sha256=digest.digest(),
        place=place,
        created_at=file.created_at,
    )


def _groups_shared(user: User | AnonymousUser) -> QuerySet[Any]:
    """Of a leaver in the outer query: memberships of groups that the user manages."""
    memberships = User.groups.through.objects
    return memberships.filter(user=OuterRef("pk"), group__in=groups_managed_by(user).order_by())


def _has_right(user: User | AnonymousUser) -> bool:
    return user.is_active and user.has_perm(RIGHT)
