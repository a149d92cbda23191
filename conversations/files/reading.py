"""The way into the package: a file is read by a process of its own, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conversations.files.kinds import FileType
from conversations.files.limits import Limits
from conversations.files.problems import FileProblem

__all__ = ["FileProblem", "Limits", "Outline", "Part", "page_picture", "read"]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Comes first, once."""

    title: str
    """As the file itself has it; may be empty."""
    total: int | None
    """How many pages, slides or sheets there are, where that is known beforehand. One of them may become several parts."""


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


def read(path: Path, type: FileType, *, folder: Path, limits: Limits) -> Iterator[Outline | Part]:
    """The outline, then the parts, each as soon as it is read. Pictures are written into ``folder``, which exists.

    Raises ``FileProblem``, possibly after parts: these stay true, and the problem says what is missing. Closing the
    iterator ends the process.
    """
    raise FileProblem("failed", "Files can't be read yet.")
    yield Outline(title="", total=None)


def page_picture(path: Path, type: FileType, number: int, *, folder: Path, limits: Limits) -> Path:
    """A page of a PDF, from 1, as a PNG or JPEG in ``folder``. Raises ``FileProblem``."""
    raise FileProblem("failed", "Pages can't be drawn yet.")
