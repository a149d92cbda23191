"""What a short-lived child gives up before it looks at what a stranger sent: memory, time, files, the network.

It knows nothing of Django. Each limit holds where the system knows it; ``cut_off_network`` says whether its one does.
"""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FILTERED_CALLS = {
    # socket, connect, socketpair, sendto, bind, execve, ptrace, process_vm_readv, execveat, io_uring_setup
    "x86_64": (0xC000003E, (41, 42, 53, 44, 49, 59, 101, 310, 322, 425)),
    "aarch64": (0xC00000B7, (198, 203, 199, 206, 200, 221, 117, 270, 281, 425)),
}
"""The number of the machine and those of the system calls, as Linux counts them."""

NO_NEW_PRIVILEGES, SET_FILTER, FILTER_MODE = 38, 22, 2
LOAD, JUMP_EQUAL, JUMP_NOT_BELOW, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, NOT_PERMITTED, KILL = 0x7FFF0000, 0x00050001, 0x80000000
FOREIGN_CALLS = 0x40000000
"""From here on calls of another kind of program begin, which would pass by their numbers."""


CREATE_RULES, ADD_RULE, ENFORCE_RULES, BENEATH_A_PATH = 444, 445, 446, 1
"""Calls of Landlock, the same on every machine."""
ANY_ACCESS, READ_ACCESS, WRITE_ACCESS = 0x1FFF, 0xC, 0x12E
"""To files, of Landlock's first version · read files and folders · besides, write, make and remove files."""
FILE_ACCESS = 0x6
"""Of these, what can be said of a single file."""
SYSTEM_FOLDERS = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share",
    "/lib",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
)


class _Rules(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64),)


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def limit(
    *,
    memory_bytes: int,
    cpu_seconds: int | None = None,
    file_bytes: int | None = None,
    open_files: int | None = None,
) -> None:
    """Of this process, for good: address space, processor time, size of each file it writes, files open at once."""
    with suppress(ImportError):
        import resource  # noqa: PLC0415  # not there on Windows

        limits = {
            resource.RLIMIT_AS: memory_bytes,
            resource.RLIMIT_CPU: cpu_seconds,
            resource.RLIMIT_FSIZE: file_bytes,
            resource.RLIMIT_NOFILE: open_files,
            resource.RLIMIT_CORE: 0,
        }
        for what, most in limits.items():
            if most is not None:
                spare = 1 if what == resource.RLIMIT_CPU else 0  # a second between the signal that says so and the end
                with suppress(ValueError, OSError):  # not every system can
                    resource.setrlimit(what, (most, most + spare))


def cut_off_network() -> bool:
    """No connection can be made from now on, nor a program started; whether that holds here.

    On Linux only: a network of its own that leads nowhere, where the system lets it, and a filter of system calls, which
    also closes the sockets of the file system. Call it before there are threads.
    """
    if sys.platform != "linux":
        return False
    with suppress(OSError):  # containers mostly forbid it
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    return _filter_calls()


def keep_to_files(*, readable: Iterable[Path], writable: Path) -> bool:
    """From now on files are opened only there, in Python's own folders and in those of the system's libraries.

    Whether that holds: on Linux with Landlock, from 5.13 on. ``writable`` is a folder, the others folders or files.
    """
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None)
    rules = system.syscall(CREATE_RULES, ctypes.byref(_Rules(ANY_ACCESS)), ctypes.sizeof(_Rules), 0)
    if rules < 0:
        return False
    own = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    for path in {Path(path) for path in (*SYSTEM_FOLDERS, *own)} | set(readable):
        _allow(system, rules, path, READ_ACCESS)
    _allow(system, rules, writable, READ_ACCESS | WRITE_ACCESS)
    system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    refused: int = system.syscall(ENFORCE_RULES, rules, 0)
    os.close(rules)
    return refused == 0


def _allow(system: ctypes.CDLL, rules: int, path: Path, access: int) -> None:
    with suppress(OSError):  # not every system has every folder
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = access if path.is_dir() else access & FILE_ACCESS
        system.syscall(ADD_RULE, rules, BENEATH_A_PATH, ctypes.byref(_Rule(allowed, place)), 0)
        os.close(place)


def _filter_calls() -> bool:
    if platform.machine() not in FILTERED_CALLS:
        return False
    machine, calls = FILTERED_CALLS[platform.machine()]
    steps = [
        (LOAD, 0, 0, 4),
        (JUMP_EQUAL, 1, 0, machine),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, 0),
        (JUMP_NOT_BELOW, len(calls) + 1, 0, FOREIGN_CALLS),
        *((JUMP_EQUAL, len(calls) - number, 0, call) for number, call in enumerate(calls)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, NOT_PERMITTED),
    ]
    program = _Program(len(steps), (_Instruction * len(steps))(*(_Instruction(*step) for step in steps)))
    system = ctypes.CDLL(None)
    if system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    refused: int = system.prctl(SET_FILTER, FILTER_MODE, ctypes.byref(program), 0, 0)
    return refused == 0
