"""The words of two readings of one file, and why one has what the other has not. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+")
LONGEST_RUN = 8
"""Words that may be one in the other reading."""
SPACING = "joined or parted otherwise"
AGREED = "a third reader does as ours"
UNEXPLAINED = ""


class Word(NamedTuple):
    text: str
    why: str = UNEXPLAINED
    """Why the other reading may lack it."""


@dataclass
class Difference:
    """What one reading has and the other has not: of ``words`` in all, how many by why, and which."""

    words: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    examples: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: "Difference") -> None:
        self.words += other.words
        self.counts += other.counts
        self.examples += other.examples

    def share(self, *, explained: bool) -> float:
        """Percent of all words."""
        count = self.counts.total() if explained else self.counts[UNEXPLAINED]
        return 100 * count / max(self.words, 1)


def words_of(text: str, why: str = UNEXPLAINED) -> Iterator[Word]:
    plain = unicodedata.normalize("NFKC", text.replace("\N{SOFT HYPHEN}", "")).casefold()
    return (Word(match[0], why) for match in WORD.finditer(plain))


def compare(theirs: Sequence[Word], ours: Sequence[Word], third: Sequence[Word] = ()) -> tuple[Difference, Difference]:
    """What they see and we do not, and the reverse. Where there is a ``third`` reading, it explains what it has as we do."""
    counts = Counter(word.text for word in theirs), Counter(word.text for word in ours)
    missing, more = counts[0] - counts[1], counts[1] - counts[0]
    told = Counter(word.text for word in third)
    as_we = (missing & (counts[0] - told), more & (told - counts[0])) if third else (Counter[str](), Counter[str]())
    spaced: Counter[str] = Counter()
    for run, whole in (*_runs(ours, missing), *_runs(theirs, more)):
        spaced.update([whole, *run])
    return _difference(theirs, missing, spaced, as_we[0]), _difference(ours, more, spaced, as_we[1])


def _runs(words: Sequence[Word], wanted: Counter[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Runs of words that are one of those that are wanted, each as often as it is."""
    left = +wanted
    texts = [word.text for word in words]
    longest = max(map(len, left), default=0)
    for start in range(len(texts)):
        joined = texts[start]
        for end in range(start + 1, min(start + LONGEST_RUN, len(texts))):
            joined += texts[end]
            if len(joined) > longest:
                break
            if left[joined] > 0:
                left[joined] -= 1
                yield texts[start : end + 1], joined


def _difference(words: Sequence[Word], residue: Counter[str], spaced: Counter[str], as_we: Counter[str]) -> Difference:
    told = Difference(words=len(words))
    reasons: dict[str, Counter[str]] = {}
    for word in words:
        if word.why and word.text in residue:
            reasons.setdefault(word.text, Counter())[word.why] += 1
    for text, count in residue.items():
        rest = ((SPACING, spaced[text]), (AGREED, as_we[text]), (UNEXPLAINED, count))
        for why, most in (*reasons.get(text, Counter()).items(), *rest):
            explained = min(count, most)
            count -= explained
            if explained:
                told.counts[why] += explained
                told.examples[why, text] += explained
    return told


def repeated_lines(pages: Iterable[Sequence[str]], edge: int = 3) -> set[str]:
    """Lines at the head or the foot of several pages, with numbers as ``#``: headers and footers."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({line_form(line) for line in (*page[:edge], *page[-edge:])})
    return {line for line, count in seen.items() if count > 1 and line}


def line_form(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))
