"""What a request says, as texts and sentences: pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.providers.history import Content, blocks_of
from conversations.providers.markers import ADDED
from conversations.providers.message_pieces import pieces_of
from conversations.runtime.text import shortened as cut

LONGEST_QUOTE = 300
LONGEST_REMINDER = 120

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)*_]*\s+|(?<=[。！？])|\n+")
LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
QUESTION_MARKS = ("?", "？", "؟", "\u037e", "吗", "呢")
REQUEST = re.compile(
    r"(?:please |and |so )*(?:tell me|remind me|name|list|show me|repeat|summari[sz]e)\b", re.IGNORECASE
)
INTERROGATIVE = re.compile(
    r"(?:and |but |so |ok |okay )*(?:who|whom|whose|what|when|where|which|why|how|is|are|am|was|were|do|does|did|can"
    r"|could|will|would|should|shall|has|have)\b"
    r"|.*(?:什么|什麼|谁|誰|哪|怎么|怎麼|多少|どこ|いつ|なぜ|어디|누구|무엇|언제)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """The turns of a request, oldest first, as role and text, and the message that it is to answer, with what stands beside
    it. Where an earlier message had no answer, it stands in one with the newest."""

    turns: Sequence[tuple[str, str]]
    message: str
    content: Content

    def texts_by(self, role: str) -> list[str]:
        return [text for speaker, text in self.turns if speaker == role]


def exchange_of(messages: Sequence[Mapping[str, Any]]) -> Exchange:
    *earlier, newest = messages
    *unanswered, message = said_in(newest["content"]) or [""]
    turns: list[tuple[str, str]] = []
    after_results = False
    for turn in earlier:
        texts = said_in(turn["content"])
        if turn["role"] == "user":
            turns += [("user", text) for text in texts]
        elif after_results and turns[-1:] and turns[-1][0] == "assistant":
            turns[-1] = ("assistant", "\n".join([turns[-1][1], *texts]))
        else:
            turns.append(("assistant", "\n".join(texts)))
        after_results = not texts and bool(blocks_of(turn["content"], "tool_result"))
    turns += [("user", text) for text in unanswered]
    return Exchange(turns=turns, message=message.strip(), content=newest["content"])


def text_of(content: Content) -> str:
    """What was said; what Openbook added is nobody's words."""
    return "\n".join(said_in(content))


def said_in(content: Content) -> list[str]:
    return [f"{piece.mark}{piece.text}" for piece in pieces_of(content) if piece.mark not in ADDED]


def added(content: Content, mark: str) -> str:
    """What Openbook added to a message under this mark, or nothing."""
    return "".join(piece.text for piece in pieces_of(content) if piece.mark == mark)


def is_question(text: str) -> bool:
    """By its mark, or by its first words: people leave the mark out, but then they write no full stop either."""
    bare = text.strip("\"'“”‘’«»()*_ \n")
    if bare.endswith(QUESTION_MARKS) or REQUEST.match(bare):
        return True
    return bool(INTERROGATIVE.match(bare)) and not bare.endswith((".", "!", "。"))


def sentences_of(text: str) -> list[str]:
    """Headings are left out; what has no end in sight is cut, so that a quote stays short."""
    lines = (LIST_MARK.sub("", part).strip() for part in SENTENCE_END.split(text))
    return [
        piece
        for line in lines
        if line and not line.startswith("#")
        for piece in pieces(line)
        if re.search(r"\w", piece)
    ]


def pieces(line: str) -> Iterator[str]:
    while len(line) > LONGEST_QUOTE:
        cut = line.rfind(" ", 0, LONGEST_QUOTE) + 1 or LONGEST_QUOTE
        yield line[:cut].strip()
        line = line[cut:]
    yield line


def shortened(text: str) -> str:
    return cut(" ".join(text.split()), LONGEST_REMINDER)
