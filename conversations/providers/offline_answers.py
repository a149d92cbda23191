"""What the offline responder says: quotes of the context that it was given. Pure, and always the same for the same request."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations.providers.base import Payload
from conversations.providers.history import blocks_of, calls_of
from conversations.providers.markers import ARTIFACTS, CONTEXTUALISED, RECALLED
from conversations.providers.offline_texts import (
    Exchange,
    added,
    exchange_of,
    is_question,
    sentences_of,
    shortened,
)
from conversations.providers.quoting import quoted_texts
from memory.language.words import sought, stems

MARK = "*Offline responder, no model connected.*"
CONNECT = (
    "I know only what stands in this conversation. Whoever runs this Openbook can connect a model: by `ANTHROPIC_API_KEY`, "
    "or in the administration under *Connections*."
)
NOTED = "Noted: it stands in this conversation now. Ask me about it and I will quote it."
NOTHING = "I find nothing about that in what I was given."
NOTHING_OF = "I find nothing in what I was given about “"
QUOTING = {"user": "You said: “", "assistant": "An earlier reply says: “", "notes": "The notes that I was given say: “"}
ASKED, TOLD, GIVEN = "You asked earlier: “", "You told me: “", "For this answer I was given "
LAST_ASKED, LAST_SAID = "You last asked: “", "You last said: “"
SAVED, NOT_SAVED = "It is saved: “", "It could not be saved: “"
OPENINGS = (
    MARK,
    NOTED,
    NOTHING,
    NOTHING_OF,
    *QUOTING.values(),
    ASKED,
    TOLD,
    GIVEN,
    LAST_ASKED,
    LAST_SAID,
    SAVED,
    NOT_SAVED,
)
"""Every answer begins with one of these, which is how its former answers are known and never quoted."""

SHORT_REPLY_WORDS = 4
MOST_TOLD = 3
NEARLY_AS_GOOD = 0.9
LEAST_COVERAGE = 0.25
"""Of the words of a question. Less is a likeness by chance."""
LEAST_COVERAGE_OF_QUERY = 0.08
"""A contextualised query names what it is about, among other words."""
TRUST = {"user": 1.0, "notes": 0.9, "assistant": 0.8}
QUESTION_TRUST = 0.5

NAME = re.compile(r"\d|[^\W\d_][A-Z]|(?<=[\w,;] )[A-Z]\w+")
OF_US = re.compile(r"\b(?:we|us|ours?|wir|uns|unser\w*|nous|notre|nos)\b", re.IGNORECASE)
MENTIONED = re.compile(r"\bI (?:say|said|mention\w*|tell|told)\b|\b(?:which|what) (?:\w+ ){1,2}was it\b", re.IGNORECASE)
ABOUT_THE_REQUEST = re.compile(r"\byou (?:\w+ )?given\b", re.IGNORECASE)
BULLET = "\n- "
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ContextSentence:
    """``trust`` scales how well it meets a question."""

    text: str
    speaker: str
    trust: float
    is_question: bool


def answer(payload: Payload) -> str:
    """In Markdown. It says what it is unless that stands in the conversation already."""
    exchange = exchange_of(payload["messages"])
    text = answer_alone(payload, exchange)
    return (
        text
        if any(MARK in text_before for text_before in exchange.texts_by("assistant"))
        else f"{MARK} {text} {CONNECT}"
    )


def answer_alone(payload: Payload, exchange: Exchange) -> str:
    if not exchange.message and blocks_of(exchange.content, "tool_result"):
        return saved_text(payload["messages"])
    previous = next((text.strip() for text in reversed(exchange.texts_by("user")) if text.strip()), "")
    questions = [sentence for sentence in sentences_of(exchange.message) if is_question(sentence)]
    if not questions:
        return acknowledged(exchange.message, previous)
    if any(map(ABOUT_THE_REQUEST.search, questions)):
        return account(payload, exchange)
    context = list(context_sentences(payload, exchange))
    answers = {question: answer_to(question, context) for question in questions}
    if any(answers.values()):
        return " ".join(dict.fromkeys(text or f"{NOTHING_OF}{shortened(asked)}”." for asked, text in answers.items()))
    if match := best_match(added(exchange.content, CONTEXTUALISED), context, LEAST_COVERAGE_OF_QUERY):
        return quoted(match)
    return NOTHING if any(map(stems, questions)) or not previous else f"{reminder(previous)} {NOTHING}"


def answer_to(question: str, context: Sequence[ContextSentence]) -> str:
    """What stands in the context about one question; empty where nothing does."""
    if match := best_match(question, context, LEAST_COVERAGE):
        return quoted(match)
    text_before = told_before(question, context)
    return f"{TOLD}{'” “'.join(text_before)}”" if text_before else ""


def best_match(question: str, context: Sequence[ContextSentence], least: float) -> ContextSentence | None:
    """The sentence that answers the question best, the newest (last) of those nearly as good. It must cover at least so much of
    the question, by the stems of its words: those that are rare in the context weigh more, small words nothing."""
    vocabularies = [frozenset(stems(sentence.text)) for sentence in context]
    weights = {word: rarity([not word.isdisjoint(known) for known in vocabularies]) for word in sought(question)}
    most = sum(weights.values()) or 1.0
    coverages = [
        sentence.trust * sum(weight for word, weight in weights.items() if not word.isdisjoint(known)) / most
        for sentence, known in zip(context, vocabularies, strict=True)
    ]
    enough = max(least, NEARLY_AS_GOOD * max(coverages, default=0.0))
    return next(
        (s for s, coverage in zip(reversed(context), reversed(coverages), strict=True) if coverage >= enough), None
    )


def rarity(stands_in: Sequence[bool]) -> float:
    return math.log(1 + len(stands_in) / max(sum(stands_in), 1)) / math.log(1 + max(len(stands_in), 1))


def quoted(sentence: ContextSentence) -> str:
    if sentence.is_question and sentence.speaker == "user":
        return f"{ASKED}{sentence.text}” I find nothing more about it in what I was given."
    return f"{QUOTING[sentence.speaker]}{sentence.text}”"


def told_before(question: str, context: Sequence[ContextSentence]) -> list[str]:
    """For a question about what was mentioned, or about "us", that shares no word with it: the newest that name something."""
    mentioned = MENTIONED.search(question)
    if not (mentioned or OF_US.search(question)):
        return []
    named = [s for s in reversed(context) if not s.is_question and NAME.search(s.text)]
    sentences = [s for s in named if mentioned or OF_US.search(s.text)]
    own_texts = [s.text for s in sentences if s.speaker == "user"] or [
        s.text for s in sentences if s.speaker == "notes"
    ]
    return list(dict.fromkeys(own_texts))[:MOST_TOLD]


def acknowledged(message: str, previous: str) -> str:
    if previous and len(message.split()) <= SHORT_REPLY_WORDS:
        return f"{reminder(previous)} I read “{shortened(message)}” as belonging to that."
    return NOTED


def reminder(previous: str) -> str:
    return f"{LAST_ASKED if is_question(previous) else LAST_SAID}{shortened(previous)}”"


def saved_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """What came of the calls that the newest message holds the results of."""
    failed = any(block.get("is_error") for block in blocks_of(messages[-1]["content"], "tool_result"))
    title = next(
        (str(block["input"]["title"]) for block in calls_of(messages[-2:-1]) if block["input"].get("title")), ""
    )
    if failed:
        return f"{NOT_SAVED}{shortened(title)}”."
    return f"{SAVED}{shortened(title)}”. It quotes what you said, as there is no model to write more."


def account(payload: Payload, exchange: Exchange) -> str:
    """What stands in the request, by kind and number."""
    turns, content = exchange.turns, exchange.content
    oldest = f" (the oldest says “{shortened(turns[0][1])}”)" if turns else ""
    headings = [f"“{name}”" for block in payload["system"][1:] for name in HEADING.findall(block["text"])[:1]]
    beside = {
        "a contextualised query": CONTEXTUALISED,
        f"{with_noun(added(content, RECALLED).count(BULLET), 'note')} recalled for it": RECALLED,
        f"a list of {with_noun(added(content, ARTIFACTS).count(BULLET), 'artifact')}": ARTIFACTS,
    }
    parts = [
        f"{with_noun(len(turns), 'earlier turn')}{oldest}",
        "your message",
        *(part for part, mark in beside.items() if added(content, mark)),
        "my instructions",
        *headings,
        *([with_noun(len(payload["tools"]), "tool")] if payload.get("tools") else []),
    ]
    return f"{GIVEN}{', '.join(parts)}. The book of this reply shows all of it."


def with_noun(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def context_sentences(payload: Payload, exchange: Exchange) -> Iterator[ContextSentence]:
    """What the context holds, oldest first. The base prompt, which comes first, and rules about tools tell of no user."""
    tools = [tool["name"] for tool in payload.get("tools", ())]
    for block in payload["system"][1:]:
        if not any(name in block["text"] for name in tools):
            yield from as_sentences("notes", sentences_of(block["text"]))
    yield from as_sentences("notes", sentences_of("\n".join(quoted_texts(added(exchange.content, RECALLED)))))
    for role, text in exchange.turns:
        if not (role == "assistant" and is_own_answer(text)):
            yield from as_sentences(role, sentences_of(text))
    yield from as_sentences("user", [text for text in sentences_of(exchange.message) if not is_question(text)])


def as_sentences(speaker: str, sentences: Sequence[str]) -> list[ContextSentence]:
    return [
        ContextSentence(
            text=text, speaker=speaker, trust=TRUST[speaker] * (QUESTION_TRUST if asked else 1), is_question=asked
        )
        for text, asked in ((text, is_question(text)) for text in sentences)
    ]


def is_own_answer(text: str) -> bool:
    """Also one that was stopped within its first words."""
    return text.startswith(OPENINGS) or any(opening.startswith(text.strip()) for opening in OPENINGS)
