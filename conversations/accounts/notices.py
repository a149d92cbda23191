"""The notice that people accept before they go on: which is in force, who has accepted it, and who has not."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q

from conversations import audit
from conversations.accounts.user_values import value_of
from conversations.audit import AuditKind
from conversations.errors import NoticeChanged, NoticeNotAccepted
from conversations.models import Notice, NoticeAcceptance
from conversations.runtime import clock
from conversations.runtime.sql_files import read_statements

IN_FORCE = Q(version__isnull=False, withdrawn_at=None)
STATEMENTS = read_statements(__file__)


def newest() -> Notice | None:
    """The one that has to be accepted, if any."""
    return Notice.objects.filter(IN_FORCE).order_by("-version").first()


def is_lacking(user: User) -> bool:
    """Whether a notice is in force that they have not accepted, nor a later one. A service account is no person, and accepts
    none. Asks the database, unless the row came along with the answer, as that of a session and that of a token do."""
    known: bool | None = getattr(user, "is_lacking_notice", None)
    return known if known is not None else bool(value_of(user.pk, STATEMENTS["lacks_notice"]))


def demand(user: User) -> None:
    """Raise ``NoticeNotAccepted`` where the user has to accept a notice first."""
    if is_lacking(user):
        raise NoticeNotAccepted


def acceptance_of(user: User, notice: Notice) -> NoticeAcceptance | None:
    return NoticeAcceptance.objects.filter(user=user, version=notice.version or 0).first()


@transaction.atomic
def accept(user: User, version: int) -> NoticeAcceptance:
    """Record that they accepted this version, once. Raises ``NoticeChanged`` unless it is the one in force."""
    notice = newest()
    if notice is None or notice.version != version:
        raise NoticeChanged(version=notice and notice.version)
    row, is_new = NoticeAcceptance.objects.get_or_create(user=user, version=version, defaults={"at": clock.now()})
    if is_new:
        audit.record(AuditKind.NOTICE_ACCEPTED, target=notice, details={"version": version})
    return row


def publish(notice: Notice) -> None:
    """Put a draft in force as the next version, within a transaction. One that is published already stays as it is."""
    _one_after_the_other()
    last: int = Notice.objects.aggregate(last=Max("version"))["last"] or 0
    Notice.objects.filter(pk=notice.pk, version=None).update(version=last + 1, published_at=clock.now())
    notice.refresh_from_db()


def withdraw_all() -> None:
    """Ask nobody any more, until another version is published."""
    _one_after_the_other()
    Notice.objects.filter(IN_FORCE).update(withdrawn_at=clock.now())


def _one_after_the_other() -> None:
    list(Notice.objects.select_for_update().order_by("pk").values_list("pk"))
