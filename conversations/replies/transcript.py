"""What a reply says and does, from the model's events to the content blocks of its turn. No effects."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from artifacts.models import ArtifactVersion
from conversations.context.files.excerpts import FileExcerpt
from conversations.context.files.results import naming_block
from conversations.context.turns.groups import FILE, THINKING, Block, without_thinking
from conversations.models import McpCall, text_blocks
from conversations.models.mcp import JOINT
from conversations.providers.base import ToolCalled
from conversations.runtime.text import StreamCleaner, clean, paired

BETWEEN = "\n\n"
"""Between two texts of a reply, as ``text_of`` joins them: the deltas joined are the stored text."""

CUT_OFF = (
    "The reply was cut off while this call was made, and what it was called with is lost. Nobody knows whether it was carried "
    "out. Don't make it again; tell the person, who may look for themselves."
)


@dataclass
class StreamedText:
    """A text that comes in pieces, as readers are shown it: clean, and from its first visible character on, with ``before``
    in front of that. One that has ``begun`` already is shown from its first character on."""

    before: str = ""
    begun: bool = False
    text: str = ""
    _held: str = ""
    _cleaner: StreamCleaner = field(default_factory=StreamCleaner)

    def feed(self, piece: str) -> str:
        """What is to be shown now."""
        return self._take(self._cleaner.feed(piece))

    def end(self) -> str:
        return self._take(self._cleaner.end())

    def _take(self, text: str) -> str:
        if self.text or self.begun:
            self.text += text
            return text
        self._held += text
        self.text = self._held.lstrip()
        return self.before + self.text if self.text else ""


@dataclass
class ReplyTranscript:
    """``rounds`` are those whose tool calls have their results; ``current`` is what came since, ``calls`` wait for theirs.
    Both are as the model gave them, so that they can go back to it: its thinking is bound to all that stands before it.

    ``artifacts`` were saved by the calls, ``files`` are blocks that name what they made, and come after all that was said.
    ``left`` are calls of tools that the program which asks runs itself: the turn ends with them. ``before`` is what was said
    until it was cut short; the rest joins it without a gap.
    Where its assistant shows no thinking, none that came all the same is shown or kept.
    """

    shows_thinking: bool = True
    before: list[Block] = field(default_factory=list)
    rounds: list[list[Block]] = field(default_factory=list)
    current: list[Block] = field(default_factory=list)
    calls: list[ToolCalled] = field(default_factory=list)
    artifacts: list[Mapping[str, Any]] = field(default_factory=list)
    left: list[Block] = field(default_factory=list)
    files: list[Block] = field(default_factory=list)
    _joins: bool = False
    _is_apart: bool = False
    _raw: str = ""
    _text: StreamedText = field(default_factory=StreamedText)
    _thought: StreamedText = field(default_factory=StreamedText)

    @classmethod
    def of(cls, text: str, *, before: Sequence[Block] = ()) -> "ReplyTranscript":
        """What a reply said of which only the text is known."""
        transcript = cls.going_on(before)
        transcript.say(text)
        transcript.pause()
        return transcript

    @classmethod
    def going_on(cls, before: Sequence[Block], *, shows_thinking: bool = True) -> "ReplyTranscript":
        """``before`` is empty where it only begins."""
        files = [block for block in before if block["type"] == FILE]
        said = [block for block in before if block["type"] != FILE]
        transcript = cls(before=said, files=files, shows_thinking=shows_thinking)
        transcript._text = transcript._next_text()
        return transcript

    def say(self, piece: str) -> str:
        """The next piece of text; returns what is to be shown of it now."""
        self._raw += piece
        return self._text.feed(piece)

    def pause(self) -> str:
        """The text is over, for a tool call or for good; returns what is still to be shown."""
        rest = self._text.end()
        if self._text.text:
            self.current += text_blocks(paired(self._raw))
        self._joins = self._joins or (self._text.begun and bool(self._text.text))
        self._is_apart = self._is_apart or bool(self._text.text)
        self._raw, self._text = "", self._next_text()
        return rest

    def go_on(self) -> None:
        """It was cut short, and goes on where it stopped."""
        self.before = self._said
        self.rounds, self.current, self.calls = [], [], []
        self._joins = self._is_apart = False
        self._text = self._next_text()

    def drop_round(self) -> None:
        """What came since the last results is not kept. It was no text, which readers would have been shown."""
        self.current, self.calls = [], []
        self._is_apart = bool(self.rounds)
        self._text, self._thought = self._next_text(), StreamedText()

    def think(self, piece: str) -> str:
        """The next piece of what it shows of its thinking; returns what is to be shown of it now."""
        return self._thought.feed(piece) if self.shows_thinking else ""

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
        self._is_apart = True
        self._text = self._next_text()

    def answer(self, results: list[Block]) -> None:
        """The results of all calls of the current round, which ends with them."""
        self.rounds.append([*self.current, *results])
        self.current = []
        self.calls = []

    def leave(self, names: Container[str]) -> None:
        """Leave the whole calls of these tools to the program. They follow all others, which have their results here."""
        calls = {called.id for called in self.calls if called.name in names and called.input is not None}
        self.left = [block for block in self.current if block.get("id") in calls]
        self.current = [block for block in self.current if block not in self.left]
        self.calls = [called for called in self.calls if called.id not in calls]

    def drop_calls(self) -> None:
        """Calls that nobody will answer."""
        self.current = [block for block in self.current if block["type"] != "tool_use"]
        self.calls = []

    @property
    def content(self) -> list[Block]:
        """The blocks of the turn: texts, calls and results in order, without calls that have no results, then files. What the
        model showed of its thinking stands where it came; it alone is no turn."""
        said = self._said
        end = len(said) - len(self.left)
        return [*said[:end], *self.files, *said[end:]] if said else []

    @property
    def _said(self) -> list[Block]:
        current = [block for block in self.current if block["type"] != "tool_use"]
        blocks = [*(block for blocks in self.rounds for block in blocks), *current, *self.unfinished, *self.left]
        whole = joined(self.before, blocks) if self._joins or self._text.begun else [*self.before, *blocks]
        stored = [kept for block in whole if (kept := as_stored(block, shows_thinking=self.shows_thinking))]
        return stored if any(block["type"] != "thinking" for block in stored) else []

    @property
    def unfinished(self) -> list[Block]:
        """The text that is being written, and what is shown of the thinking that goes on."""
        text: list[Block] = [*text_blocks(self._text.text)] if self._text.text else []
        return [*text, {"type": "thinking", "thinking": self._thought.text}] if self._thought.text else text

    @property
    def is_new(self) -> bool:
        """Whether anything came since it was cut short."""
        return self._said != self.before

    @property
    def has_text(self) -> bool:
        return any(block["type"] == "text" for block in self.content)

    @property
    def shows_text(self) -> bool:
        """Whether readers were shown a text since the last results."""
        return any(block["type"] == "text" for block in self.current)

    def _next_text(self) -> StreamedText:
        blocks = without_thinking(self.before)
        if blocks and blocks[-1]["type"] == "text" and not self._is_apart:
            return StreamedText(begun=True)
        return StreamedText(before=BETWEEN if self.has_text else "")


def joined(before: Sequence[Block], after: Sequence[Block]) -> list[Block]:
    """The blocks, with the last text before and the first one after as one, where nothing but thinking stands between."""
    last = next((index for index in reversed(range(len(before))) if before[index]["type"] != "thinking"), None)
    first = next((index for index, block in enumerate(after) if block["type"] not in THINKING), None)
    if last is None or first is None or not before[last]["type"] == after[first]["type"] == "text":
        return [*before, *after]
    text = {"type": "text", "text": before[last]["text"] + clean(after[first]["text"])}
    return [*before[:last], *before[last + 1 :], *after[:first], text, *after[first + 1 :]]


def as_stored(block: Block, *, shows_thinking: bool = True) -> Block | None:
    """The block as a turn keeps it. Its signature is of no use there: no later request gets it back."""
    match block:
        case {"type": "text", "text": text}:
            return {"type": "text", "text": clean(text).lstrip()}
        case {"type": "thinking", "thinking": str(text)} if shows_thinking and text.strip():
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


def cut_off_blocks(calls: Iterable[McpCall]) -> list[Block]:
    """Calls and results that tell of calls of other servers, where the reply's own were lost."""
    blocks: list[Block] = []
    for call in calls:
        name = f"{call.tool.server.name}{JOINT}{call.tool.name}"
        blocks.append({"type": "tool_use", "id": call.call_id, "name": name, "input": {}})
        blocks.append(result_block(call.call_id, CUT_OFF, is_error=True))
    return blocks


def result_block(call_id: str, text: str, *, is_error: bool, read: Sequence[FileExcerpt] = ()) -> Block:
    """``read``: parts of files that the result gives after the text. They are named in it."""
    content = [*(text_blocks(text) if text else ()), *map(naming_block, read)] if read else text
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return block | {"is_error": True} if is_error else block
