"""What a short-lived child gives up before it looks at what a stranger sent: memory, time, files, the network.

It knows nothing of Django. Each limit holds where the system knows it; ``cut_off`` says whether its one does.
"""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Numbers of machines, as Linux has them."""


class RefusedCalls(NamedTuple):
    """System calls that are not permitted: their names, and their numbers on both machines, as far as there are any."""

    names: str
    x86_64: tuple[int, ...]
    aarch64: tuple[int, ...]


REFUSED_CALLS = {
    "to reach somebody": RefusedCalls(
        "socket, connect, socketpair, sendto, bind; io_uring_setup, which does all of it",
        (41, 42, 53, 44, 49, 425),
        (198, 203, 199, 206, 200, 425),
    ),
    "to be somebody else": RefusedCalls(
        "execve, execveat, unshare, setns, chroot; fork, vfork",
        (59, 322, 272, 308, 161, 57, 58),
        (221, 281, 97, 268, 51),
    ),
    "to signal": RefusedCalls(
        "kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal, pidfd_open, pidfd_getfd",
        (62, 200, 234, 129, 297, 424, 434, 438),
        (129, 130, 131, 138, 240, 424, 434, 438),
    ),
    "to look into others": RefusedCalls(
        "ptrace, process_vm_readv, process_vm_writev, kcmp, process_madvise, process_mrelease, move_pages, migrate_pages",
        (101, 310, 311, 312, 440, 448, 279, 256),
        (117, 270, 271, 272, 440, 448, 239, 238),
    ),
    "to change how others run": RefusedCalls(
        "setpriority, ioprio_set, sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr",
        (141, 251, 142, 144, 203, 314),
        (140, 30, 118, 119, 122, 274),
    ),
    "to change files that may only be read": RefusedCalls(
        "truncate, fchmod, fchmodat, fchmodat2, fchown, fchownat, utimensat, setxattr, lsetxattr, fsetxattr, setxattrat, "
        "removexattr, lremovexattr, fremovexattr, removexattrat; chmod, chown, lchown, utime, utimes, futimesat",
        (76, 91, 268, 452, 93, 260, 280, 188, 189, 190, 463, 197, 198, 199, 466, 90, 92, 94, 132, 235, 261),
        (45, 52, 53, 452, 55, 54, 88, 5, 6, 7, 463, 14, 15, 16, 466),
    ),
    "to share memory and messages": RefusedCalls(
        "shmget, shmat, shmctl, semget, semop, semctl, semtimedop, msgget, msgsnd, msgrcv, msgctl, mq_open",
        (29, 30, 31, 64, 65, 66, 220, 68, 69, 70, 71, 240),
        (194, 196, 195, 190, 193, 191, 192, 186, 189, 188, 187, 180),
    ),
    "for administrators": RefusedCalls(
        "mount, umount2, pivot_root, mount_setattr, move_mount, open_tree, fsopen, name_to_handle_at, open_by_handle_at, "
        "add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd, init_module, finit_module, delete_module, "
        "kexec_load, reboot, swapon",
        (165, 166, 155, 442, 429, 428, 430, 303, 304, 248, 249, 250, 298, 321, 323, 175, 313, 176, 246, 169, 167),
        (40, 39, 41, 442, 429, 428, 430, 264, 265, 217, 218, 219, 241, 280, 282, 105, 273, 106, 104, 142, 224),
    ),
}

OF_ANOTHER = {"x86_64": (59, 322, 53, 44), "aarch64": (221, 281, 199, 206)}
"""What a process needs to become another program: execve, execveat; and socketpair and sendto, by which event loops wake up:
there is no other socket to send by."""

UNKNOWN_CALLS = (435, 437)
"""clone3 and openat2, whose arguments a filter can't see: the C library takes the older call where there is none of these."""


class Condition(NamedTuple):
    """A call is permitted where the bits of its argument, by ``mask``, are ``bits``; or, ``but``, where they are not."""

    call: int
    argument: int
    mask: int
    bits: int
    but: bool = False


THREAD, READ_AND_TRUNCATE, WAY_AND_TRUNCATE, ANY_BITS = 0x10000, 0x200, 0x203, 0xFFFFFFFF
CONDITIONS = {
    # clone: for threads; prlimit64: of oneself; open, openat: not to truncate what is opened for reading
    "x86_64": (
        Condition(56, 0, THREAD, THREAD),
        Condition(302, 0, ANY_BITS, 0),
        Condition(2, 1, WAY_AND_TRUNCATE, READ_AND_TRUNCATE, but=True),
        Condition(257, 2, WAY_AND_TRUNCATE, READ_AND_TRUNCATE, but=True),
    ),
    "aarch64": (
        Condition(220, 0, THREAD, THREAD),
        Condition(261, 0, ANY_BITS, 0),
        Condition(56, 2, WAY_AND_TRUNCATE, READ_AND_TRUNCATE, but=True),
    ),
}

NO_NEW_PRIVILEGES, SET_FILTER, FILTER_MODE = 38, 22, 2
LOAD, AND, JUMP_EQUAL, JUMP_NOT_BELOW, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
ALLOW, NOT_PERMITTED, NO_SUCH_CALL, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
CALL, MACHINE, ARGUMENTS = 0, 4, 16
"""Where in what a filter sees they stand; an argument has eight bytes, the lower half first."""
FOREIGN_CALLS = 0x40000000
"""From here on calls of another kind of program begin, which would pass by their numbers."""


CREATE_RULES, ADD_RULE, ENFORCE_RULES, BENEATH_A_PATH = 444, 445, 446, 1
"""Calls of Landlock, the same on every machine."""
VERSION = 1
"""The flag that asks which version of Landlock there is."""
ANY_ACCESS, READ_ACCESS, WRITE_ACCESS, EXECUTE = 0x1FFF, 0xC, 0x12E, 0x1
"""To files, of Landlock's first version · read files and folders · besides, write, make and remove files · run them."""
REFER, TRUNCATE, DEVICES = 0x2000, 0x4000, 0x8000
"""What versions 2, 3 and 5 know besides: move to another folder, truncate, control devices."""
FILE_ACCESS = 0x7
"""Of these, what can be said of a single file."""
ANY_TCP, SOCKETS_AND_SIGNALS = 0x3, 0x3
"""Of versions 4 and 6: bind and connect; abstract sockets and signals of processes that are not confined like this."""
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
SYSTEM_PROGRAMS = ("/usr/bin", "/bin", "/usr/local/bin")


type Step = tuple[int, int, int, int]
"""An instruction of a filter: its code, how many to skip where it holds and where not, and its value."""


class _Rules(ctypes.Structure):
    """What is refused unless a rule allows it: on files, in the network, to processes outside."""

    _fields_ = (("access", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scope", ctypes.c_uint64))


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


def cut_off(*, becomes_another: bool = False) -> bool:
    """From now on no connection can be made, no process started, signalled or looked into, and no file changed by its path;
    whether that holds here.

    On Linux only: a network of its own that leads nowhere, where the system lets it, and a filter of system calls, which
    also closes the sockets of the file system. Threads can be started. Call it before there are any. ``becomes_another``: this
    process may become another program, for which all of it holds, and which has pairs of sockets within itself.
    """
    if sys.platform != "linux":
        return False
    with suppress(OSError):  # containers mostly forbid it
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    return _filter_calls(permitted=OF_ANOTHER if becomes_another else {})


def keep_to_files(*, readable: Iterable[Path], writable: Path, executable: Iterable[Path] = ()) -> bool:
    """From now on files are opened only there, in Python's own folders and in those of the system's libraries.

    Whether that holds: on Linux with Landlock, from 5.13 on. ``writable`` is a folder, the others folders or files. Where some
    are ``executable``, so are the system's programs, which they may need for it.
    """
    if sys.platform != "linux":
        return False
    system = ctypes.CDLL(None)
    version: int = system.syscall(CREATE_RULES, None, 0, VERSION)
    if version < 1:
        return False
    known, size = _known_rules(version)
    rules = system.syscall(CREATE_RULES, ctypes.byref(known), size, 0)
    if rules < 0:
        return False
    own = {Path(path) for path in (*SYSTEM_FOLDERS, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
    programs = {*executable, *own, *map(Path, SYSTEM_PROGRAMS)} if (executable := set(executable)) else set()
    for path in own | set(readable) | programs:
        _allow(system, rules, path, READ_ACCESS | (EXECUTE if path in programs else 0))
    _allow(system, rules, writable, READ_ACCESS | WRITE_ACCESS | (known.access & TRUNCATE))
    system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    refused: int = system.syscall(ENFORCE_RULES, rules, 0)
    os.close(rules)
    return refused == 0


def _known_rules(version: int) -> tuple[_Rules, int]:
    """All that this version of Landlock can refuse, and how many bytes it reads of it."""
    access = ANY_ACCESS
    for since, what in ((2, REFER), (3, TRUNCATE), (5, DEVICES)):
        access |= what if version >= since else 0
    rules = _Rules(access, ANY_TCP if version >= 4 else 0, SOCKETS_AND_SIGNALS if version >= 6 else 0)
    return rules, 24 if version >= 6 else 16 if version >= 4 else 8


def _allow(system: ctypes.CDLL, rules: int, path: Path, access: int) -> None:
    with suppress(OSError):  # not every system has every folder
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        allowed = access if path.is_dir() else access & FILE_ACCESS
        system.syscall(ADD_RULE, rules, BENEATH_A_PATH, ctypes.byref(_Rule(allowed, place)), 0)
        os.close(place)


def _filter_calls(permitted: Mapping[str, tuple[int, ...]]) -> bool:
    """``permitted``: numbers that are not refused, by machine."""
    name = platform.machine()
    if name not in MACHINES:
        return False
    steps = [
        (LOAD, 0, 0, MACHINE),
        (JUMP_EQUAL, 1, 0, MACHINES[name]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, CALL),
        *_where(JUMP_NOT_BELOW, FOREIGN_CALLS, NOT_PERMITTED),
        *(
            step
            for calls in REFUSED_CALLS.values()
            for call in getattr(calls, name)
            if call not in permitted.get(name, ())
            for step in _where(JUMP_EQUAL, call, NOT_PERMITTED)
        ),
        *(step for call in UNKNOWN_CALLS for step in _where(JUMP_EQUAL, call, NO_SUCH_CALL)),
        *(step for condition in CONDITIONS[name] for step in _permitted_if(condition)),
        (RETURN, 0, 0, ALLOW),
    ]
    program = _Program(len(steps), (_Instruction * len(steps))(*(_Instruction(*step) for step in steps)))
    system = ctypes.CDLL(None)
    if system.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    refused: int = system.prctl(SET_FILTER, FILTER_MODE, ctypes.byref(program), 0, 0)
    return refused == 0


def _where(jump: int, call: int, answer: int) -> list[Step]:
    """The answer to a call, the next step for all others."""
    return [(jump, 0, 1, call), (RETURN, 0, 0, answer)]


def _permitted_if(condition: Condition) -> list[Step]:
    """The answer to a call by one of its arguments, the next step for all others."""
    answers = [NOT_PERMITTED, ALLOW] if condition.but else [ALLOW, NOT_PERMITTED]
    return [
        (JUMP_EQUAL, 0, 5, condition.call),
        (LOAD, 0, 0, ARGUMENTS + 8 * condition.argument),
        (AND, 0, 0, condition.mask),
        (JUMP_EQUAL, 0, 1, condition.bits),
        *((RETURN, 0, 0, answer) for answer in answers),
    ]
