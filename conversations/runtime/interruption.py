"""How a task learns that its worker is about to end: asked first, and interrupted when it takes too long."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Stopped(KeyboardInterrupt):
    """Raised in the middle of a task. As a KeyboardInterrupt it makes psycopg cancel the statement that it waits for."""


@dataclass
class _State:
    requested: bool = False
    in_task: bool = False


_state = _State()


def ask() -> None:
    """Safe in a signal handler."""
    _state.requested = True


def is_requested() -> bool:
    return _state.requested


def interrupt() -> None:
    """For a signal handler: raise ``Stopped`` where a task is at work, and nowhere else."""
    if _state.in_task:
        raise Stopped


@contextmanager
def interruptible() -> Iterator[None]:
    try:
        _state.in_task = True
        yield
    finally:
        _state.in_task = False
