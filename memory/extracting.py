"""What a part of a conversation tells, found by rules alone: the same for the same turns, at no cost. Pure.

It quotes and leaves away; it rewrites nothing. What only leans on other sentences is left out: too little is better than wrong.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from memory import cues
from memory.findings import (
    LONGEST_FACT,
    LONGEST_MOMENT,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_MOMENTS,
    MOST_OPENED,
    RULES,
    Fact,
    Findings,
    Opened,
    OpenTopic,
    Resolved,
    Turn,
)
from memory.sentences import spoken, without_quotations
from memory.words import asks, stems

LEAST_WORDS = 3
LONGEST_PREFIX = 40
"""Characters that a statement may have before it: "Last week, …"."""
MOST_A_TURN = 6
SENTENCES = 5
OF_THE_ASSISTANT = 2
LONGEST_QUOTE = 180
UNREADABLE = re.compile(r"[{}<>|=]{2}|\w{50,}")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence with where it stands. ``last`` is whether the turn ends with it."""

    turn: Turn
    speaker: str
    text: str
    place: int
    told: bool
    """Whether it may tell something of the person."""
    last: bool


def extract(turns: Sequence[Turn], open_topics: Iterable[OpenTopic] = ()) -> Findings:
    """All that the rules find. ``open_topics`` are those that were open before."""
    sentences = [sentence for turn in turns for sentence in _sentences_of(turn)]
    if not sentences:
        return Findings()
    told = [sentence for sentence in sentences if sentence.told]
    opened = list(_opened(told, turns))
    chosen, moments = _weighed(sentences)
    return Findings(
        summary="\n".join(map(_line, chosen)),
        moments=[_shortened(_named(one.speaker, _stated(one.text)), LONGEST_MOMENT) for one in moments],
        facts=list(_facts(told))[:MOST_FACTS],
        opened=opened[:MOST_OPENED],
        resolved=list(_resolved(told, open_topics)),
        made_by=RULES,
    )


def _sentences_of(turn: Turn) -> Iterator[Sentence]:
    said = spoken(turn.text)
    told = turn.is_persons and not said.is_material
    for place, text in enumerate(said.sentences):
        if not UNREADABLE.search(text):
            last = place == len(said.sentences) - 1
            yield Sentence(turn=turn, speaker=said.speaker, text=text, place=place, told=told, last=last)


def _facts(sentences: Iterable[Sentence]) -> Iterator[Fact]:
    found: Counter[object] = Counter()
    known: set[str] = set()
    for sentence in sentences:
        for text in remembered(sentence.text) or statements(sentence.text):
            if found[sentence.turn.id] < MOST_A_TURN and text.casefold() not in known:
                found[sentence.turn.id] += 1
                known.add(text.casefold())
                yield Fact(text=_told(sentence, text), sources=(sentence.turn.id,), at=sentence.turn.at)


def _told(sentence: Sentence, text: str) -> str:
    """With who said it, where the turn names him, and with the day where it says "yesterday"."""
    day = f" ({sentence.turn.at.date().isoformat()})" if cues.RELATIVE.search(text) else ""
    return f"{_named(sentence.speaker, text)}{day}"


@lru_cache(maxsize=4_096)
def remembered(sentence: str) -> tuple[str, ...]:
    """What is asked to be remembered in so many words."""
    found = cues.REMEMBER.match(_begun(sentence))
    if not found or asks(sentence) or len(WORD.findall(found["told"])) < LEAST_WORDS or not _fits(found["told"]):
        return ()
    return (_stated(found["told"]),)


@lru_cache(maxsize=4_096)
def statements(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that state something of the person, each as it reads on its own."""
    text = cues.COMMENT.sub("", _begun(sentence))
    if asks(sentence) or len(text) > 2 * LONGEST_FACT or not cues.FIRST_PERSON.search(text):
        return ()
    found = (next((part for part in _parts(clause) if _states(part)), "") for clause in _clauses(text))
    return tuple(_stated(part) for part in found if part)


def _clauses(text: str) -> list[str]:
    """The statements that a sentence strings together; "my sister and I" begins one."""
    cuts = [found for found in cues.CLAUSE.finditer(text) if not cues.COMPANY.search(text[: found.start()])]
    starts, ends = [0, *(cut.end() for cut in cuts)], [*(cut.start() for cut in cuts), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _parts(text: str) -> Iterator[str]:
    """The sentence, then as ever shorter beginnings of it, then what follows a break."""
    cuts = [found.start() for found in cues.TAIL.finditer(text)]
    yield text
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
        or cues.DOUBTFUL.search(bare)
        or cues.PRAISE.search(bare)
        or _leans(bare)
    ):
        return False
    return any(_stands(bare, found) for pattern in cues.FACTS for found in pattern.finditer(bare))


def _stands(text: str, found: re.Match[str]) -> bool:
    """Whether what was found is a statement of its own, not a part of another one."""
    before = text[: found.start()]
    return len(before) <= LONGEST_PREFIX and bool(cues.BEFORE.search(before)) and not cues.ASIDE.search(before)


def _fits(text: str) -> bool:
    return 10 <= len(text) <= LONGEST_FACT - 40


def _leans(text: str) -> bool:
    """Whether a word points at what the text itself doesn't name before."""
    return any(not _named_before(found[0], text[: found.start()]) for found in cues.POINTING.finditer(text))


def _named_before(word: str, before: str) -> bool:
    if cues.PLURAL.fullmatch(word):
        return bool(cues.SEVERAL.search(before))
    return bool(cues.PERSONAL.fullmatch(word) and cues.NOUN.search(before))


def _opened(sentences: Sequence[Sentence], turns: Sequence[Turn]) -> Iterator[Opened]:
    titles: set[str] = set()
    for sentence in sentences:
        title = undertaking(sentence.text)
        if title and title.casefold() not in titles and not _is_done(title, sentence, sentences):
            titles.add(title.casefold())
            shown = _shortened(_told(sentence, title), LONGEST_TITLE)
            yield Opened(title=shown, sources=(sentence.turn.id,), at=sentence.turn.at)
    # A question that nobody answered.
    if sentences and turns and sentences[-1].turn is turns[-1] and asks(sentences[-1].text):
        asked = _begun(sentences[-1].text)
        if len(WORD.findall(asked)) > LEAST_WORDS and not _leans(asked.replace("you", "")):
            title = _shortened(_named(sentences[-1].speaker, _capitalised(asked)), LONGEST_TITLE)
            yield Opened(title=title, sources=(turns[-1].id,), at=turns[-1].at)


@lru_cache(maxsize=4_096)
def undertaking(sentence: str) -> str:
    """The part of a sentence by which the person begins something and doesn't finish it; empty where none does."""
    text = _begun(sentence)
    if wish := cues.REMIND.match(text):
        text = text[wish.start("told") :].rstrip("?")
    if asks(text) or not cues.FIRST_PERSON.search(text):
        return ""
    parts = (part for clause in _clauses(text) for part in _parts(clause))
    return next((_stated(part) for part in parts if _undertakes(part)), "")


def _undertakes(text: str) -> bool:
    bare = without_quotations(text).replace("’", "'")
    words = len(WORD.findall(bare))
    if (
        not (words > LEAST_WORDS and _fits(text))
        or _leans(bare)
        or re.search(r"\b(?:if|wenn|si)\b", bare, re.IGNORECASE)
    ):
        return False
    return any(_stands(bare, found) for pattern in cues.OPENED for found in pattern.finditer(bare))


def _is_done(title: str, opened: Sentence, sentences: Sequence[Sentence]) -> bool:
    later = (one for one in sentences if (one.turn.position, one.place) > (opened.turn.position, opened.place))
    return any(finishes(one.text, title) for one in later)


def _resolved(sentences: Sequence[Sentence], topics: Iterable[OpenTopic]) -> Iterator[Resolved]:
    done = [one for one in sentences if _says_done(one.text)]
    for topic in topics:
        said = next((one for one in done if one.turn.at > topic.opened_at and finishes(one.text, topic.title)), None)
        if said:
            yield Resolved(topic=topic.id, at=said.turn.at)


def finishes(sentence: str, title: str) -> bool:
    """Whether a sentence says that what the title names is done: it says so, and names it by its own words."""
    if not _says_done(sentence):
        return False
    wanted, said = _content(title)[:4], _content(sentence)
    shared = {*wanted} & {*said}
    if cues.DONE.search(sentence):
        return len(shared) >= 2 or bool(shared - {*wanted[:1]}) or len(wanted) == len(shared) == 1
    acted = [word for found in cues.HAPPENED.finditer(sentence) for word in WORD.findall(found[0].casefold())]
    happened = {cues.IRREGULAR.get(word, stem) for word in acted for stem in shared if _is_of(word, stem)}
    same = bool(happened & shared) or bool(cues.AT_LAST.search(sentence))
    return same and len(shared) >= min(2, len(wanted))


def _is_of(word: str, stem: str) -> bool:
    """Whether the word may be a form of what has the stem."""
    return cues.IRREGULAR.get(word, word)[:4] == stem[:4]


def _says_done(sentence: str) -> bool:
    bare = without_quotations(sentence).replace("’", "'")
    said = cues.DONE.search(bare) or cues.HAPPENED.search(bare)
    return bool(said) and not (asks(bare) or cues.NOT_DONE.search(bare) or cues.DOUBTFUL.search(bare))


def _content(text: str) -> list[str]:
    """The stems by which something that is to be done is told apart."""
    words = (cues.PARTICIPLE.sub(r"\1", stem) for stem in stems(re.sub(r"\(\d{4}-\d\d-\d\d\)", "", text)))
    found = (cues.IRREGULAR.get(word, word) for word in words)
    return list(dict.fromkeys(stem for stem in found if stem not in cues.OPENED_WORDS))


def _weighed(sentences: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences that carry most, for the summary, and of the others those that tell what happened to the person."""
    words = [[stem for stem in stems(one.text) if stem not in cues.FILLERS] for one in sentences]
    counts = Counter(chain.from_iterable(map(set, words)))
    mean = max(1.0, sum(map(len, words)) / len(words))
    weights = [_weight(one, its, counts, len(sentences), mean) for one, its in zip(sentences, words, strict=True)]
    ranked = sorted(range(len(sentences)), key=lambda n: (-weights[n], n))
    chosen: list[int] = []
    for n in ranked:
        assistants = sum(not sentences[m].turn.is_persons for m in chosen)
        if weights[n] <= 0 or len(chosen) == SENTENCES:
            break
        if not sentences[n].turn.is_persons and assistants >= OF_THE_ASSISTANT:
            continue
        if all(_overlap(words[n], words[m]) < 0.5 for m in chosen):
            chosen.append(n)
    moments = [
        n for n in ranked if n not in chosen and sentences[n].told and _is_moment(sentences[n].text) and weights[n] > 0
    ]
    return [sentences[n] for n in sorted(chosen)], [sentences[n] for n in sorted(moments[:MOST_MOMENTS])]


def _weight(one: Sentence, words: Sequence[str], counts: Counter[str], sentences: int, mean: float) -> float:
    """Words that come back tell what it is about, rare ones and names tell it apart; length counts little, as in BM25."""
    rare = sum(math.log(1 + sentences / counts[word]) * (1 + math.log(counts[word])) for word in {*words})
    names = len(re.findall(r"(?<=[a-zß-ÿ,] )[A-Z]\w+|\d+", one.text))
    weight = (rare + names) * 2.2 / (1.2 + len(words) / mean)
    weight *= 1.4 if one.told else 1.0
    weight *= 1.5 if one.told and (statements(one.text) or undertaking(one.text)) else 1.0
    weight *= 0.6 if asks(one.text) and one.speaker else 1.0
    weight *= 0.5 if _leans(one.text) else 1.0
    return weight * (0.4 if cues.REACTION.match(one.text) or len(words) < LEAST_WORDS else 1.0)


def _overlap(some: Sequence[str], others: Sequence[str]) -> float:
    return len({*some} & {*others}) / max(1, min(len({*some}), len({*others})))


def _is_moment(text: str) -> bool:
    return bool(statements(text) or undertaking(text))


def _line(one: Sentence) -> str:
    who = one.speaker or ("User" if one.turn.is_persons else "Assistant")
    return f"{who}: {_shortened(_capitalised(_begun(one.text)), LONGEST_QUOTE)}"


def _begun(sentence: str) -> str:
    """Without "Oh well, and"."""
    rest = cues.OPENERS.sub("", sentence.replace("’", "'"))
    return rest if len(WORD.findall(rest)) >= LEAST_WORDS else sentence


def _stated(text: str) -> str:
    """As a sentence of its own."""
    text = _capitalised(text.strip(" ,;:-–—"))
    return text if text[-1:] in ".!?…。！？" else f"{text}."


def _capitalised(text: str) -> str:
    text = re.sub(r"\bi(?='|\b)(?!\.)", "I", text) if re.match(r"i\b", text) else text
    return text[:1].upper() + text[1:]


def _named(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[longest // 2 :] else cut}…"
