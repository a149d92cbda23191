"""This machine: Python, who the process is, folders and disks, time zones, static files."""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import django
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.storage import storages
from django.utils.translation import gettext

from config.doctor.findings import Finding, ok, warning, wrong
from config.observability.limits import FREE_SHARE
from conversations.runtime.wording import filled

LEAST_PYTHON = (3, 12)
MEBIBYTE = 2**20
LEAST_FREE, FEW_FREE = 256 * MEBIBYTE, 2048 * MEBIBYTE
LEAST_FREE_FILES = 1_000
OCR_SECONDS = 30.0
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata")
"""Of each part of the tables that systems split off."""


def look_at_versions() -> Sequence[Finding]:
    return versions(tuple(map(int, platform.python_version_tuple()[:2])))


def versions(python: tuple[int, ...]) -> list[Finding]:
    words = f"Python {platform.python_version()}, Django {django.__version__}, psycopg {version('psycopg')}"
    if python < LEAST_PYTHON:
        least = ".".join(map(str, LEAST_PYTHON))
        advice = filled("Install Python {version} or newer, and make .venv anew.", version=least)
        return [wrong(filled("{words}: this Python is too old", words=words), advice)]
    return [ok(words)]


def look_at_process() -> Sequence[Finding]:
    is_read_only = not os.access(settings.BASE_DIR, os.W_OK)
    if os.geteuid() == 0:
        advice = gettext("Run it as a user of its own, as deploy/ does.")
        return [warning(gettext("runs as root: whoever breaks out of it owns the machine"), advice)]
    user = str(os.geteuid())
    if is_read_only:
        return [ok(filled("runs as user {user}, which can't write to its own code", user=user))]
    return [ok(filled("runs as user {user}, which could write to its own code", user=user))]


def look_at_ocr() -> Sequence[Finding]:
    if not settings.OPENBOOK_OCR:
        return [ok(gettext("off: pages and pictures without text are given as pictures"))]
    return ocr(settings.OPENBOOK_OCR)


def ocr(languages: str) -> list[Finding]:
    """In a process of its own, as the engine is loaded into the one that uses it."""
    asked = subprocess.run(  # noqa: S603 – languages are checked where they are set
        [sys.executable, "-m", "artifacts.reading.pictures.ocr", languages],
        cwd=settings.BASE_DIR,
        env={},
        capture_output=True,
        text=True,
        timeout=OCR_SECONDS,
    )
    if asked.returncode == 0:
        return [ok(filled("Tesseract reads pages and pictures without text: {languages}", languages=languages))]
    packages = " ".join(f"tesseract-ocr-{language.lower().replace('_', '-')}" for language in languages.split("+"))
    advice = filled(
        "Install it, on Debian `apt-get install tesseract-ocr {packages}`, or set OPENBOOK_OCR to off.",
        packages=packages,
    )
    return [wrong(asked.stdout.strip() or filled("Tesseract ended with {code}", code=asked.returncode), advice)]


def look_at_time_zones() -> Sequence[Finding]:
    missing = [name for name in ZONES if not is_zone(name)]
    if missing:
        advice = gettext("Install the system's package tzdata, or `pip install tzdata`.")
        words = filled("{names} is not known here: people's days begin at the wrong hour", names=", ".join(missing))
        return [wrong(words, advice)]
    return [ok(filled("the zones of people are known; the server works in {zone}", zone=settings.TIME_ZONE))]


def is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except ZoneInfoNotFoundError:
        return False
    return True


def look_at_static_files() -> Sequence[Finding]:
    root = Path(settings.STATIC_ROOT)
    advice = filled("Run: {command}", command="python manage.py collectstatic --noinput")
    if settings.DEBUG:
        return [ok(gettext("from source, as DEBUG is on"))]
    sources = [found for finder in finders.get_finders() for found in finder.list([])]
    stale = sum(
        size(root / (getattr(storage, "prefix", None) or "") / path) != storage.size(path) for path, storage in sources
    )
    if stale == len(sources):
        return [wrong(filled("{path} holds none: pages have neither styles nor scripts", path=root), advice)]
    if stale:
        words = filled(
            "{number} of {all} in {path} are missing or of another version", number=stale, all=len(sources), path=root
        )
        return [wrong(words, advice)]
    return [ok(filled("{number} collected in {path}", number=len(sources), path=root))]


def size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def look_at_data_folder() -> Sequence[Finding]:
    return list(folder(settings.LOCAL_DIR, "OPENBOOK_DATA_DIR"))


def look_at_uploads_folder() -> Sequence[Finding]:
    place = Path(tempfile.gettempdir())
    found = list(folder(place, "TMPDIR", is_shared=True))
    wanted = settings.OPENBOOK_MAX_UPLOADS_MB * 2 * MEBIBYTE
    if found[-1].status == "ok" and (free := free_bytes(place)) < wanted:
        advice = gettext("Set TMPDIR to a larger disk, or lower OPENBOOK_MAX_UPLOADS_MB.")
        words = filled(
            "{path} has {free} free, uploads may take {size}", path=place, free=megabytes(free), size=megabytes(wanted)
        )
        return [warning(words, advice)]
    return found


def look_at_files() -> Sequence[Finding]:
    if settings.OPENBOOK_FILES_S3_BUCKET:
        return bucket(settings.OPENBOOK_FILES_S3_BUCKET)
    return list(folder(settings.OPENBOOK_FILES_DIR, "OPENBOOK_FILES_DIR"))


def bucket(name: str) -> list[Finding]:
    try:
        storages["files"].exists("openbook-doctor")
    except Exception as error:  # which of them there are depends on the storage
        lines = str(error).splitlines() or [type(error).__name__]
        advice = gettext("Correct OPENBOOK_FILES_S3_ENDPOINT, _REGION, _KEY or _SECRET, or the rights of the key.")
        return [wrong(filled("the bucket {name} can't be read: {problem}", name=name, problem=lines[0]), advice)]
    return [ok(filled("the bucket {name} answers", name=name))]


def folder(path: Path, setting: str, *, is_shared: bool = False) -> Iterator[Finding]:
    """Whether this process can write there, whether others can read it, and how much room is left."""
    place = nearest(path)
    if (problem := write_problem(place)) and not path.exists():
        advice = filled("Make it, for user {user} alone, or change {setting}.", user=str(os.geteuid()), setting=setting)
        yield wrong(filled("{path} can't be made: {problem}", path=path, problem=problem), advice)
        return
    if problem:
        users = {"user": str(os.geteuid()), "other": str(place.stat().st_uid)}
        advice = filled("chown it to user {user} (it is {other}'s), or change {setting}.", setting=setting, **users)
        yield wrong(filled("{path} can't be written: {problem}", path=path, problem=problem), advice)
        return
    if path.exists() and not is_shared and path.stat().st_mode & 0o022:
        yield wrong(filled("others may write to {path}", path=path), f"chmod go-w {path}")
        return
    status = os.statvfs(place)
    free, size = status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize
    yield room(path, free, status.f_favail if status.f_files else None, size=size)


def room(path: Path, free: int, free_files: int | None, *, size: int) -> Finding:
    """``free`` and ``size`` in bytes; ``free_files``: inodes, ``None`` where the file system does not count them."""
    words = filled("{path} can be written, {free} free", path=path, free=megabytes(free))
    if free_files is not None and free_files < LEAST_FREE_FILES:
        advice = gettext("Remove files, or make the file system with more inodes.")
        return wrong(filled("{words}, but only {number} more files", words=words, number=free_files), advice)
    return space(words, free, size)


def space(words: str, free: int, size: int) -> Finding:
    """Bytes of a disk."""
    if free < LEAST_FREE:
        return wrong(words, gettext("Make room now: docs/operate/disk-filling.md."))
    if free < FEW_FREE or free < size * FREE_SHARE:
        return warning(words, gettext("Make room soon: docs/operate/disk-filling.md."))
    return ok(words)


def write_problem(folder: Path) -> str:
    """By writing a file, as rights alone don't tell of a file system that is full or read-only."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0" * 4096)
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def nearest(path: Path) -> Path:
    """The folder itself, or the one above that it would be made in."""
    return next(each for each in (path, *path.parents) if each.is_dir())


def free_bytes(path: Path) -> int:
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def megabytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count // MEBIBYTE} MiB"
