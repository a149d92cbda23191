"""What a backup holds: a file for each table, the files that people gave, and `manifest.json`, which names them all."""

import hmac
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from conversations.keep import sealing

FORMAT = "openbook-backup/1"
NAME = "manifest.json"
SEALED = ".sealed"


class BackupError(Exception):
    """Why a backup, a restore or a drill can't be made, in words that say what to do."""


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """One file of the backup, by its path in it: bytes as they lie there, and their SHA-256 in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    name: str
    columns: tuple[str, ...]
    rows: int
    file: StoredFile


@dataclass(frozen=True, kw_only=True)
class StoredSequence:
    """By the column that it numbers."""

    table: str
    column: str
    last_value: int
    is_called: bool


@dataclass(frozen=True, kw_only=True)
class StoredPartition:
    """``since`` and ``until`` are ISO 8601 times; ``None``: all before."""

    table: str
    name: str
    since: str | None
    until: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """``files`` lists what people gave, a JSON object a line; ``files_missing`` were deleted while the backup was made."""

    openbook: str
    postgresql: str
    snapshot_at: datetime
    encrypted: bool
    migrations: tuple[tuple[str, str], ...]
    tables: tuple[StoredTable, ...]
    sequences: tuple[StoredSequence, ...]
    partitions: tuple[StoredPartition, ...]
    files: StoredFile
    files_count: int = 0
    files_bytes: int = 0
    files_missing: int = 0
    format: str = field(default=FORMAT)

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    @property
    def bytes(self) -> int:
        """All that the backup takes, but for the manifest itself."""
        return sum(table.file.bytes for table in self.tables) + self.files.bytes + self.files_bytes


def write(manifest: Manifest, folder: Path, key: str) -> None:
    content = asdict(manifest) | {"snapshot_at": manifest.snapshot_at.isoformat()}
    if key:
        content["mac"] = sealing.mac(key, _canonical(content))
    (folder / NAME).write_text(json.dumps(content, indent=1) + "\n")


def read(folder: Path, key: str) -> Manifest:
    """Raises ``BackupError``."""
    path = folder / NAME
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise BackupError(
                f"{folder} was written in the format {content['format']}: restore it with a newer Openbook."
            )
        mac = content.pop("mac", "")
        manifest = _manifest(content)
    except FileNotFoundError:
        raise BackupError(f"{folder} holds no {NAME}: it is no backup, or one that broke off.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path} is damaged: take another copy of the backup.") from error
    if manifest.encrypted and not key:
        raise BackupError("The backup is encrypted: set OPENBOOK_BACKUP_KEY to the key that it was made with.")
    if manifest.encrypted and not hmac.compare_digest(mac, sealing.mac(key, _canonical(content))):
        raise BackupError(
            "OPENBOOK_BACKUP_KEY is another key than the backup was made with, or its manifest was changed."
        )
    return manifest


def _manifest(content: dict[str, Any]) -> Manifest:
    tables = tuple(
        StoredTable(
            name=each["name"], columns=tuple(each["columns"]), rows=each["rows"], file=StoredFile(**each["file"])
        )
        for each in content["tables"]
    )
    return Manifest(
        **content
        | {
            "snapshot_at": datetime.fromisoformat(content["snapshot_at"]),
            "migrations": tuple((app, name) for app, name in content["migrations"]),
            "tables": tables,
            "sequences": tuple(StoredSequence(**each) for each in content["sequences"]),
            "partitions": tuple(StoredPartition(**each) for each in content["partitions"]),
            "files": StoredFile(**content["files"]),
        }
    )


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
