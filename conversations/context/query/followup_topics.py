"""What a message that leans on earlier turns is about, found by words alone: pure, deterministic (Q1–Q3 without a model)."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from conversations.context.query.followups import LANGUAGES, Reference, is_social, reference
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from memory.language.words import UNSPACED, bare

FURTHEST_TURNS = 12
LONGEST_READ = 600
LONGEST_TOPIC = 80
LONGEST_PHRASE = 4

QUOTED = re.compile(
    r'[“„"]([^“”„"\n]{2,60})[”“"]|[«»]([^«»\n]{2,60})[»«]'
    r"|[「『]([^「」『』\n]{1,40})[」』]",
)
TOKEN = re.compile(r"[^\W_][\w'’&+#-]*(?:\.\w+)*")
SENTENCE_START_BACKWARDS = re.compile(r"[\"'“”„«»(*_¿¡]*(?:\Z|\s*[.!?…:\n¿¡]|\s+[*#>-])")
"""Of what stands before a word, its last character first: forwards each white space of a run would have to be tried."""
LINK = "(?:of|de|da|do|dos|del|della|di|du|des|van|von|der|den|la|le|el|al|bin|ibn|und|the)[ \u00a0]"
JOINED = re.compile(f"[ \u00a0](?:{LINK}){{0,2}}")
SMALL = frozenset(Path(__file__).with_name("small_words.txt").read_text("utf-8").split()).union(
    *(language.common | language.pointing | language.questions for language in LANGUAGES)
)
POINTING = frozenset().union(*(language.pointing for language in LANGUAGES))


def resolve(text: str, turns: Sequence[Turn]) -> str:
    """The message with what it leans on: "who are his children (about: Donald Trump)". Empty where it leans on nothing."""
    words = " ".join(text.split())
    topic = topic_of(words, turns)
    return f"{words} (about: {topic})" if words and topic and topic.casefold() not in words.casefold() else ""


def topic_of(text: str, turns: Sequence[Turn]) -> str:
    """A pronoun stands for a name or a thing; what was left out stands in the user's last whole question."""
    exchanges = list(_exchanges(turns))
    kind = reference(text, exchanges[0][0] if exchanges else "")
    if kind is Reference.NONE:
        return ""
    whole = next((question for question, _ in exchanges if question and reference(question) is Reference.NONE), "")
    thing = _thing(exchanges) if kind is Reference.POINTING else ""
    return thing or _shortened(whole)


def _exchanges(turns: Sequence[Turn]) -> Iterator[tuple[str, str]]:
    """What the user said and what was answered, newest first. The offline responder's own words tell of no topic."""
    answer = ""
    for turn in reversed(turns[-FURTHEST_TURNS:]):
        text = text_of(turn.content)[:LONGEST_READ].strip()
        if turn.role == "user":
            yield "" if is_social(text) else text, answer
            answer = ""
        else:
            answer = "" if turn.offline else text


def _thing(exchanges: Sequence[tuple[str, str]]) -> str:
    """The newest exchange that names something; one whose question leans on older turns is passed over if it names nothing."""
    for question, answer in exchanges:
        if thing := quoted(question) or name(question) or name(answer, least_words=2) or quoted(answer):
            return thing
        if question and reference(question) is Reference.NONE and (thing := phrase(question) or name(answer)):
            return thing
    return ""


def quoted(text: str) -> str:
    """The first quoted term."""
    match = QUOTED.search(text)
    return bare(next(term for term in match.groups() if term)) if match else ""


def name(text: str, *, least_words: int = 1) -> str:
    """The first name of several words, or else the first single word that is written like a name."""
    names = list(_names(text))
    several = next((words for words in names if len(words.split()) > 1), "")
    return several or (names[0] if names and least_words == 1 else "")


def phrase(text: str) -> str:
    """The longest run of words of content, as it was written; a question in a script without spaces as a whole."""
    if UNSPACED.search(text):
        return _shortened(bare(text))
    runs = [
        [token.group() for token in run]
        for small, run in groupby(TOKEN.finditer(text), lambda token: _is_small(token.group()))
        if not small
    ]
    return " ".join(max(runs, key=lambda words: sum(map(len, words)))[-LONGEST_PHRASE:]) if runs else ""


def _names(text: str) -> Iterator[str]:
    """Neighbouring words with capitals. The first word of a sentence counts only as part of a longer name."""
    if text.isupper():
        return
    parts: list[re.Match[str]] = []
    for token in [*TOKEN.finditer(text), None]:
        if parts and (token is None or not _belongs(text, parts[-1], token)):
            yield from _as_name(text, parts)
            parts = []
        if token and _may_be_name(text, token):
            parts.append(token)


def _as_name(text: str, parts: Sequence[re.Match[str]]) -> Iterator[str]:
    first = parts[0]
    plain = first.group()[1:].islower() or len(first.group()) == 1
    if len(parts) == 1 and plain and _starts_sentence(text, first):
        return
    yield text[first.start() : parts[-1].end()].removesuffix("'s").removesuffix("’s")


def _belongs(text: str, before: re.Match[str], token: re.Match[str]) -> bool:
    if not _is_large(token.group()) and JOINED.fullmatch(f" {token.group().casefold()} "):
        return True  # the next word decides: without a capital the name ended before
    gap = text[before.end() : token.start()]
    return _may_be_name(text, token) and bool(JOINED.fullmatch(gap.casefold()))


def _may_be_name(text: str, token: re.Match[str]) -> bool:
    """Small words are part of a name too ("Will Smith"), but not where every word would have a capital."""
    word = token.group()
    if not _is_small(word):
        return _is_large(word)
    return word[0].isupper() and len(word) > 1 and not (_points(word) or _starts_sentence(text, token))


def _starts_sentence(text: str, token: re.Match[str]) -> bool:
    return bool(SENTENCE_START_BACKWARDS.match(text[: token.start()][::-1]))


def _is_large(word: str) -> bool:
    return any(letter.isupper() for letter in word)


def _is_small(word: str) -> bool:
    return _stem(word) in SMALL


def _points(word: str) -> bool:
    return _stem(word) in POINTING


def _stem(word: str) -> str:
    return re.split("['’]", word.casefold())[0]


def _shortened(text: str) -> str:
    line = bare(" ".join(text.split()))
    return line if len(line) <= LONGEST_TOPIC else line[: LONGEST_TOPIC - 1] + "…"
