"""How much the reading of one file may take."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What goes beyond one of these is said as a ``FileProblem``, after the parts that were read until then."""

    seconds: float = 120.0
    """Of the clock, from the start of the process."""
    cpu_seconds: int = 100
    ocr_seconds: float = 600.0
    """Of the clock, besides, for reading pictures where that is switched on; those that are left then stay pictures."""
    memory_bytes: int = 1 * 2**30
    """Of address space, as the system counts it."""
    parts: int = 5_000
    text_bytes: int = 32 * 2**20
    """UTF-8 of all parts together."""
    picture_bytes: int = 256 * 2**20
    """Of all pictures together."""
