"""Texts of PDFium, which writes UTF-16 into buffers."""

import ctypes
from typing import Any

LONGEST = 100_000
"""Bytes."""


def wide_text(function: Any, *arguments: Any) -> str:
    """What such a function of PDFium writes into a buffer of UTF-16."""
    size = min(function(*arguments, None, 0), LONGEST)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    function(*arguments, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")
