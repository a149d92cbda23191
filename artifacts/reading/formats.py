"""Formats that are known by how they begin: a module each, and its name in ``FORMATS``.

The module has a ``FORMAT``, and ``read`` as ``readers`` describes it. What no first bytes tell is told apart in ``kinds``.
"""

import importlib
import re
from dataclasses import dataclass

FORMATS: list[str] = []
"""Modules by their whole names, the first that fits counts."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """``kind`` is one of ``kinds.Kind``, which icon and words go by; ``extension`` has no dot and is no other format's;
    ``begins`` is what its first bytes are."""

    kind: str
    media_type: str
    extension: str
    begins: re.Pattern[bytes]


def format_of(start: bytes) -> Format | None:
    """By the first bytes of a file."""
    return next((format for format in map(_format, FORMATS) if format.begins.match(start)), None)


def module_of(extension: str) -> str | None:
    return next((name for name in FORMATS if _format(name).extension == extension), None)


def _format(module: str) -> Format:
    format: Format = importlib.import_module(module).FORMAT
    return format
