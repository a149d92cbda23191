"""Small pictures of files: of pictures they are made as these are read, of PDFs when somebody first sees them."""

import secrets
from pathlib import Path

from django.db import transaction
from django.db.models import F

from artifacts.reading import process
from artifacts.reading.kinds import Kind, detect
from artifacts.reading.problems import FileProblem
from conversations.errors import FileNotFound, PictureNotFound
from conversations.files import storage
from conversations.files.drawing import LIMITS
from conversations.models import File

MOST_TRIES = 2
"""How often it is tried to draw one."""


def place_of(file: File) -> str:
    """Where it lies; it is made if there is none. Takes a moment then. Raises ``PictureNotFound`` and ``FileNotFound``."""
    if file.thumbnail:
        return file.thumbnail
    if file.kind not in {Kind.IMAGE, Kind.PDF} or file.state == File.State.FAILED or _is_given_up(file):
        raise PictureNotFound("There is no small picture of a file of this kind, or of one that can't be read.")
    try:
        with storage.scratch(f"thumbnail-{secrets.token_hex(8)}") as folder, storage.local(file.place, folder) as path:
            return store(file, process.thumbnail(path, detect(path, file.name), folder=folder, limits=LIMITS))
    except FileProblem as problem:
        mine = File.objects.filter(user=file.user_id, id=file.id, thumbnail_failures__lt=MOST_TRIES)
        mine.update(thumbnail_failures=F("thumbnail_failures") + 1)
        raise PictureNotFound(problem.message) from None


def _is_given_up(file: File) -> bool:
    return file.thumbnail_failures >= MOST_TRIES


def store(file: File, picture: Path) -> str:
    """Its place. What was there before is removed. Raises ``FileNotFound``."""
    size = picture.stat().st_size
    place = storage.keep(picture)
    with transaction.atomic():
        if File.objects.filter(user=file.user_id, id=file.id).update(thumbnail=place, thumbnail_size=size):
            storage.claim([place])
            return place
    storage.discard([place])
    raise FileNotFound
