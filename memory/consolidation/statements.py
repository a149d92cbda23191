"""A sentence by itself: what it states of the person, and what it begins. Pure.

Most of what people tell of themselves they mention in the middle of a request, so a sentence is first taken apart into what it
asserts and what it asks.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import lru_cache
from itertools import chain, groupby, pairwise
from operator import itemgetter

from memory.consolidation.findings import LONGEST_FACT
from memory.consolidation.sentences import SPEECH, without_quotations, without_speech
from memory.language import cue_phrases, first_person
from memory.language.coming_days import coming_day
from memory.language.fact_kinds import claims_of
from memory.language.first_person import FirstPerson
from memory.language.words import asks, stems

LEAST_WORDS = 3
LEAST_STATED = 2
"""Words of a statement, "Soy vegana"; of one that no rule knows, without small ones."""
SHORTEST = 6
LONGEST_PREFIX = 40
"""Characters that a statement may have before it: "Last week, …"."""
WORD = re.compile(r"\w+")
BREAK = re.compile(
    r"[,;:]\s+|[，；：]\s*|(?<!\s)\s+[-–—]\s+|(?<=\w)\s+(?=¿)|(?<=[。！？])"
    r"|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])"
)
UNCLOSED = re.compile("[“„«][^”“»]*$|^[^“„«]*[”»]")
LOOSE_END = re.compile(
    r"(?<![,\s])[,\s]+(?:and|but|so|because|und|aber|weil|et|mais|y|pero|porque|и|но|а)\W*$", re.IGNORECASE
)
SMILEY = re.compile(r"[;:=][-']?[)(DPp]$")
SOME_DAY = date(2026, 1, 1)


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
    sentence = without_speech(sentence)
    if not any(first_person.speaking(sentence)) or not is_meant(sentence):
        return ()
    if leaning := _leaning(sentence):
        return (stated(leaning),)
    texts = (cue_phrases.COMMENT.sub("", without_opener(span)) for span in assertions(sentence))
    return tuple(
        dict.fromkeys(
            part
            for text in texts
            if len(text) <= 2 * LONGEST_FACT and any(first_person.speaking(text))
            for part in _parts_that(_states, text)
        )
    )


@lru_cache(maxsize=4_096)
def is_meant(sentence: str) -> bool:
    """Whether it may be of the person's life: no joke, no supposition, nothing about code."""
    technical = (language.technical for language in first_person.written_in(sentence))
    return not any(pattern.search(sentence) for pattern in (first_person.JOKING, first_person.SUPPOSED, *technical))


@lru_cache(maxsize=4_096)
def assertions(sentence: str) -> tuple[str, ...]:
    """What a sentence says beside what it asks, or asks for, in order: "I'm vegan" of "I'm vegan, what could I cook?"."""
    if cue_phrases.CONDITION.match(sentence):
        return () if asks(sentence) else (sentence,)
    languages = first_person.written_in(sentence)
    inside = (match.end() for language in languages for match in language.asks_inside.finditer(sentence))
    starts = sorted({0, *(match.end() for match in BREAK.finditer(sentence)), *inside})
    pieces = [(start, end) for start, end in pairwise([*starts, len(sentence)]) if start < end]
    asked = [any(_asks_for(sentence[start:end], language) for language in languages) for start, end in pieces]
    if asks(sentence) and not (any(asked) and first_person.HAN.search(sentence)):
        asked[-1] = True
    spans = []
    for is_asked, run in groupby(zip(asked, pieces, strict=True), key=itemgetter(0)):
        some = [piece for _, piece in run]
        if not is_asked:
            spans.append(sentence[some[0][0] : some[-1][1]].strip(" ,;:-–—，；："))
    return tuple(span for span in spans if span)


def _leaning(sentence: str) -> str:
    """The sentence as far as what only says something with what stands before it: "without nuts, I'm allergic"."""
    ends = [*(match.start() for match in BREAK.finditer(sentence)), len(sentence)]
    starts = [0, *(match.end() for match in BREAK.finditer(sentence))]
    languages = first_person.written_in(sentence)
    for start, end in zip(starts[1:], ends[1:], strict=True):
        piece = sentence[start:end].strip(" .!。！")
        if any(language.leaning.fullmatch(piece) for language in languages) and _fits(sentence[:end]):
            return sentence[:end]
    return ""


def _asks_for(piece: str, language: FirstPerson) -> bool:
    return bool(language.asks.match(piece) or language.asks_anywhere.search(piece))


def _parts_that(says: Callable[[str], bool], text: str) -> tuple[str, ...]:
    """Of each clause the first part of which that is so, as a sentence of its own."""
    parts = (next(filter(says, _parts(clause)), "") for clause in _clauses(text))
    return tuple(stated(cue_phrases.REASON.sub("", part)) for part in parts if part)


def _clauses(text: str) -> list[str]:
    """The statements that a sentence strings together, each with its subject. "My sister and I" begins one."""
    if cue_phrases.CONDITION.match(text):
        return [text]
    return [clause for whole in _subjects(text) for clause in _with_subjects(whole)]


def _subjects(text: str) -> list[str]:
    """The parts of a sentence that say each of whom they tell."""
    starts, ends = [0], []
    for cut in cue_phrases.CLAUSE.finditer(text):
        before = text[starts[-1] : cut.start()]
        least = LEAST_WORDS + (cut[0].strip() == ",")
        if word_count(before) >= least and not cue_phrases.COMPANY.search(before):
            ends.append(cut.start())
            starts.append(cut.end())
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True)]


def _with_subjects(text: str) -> Iterator[str]:
    """What is told of one subject, as statements that each name it: "I live in Lisbon", "I work as a baker"."""
    start, subject = 0, ""
    for cut in cue_phrases.JOINT.finditer(text):
        before = f"{subject}{text[start : cut.start()]}"
        following = _elided_subject(before, text[cut.end() :]) if word_count(before) >= LEAST_STATED else None
        if following is not None:
            yield before
            start, subject = cut.end(), following
    yield f"{subject}{text[start:]}"


def _elided_subject(before: str, after: str) -> str | None:
    """The subject that a statement takes over from the one before it; nothing where it is no statement of its own."""
    for language in first_person.written_in(before):
        for elision in language.elided:
            if elision.after.match(after) and elision.before.search(before):
                return elision.subject
    return None


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


def read_alone(text: str) -> Iterator[str]:
    """The clauses of a text that read as sentences of their own and tell neither of others nor of the moment."""
    for clause in _clauses(cue_phrases.COMMENT.sub("", without_opener(text.strip()))):
        bare = without_quotations(clause).replace("’", "'")
        languages = first_person.written_in(bare)
        if (
            len(stems(bare)) >= LEAST_STATED
            and _reads_alone(clause, bare)
            and not any(language.others.search(bare) or language.passing.search(bare) for language in languages)
        ):
            yield stated(cue_phrases.REASON.sub("", clause))


def _reads_alone(text: str, bare: str) -> bool:
    return (
        _fits(text, SHORTEST)
        and word_count(bare) >= LEAST_STATED
        and not (
            cue_phrases.DOUBTFUL.search(bare)
            or cue_phrases.PRAISE.search(bare)
            or leans(bare)
            or SPEECH in bare
            or UNCLOSED.search(bare)
            or bare.count('"') % 2
        )
    )


def _states(text: str) -> bool:
    bare = without_quotations(text).replace("’", "'")
    return _reads_alone(text, bare) and any(_states_in(language, bare) for language in first_person.speaking(bare))


def _states_in(language: FirstPerson, text: str) -> bool:
    if language.others.search(text):
        return False
    is_lasting = _is_fact(language, text) and not language.passing.search(text)
    return is_lasting or _plans_in(language, text)


def _is_fact(language: FirstPerson, text: str) -> bool:
    claimed = (claim.start for claim in claims_of(text) if claim.ends or claim.kind.is_single)
    starts = chain(language.facts.starts(text), claimed)
    if any(not cue_phrases.ASIDE.search(text[:start]) for start in starts):
        return True
    if language is not first_person.LATIN["english"] or not cue_phrases.ANY_FACT.search(text):
        return False
    return any(_stands(text, match) for pattern in cue_phrases.FACTS for match in pattern.finditer(text))


def plans(text: str) -> bool:
    """Whether it is of a day to come."""
    return any(_plans_in(language, text) for language in first_person.written_in(text))


def _plans_in(language: FirstPerson, text: str) -> bool:
    is_plan = word_count(text) >= LEAST_WORDS and language.planned.search(text) and not language.unplanned.search(text)
    return bool(is_plan) and coming_day(text, SOME_DAY) is not None


def _stands(text: str, match: re.Match[str]) -> bool:
    """Whether what was found is a statement of its own, not a part of another one."""
    before = text[: match.start()]
    return (
        len(before) <= LONGEST_PREFIX
        and bool(cue_phrases.BEFORE.search(before))
        and not cue_phrases.ASIDE.search(before)
    )


def _fits(text: str, shortest: int = 10) -> bool:
    return shortest <= len(text) + len(first_person.HAN.findall(text)) and len(text) <= LONGEST_FACT - 40


def word_count(text: str) -> int:
    """Where words are not set apart, a word is two characters."""
    characters = len(first_person.HAN.findall(text))
    return len(WORD.findall(first_person.HAN.sub(" ", text))) + (characters + 1) // 2


@lru_cache(maxsize=4_096)
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
    if not _may_undertake(text):
        return ()
    if wish := cue_phrases.REMIND.match(text):
        spans: tuple[str, ...] = (text[wish.start("told") :].rstrip("?"),)
    elif not is_meant(sentence):
        return ()
    else:
        spans = assertions(text)
    return tuple(title for span in spans for title in _parts_that(_undertakes, span))


def _may_undertake(text: str) -> bool:
    """Whether it tells of the person, or of a thing that has still to be done."""
    return bool(cue_phrases.FIRST_PERSON.search(text)) or any(
        True for language in first_person.written_in(text) for _ in language.undertakings.starts(text)
    )


def _undertakes(text: str) -> bool:
    bare = without_quotations(text).replace("’", "'")
    languages = first_person.written_in(bare)
    if (
        not (word_count(bare) >= LEAST_WORDS and _fits(text, SHORTEST))
        or leans(bare)
        or re.search(r"\b(?:if|wenn|si|если)\b|如果", bare, re.IGNORECASE)
    ):
        return False
    if any(True for language in languages for _ in language.undertakings.starts(bare)):
        return True
    if word_count(bare) <= LEAST_WORDS:
        return False
    return any(_stands(bare, match) for pattern in cue_phrases.OPENED for match in pattern.finditer(bare))


@lru_cache(maxsize=4_096)
def without_opener(sentence: str) -> str:
    """Without "Oh well, and"."""
    rest = cue_phrases.OPENERS.sub("", sentence.replace("’", "'"))
    return rest if word_count(rest) >= LEAST_WORDS else sentence


def stated(text: str) -> str:
    """As a sentence of its own."""
    text = capitalised(LOOSE_END.sub("", text).strip(" ,;:-–—"))
    if text[-1:] in ".!?…。！？" or SMILEY.search(text):
        return text
    return f"{text}{'。' if first_person.HAN.match(text[-1:]) else '.'}"


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
