"""What a backup says of itself is a stranger's word until its proof was checked, and without a key for good."""

import copy
import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.backups import manifest, restore, streams
from config.backups.manifest import (
    BackupError,
    Manifest,
    StoredFile,
    StoredPartition,
    StoredSequence,
    StoredTable,
    listed_file,
)
from conversations.upkeep import partitions

KEY = "k" * 43
HOSTILE: tuple[Any, ...] = (
    *("../../../etc/passwd", "/etc/passwd", 'a"; DROP TABLE auth_user; --', "auth_user", "", "\x1b[2J", "x" * 70_000),
    *(None, -1, 2**80, True, 1.5, [], [[]], {}, {"path": "/etc/passwd", "bytes": 1, "sha256": ""}),
)


def made(ends: str) -> Manifest:
    stored = StoredFile(path=f"tables/auth_user.copy.gz{ends}", bytes=9, sha256="0" * 64)
    return Manifest(
        openbook="1.0",
        postgresql="18.4",
        snapshot_at=datetime(2026, 11, 23, tzinfo=UTC),
        encrypted=bool(ends),
        migrations=(("auth", "0001_initial"),),
        tables=(StoredTable(name="auth_user", columns=("id", "username"), rows=1, file=stored),),
        sequences=(StoredSequence(table="auth_user", column="id", last_value=1, is_called=True),),
        partitions=(StoredPartition(table="t", name="t_first", since=None, until="2026-11-01T00:00:00+00:00"),),
        files=StoredFile(path=f"files.jsonl.gz{ends}", bytes=9, sha256="0" * 64),
    )


def changed(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Copies of which one value is missing, or another one, and where."""
    part = content
    for step in path:
        part = part[step]
    for step in list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ():
        for value in HOSTILE:
            other = copy.deepcopy(content)
            target = other
            for each in path:
                target = target[each]
            if type(target[step]) is type(value) and target[step] == value:
                continue
            target[step] = value
            yield (*path, step), other
        yield from changed(content, (*path, step))


@pytest.mark.parametrize("key", ["", KEY])
def test_what_was_written_is_read(tmp_path: Path, key: str) -> None:
    written = made(".sealed" if key else "")
    manifest.write(written, tmp_path, key)
    assert manifest.read(tmp_path, key) == written


@pytest.mark.long
def test_where_a_key_is_set_nothing_is_taken_that_was_not_sealed_with_it(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    manifest.write(made(""), tmp_path, "")
    with pytest.raises(BackupError, match="unset"):
        manifest.read(tmp_path, KEY)
    manifest.write(made(".sealed"), tmp_path, KEY)
    sealed = json.loads(path.read_text())
    for place, content in changed(sealed):
        path.write_text(json.dumps(content))
        with pytest.raises(BackupError):
            assert manifest.read(tmp_path, KEY), place
    unsealed = json.loads(path.read_text()) | {"encrypted": False}
    for mac in ({}, {"mac": ""}, {"mac": None}, {"mac": sealed["mac"]}):
        path.write_text(json.dumps({name: value for name, value in unsealed.items() if name != "mac"} | mac))
        with pytest.raises(BackupError):
            manifest.read(tmp_path, KEY)


@pytest.mark.long
def test_without_a_key_no_value_leads_out_of_the_folder_or_into_sql(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    manifest.write(made(""), tmp_path, "")
    for place, content in changed(json.loads(path.read_text())):
        path.write_text(json.dumps(content))
        try:
            taken = manifest.read(tmp_path, "")
        except BackupError:
            continue
        files = [taken.files, *(table.file for table in taken.tables)]
        assert all(streams_within(tmp_path, file) for file in files), place
        names = [
            *(table.name for table in taken.tables),
            *(column for table in taken.tables for column in table.columns),
        ]
        assert all(name.isidentifier() and name.isascii() for name in names), place


def streams_within(folder: Path, stored: StoredFile) -> bool:
    return (folder / stored.path).resolve().is_relative_to(folder.resolve())


@pytest.mark.parametrize(
    "place", ["../x", "/etc/passwd", "a/../../x", ".", "a//b", "a\nb", "a\0b", ".hidden/x", "", 1, None]
)
def test_a_listed_file_belongs_into_the_storage(place: object) -> None:
    line = {"place": place, "path": f"files/{place}", "bytes": 1, "sha256": "0" * 64}
    with pytest.raises(BackupError, match="list of files is damaged"):
        listed_file(json.dumps(line).encode(), made(""))
    other = {"place": "ab/cd", "path": "files/../manifest.json", "bytes": 1, "sha256": "0" * 64}
    with pytest.raises(BackupError, match="list of files is damaged"):
        listed_file(json.dumps(other).encode(), made(""))


@pytest.mark.parametrize("kind", ["link", "pipe", "longer", "other"])
def test_a_file_of_a_backup_is_the_one_that_was_stored(tmp_path: Path, kind: str) -> None:
    """Also where it was changed after all files were checked."""
    (tmp_path / "secret").write_bytes(b"another's")
    stored = StoredFile(path="file", bytes=9, sha256=hashlib.sha256(b"another's").hexdigest())
    path = tmp_path / "file"
    match kind:
        case "link":
            path.symlink_to(tmp_path / "secret")
        case "pipe":
            os.mkfifo(path)
        case "longer":
            path.write_bytes(b"another's!")
        case "other":
            path.write_bytes(b"my other!")
    with pytest.raises(BackupError):
        list(streams.content_of(tmp_path, stored, "", compressed=False))
    with pytest.raises(BackupError):
        streams.check(tmp_path, stored, lambda count: None)


@pytest.mark.long
def test_a_list_of_files_without_an_end_of_line_is_refused_in_time(tmp_path: Path) -> None:
    content = gzip.compress(b"x" * 2**27)
    (tmp_path / "files.jsonl.gz").write_bytes(content)
    stored = StoredFile(path="files.jsonl.gz", bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(BackupError, match="list of files is damaged"):
        list(restore.files_of(tmp_path, Manifest(**{**vars(made("")), "files": stored}), ""))


@pytest.mark.parametrize("name", ["x", "t_2026_13x", "t_rest", 't_first"; DROP TABLE t; --', "t_2026_1１"])
def test_a_partition_is_called_as_we_call_it(name: str) -> None:
    assert not partitions.is_name_of(name.replace("t_", f"{partitions.EVENTS.name}_"), partitions.EVENTS)
