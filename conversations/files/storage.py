"""The bytes of files, and folders to work in.

Bytes lie in the storage ``files`` under random names. Before any are written, their place is noted in ``BytesToRemove`` as one
to remove in a while; the transaction that stores the row which names the place takes the note back. So nothing stays that no
row names, whenever a process ends.
"""

import logging
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files import File as DjangoFile
from django.core.files.storage import Storage, storages
from django.db.models import Exists, OuterRef, QuerySet

from conversations.errors import FileNotFound, Unavailable
from conversations.models import BytesToRemove, HeldRow
from conversations.runtime import clock

log = logging.getLogger("openbook.files")

UNCLAIMED = timedelta(hours=1)
"""Bytes that no row names by then are removed."""
MARGIN = timedelta(minutes=5)
"""Hosts' clocks may differ by so much: no row may name bytes any more that are about to be removed."""
PAUSE = timedelta(minutes=10)
SCRATCH_KEPT = timedelta(days=1)
AT_ONCE = 500
PIECE = 2**18


class StorageAway(Unavailable):
    code = "storage_away"
    message = "Files can't be stored or read just now. Nothing was done; try again in a moment."


def storage() -> Storage:
    return storages["files"]


@contextmanager
def reaching() -> Iterator[None]:
    """Raises ``StorageAway`` for what the storage raises: each kind has errors of its own, and a disk may be full."""
    try:
        yield
    except Exception as error:  # which of them there are depends on the storage
        log.exception("the storage of files failed")
        raise StorageAway(retry_after=30) from error


def keep(path: Path) -> str:
    """Move a file of ours into the storage. Returns its place, which a row has to ``claim``."""
    name = secrets.token_hex(16)
    place = f"{name[:2]}/{name}"
    BytesToRemove.objects.create(place=place, due_at=clock.now() + UNCLAIMED)
    with path.open("rb") as file, reaching():
        storage().save(place, _Movable(file, path))
    return place


class _Movable(DjangoFile[bytes]):
    """A storage in the same file system moves it, others read it."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__(file, name=path.name)
        self._path = path

    def temporary_file_path(self) -> str:
        return str(self._path)


def claim(places: Collection[str]) -> None:
    """In the transaction that stores the rows which name them. Raises ``Unavailable`` where it took too long."""
    until = clock.now() + MARGIN
    noted = BytesToRemove.objects.filter(place__in=places, due_at__gt=until)
    if places and noted.delete()[0] != len(places):
        raise Unavailable("The file took too long to store. Nothing was stored; try again.")


def postpone(places: Collection[str]) -> None:
    """Bytes that a row is still to name: they stay for as long again."""
    BytesToRemove.objects.filter(place__in=places).update(due_at=clock.now() + UNCLAIMED)


def discard(places: Collection[str]) -> None:
    """Bytes that no row will name: they go now rather than in a while."""
    BytesToRemove.objects.filter(place__in=places).update(due_at=clock.now())


def due(now: datetime) -> QuerySet[BytesToRemove]:
    """Bytes that no row names, of a legal hold neither, the longest due first."""
    held = HeldRow.objects.filter(place=OuterRef("place"))
    return BytesToRemove.objects.filter(~Exists(held), due_at__lte=now).order_by("due_at")


def remove_due(now: datetime) -> int:
    """Remove bytes that no row names. Returns how many; what can't be removed is tried again in a while."""
    removed, kept = [], []
    for place in list(due(now).values_list("place", flat=True)[:AT_ONCE]):
        try:
            storage().delete(place)
            removed.append(place)
        except Exception as error:  # whatever a storage elsewhere raises: the others are removed nevertheless
            log.warning("bytes can't be removed yet", extra={"place": place, "cause": type(error).__name__})
            kept.append(place)
    BytesToRemove.objects.filter(place__in=removed).delete()
    BytesToRemove.objects.filter(place__in=kept).update(due_at=now + PAUSE)
    return len(removed)


def open_bytes(place: str) -> IO[bytes]:
    """Raises ``FileNotFound`` where they are gone, with a row that is about to go, and ``StorageAway``."""
    with reaching():
        try:
            opened: IO[bytes] | None = storage().open(place)
        except FileNotFoundError:
            opened = None
    if opened is None:
        raise FileNotFound
    return opened


@contextmanager
def local(place: str, folder: Path) -> Iterator[Path]:
    """The bytes as a file of this machine, which is only read. A storage elsewhere has it copied into the folder."""
    try:
        path = Path(storage().path(place))
    except NotImplementedError:
        path = folder / "original"
        with open_bytes(place) as source, path.open("wb") as target, reaching():
            shutil.copyfileobj(source, target, PIECE)
    yield path


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A folder for as long as the block runs, readable by this user of the machine alone. It is empty at first."""
    folder = scratch_root() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scratch_root() -> Path:
    root: Path = settings.OPENBOOK_FILES_DIR / "scratch"
    root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    root.mkdir(mode=0o700, exist_ok=True)
    return root


def remove_scratch(pattern: str = "*", *, seconds: float = SCRATCH_KEPT.total_seconds()) -> None:
    """What dead processes left there and nothing has changed for so long."""
    for left in scratch_root().glob(pattern):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime >= seconds:
                shutil.rmtree(left) if left.is_dir() else left.unlink()
