"""The way into the package: a file is read by a process of its own, part by part."""

import json
import logging
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from artifacts.reading.blocks import Why
from artifacts.reading.kinds import FileType
from artifacts.reading.left_out import LeftOutObject
from artifacts.reading.limits import Limits
from artifacts.reading.problems import TOO_LONG, TOO_MUCH_MEMORY, FileProblem
from artifacts.reading.readers import reader_name

__all__ = ["FileProblem", "LeftOutEntry", "Limits", "Outline", "Part", "page_pictures", "read", "thumbnail"]

log = logging.getLogger("openbook.files")

ROOT = Path(__file__).parents[2]
LONGEST_LINE = 2**20
FAILED = "The file could not be read. Open it where it was made, save it again, or as a PDF, and try that."


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Comes first, once."""

    title: str
    """As the file itself has it; may be empty."""
    total: int | None
    """How many pages, slides or sheets there are, where that is known beforehand. One of them may become several parts."""
    thumbnail: Path | None = None
    """A WebP in the folder, where the file is a picture."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A page, a slide, some rows of a sheet or a section; at most some 2,000 tokens."""

    number: int
    """From 1, without holes."""
    label: str
    """Unlike that of every other part: ``page 3``, ``page 3 (2)``, ``sheet "Q2", rows 2–60``, ``section "Costs"``."""
    heading: str
    """That it stands under; may be empty."""
    text: str
    """Markdown; empty where there is only a picture."""
    page: int | None = None
    """Of a PDF the page, of slides the slide, of a workbook the sheet: from 1."""
    picture: Path | None = None
    """A PNG or JPEG in the folder: the image itself, or a page that has no text."""
    width: int | None = None
    """Of the picture, in pixels."""
    height: int | None = None


@dataclass(frozen=True, kw_only=True)
class LeftOutEntry:
    """What the file holds and no part does, all of a kind together; comes last."""

    entry: LeftOutObject


type Found = Outline | Part | LeftOutEntry


def read(path: Path, type: FileType, *, folder: Path, limits: Limits, languages: str = "") -> Generator[Found]:
    """The outline, then the parts, each as soon as it is read, then what was left out. Pictures are written into ``folder``,
    which exists. ``languages``, such as ``eng+deu``: pages and pictures without text are read by a machine, in these.

    Raises ``FileProblem``, possibly after parts: these stay true, and the problem says what is missing. Closing the
    iterator ends the process.
    """
    if languages:
        extra = limits.ocr_seconds
        limits = replace(limits, seconds=limits.seconds + extra, cpu_seconds=limits.cpu_seconds + int(extra))
    job = _job(path, type, folder, limits) | {"languages": languages}
    with closing(_messages(job, limits)) as messages:
        yield from found_in(messages, folder)


def found_in(messages: Iterable[dict[str, Any]], folder: Path) -> Generator[Found]:
    """What the messages of the child say. Raises ``FileProblem`` where one names a picture that is not in the folder."""
    number = 0
    for message in messages:
        match message:
            case {"title": str(title), "total": total, "thumbnail": name}:
                yield Outline(title=title, total=total, thumbnail=_picture(name, folder))
            case {"left_out": {"what": str(what), "why": why, "count": int(count), "places": [*places]}}:
                yield LeftOutEntry(entry={"what": what, "why": Why(why).value, "count": count, "places": places})
            case {"label": _}:
                number += 1
                yield Part(number=number, **message | {"picture": _picture(message["picture"], folder)})


def page_pictures(
    path: Path, type: FileType, numbers: Sequence[int], *, folder: Path, limits: Limits
) -> Generator[tuple[int, Path]]:
    """These pages of a PDF, from 1, each as a PNG or JPEG in ``folder``. Raises ``FileProblem``, possibly after pages."""
    job = _job(path, type, folder, limits) | {"pages": list(numbers)}
    yield from zip(numbers, _drawn(job, folder, limits), strict=False)


def thumbnail(path: Path, type: FileType, *, folder: Path, limits: Limits) -> Path:
    """Of a picture, or of the first page of a PDF, as a WebP in ``folder``. Raises ``FileProblem``."""
    job = _job(path, type, folder, limits) | {"thumbnail": True}
    with closing(_drawn(job, folder, limits)) as drawn:
        for picture in drawn:
            return picture
    raise FileProblem("failed", FAILED)


def _drawn(job: dict[str, Any], folder: Path, limits: Limits) -> Generator[Path]:
    """Raises ``FileProblem``."""
    with closing(_messages(job, limits)) as messages:
        for message in messages:
            if picture := _picture(message.get("picture"), folder):
                yield picture


def _job(path: Path, type: FileType, folder: Path, limits: Limits) -> dict[str, Any]:
    return {
        "path": str(path.absolute()),
        "reader": reader_name(type.kind, type.extension),
        "extension": type.extension,
        "folder": str(folder.absolute()),
        "limits": asdict(limits),
    }


def _messages(job: dict[str, Any], limits: Limits) -> Generator[dict[str, Any]]:
    """What the child writes, line by line, until it says that it has ended. Raises ``FileProblem`` if it does not."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [sys.executable, "-m", "artifacts.reading.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env={"PYTHONUTF8": "1"},
        ) as process:
            clock = threading.Timer(limits.seconds, process.kill)
            clock.start()
            try:
                assert process.stdin
                assert process.stdout
                with suppress(BrokenPipeError):
                    process.stdin.write(json.dumps(job).encode())
                    process.stdin.close()
                while (line := process.stdout.readline(LONGEST_LINE)).endswith(b"\n"):
                    message = json.loads(line)
                    if "problem" in message:
                        raise FileProblem(**message["problem"])
                    if "end" in message:
                        return
                    yield message
            finally:
                clock.cancel()
                process.kill()
        is_late = time.monotonic() - started >= limits.seconds
        errors.seek(0)
        raise _broken_off(process.returncode, errors.read(LONGEST_LINE).decode(errors="replace"), is_late)


def _broken_off(status: int, errors: str, is_late: bool) -> FileProblem:
    """Of a process that could not say itself what happened."""
    if is_late or status == -signal.SIGXCPU:
        return FileProblem(
            TOO_LONG, "Reading the file took too long and was ended. Give a smaller one, or a part of it."
        )
    if "memory" in errors.lower():
        return FileProblem("too_much_memory", TOO_MUCH_MEMORY)
    log.error("reading a file broke off", extra={"status": status, "error": errors[-2_000:]})
    return FileProblem("failed", FAILED)


def _picture(name: str | None, folder: Path) -> Path | None:
    """Only what lies in the folder itself: the child has read what a stranger wrote."""
    if name is None:
        return None
    picture = folder / name
    if not re.fullmatch(r"[\w-]+\.(?:png|jpg|webp)", name) or picture.is_symlink() or not picture.is_file():
        raise FileProblem("failed", FAILED)
    return picture
