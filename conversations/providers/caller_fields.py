"""What a program asks a model for beside its messages: tools that the program runs itself, texts to stop at, a format. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

ANY = "any"
"""The choice of tools by which one of the program's must be called."""


@dataclass(frozen=True, kw_only=True)
class CallerFields:
    """``tools`` are definitions as the Messages API takes them, of which at most one is called at a time where they are not
    ``parallel``. ``choice`` is empty where the model decides, ``any``, or ``tool`` with the name of the ``tool`` that must be
    called. ``format`` is the JSON Schema of the answer, which it keeps to in all where it is ``strict``."""

    tools: Sequence[Mapping[str, Any]] = ()
    choice: str = ""
    tool: str = ""
    parallel: bool = True
    stop_sequences: Sequence[str] = ()
    format: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = True

    @classmethod
    def of(cls, text: str) -> Self:
        """From the JSON that ``text`` made."""
        return cls(**json.loads(text)) if text else cls()

    @property
    def text(self) -> str:
        """As JSON, the same for the same fields; empty where there are none."""
        said = {name: value for name, value in asdict(self).items() if value != DEFAULTS[name]}
        return json.dumps(said, ensure_ascii=False, separators=(",", ":")) if said else ""

    @property
    def names(self) -> frozenset[str]:
        """Of the tools."""
        return frozenset([tool["name"] for tool in self.tools])


NO_FIELDS = CallerFields()
DEFAULTS = asdict(NO_FIELDS)
