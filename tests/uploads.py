"""Files as forms bring them, and what of them lies on the disk."""

from pathlib import Path

from django.conf import settings

BOUNDARY = "a-boundary-of-the-tests"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
END = f"\r\n--{BOUNDARY}--\r\n".encode()


def form_start(name: str, field: str = "file") -> bytes:
    """What comes before the content; ``name`` as it stands in the header."""
    disposition = f'Content-Disposition: form-data; name="{field}"; filename="{name}"'
    return f"--{BOUNDARY}\r\n{disposition}\r\nContent-Type: application/octet-stream\r\n\r\n".encode()


def form(content: bytes, name: str = "notes.txt", field: str = "file") -> bytes:
    return form_start(name, field) + content + END


def stored(root: Path | None = None) -> dict[str, bytes]:
    """All that lies in the folder for files, by its path there."""
    root = root or settings.OPENBOOK_FILES_DIR
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
