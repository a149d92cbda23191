"""Disks that are small enough to be filled. Only root mounts."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A disk of this size, in memory, as this folder."""
    folder.mkdir(mode=0o711, parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=711", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def read_only(folder: Path, at: Path) -> Iterator[None]:
    """The folder once more, where nothing can be written to it."""
    at.mkdir()
    subprocess.run(["mount", "-o", "bind,ro", folder, at], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", at], check=True)


def fill(path: Path) -> None:
    """Leave no room on the disk of this file, which is made for it."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
