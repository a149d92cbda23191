"""What the command line says of a system."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """``url`` has no slash at its end. ``by`` is ``context`` or ``answer``."""

    url: str
    token: str = ""
    other_token: str = ""
    by: str = "context"
