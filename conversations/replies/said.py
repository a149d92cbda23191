"""What a reply says and does, from the model's events to the content blocks of its turn. No effects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from artifacts.models import ArtifactVersion
from conversations.context.exchanges import Block
from conversations.models import text_blocks
from conversations.providers.base import ToolCalled
from conversations.text import StreamCleaner

BETWEEN = "\n\n"
"""Between two texts of a reply, as ``text_of`` joins them: the deltas joined are the stored text."""


@dataclass
class Said:
    """``rounds`` are those whose tool calls have their results; ``current`` is what came since, ``calls`` wait for theirs.

    ``artifacts`` were saved by the calls.
    """

    rounds: list[list[Block]] = field(default_factory=list)
    current: list[Block] = field(default_factory=list)
    calls: list[ToolCalled] = field(default_factory=list)
    artifacts: list[Mapping[str, Any]] = field(default_factory=list)
    _text: str = ""
    _held: str = ""
    _cleaner: StreamCleaner = field(default_factory=StreamCleaner)

    @classmethod
    def of(cls, text: str) -> "Said":
        """What a reply said of which only the text is known."""
        said = cls()
        said.say(text)
        said.pause()
        return said

    def say(self, piece: str) -> str:
        """The next piece of text; returns what is to be shown of it now. A text begins with its first visible character."""
        return self._take(self._cleaner.feed(piece))

    def pause(self) -> str:
        """The text is over, for a tool call or for good; returns what is still to be shown."""
        rest = self._take(self._cleaner.end())
        if self._text:
            self.current += text_blocks(self._text)
        self._text = self._held = ""
        self._cleaner = StreamCleaner()
        return rest

    def call(self, called: ToolCalled) -> None:
        self.calls.append(called)
        self.current.append({"type": "tool_use", "id": called.id, "name": called.name, "input": called.input or {}})

    def answer(self, results: list[Block]) -> None:
        """The results of all calls of the current round, which ends with them."""
        self.rounds.append([*self.current, *results])
        self.current = []
        self.calls = []

    def drop_calls(self) -> None:
        """Calls that nobody will answer."""
        self.current = [block for block in self.current if block["type"] != "tool_use"]
        self.calls = []

    @property
    def content(self) -> list[Block]:
        """The blocks of the turn: texts, calls and results in order. Without calls that have no results."""
        texts = [block for block in self.current if block["type"] == "text"]
        unfinished = text_blocks(self._text) if self._text else []
        return [*(block for blocks in self.rounds for block in blocks), *texts, *unfinished]

    @property
    def has_text(self) -> bool:
        return any(block["type"] == "text" for block in self.content)

    def _take(self, text: str) -> str:
        if not self._text:
            self._held += text
            text = self._held.lstrip()
            if not text:
                return ""
            before = BETWEEN if self.has_text else ""
            self._text, self._held = text, ""
            return before + text
        self._text += text
        return text


def saved_blocks(versions: Iterable[ArtifactVersion]) -> list[Block]:
    """Calls and results that tell of these versions, where the reply's own were lost with the process that ran it."""
    blocks: list[Block] = []
    for version in versions:
        call, artifact = f"toolu_recovered_{version.pk}", version.artifact
        values = {"title": artifact.title, "kind": artifact.kind, "content": version.content}
        blocks.append({"type": "tool_use", "id": call, "name": "save_artifact", "input": values})
        blocks.append(result_block(call, f"Saved “{artifact.title}”, version {version.number}.", is_error=False))
    return blocks


def result_block(call_id: str, text: str, *, is_error: bool) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    return block | {"is_error": True} if is_error else block
