"""The way into the package: an artifact's content as a file."""

import json
import logging
import subprocess
import sys

from django.conf import settings

from artifacts.exporting import FORMATS, Exported
from artifacts.exporting.markdown import NOT_DRAWN, as_markdown, is_csv
from artifacts.exporting.names import file_name, media_type, source_extension
from artifacts.services import ArtifactError

log = logging.getLogger("openbook.artifacts")


def export(*, title: str, kind: str, language: str, content: str, as_: str) -> Exported:
    """The content as a file of that format. Raises ``ArtifactError``. It may take long: not for an event loop."""
    if as_ not in FORMATS:
        raise ArtifactError("export_unknown", f"`as` is one of {', '.join(FORMATS)}.")
    if as_ == "source" or (kind, as_) == ("html", "html"):
        extension = source_extension(kind, language, is_csv=is_csv(content))
        return _file(title, extension, content.encode())
    markdown = as_markdown(kind, language, content)
    if as_ == "md":
        return _file(title, "md", markdown.encode())
    job = {"as": as_, "title": title, "markdown": markdown, "note": NOT_DRAWN.get(kind, "")}
    return _file(title, as_, _converted(job))


def _file(title: str, extension: str, body: bytes) -> Exported:
    return Exported(filename=file_name(title, extension), media_type=media_type(extension), body=body)


def _converted(job: dict[str, str]) -> bytes:
    """By a process that knows no secrets and that can be ended."""
    seconds = settings.OPENBOOK_EXPORT_SECONDS
    try:
        done = subprocess.run(
            [sys.executable, "-m", "artifacts.exporting.worker"],
            input=json.dumps(job | {"npm": str(settings.BASE_DIR / "node_modules")}).encode(),
            cwd=settings.BASE_DIR,
            env={"PYTHONUTF8": "1", "RAYON_NUM_THREADS": "2"},
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ArtifactError(
            "export_too_long",
            f"The export took longer than {seconds:g} seconds and was ended. Export the source, or less at once.",
            seconds=seconds,
        ) from None
    if done.returncode:
        log.error("export failed", extra={"error": done.stderr.decode(errors="replace")[-2_000:]})
        raise ArtifactError("export_failed", "This content could not be laid out as that. Export the source instead.")
    return done.stdout
