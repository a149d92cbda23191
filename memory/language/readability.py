"""Whether a text reads as a sentence that stands by itself, told by its signs and small words. Pure."""

import re
from collections import Counter
from enum import StrEnum

from conversations.runtime.word_tables import read_tables
from memory.language.words import SMALL_ANYWHERE

PAIRS = {"“": "”", "«": "»", "(": ")", "[": "]", "（": "）", "《": "》"}
GERMAN_OPENING, GERMAN_CLOSING = "„", "“”"
MARKDOWN = re.compile(r"\*\*|(?<!\w)__|`|^\s*(?:#{1,6}|[-*•>|])\s|\]\(|<[a-z/][^>]*>")
CUT = re.compile(r"(?:…|\.\.\.)[^\w….]*$")
END = re.compile(r"[.!?…。！？؟]['\"”’»“)\]）]*$")
LOOSE = re.compile(r"[,;:،，；：–—-][^\w,;:،，；：–—-]*$|\s[,.;]|\.\.(?!\.)(?<!\.\.\.)")
LAST_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\W*$")
ENDING_SMALL = frozenset(read_tables(__file__)["small"]["ending"].split())
"""Small words that a sentence may well end with."""


class Fault(StrEnum):
    """What keeps a text from being read as a sentence."""

    CUT = "cut"
    DANGLING = "dangling word"
    LOOSE = "loose mark"
    MARKDOWN = "markdown"
    UNBALANCED = "unbalanced"
    LOWER_CASE = "lower case"
    NO_END = "no end"


def faults_of(text: str, *, is_title: bool = False) -> frozenset[Fault]:
    """All that is wrong with it. A title needs no stop, and may begin as the person wrote it."""
    told = {
        Fault.CUT: bool(CUT.search(text)),
        Fault.DANGLING: ends_loosely(text),
        Fault.LOOSE: bool(LOOSE.search(text)),
        Fault.MARKDOWN: bool(MARKDOWN.search(text)),
        Fault.UNBALANCED: not is_balanced(text),
        Fault.LOWER_CASE: not is_title and text[:1].islower(),
        Fault.NO_END: not is_title and not END.search(text),
    }
    return frozenset(fault for fault, is_so in told.items() if is_so)


def is_balanced(text: str) -> bool:
    """Whether each quotation mark and bracket that opens is closed."""
    counts = Counter(text)
    german = counts[GERMAN_OPENING]
    if german:
        return german == sum(counts[mark] for mark in GERMAN_CLOSING)
    return counts['"'] % 2 == 0 and all(counts[opening] == counts[closing] for opening, closing in PAIRS.items())


def ends_loosely(text: str) -> bool:
    """Whether its last word is one that another has to follow: "and", "the", "of"."""
    last = LAST_WORD.search(text)
    if last is None or text.rstrip()[-1:] in "?？؟":
        return False
    word = last[1].casefold()
    return word in SMALL_ANYWHERE and word not in ENDING_SMALL


def without_loose_end(text: str) -> str:
    """Without the small words at its end that another would have to follow, as long as words are left."""
    words = text.split(" ")
    while len(words) > 1 and (words[-1].strip(",.;:").casefold() in SMALL_ANYWHERE or not words[-1].strip(",.;:–—-")):
        words.pop()
    return " ".join(words).rstrip(",.;:–—- ")
