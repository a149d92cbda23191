"""A tool's input while the model writes it: what is worth showing of JSON that has no end yet."""

import time
from dataclasses import dataclass, field
from typing import Any, cast

from jiter import from_json

from conversations.runtime.text import REPLACEMENT, clean, one_line
from conversations.wire.events import ToolDeltaData

REST_SECONDS = 0.1
"""Between two looks at the input: each reads it from its beginning."""
HEAD = ("title", "kind", "language")


@dataclass
class InputWatcher:
    """One call. ``streamed`` is the property whose text is shown as it grows, empty where none is."""

    id: str
    streamed: str
    _pieces: list[str] = field(default_factory=list)
    _shown: str = ""
    _announced: bool = False
    _looked_at: float = 0.0

    def feed(self, piece: str) -> ToolDeltaData | None:
        """The next piece of the JSON; returns the data of a ``tool.delta`` where there is something new to show."""
        self._pieces.append(piece)
        now = time.monotonic()
        if not self.streamed or now - self._looked_at < REST_SECONDS:
            return None
        self._looked_at = now
        try:
            parsed = from_json("".join(self._pieces).encode(errors="replace"), partial_mode="trailing-strings")
        except ValueError:
            return None
        return self._new(parsed) if isinstance(parsed, dict) else None

    def end(self, input: dict[str, Any] | None) -> ToolDeltaData | None:
        """What is still to be shown of the whole input."""
        return self._new(input) if self.streamed and input else None

    def _new(self, parsed: dict[str, Any]) -> ToolDeltaData | None:
        text = parsed.get(self.streamed)
        if not isinstance(text, str):
            return None
        text = clean(text)
        # Half of a character that is written as two escapes is not shown; the next look sees it whole.
        new = text.rstrip(REPLACEMENT)[len(self._shown) :] if text.startswith(self._shown) else ""
        if not new:
            return None
        self._shown += new
        data: ToolDeltaData = {"id": self.id, "text": new}
        if not self._announced:
            self._announced = True
            head = {name: clean(one_line(parsed[name])) for name in HEAD if isinstance(parsed.get(name), str)}
            data = cast("ToolDeltaData", {**data, **head})
        return data
