"""The process that reads one file. It knows nothing of Django, and no secrets.

A job comes in as JSON; out goes a line of JSON for the outline and for each part, one for each kind of thing that was left
out, then one for the end or for the problem.
"""

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from artifacts.reading.blocks import Block, Picture, Title
from artifacts.reading.left_out import Account
from artifacts.reading.parts import PartObject, make_parts
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.pictures.ocr import Ocr
from artifacts.reading.problems import TOO_MUCH_MEMORY, FileProblem
from conversations import runtime
from conversations.runtime import confinement
from conversations.runtime.text import clean_deep

CODE = [Path(__file__).parent, Path(runtime.__file__).parent]
"""What readers may still import."""
FILE_BYTES = 64 * 2**20
OPEN_FILES = 64
RECURSION = 500


def main() -> None:
    job = json.load(sys.stdin)
    limits = job["limits"]
    confinement.limit(
        memory_bytes=limits["memory_bytes"],
        cpu_seconds=limits["cpu_seconds"],
        file_bytes=FILE_BYTES,
        open_files=OPEN_FILES,
    )
    with suppress(AttributeError, OSError):  # not every system can
        os.nice(10)
    confinement.cut_off()
    reader = importlib.import_module(job["reader"])
    confinement.keep_to_files(readable=[Path(job["path"]), *CODE], writable=Path(job["folder"]))
    try:
        for message in messages(job, reader):
            _write(message)
    except FileProblem as problem:
        _write({"problem": {"code": problem.code, "message": problem.message}})
    except MemoryError:
        _write({"problem": {"code": "too_much_memory", "message": TOO_MUCH_MEMORY}})
    except RecursionError:
        message = "The file is nested too deeply to be read."
        _write({"problem": {"code": "damaged", "message": message}})
    except ParseError as error:
        message = f"The file is damaged: {error}. Open it where it was made and save it again."
        _write({"problem": {"code": "damaged", "message": message}})
    else:
        _write({"end": True})


def messages(job: dict[str, Any], reader: Any) -> Iterator[Any]:
    """What is to be written. Raises ``FileProblem``, possibly after some."""
    path, limits = Path(job["path"]), job["limits"]
    languages = job.get("languages")
    ocr = Ocr(languages, limits["ocr_seconds"] or limits["seconds"]) if languages else None
    pictures = PictureFolder(Path(job["folder"]), limits["picture_bytes"], ocr)
    if "pages" in job:
        drawn: Iterator[Picture] = reader.draw(path, job["pages"], pictures)
        yield from ({"picture": picture.name} for picture in drawn)
        return
    if "thumbnail" in job:
        yield {"picture": reader.thumbnail(path, pictures)}
        return
    blocks: Iterator[Block] = reader.read(path, job["extension"], pictures)
    title = next(blocks)
    assert isinstance(title, Title)
    yield {"title": " ".join(title.text.split())[:200], "total": title.total, "thumbnail": title.thumbnail}
    account = Account()
    try:
        yield from _limited(make_parts(account.noted(blocks)), limits["parts"], limits["text_bytes"])
    except Exception:
        yield from account.entries()
        raise
    yield from account.entries()


def _limited(parts: Iterator[PartObject], most: int, most_bytes: int) -> Iterator[PartObject]:
    number = size = 0
    last = "its beginning"
    for number, part in enumerate(parts, 1):
        size += len(part["text"].encode(errors="replace"))
        if number > most:
            raise FileProblem(
                "too_many_parts", f"The file is too long: its first {most:,} parts were read, up to {last}."
            )
        if size > most_bytes:
            raise FileProblem("too_large", f"The file holds too much text: it was read up to {last}.")
        last = part["label"]
        yield part
    if not number:
        raise FileProblem("empty", "Nothing stands in the file.")


def _write(message: Any) -> None:
    sys.stdout.write(json.dumps(clean_deep(message), ensure_ascii=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
