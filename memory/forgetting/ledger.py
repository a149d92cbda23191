"""What was forgotten or deleted, without content, so that it can be forgotten again after a backup of before was restored.

A folder outside of every backup, ``OPENBOOK_ERASURE_LEDGER``, shared by all hosts: each appends to a file of its own. A line
says when, what kind, and a salted digest of an id; who finds one learns no id, nor a text. It is on the disk before the
database commits: what could not be noted is not forgotten, and the person is told so.
"""

import fcntl
import hmac
import json
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from conversations import audit
from conversations.audit import AuditKind
from conversations.errors import Unavailable

SALT = "salt"


class LedgerAway(Unavailable):
    code = "erasure_ledger_away"
    message = "This can't be noted for later restores just now, so nothing was done; try again in a moment."


class Kind(StrEnum):
    ACCOUNT = "account"
    THREAD = "thread"
    CLEARED = "cleared"
    TURN = "turn"
    MEMORY = "memory"
    FILE = "file"
    TOPIC = "topic"
    PROJECT = "project"
    PROMPT = "prompt"
    SCHEDULE = "schedule"
    EVERYTHING = "everything"
    SHARE = "share"
    """A link that was revoked."""
    LEAVING = "leaving"
    """An account that its person wants deleted."""
    STAYING = "staying"
    """One whose person took that back."""
    HOLD = "hold"
    """A legal hold on an account or a project."""
    HOLD_ENDED = "hold_ended"
    """That no hold on it lasts any more."""


EVENTS = {
    Kind.ACCOUNT: (AuditKind.ACCOUNT_DELETED, "auth.User"),
    Kind.THREAD: (AuditKind.THREAD_DELETED, "conversations.Thread"),
    Kind.CLEARED: (AuditKind.THREAD_CLEARED, "conversations.Thread"),
    Kind.TURN: (AuditKind.FORGOTTEN, "conversations.Message"),
    Kind.MEMORY: (AuditKind.FORGOTTEN, "memory.Memory"),
    Kind.FILE: (AuditKind.FILE_DELETED, "conversations.File"),
    Kind.TOPIC: (AuditKind.FORGOTTEN, "memory.Topic"),
    Kind.PROJECT: (AuditKind.FORGOTTEN, "conversations.Project"),
    Kind.PROMPT: (AuditKind.FORGOTTEN, "conversations.Prompt"),
    Kind.SCHEDULE: (AuditKind.FORGOTTEN, "conversations.Schedule"),
    Kind.EVERYTHING: (AuditKind.FORGOTTEN, "auth.User"),
    Kind.SHARE: (AuditKind.SHARE_REVOKED, "conversations.Share"),
    Kind.LEAVING: (AuditKind.ACCOUNT_LEAVES, "auth.User"),
    Kind.STAYING: (AuditKind.ACCOUNT_STAYS, "auth.User"),
}
"""What the audit record calls it, with the label of the row's model. Of holds their own module tells."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """``through``: of a thread that was cleared, the last position that went."""

    at: datetime
    kind: Kind
    digest: str
    through: int = 0


def note(kind: Kind, id: object, *, through: int = 0) -> None:
    """In the transaction that forgets it, once nothing can refuse any more; the audit record tells of it, too. Raises
    ``LedgerAway``."""
    folder = Path(settings.OPENBOOK_ERASURE_LEDGER)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = Digests(_salt(folder)).of(kind, id)
        line: dict[str, str | int] = {"at": timezone.now().isoformat(), "kind": kind, "digest": digest}
        if through:
            line["through"] = through
        path = folder / f"{socket.gethostname()}.jsonl"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # A line of its own, though the one before was cut when its host went down.
            file.write(b"\n" + json.dumps(line).encode() + b"\n")
            os.fsync(file.fileno())
    except OSError as error:
        raise LedgerAway(retry_after=30) from error
    if kind not in EVENTS:
        return
    event, label = EVENTS[kind]
    id_in_record = str(id).partition(" ")[0]  # of an account, without when it was made
    audit.record(event, target=(label, id_in_record), details={"through": through} if through else {})


def account_id(user: User) -> str:
    """Numbers of accounts may be given again after a restore."""
    return f"{user.pk} {user.date_joined.isoformat()}"


class Digests:
    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def of(self, kind: Kind, id: object) -> str:
        return hmac.digest(self._salt, f"{kind} {id}".encode(), "sha256").hex()


def digests() -> Digests:
    return Digests(_salt(Path(settings.OPENBOOK_ERASURE_LEDGER)))


def entries() -> Iterator[Entry]:
    """Of all hosts. A line that was cut when its host went down was never acted upon, and is passed over."""
    for path in sorted(Path(settings.OPENBOOK_ERASURE_LEDGER).glob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                if entry := _entry(line):
                    yield entry


def _entry(line: bytes) -> Entry | None:
    try:
        each = json.loads(line)
        entry = Entry(
            at=datetime.fromisoformat(each["at"]),
            kind=Kind(each["kind"]),
            digest=str(each["digest"]),
            through=int(each.get("through", 0)),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return entry if entry.at.tzinfo else None


def _salt(folder: Path) -> bytes:
    """Made once, by whoever comes first: it appears whole."""
    path = folder / SALT
    if not path.exists():
        new = folder / f".{secrets.token_hex(8)}"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        finally:
            new.unlink()
    return path.read_bytes()
