"""What a reply says and does, from the model's events to the content blocks of its turn. No effects."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from artifacts.models import ArtifactVersion
from conversations.context.exchanges import Block
from conversations.models import text_blocks
from conversations.providers.base import ToolCalled
from conversations.text import StreamCleaner, clean, paired

BETWEEN = "\n\n"
"""Between two texts of a reply, as ``text_of`` joins them: the deltas joined are the stored text."""


@dataclass
class StreamedText:
    """A text that comes in pieces, as readers are shown it: clean, and from its first visible character on, with ``before``
    in front of that."""

    before: str = ""
    text: str = ""
    _held: str = ""
    _cleaner: StreamCleaner = field(default_factory=StreamCleaner)

    def feed(self, piece: str) -> str:
        """What is to be shown now."""
        return self._take(self._cleaner.feed(piece))

    def end(self) -> str:
        return self._take(self._cleaner.end())

    def _take(self, text: str) -> str:
        if self.text:
            self.text += text
            return text
        self._held += text
        self.text = self._held.lstrip()
        return self.before + self.text if self.text else ""


@dataclass
class Said:
    """``rounds`` are those whose tool calls have their results; ``current`` is what came since, ``calls`` wait for theirs.
    Both are as the model gave them, so that they can go back to it: its thinking is bound to all that stands before it.

    ``artifacts`` were saved by the calls.
    """

    rounds: list[list[Block]] = field(default_factory=list)
    current: list[Block] = field(default_factory=list)
    calls: list[ToolCalled] = field(default_factory=list)
    artifacts: list[Mapping[str, Any]] = field(default_factory=list)
    _raw: str = ""
    _text: StreamedText = field(default_factory=StreamedText)
    _thought: StreamedText = field(default_factory=StreamedText)

    @classmethod
    def of(cls, text: str) -> "Said":
        """What a reply said of which only the text is known."""
        said = cls()
        said.say(text)
        said.pause()
        return said

    def say(self, piece: str) -> str:
        """The next piece of text; returns what is to be shown of it now."""
        self._raw += piece
        return self._text.feed(piece)

    def pause(self) -> str:
        """The text is over, for a tool call or for good; returns what is still to be shown."""
        rest = self._text.end()
        if self._text.text:
            self.current += text_blocks(paired(self._raw))
        self._raw, self._text = "", StreamedText(before=BETWEEN if self.has_text else "")
        return rest

    def think(self, piece: str) -> str:
        """The next piece of what it shows of its thinking; returns what is to be shown of it now."""
        return self._thought.feed(piece)

    def thought(self, block: Mapping[str, Any]) -> str:
        """The whole block; returns what is still to be shown."""
        rest = self._thought.end()
        self.current.append(dict(block))
        shown_before = self._thought.before or self._thought.text
        self._thought = StreamedText(before=BETWEEN if shown_before else "")
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
        """The blocks of the turn: texts, calls and results in order, without calls that have no results. What the model
        showed of its thinking stands where it came; it alone is no turn."""
        current = [block for block in self.current if block["type"] != "tool_use"]
        unfinished = text_blocks(self._text.text) if self._text.text else []
        if self._thought.text:
            unfinished.append({"type": "thinking", "thinking": self._thought.text})
        blocks = [*(block for blocks in self.rounds for block in blocks), *current, *unfinished]
        stored = [kept for block in blocks if (kept := as_stored(block))]
        return stored if any(block["type"] != "thinking" for block in stored) else []

    @property
    def has_text(self) -> bool:
        return any(block["type"] == "text" for block in self.content)


def as_stored(block: Block) -> Block | None:
    """The block as a turn keeps it. Its signature is of no use there: no later request gets it back."""
    match block:
        case {"type": "text", "text": text}:
            return {"type": "text", "text": clean(text).lstrip()}
        case {"type": "thinking", "thinking": str(text)} if text.strip():
            return {"type": "thinking", "thinking": clean(text).lstrip()}
        case {"type": "thinking" | "redacted_thinking"}:
            return None
    return block


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
