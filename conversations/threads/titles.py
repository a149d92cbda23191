"""A thread's title, from its first message. Pure, and linear in what is read of it."""

import re
from collections.abc import Iterator, Sequence

from memory.language.readability import is_balanced, without_loose_end

TITLE_CHARS = 60
LEAST_CHARS = 12
"""Of a title that more could be said in."""
READ_CHARS = 4_000
"""Of the message: what comes later names nothing."""

FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})")
LINE_SIGNS = re.compile(r"^[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)]|\[[ xX]\])[ \t]+)*")
RULE = re.compile(r"^[\s|:*_=-]*$")
LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{0,2000}\)")
SENTENCE_END = re.compile(r"(?<=[.!?…؟])\s+(?=[^\s\d])|(?<=[。！？])")
JOINT = re.compile(
    r"[,;:،؛][ \n]|[，；：、]| [-–—] | \(| (?:and|but|so|because|which|who|whether|since|when|und|aber|weil|denn|ob"
    r"|et|mais|car|qui|parce|y|pero|porque|cuando|и|но|а|потому|который|которая|когда) ",
    re.IGNORECASE,
)
MARKS = re.compile('["“”„«»()]')
GREETING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|dear \w+|hallo|guten (?:morgen|tag|abend)|moin|servus|bonjour"
    r"|bonsoir|salut|coucou|hola|buen(?:os|as) (?:días|tardes|noches)|buenas"
    r"|привет|здравствуй(?:те)?|добр(?:ый|ое) \w+"
    r"|你好|您好|大家好|嗨|مرحبا|السلام عليكم|أهلا)"
    r"(?: (?:there|all|everyone|zusammen|liebe\w*|à tous|a todos|again))?[,!.。，！،]*\s+)+",
    re.IGNORECASE,
)
EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\*{1,3}(?![\w*])")


def title_from(text: str) -> str:
    """What a thread's first message says first, on one line, without the signs of Markdown. Code names a thread only where
    nothing else is said."""
    outside, code = _lines(text[:READ_CHARS])
    return _first_sentence(outside) or first_words(" ".join(code)) or first_words(text)


def titles_from(text: str) -> set[str]:
    """Every title that this message may have given a thread: of older threads it is the first words, with or without
    signs."""
    outside, _ = _lines(text[:READ_CHARS])
    return {title_from(text), first_words(" ".join(outside)), first_words(text)}


def first_words(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


def _first_sentence(lines: Sequence[str]) -> str:
    """All where it is short, else the first sentence that is no greeting, as much of it as has room."""
    whole = " ".join(" ".join(lines).split())
    if len(whole) <= TITLE_CHARS:
        return whole
    title = ""
    for sentence in _sentences(lines):
        title = f"{title} {sentence}".strip()
        if len(title) >= LEAST_CHARS:
            break
    greeting = GREETING.match(title)
    if greeting and (rest := title[greeting.end() :]):
        title = rest[:1].upper() + rest[1:]
    if len(title) <= TITLE_CHARS and is_balanced(title):
        return title.rstrip(" .。:,;")
    shorter = _beginning(title)
    return shorter if is_balanced(shorter) else MARKS.sub("", shorter)


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        for sentence in SENTENCE_END.split(" ".join(line.split())):
            if sentence and not GREETING.fullmatch(f"{sentence} "):
                yield sentence


def _beginning(sentence: str) -> str:
    """Until the last joint that has room, else as many words as have."""
    ends = [match.start() for match in JOINT.finditer(sentence, LEAST_CHARS, TITLE_CHARS + 1)]
    clauses = (sentence[:end].rstrip() for end in reversed(ends))
    clause = next(filter(is_balanced, clauses), "")
    if len(clause) >= 2 * LEAST_CHARS:
        return clause
    if len(sentence) <= TITLE_CHARS:
        return sentence.rstrip(" .。:,;")
    words = sentence[:TITLE_CHARS]
    words = words.rsplit(" ", 1)[0] if " " in words else words
    return without_loose_end(words.rstrip(",.;:")) + "…"


def _lines(text: str) -> tuple[list[str], list[str]]:
    """The lines outside of blocks of code without their signs, and those inside."""
    outside: list[str] = []
    code: list[str] = []
    is_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            is_code = not is_code
        elif is_code:
            code.append(line)
        elif not RULE.fullmatch(line):
            words = LINK.sub(r"\1", LINE_SIGNS.sub("", line))
            outside.append(EMPHASIS.sub(r"\1", words).replace("`", "").replace("~~", ""))
    return outside, code
