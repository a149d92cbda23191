"""Dataclasses that are frozen for the type checker, and plain at run time.

What ``dataclasses`` freezes sets each attribute by a call, so that an instance takes three times as long to make. A context is
some hundred of them. mypy sees ``frozen=True`` and lets nobody change one.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, **options: Any) -> Any:
        """As ``dataclasses.dataclass``, with a hash where it says that it is frozen."""
        return dataclasses.dataclass(cls, unsafe_hash=frozen, **options)


__all__ = ["dataclass"]
