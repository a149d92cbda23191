"""The sentences of a turn that somebody said himself, without what was pasted, quoted or drawn. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.consolidation.findings import SourceTurn
from memory.language import cue_phrases
from memory.language.words import SPEAKER

LONGEST_READ = 8_000
"""Characters of a turn. Nobody says so much of himself; it is material."""
LONGEST_SENTENCE = 1_000

FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
QUOTED_LINE = re.compile(r"^[^\S\n]*(?:>|\|).*$", re.MULTILINE)
BRACKETED = re.compile(r"\[[^\[\]\n]{0,300}\](?:\([^()\s]*\))?|https?://\S+|<[^<>\n]{1,200}>")
LINE_MARK = re.compile(r"^\s*(?:[-*•+]|#{1,6}|\d{1,3}[.)])\s+")
EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_]|[*_](?!\w)")
LAUGHTER = re.compile("[😂🤣😜😉😝🙄]")
DECORATION = re.compile("[\u2190-\u21ff\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+")
MONTH = "(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
SENTENCE_END = re.compile(
    rf"(?:(?<=[.!?…])|(?<=[.!?…][\"'”’»)\]]))\s+(?=[^\s.!?…])(?!(?<=\d\. ){MONTH}\b)|(?<=[。！？])"
)
ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|bzw|z\.b|usw|ca|nr|sra?|mme|[a-z])\.$",
    re.IGNORECASE,
)
LONGEST_ABBREVIATION = 10
"""Characters, with its stop and what stands before it."""
NAMED_LINE = re.compile(r"^[^\S\n]*([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,2})(?: ?: |：)\S", re.MULTILINE)
SPACED_STOP = re.compile(r" ([.,!?;:])")
UNREADABLE = re.compile(r"[{}<>|=]{2}|\w{50,}")
LONG_QUOTATION = re.compile(
    "“[^“”]*[.!?。！？][^“”]*”|„[^“”„]*[.!?][^“”„]*[“”]|«[^«»]*[.!?][^«»]*»"
    r'|"[^"\n]*[.!?][^"\n]*"'
)
"""Of more than a sentence, or of a whole one."""
CODE_LINE = re.compile(
    r"^[^\S\n]*(?:at \S+ ?\(|File \"|\w*(?:Error|Exception|Traceback)\b.*:|(?:SELECT|INSERT|UPDATE|DELETE)\s|import \w"
    r"|from \w+ import|def \w|class \w+[(:]|const |let |var |#include|\$ ).*$",
    re.MULTILINE,
)
RULED = re.compile(r"^-{3,}\s*$.*?(?:^-{3,}\s*$|\Z)", re.MULTILINE | re.DOTALL)
BROUGHT = re.compile(r"[:：]\s*\n\s*\S")
"""What follows a line that ends so is somebody's text, or a list."""
COLON = re.compile(r"[:：]\s")
PARTICLES = {"van", "von", "der", "den", "de", "del", "da", "di", "du", "la", "le", "el", "al", "bin", "ibn", "y", "zu"}
MARKS = (
    '[“„«"][^“”„«»"\n]*[”“»"]',
    "(?<!\\w)[‘'][^‘’'\n]{3,}[’'](?!\\w)",
    "‚[^‚‘\n]{3,}[‘’]",
    "(?<!\\w)‘[^‘\n]{3,}’(?!\\w)",
)
QUOTATION = re.compile("|".join(MARKS))
LEAST_SPEECH = 4
"""Words of a quotation that may be what somebody said, not a name."""
SPEECH = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for what is quoted."""

NO_PROSE = (FENCED, QUOTED_LINE, BRACKETED)
BROUGHT_BY_PERSONS = (FENCED, CODE_LINE, RULED, LONG_QUOTATION)
LONGEST_LEAD = 80
"""Characters before a list or a text, by which it is told which of the two it is, and more than a name has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpokenSentence:
    """A sentence with who is named as its speaker, if anybody, and where it stands in its turn."""

    turn: SourceTurn
    speaker: str
    text: str
    place: int
    is_own_word: bool
    """Whether it may tell something of the person."""


def sentences_of(turn: SourceTurn) -> Iterator[SpokenSentence]:
    """In order. Where the turn brings somebody else's text, they tell nothing of who brings it."""
    match = SPEAKER.match(turn.text)
    name = match[1] if match and _is_name(match[1]) and match[1].casefold() not in cue_phrases.LABELS else ""
    body = turn.text[match.end() :] if match and name else turn.text
    is_own = turn.is_persons and not is_material(turn.text)
    body = _without(BROUGHT_BY_PERSONS, body[:LONGEST_READ]) if turn.is_persons else body[:LONGEST_READ]
    texts = list(_sentences(body))
    for place, (text, is_brought) in enumerate(zip(texts, _brought(texts), strict=True)):
        if not UNREADABLE.search(text):
            is_own_word = is_own and not is_brought
            yield SpokenSentence(turn=turn, speaker=name, text=text, place=place, is_own_word=is_own_word)


def _is_name(text: str) -> bool:
    """ "Ann van der Meer", not "Finish this verse", nor "Für das Tagebuch"."""
    if cue_phrases.NO_NAME.search(text[:LONGEST_LEAD]):
        return False
    return text[0].isupper() and all(word[0].isupper() or word in PARTICLES for word in text.split())


def _brought(sentences: Iterable[str]) -> Iterator[bool]:
    """Of each sentence, whether it belongs to a text that an earlier one asks to be worked on, or brings one behind a colon, or
    the one before mocks it."""
    is_brought = is_mocked = False
    for sentence in sentences:
        if cue_phrases.ANYWAY.search(sentence):
            is_brought = False
        wish = cue_phrases.BRINGS_FIRST.match(sentence) or cue_phrases.BRINGS.search(sentence)
        yield is_brought or is_mocked or (wish is not None and bool(COLON.search(sentence, wish.end())))
        is_mocked = bool(cue_phrases.MOCKERY.fullmatch(sentence))
        is_brought = is_brought or wish is not None


def is_material(text: str) -> bool:
    """Whether the turn is, or brings, a text that others wrote: to be translated, played, or a conversation of several."""
    return (
        len(text) > LONGEST_READ
        or len({match[1] for match in NAMED_LINE.finditer(text)}) > 1
        or bool(cue_phrases.MATERIAL.search(text[:LONGEST_READ]))
        or any(
            not cue_phrases.ABOUT_ME.search(text[max(0, match.start() - LONGEST_LEAD) : match.start()])
            for match in BROUGHT.finditer(text[:LONGEST_READ])
        )
    )


def without_quotations(sentence: str) -> str:
    """The sentence with what is quoted in it blanked: others said that."""
    return QUOTATION.sub(lambda match: " " * len(match[0]), sentence)


def without_speech(sentence: str) -> str:
    """The sentence without quotations of several words, in which others say "I"."""
    return QUOTATION.sub(lambda match: match[0] if len(match[0].split()) < LEAST_SPEECH else SPEECH, sentence)


def _sentences(text: str) -> Iterator[str]:
    for line in _without(NO_PROSE, text).splitlines():
        yield from _of_line(EMPHASIS.sub("", LINE_MARK.sub("", line)))


def _without(cuts: Iterable[re.Pattern[str]], text: str) -> str:
    for cut in cuts:
        text = cut.sub(" ", text)
    return text


def _of_line(line: str) -> Iterator[str]:
    held = ""
    for piece in SENTENCE_END.split(DECORATION.sub(_without_decoration, line)):
        held = f"{held} {piece}".strip() if held else piece.strip()
        if ABBREVIATED.search(held, max(0, len(held) - LONGEST_ABBREVIATION)):
            continue
        if tidy := _tidy(held):
            yield tidy
        held = ""
    if tidy := _tidy(held):
        yield tidy


def _without_decoration(match: re.Match[str]) -> str:
    """Laughter stays: what it follows was not meant."""
    laughter = LAUGHTER.search(match[0])
    return f" {laughter[0]}. " if laughter else ". "


def _tidy(sentence: str) -> str:
    sentence = " ".join(sentence.split()).strip(" -–—·")
    sentence = SPACED_STOP.sub(r"\1", sentence)
    body = sentence.rstrip(".!")
    sentence = body if body.endswith(("?", "…")) else sentence[: len(body) + 1]
    return sentence[:LONGEST_SENTENCE] if any(letter.isalnum() for letter in sentence) else ""
