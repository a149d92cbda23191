"""The way into the package: an artifact's content as a file."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from tempfile import TemporaryDirectory

from django.conf import settings

from artifacts.exporting import FORMATS, PROBLEM, TABLE_FORMATS, ExportFile
from artifacts.exporting.markdown import NOT_DRAWN, as_markdown, is_csv
from artifacts.exporting.names import file_name, media_type, source_extension
from artifacts.services import ArtifactError
from conversations.runtime.wording import worded

log = logging.getLogger("openbook.artifacts")

End = Callable[[], object]


def is_quick(kind: str, as_: str) -> bool:
    """Whether no process is needed for it."""
    return as_ in {"source", "md"} or as_ not in FORMATS or (kind, as_) == ("html", "html")


def export(
    *, title: str, kind: str, language: str, content: str, as_: str, ended_by: Callable[[End], None] = lambda end: None
) -> ExportFile:
    """The content as a file of that format. Raises ``ArtifactError``. It may take long: not for an event loop.

    ``ended_by`` is given what ends it, from any thread.
    """
    if as_ not in FORMATS:
        raise ArtifactError("export_unknown", worded("`as` is one of {names}.", names=", ".join(FORMATS)))
    if as_ == "source" or (kind, as_) == ("html", "html"):
        extension = source_extension(kind, language, is_csv=is_csv(content))
        return _file(title, extension, content.encode())
    if as_ in TABLE_FORMATS:
        return _file(title, as_, _converted({"as": as_, "title": title, "kind": kind, "content": content}, ended_by))
    markdown = as_markdown(kind, language, content)
    if as_ == "md":
        return _file(title, "md", markdown.encode())
    job = {"as": as_, "title": title, "markdown": markdown, "note": NOT_DRAWN.get(kind, "")}
    return _file(title, as_, _converted(job, ended_by))


def _file(title: str, extension: str, body: bytes) -> ExportFile:
    return ExportFile(filename=file_name(title, extension), media_type=media_type(extension), body=body)


def _converted(job: dict[str, str], ended_by: Callable[[End], None]) -> bytes:
    """By a process that knows no secrets and that can be ended."""
    seconds = settings.OPENBOOK_EXPORT_SECONDS
    with (
        TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-m", "artifacts.exporting.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=settings.BASE_DIR,
            env={"PYTHONUTF8": "1", "RAYON_NUM_THREADS": "2", "TMPDIR": folder},
        ) as process,
    ):
        try:
            ended_by(process.kill)
            made, errors = process.communicate(
                json.dumps(job | {"npm": str(settings.BASE_DIR / "node_modules")}).encode(), seconds
            )
        except subprocess.TimeoutExpired:
            raise ArtifactError(
                "export_too_long",
                worded(
                    "The export took longer than {seconds} seconds and was ended. Export the source, or less at once.",
                    seconds=f"{seconds:g}",
                ),
                seconds=seconds,
            ) from None
        finally:
            process.kill()
    if process.returncode == PROBLEM:
        problem = json.loads(made)
        raise ArtifactError(problem["code"], problem["message"])
    if process.returncode:
        log.error("export failed", extra={"error": errors.decode(errors="replace")[-2_000:]})
        raise ArtifactError("export_failed", "This content could not be laid out as that. Export the source instead.")
    return made
