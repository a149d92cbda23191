"""The offline responder: no key, no network, no model. It answers from the context that it was given and says so.

It makes Openbook usable and testable before a model is connected. What it answers stands or falls with the context: if
a turn is missing from the request, the answer that rests on it is missing too.
"""

import asyncio
import json
import math
import re
import uuid
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings

from conversations.providers.base import (
    ADDED,
    CONTEXTUALISED,
    RECALLED,
    Finished,
    Payload,
    ProviderError,
    ProviderEvent,
    TextDelta,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
    messages_api_payload,
)
from conversations.providers.matching import Match, Sentence, best_match, has_content, words
from conversations.providers.offline_artifacts import Said, artifact, is_request, wanted

MARK = "*Offline responder, no model connected.*"
"""Every answer starts with it, which is also how its former answers are known and never quoted."""

CONNECT = "I know only what stands in this conversation. Set `ANTHROPIC_API_KEY` and restart to connect a model."
NOTED = "Noted: it stands in this conversation now. Ask me about it and I will quote it."

SAVE = "save_artifact"
PIECE_CHARS = 48
LONGEST_QUOTE = 300
LONGEST_REMINDER = 120
MOST_REMINDERS = 3
SHORT_REPLY_WORDS = 4
LEAST_COVERAGE = 0.08
SURE_COVERAGE = 0.3
TRUST = {"user": 1.0, "notes": 0.9, "assistant": 0.8}
QUESTION_TRUST = 0.5

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)*_]*\s+|(?<=[。！？])|\n+")
LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
QUESTION_MARKS = ("?", "？", "؟", "\u037e", "吗", "呢")
NAME = re.compile(r"\d|[^\W\d_][A-Z]|(?<=[\w,;] )[A-Z]\w+")
REQUEST = re.compile(
    r"(?:please |and |so )*(?:tell me|remind me|name|list|show me|repeat|summari[sz]e)\b", re.IGNORECASE
)
INTERROGATIVE = re.compile(
    r"(?:and |but |so |ok |okay )*(?:who|whom|whose|what|when|where|which|why|how|is|are|am|was|were|do|does|did|can"
    r"|could|will|would|should|shall|has|have)\b|.*(?:什么|什麼|谁|誰|哪|怎么|怎麼|多少|どこ|いつ|なぜ|어디|누구|무엇|언제)",
    re.IGNORECASE,
)


class OfflineProvider:
    name = "offline"
    rewrites = False
    calls_tools = True
    render = staticmethod(messages_api_payload)

    def default_model(self) -> str:
        return "offline"

    def small_model(self) -> str:
        return "offline"

    def cacheable_from(self, model: str) -> int | None:
        return None

    def program(self) -> None:
        return None

    def obstacle(self) -> ProviderError | None:
        return None

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        """The answer piece by piece. The usage counts words, as an estimate: there is no tokenizer without a model."""
        tool_input = await asyncio.to_thread(artifact_asked_for, payload)
        if tool_input is not None:
            async for event in call(tool_input, payload):
                yield event
            return
        text = await asyncio.to_thread(answer, payload)  # a long context takes a moment, and others are being served
        for piece in re.findall(r"\S+\s*", text):
            yield TextDelta(text=piece)
            await asyncio.sleep(settings.OPENBOOK_OFFLINE_WORD_SECONDS)
        usage = Usage(input_tokens=count_words(payload), output_tokens=len(text.split()))
        yield Finished(stop_reason="end_turn", usage=usage)


async def call(tool_input: dict[str, str], payload: Payload) -> AsyncGenerator[ProviderEvent]:
    call_id, written = f"offline_{uuid.uuid4().hex}", json.dumps(tool_input, ensure_ascii=False)
    yield ToolStarted(id=call_id, name=SAVE)
    for start in range(0, len(written), PIECE_CHARS):
        yield ToolDelta(id=call_id, json=written[start : start + PIECE_CHARS])
        await asyncio.sleep(settings.OPENBOOK_OFFLINE_WORD_SECONDS)
    yield ToolCalled(id=call_id, name=SAVE, input=dict(tool_input))
    usage = Usage(input_tokens=count_words(payload), output_tokens=len(written.split()))
    yield Finished(stop_reason="tool_use", usage=usage)


def artifact_asked_for(payload: Payload) -> dict[str, str] | None:
    """The input for ``save_artifact`` where the newest message asks for an artifact and it can be saved. Pure."""
    *earlier, newest = payload["messages"]
    if not can_save(payload):
        return None
    message = text_of(newest["content"])
    want = wanted(message, sentences_of(message))
    if want is None:
        return None
    texts = [text_of(turn["content"]) for turn in earlier if turn["role"] == "user"]
    said = [
        sentence
        for text in [*texts, *([] if want.by_preset else [message])]
        for sentence in sentences_of(text)
        if not is_request(sentence)
    ]
    statements = list(dict.fromkeys(sentence for sentence in said if not is_question(sentence)))
    questions = list(dict.fromkeys(sentence for sentence in said if is_question(sentence)))
    return artifact(want, Said(statements=statements, questions=questions))


def can_save(payload: Payload) -> bool:
    refused = payload.get("tool_choice") == {"type": "none"}
    return not refused and any(tool["name"] == SAVE for tool in payload.get("tools", []))


def saved(messages: Sequence[Mapping[str, Any]]) -> str:
    """What came of the calls that the newest message holds the results of."""
    failed = any(block.get("is_error") for block in blocks_of(messages[-1]["content"], "tool_result"))
    calls = [block for message in messages[-2:-1] for block in blocks_of(message["content"], "tool_use")]
    title = next((str(block["input"]["title"]) for block in calls if block["input"].get("title")), "")
    thing = f"“{shortened(title)}”" if title else "It"
    if failed:
        return f"{thing} could not be saved."
    return f"{thing} is saved: it quotes what you said, as there is no model to write more."


def answer(payload: Payload) -> str:
    """What the context says about the newest message, in Markdown. Pure."""
    *earlier, newest = [(turn["role"], text_of(turn["content"])) for turn in payload["messages"]]
    message = newest[1].strip()
    if not message and blocks_of(payload["messages"][-1]["content"], "tool_result"):
        return f"{MARK} {saved(payload['messages'])}"
    previous = next((text.strip() for role, text in reversed(earlier) if role == "user" and text.strip()), "")
    questions = [sentence for sentence in sentences_of(message) if is_question(sentence)]
    if not questions:
        return f"{MARK} {acknowledged(message, previous)}"
    told = [sentence for sentence in sentences_of(message) if not is_question(sentence)]
    content = payload["messages"][-1]["content"]
    recalled = spoken("notes", sentences_of(added(content, RECALLED)))
    question, context = " ".join(questions), [*known(payload["system"], earlier), *recalled, *spoken("user", told)]
    match = best_match(question, context)
    if match is None or match.coverage < LEAST_COVERAGE:
        match = best_match(added(content, CONTEXTUALISED), context)
    if match is None or match.coverage < LEAST_COVERAGE:
        return f"{MARK} {unanswered(previous, told_so_far(context) if has_content(question) else [])}"
    return f"{MARK} {quoted(match)}"


def quoted(match: Match) -> str:
    sure = match.coverage >= SURE_COVERAGE
    if match.sentence.is_question and match.sentence.speaker == "user":
        return f"You asked earlier: “{match.sentence.text}” Nothing in this conversation tells more about it. {CONNECT}"
    opening = {
        ("user", True): "You said:",
        ("user", False): "The closest thing that you said is:",
        ("assistant", True): "An earlier reply says:",
        ("assistant", False): "The closest thing in an earlier reply is:",
        ("notes", True): "The notes that I was given say:",
        ("notes", False): "The closest thing in the notes that I was given is:",
    }[match.sentence.speaker, sure]
    return f"{opening} “{match.sentence.text}”"


def unanswered(previous: str, told: Sequence[str]) -> str:
    if not previous:
        return f"Nothing here answers this. {CONNECT}"
    if not told:
        return f"{reminder(previous)} Nothing in this conversation answers your new question. {CONNECT}"
    quotes = " ".join(f"“{text}”" for text in told)
    return f"{reminder(previous)} No sentence here clearly answers your new question. You told me: {quotes} {CONNECT}"


def told_so_far(context: Sequence[Sentence]) -> list[str]:
    """The user's newest statements, those with names or numbers first: what a question with other words may mean."""
    stated = [s.text for s in context if s.speaker == "user" and not s.is_question and has_content(s.text)]
    newest_first = list(dict.fromkeys(reversed(stated)))
    return sorted(newest_first, key=lambda text: not NAME.search(text))[:MOST_REMINDERS]


def acknowledged(message: str, previous: str) -> str:
    if not previous:
        return f"{NOTED} {CONNECT}"
    if len(message.split()) <= SHORT_REPLY_WORDS:
        return f"{reminder(previous)} I read “{shortened(message)}” as belonging to that."
    return NOTED


def reminder(previous: str) -> str:
    verb = "asked" if is_question(previous) else "said"
    return f"You last {verb}: “{shortened(previous)}”"


def known(system: Iterable[Mapping[str, Any]], earlier: Iterable[tuple[str, str]]) -> Iterator[Sentence]:
    """What the context holds, oldest first. The first system block is the base prompt, which tells of no user."""
    _base, *notes = [*system] or [{}]
    for block in notes:
        yield from spoken("notes", sentences_of(block["text"]))
    for role, text in earlier:
        if not (role == "assistant" and is_own_answer(text)):
            yield from spoken(role, sentences_of(text))


def spoken(speaker: str, sentences: Sequence[str]) -> list[Sentence]:
    return [
        Sentence(text=text, speaker=speaker, trust=TRUST[speaker] * (QUESTION_TRUST if asked else 1), is_question=asked)
        for text, asked in ((text, is_question(text)) for text in sentences)
    ]


def is_own_answer(text: str) -> bool:
    """Also one that was stopped within its first words."""
    return text.startswith(MARK) or MARK.startswith(text.strip())


def is_question(text: str) -> bool:
    """By its mark, or by its first words: people leave the mark out, but then they write no full stop either."""
    bare = text.strip("\"'“”‘’«»()*_ \n")
    if bare.endswith(QUESTION_MARKS) or REQUEST.match(bare):
        return True
    return bool(INTERROGATIVE.match(bare)) and not bare.endswith((".", "!", "。"))


def sentences_of(text: str) -> list[str]:
    """Headings are left out; what has no end in sight is cut, so that a quote stays short."""
    lines = (LIST_MARK.sub("", part).strip() for part in SENTENCE_END.split(text))
    return [piece for line in lines if line and not line.startswith("#") for piece in pieces(line) if words(piece)]


def pieces(line: str) -> Iterator[str]:
    while len(line) > LONGEST_QUOTE:
        cut = line.rfind(" ", 0, LONGEST_QUOTE) + 1 or LONGEST_QUOTE
        yield line[:cut].strip()
        line = line[cut:]
    yield line


def text_of(content: str | Sequence[Mapping[str, Any]]) -> str:
    """What was said; what Openbook added is nobody's words."""
    if isinstance(content, str):
        return content
    return "\n".join(text for text in texts_of(content) if not text.startswith(ADDED))


def added(content: str | Sequence[Mapping[str, Any]], mark: str) -> str:
    """What Openbook added to a message under this mark, or nothing."""
    texts = [] if isinstance(content, str) else texts_of(content)
    return "".join(text.removeprefix(mark) for text in texts if text.startswith(mark))


def texts_of(content: Sequence[Mapping[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks_of(content, "text")]


def blocks_of(content: str | Sequence[Mapping[str, Any]], block_type: str) -> list[Mapping[str, Any]]:
    return [] if isinstance(content, str) else [block for block in content if block.get("type") == block_type]


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REMINDER else line[: LONGEST_REMINDER - 1] + "…"


def count_words(payload: Payload) -> int:
    told = [block["text"] for block in payload["system"]] + [text_of(turn["content"]) for turn in payload["messages"]]
    return sum(len(text.split()) for text in told)
