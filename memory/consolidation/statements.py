"""A sentence by itself: what it states of the person, what it begins, and whether it says that something is done. Pure."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from memory.consolidation.findings import LONGEST_FACT
from memory.consolidation.sentences import without_quotations
from memory.language import cue_phrases
from memory.language.words import asks, stems

LEAST_WORDS = 3
LONGEST_PREFIX = 40
"""Characters that a statement may have before it: "Last week, …"."""
WORD = re.compile(r"\w+")


@lru_cache(maxsize=4_096)
def remember_requests(sentence: str) -> tuple[str, ...]:
    """What is asked to be remembered in so many words."""
    match = cue_phrases.REMEMBER.match(without_opener(sentence))
    if not match or asks(sentence) or len(WORD.findall(match["told"])) < LEAST_WORDS or not _fits(match["told"]):
        return ()
    return (stated(match["told"]),)


@lru_cache(maxsize=4_096)
def statements(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that state something of the person, each as it reads on its own."""
    text = cue_phrases.COMMENT.sub("", without_opener(sentence))
    if asks(sentence) or len(text) > 2 * LONGEST_FACT or not cue_phrases.FIRST_PERSON.search(text):
        return ()
    return _parts_that(_states, text)


def _parts_that(says: Callable[[str], bool], text: str) -> tuple[str, ...]:
    """Of each clause the first part of which that is so, as a sentence of its own."""
    parts = (next(filter(says, _parts(clause)), "") for clause in _clauses(text))
    return tuple(stated(part) for part in parts if part)


def _clauses(text: str) -> list[str]:
    """The statements that a sentence strings together; "my sister and I" and "last week, I" begin one."""
    if cue_phrases.CONDITION.match(text):
        return [text]
    starts, ends = [0], []
    for cut in cue_phrases.CLAUSE.finditer(text):
        before = text[starts[-1] : cut.start()]
        least = LEAST_WORDS + (cut[0].strip() == ",")
        if len(WORD.findall(before)) >= least and not cue_phrases.COMPANY.search(before):
            ends.append(cut.start())
            starts.append(cut.end())
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]


def _parts(text: str) -> Iterator[str]:
    """The sentence, then as ever shorter beginnings of it, then what follows a break."""
    cuts = [match.start() for match in cue_phrases.TAIL.finditer(text)]
    yield text
    if cue_phrases.CONDITION.match(text):
        return
    for cut in reversed(cuts):
        yield text[:cut]
    for cut in cuts:
        later = re.sub(r"^\W*(?:and|but|so|und|aber|et|mais|y|pero)?\W+", "", text[cut:], flags=re.IGNORECASE)
        yield later


def _states(text: str) -> bool:
    bare = without_quotations(text).replace("’", "'")
    if (
        not _fits(text)
        or len(WORD.findall(bare)) < LEAST_WORDS
        or cue_phrases.DOUBTFUL.search(bare)
        or cue_phrases.PRAISE.search(bare)
        or leans(bare)
    ):
        return False
    return any(_stands(bare, match) for pattern in cue_phrases.FACTS for match in pattern.finditer(bare))


def _stands(text: str, match: re.Match[str]) -> bool:
    """Whether what was found is a statement of its own, not a part of another one."""
    before = text[: match.start()]
    return (
        len(before) <= LONGEST_PREFIX
        and bool(cue_phrases.BEFORE.search(before))
        and not cue_phrases.ASIDE.search(before)
    )


def _fits(text: str) -> bool:
    return 10 <= len(text) <= LONGEST_FACT - 40


def leans(text: str) -> bool:
    """Whether a word points at what the text itself doesn't name before."""
    return any(not _named_before(match[0], text[: match.start()]) for match in cue_phrases.POINTING.finditer(text))


def _named_before(word: str, before: str) -> bool:
    if cue_phrases.PLURAL.fullmatch(word):
        return bool(cue_phrases.SEVERAL.search(before))
    return bool(cue_phrases.PERSONAL.fullmatch(word) and cue_phrases.NOUN.search(before))


@lru_cache(maxsize=4_096)
def undertakings(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence by which the person begins something and doesn't finish it."""
    text = without_opener(sentence)
    if wish := cue_phrases.REMIND.match(text):
        text = text[wish.start("told") :].rstrip("?")
    if asks(text) or not cue_phrases.FIRST_PERSON.search(text):
        return ()
    return _parts_that(_undertakes, text)


def _undertakes(text: str) -> bool:
    bare = without_quotations(text).replace("’", "'")
    words = len(WORD.findall(bare))
    if (
        not (words > LEAST_WORDS and _fits(text))
        or leans(bare)
        or re.search(r"\b(?:if|wenn|si)\b", bare, re.IGNORECASE)
    ):
        return False
    return any(_stands(bare, match) for pattern in cue_phrases.OPENED for match in pattern.finditer(bare))


def finishes(sentence: str, title: str) -> bool:
    """Whether a sentence says that what the title names is done: it says so, and names it by its own words."""
    if not says_done(sentence):
        return False
    wanted, content = _content(title)[:4], _content(sentence)
    shared = {*wanted} & {*content}
    if cue_phrases.DONE.search(sentence):
        return len(shared) >= 2 or bool(shared - {*wanted[:1]}) or len(wanted) == len(shared) == 1
    acted = [word for match in cue_phrases.HAPPENED.finditer(sentence) for word in WORD.findall(match[0].casefold())]
    happened = {cue_phrases.IRREGULAR.get(word, stem) for word in acted for stem in shared if _is_of(word, stem)}
    same = bool(happened & shared) or bool(cue_phrases.AT_LAST.search(sentence))
    return same and len(shared) >= min(2, len(wanted))


def _is_of(word: str, stem: str) -> bool:
    """Whether the word may be a form of what has the stem."""
    return cue_phrases.IRREGULAR.get(word, word)[:4] == stem[:4]


def says_done(sentence: str) -> bool:
    bare = without_quotations(sentence).replace("’", "'")
    match = cue_phrases.DONE.search(bare) or cue_phrases.HAPPENED.search(bare)
    return bool(match) and not (asks(bare) or cue_phrases.NOT_DONE.search(bare) or cue_phrases.DOUBTFUL.search(bare))


def _content(text: str) -> list[str]:
    """The stems by which something that is to be done is told apart."""
    words = (cue_phrases.PARTICIPLE.sub(r"\1", stem) for stem in stems(re.sub(r"\(\d{4}-\d\d-\d\d\)", "", text)))
    candidates = (cue_phrases.IRREGULAR.get(word, word) for word in words)
    return list(dict.fromkeys(stem for stem in candidates if stem not in cue_phrases.OPENED_WORDS))


def without_opener(sentence: str) -> str:
    """Without "Oh well, and"."""
    rest = cue_phrases.OPENERS.sub("", sentence.replace("’", "'"))
    return rest if len(WORD.findall(rest)) >= LEAST_WORDS else sentence


def stated(text: str) -> str:
    """As a sentence of its own."""
    text = capitalised(text.strip(" ,;:-–—"))
    return text if text[-1:] in ".!?…。！？" else f"{text}."


def capitalised(text: str) -> str:
    text = re.sub(r"\bi(?='|\b)(?!\.)", "I", text) if re.match(r"i\b", text) else text
    return text[:1].upper() + text[1:]


def with_speaker(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[longest // 2 :] else cut}…"
