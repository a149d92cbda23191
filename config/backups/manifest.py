"""What a backup holds: a file for each table, the files that people gave, and `manifest.json`, which names them all."""

import hmac
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Any, get_origin, get_type_hints

from config.backups import sealing

FORMAT = "openbook-backup/1"
NAME = "manifest.json"
SEALED = ".sealed"
FILES = "files.jsonl.gz"
IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,62}", re.ASCII)
"""Of a table or column; which there are only the schema knows."""
PLACE = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*", re.ASCII)
"""In the storage of files: leads nowhere out of it."""
UNSEALED = (
    "The backup is not encrypted, so anybody could have written or changed it, and OPENBOOK_BACKUP_KEY is set: take one that "
    "was made with this key. If it was made without one and you trust where it lay, unset OPENBOOK_BACKUP_KEY for this command."
)


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
    """With a key only what was sealed with it: without its proof anybody could have written the backup, or changed it. Raises
    ``BackupError``."""
    path = folder / NAME
    try:
        content = json.loads(path.read_bytes())
        if content["format"] != FORMAT:
            raise BackupError(
                f"{folder} was written in the format {content['format']}: restore it with a newer Openbook."
            )
        mac = content.pop("mac", "")
        if mac or content["encrypted"]:
            _check_mac(content, str(mac), key)
        elif key:
            raise BackupError(UNSEALED)
        return _manifest(content)
    except FileNotFoundError:
        raise BackupError(f"{folder} holds no {NAME}: it is no backup, or one that broke off.") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError(f"{path} is damaged: take another copy of the backup.") from error


def _check_mac(content: dict[str, Any], mac: str, key: str) -> None:
    if not key:
        raise BackupError("The backup is encrypted: set OPENBOOK_BACKUP_KEY to the key that it was made with.")
    if not hmac.compare_digest(mac.encode(), sealing.mac(key, _canonical(content)).encode()):
        raise BackupError(
            "OPENBOOK_BACKUP_KEY is another key than the backup was made with, or its manifest was changed."
        )


def _manifest(content: dict[str, Any]) -> Manifest:
    """Raises ``ValueError`` and the like where it is none that ``write`` wrote: with no key it is a stranger's."""
    ends = SEALED if content["encrypted"] else ""
    tables = tuple(
        _typed(StoredTable, each | {"columns": tuple(each["columns"]), "file": _typed(StoredFile, each["file"])})
        for each in content["tables"]
    )
    for table in tables:
        _require(IDENTIFIER.fullmatch(table.name) and all(map(IDENTIFIER.fullmatch, table.columns)))
        _require(table.file.path == f"tables/{table.name}.copy.gz{ends}")
    migrations = tuple((app, name) for app, name in content["migrations"])
    _require(all(isinstance(part, str) for migration in migrations for part in migration))
    snapshot_at = datetime.fromisoformat(content["snapshot_at"])
    _require(snapshot_at.tzinfo)
    manifest = _typed(
        Manifest,
        content
        | {
            "snapshot_at": snapshot_at,
            "migrations": migrations,
            "tables": tables,
            "sequences": tuple(_typed(StoredSequence, each) for each in content["sequences"]),
            "partitions": tuple(_typed(StoredPartition, each) for each in content["partitions"]),
            "files": _typed(StoredFile, content["files"]),
        },
    )
    _require(manifest.files.path == f"{FILES}{ends}")
    return manifest


def listed_file(line: bytes, manifest: Manifest) -> tuple[str, StoredFile]:
    """A line of the list of what people gave: where in the storage it belongs, and where it lies in the backup. Raises
    ``BackupError``."""
    try:
        content = json.loads(line)
        place = content.pop("place")
        stored = _typed(StoredFile, content)
        _require(PLACE.fullmatch(place))
        _require(stored.path == f"files/{place}{SEALED if manifest.encrypted else ''}")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError("The backup's list of files is damaged: take another copy of it.") from error
    return place, stored


def _typed[T](shape: Callable[..., T], values: dict[str, Any]) -> T:
    """The dataclass with these values, each of the type that its field has. No number of a backup is below 0."""
    for name, kind in get_type_hints(shape).items():
        value, origin = values.get(name), get_origin(kind)
        _require(name not in values or isinstance(value, kind if origin in {None, UnionType} else origin))
        _require(not isinstance(value, int) or (value >= 0 and isinstance(value, bool) == (kind is bool)))
    return shape(**values)


def _require(condition: object) -> None:
    if not condition:
        raise ValueError


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
