"""Which of what bears on a text comes first: parts of long turns, each for what it adds to those before it. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heapreplace

from memory.index.ranking import Query
from memory.language.passages import Passage, short_passages
from memory.language.words import UNSPACED, bare_letters
from memory.sources.passages import HEAD, Candidate

LONG = 300
"""Characters above which a passage is given in parts."""
FURTHER = 0.6
"""How much a part of a passage bears beside the next one that holds words of the question."""
NEW = 0.4
"""The share of what a passage counts that its words decide which no passage before it has."""
FEW_WORDS = 10
"""Of so few words all count as new: a short turn takes little room."""
ANSWER = 0.8
"""How much a passage of a long answer counts beside what the person said, unless the question is for the assistant's words."""
MOST_PARTED, MOST_CHOSEN = 50, 60
"""The best, which are given in parts, and of these those whose order is chosen so."""
ANY_WORD, WORD = re.compile(r"\w+"), re.compile(r"\w{3,}")


def selected(candidates: Sequence[Candidate], query: Query) -> list[Candidate]:
    """The candidates, none of which is left out, in parts, those that add most first."""
    stems = _stems(query)
    first, others = candidates[:MOST_PARTED], candidates[MOST_PARTED:]
    parts = [part for candidate in first for part in _parts(candidate, stems)]
    parts = sorted([*parts, *others], key=lambda part: (-part.score, part.at))
    return [*_by_what_they_add(parts[:MOST_CHOSEN], query), *parts[MOST_CHOSEN:]]


def _stems(query: Query) -> tuple[str, ...]:
    """What the words of a question begin with."""
    words = [word for word in query.words if not word.is_asking]
    return tuple({bare_letters(text) for word in words for text in (word.text, *word.forms) if text})


def _parts(candidate: Candidate, stems: tuple[str, ...]) -> Iterator[Candidate]:
    """A long passage in parts, those that stand further from words of the question with less of its score; the whole where none
    holds any."""
    is_long = candidate.thread is not None and len(candidate.text) > LONG
    passages = short_passages(candidate.text) if is_long and _holds(candidate.text, stems) else []
    held = [n for n, part in enumerate(passages) if _holds(candidate.text[part.start : part.end], stems)]
    if len(passages) < 2 or not held:
        yield candidate
        return
    for number, part in enumerate(passages):
        away = min(abs(number - other) for other in held)
        is_last = candidate.is_last and number == len(passages) - 1
        yield _part(candidate, part, score=candidate.score * FURTHER**away, is_last=is_last)


def _holds(text: str, stems: tuple[str, ...]) -> bool:
    """Whether a word of a text begins with one of the stems, or what is written without spaces holds one."""
    text = text.lower() if text.isascii() else bare_letters(text)
    standing = tuple(stem for stem in stems if stem in text)  # quick, and mostly none
    if not standing:
        return False
    if UNSPACED.search(text) and any(UNSPACED.search(stem) for stem in standing):
        return True
    return any(word.startswith(standing) for word in ANY_WORD.findall(text))


def _part(candidate: Candidate, part: Passage, *, score: float, is_last: bool) -> Candidate:
    return replace(
        candidate,
        text=candidate.text[part.start : part.end],
        start=candidate.start + part.start,
        end=candidate.start + part.end,
        head=candidate.head or (candidate.text[:HEAD] if part.start else ""),
        score=score,
        is_whole=False,
        is_last=is_last,
    )


def _by_what_they_add(candidates: Iterable[Candidate], query: Query) -> Iterator[Candidate]:
    """Each the one that counts most beside those before it. What a candidate adds only falls, so that one which still counts
    most once it is weighed anew is the next: few are weighed each time."""
    known: set[str] = set()
    waiting = [
        (-_worth(candidate, query, 1.0), number, candidate, frozenset(WORD.findall(candidate.text.lower())))
        for number, candidate in enumerate(candidates)
    ]
    heapify(waiting)
    while waiting:
        before, number, candidate, words = waiting[0]
        new = len(words - known) / len(words) if len(words) > FEW_WORDS and candidate.thread else 1.0
        worth = -_worth(candidate, query, new)
        if worth <= before or len(waiting) == 1:
            heappop(waiting)
            known |= words
            yield candidate
        else:
            heapreplace(waiting, (worth, number, candidate, words))


def _worth(candidate: Candidate, query: Query, new: float) -> float:
    is_answer = candidate.role == "assistant" and not candidate.is_whole and not query.other
    return candidate.score * (ANSWER if is_answer else 1.0) * (1 - NEW + NEW * new)
