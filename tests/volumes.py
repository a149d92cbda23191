"""Disks that are small enough to be filled. Only root mounts."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNMOUNT = 'cat; umount "$1" || { umount --lazy "$1"; exit 1; }'
"""Once nothing can be written to it any more. What is still in use goes with whoever uses it, and is an error."""


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A disk of this size, in memory, as this folder."""
    folder.mkdir(mode=0o711, parents=True)
    with mount(folder, "-t", "tmpfs", "-o", f"size={size},mode=711", "tmpfs"):
        yield


@contextmanager
def read_only(folder: Path, at: Path) -> Iterator[None]:
    """The folder once more, where nothing can be written to it."""
    at.mkdir()
    with mount(at, "-o", "bind,ro", str(folder)):
        yield


@contextmanager
def mount(at: Path, *what: str) -> Iterator[None]:
    """It is taken away by a process of its own, which hears of the end of this one however it ends."""
    subprocess.run(["mount", *what, at], check=True)
    with subprocess.Popen(["sh", "-c", UNMOUNT, "sh", at], stdin=subprocess.PIPE, start_new_session=True) as unmount:
        yield
    assert unmount.returncode == 0, f"something was still using {at}"


def fill(path: Path) -> None:
    """Leave no room on the disk of this file, which is made for it."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
