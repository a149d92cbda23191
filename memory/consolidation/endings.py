"""Whether a sentence says that something is done, called off or no longer so, and how much of it it names. Pure."""

import re
from functools import lru_cache
from itertools import pairwise

from memory.consolidation.sentences import without_quotations
from memory.consolidation.statements import WORD, is_meant
from memory.language import cue_phrases, first_person
from memory.language.words import SMALL_ANYWHERE, asks, every_stem, stems

ENOUGH = 0.5
"""Of the names of what was begun or stated: a sentence that names so many of them means it."""
LEAST_ALIKE = 4
"""Letters at the beginning of two forms of one word."""
DATE = re.compile(r"\(\d{4}-\d\d-\d\d\)")
"""As a title has it behind a day that was named."""


def concludes(sentence: str, title: str) -> float:
    """How surely a sentence says that what the title names is done or called off: 0, or from ENOUGH to 1."""
    share = naming(sentence, title)
    if finishes(sentence, title):
        return max(ENOUGH, share)
    return share if share >= ENOUGH and (calls_off(sentence) or _mentions_done(sentence)) else 0.0


@lru_cache(maxsize=4_096)
def calls_off(sentence: str) -> bool:
    """Whether it says that something will not be, or is no longer so."""
    bare = _bare(sentence)
    if not any(language.ending.search(bare) for language in first_person.written_in(bare)):
        return False
    return is_meant(sentence) and not (asks(sentence) or cue_phrases.CONDITION.match(sentence))


@lru_cache(maxsize=4_096)
def _mentions_done(sentence: str) -> bool:
    bare = _bare(sentence)
    return not _is_open(bare) and any(language.done.search(bare) for language in first_person.written_in(bare))


def naming(sentence: str, title: str) -> float:
    """The share of the names in a title that the sentence names too."""
    wanted, there = names(title), names(sentence)
    return sum(any(_alike(name, other) for other in there) for name in wanted) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4_096)
def names(text: str) -> tuple[str, ...]:
    """The words by which something is told apart, not what is done with it; of what is written without spaces, pairs."""
    text = DATE.sub("", text.casefold())
    if first_person.HAN.search(text):
        runs = WORD.findall(cue_phrases.HAN_SMALL.sub(" ", text))
        pairs = (pair for run in runs for pair in (map("".join, pairwise(run)) if len(run) > 1 else [run]))
        return tuple(dict.fromkeys(pairs))
    words = (word for word in WORD.findall(text) if len(word) > 1 and word not in SMALL_ANYWHERE)
    return tuple(dict.fromkeys(word for word in words if not cue_phrases.DEED.match(word)))


def _alike(name: str, other: str) -> bool:
    """Whether they may be forms of one word."""
    if name == other:
        return True
    shorter = min(len(name), len(other))
    least = max(LEAST_ALIKE, shorter - 2)
    return shorter >= least and name[:least] == other[:least] and abs(len(name) - len(other)) <= LEAST_ALIKE


def finishes(sentence: str, title: str) -> bool:
    """Whether a sentence says that what the title names is done: it says so, and names it by its own words."""
    if not says_done(sentence):
        return False
    wanted, content = _content(title)[:4], _content(sentence)
    shared = {*wanted} & {*content}
    if cue_phrases.DONE.search(sentence):
        return len(shared) >= 2 or bool(shared - {*wanted[:1]}) or len(wanted) == len(shared) == 1
    acted = [word for match in cue_phrases.HAPPENED.finditer(sentence) for word in WORD.findall(match[0].casefold())]
    same = any(_is_of(word, stem) for word in acted for stem in shared) or bool(cue_phrases.AT_LAST.search(sentence))
    return same and len(shared) >= min(2, len(wanted))


def _is_of(word: str, stem: str) -> bool:
    """Whether the word may be a form of what has the stem."""
    return any(known[:4] == stem[:4] for known in every_stem(word))


def says_done(sentence: str) -> bool:
    bare = _bare(sentence)
    return bool(cue_phrases.DONE.search(bare) or cue_phrases.HAPPENED.search(bare)) and not _is_open(bare)


def _bare(sentence: str) -> str:
    """Its own words, with the apostrophes that the patterns know."""
    return without_quotations(sentence).replace("’", "'")


def _is_open(bare: str) -> bool:
    """Whether it asks, denies or doubts that something is done."""
    return asks(bare) or bool(cue_phrases.NOT_DONE.search(bare) or cue_phrases.DOUBTFUL.search(bare))


def _content(text: str) -> list[str]:
    """The stems by which something that is to be done is told apart."""
    candidates = (cue_phrases.PARTICIPLE.sub(r"\1", stem) for stem in stems(DATE.sub("", text)))
    return list(dict.fromkeys(stem for stem in candidates if stem not in cue_phrases.OPENED_WORDS))
