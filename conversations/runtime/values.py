"""Dataclasses that the type checker freezes and nobody pays for.

What ``dataclasses`` freezes sets each attribute by a call, so that an instance takes three times as long to make. A context is
some hundred of them. mypy knows these for what they say they are, and lets nobody change one; at run time they are plain.
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
