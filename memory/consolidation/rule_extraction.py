"""What a part of a conversation tells, found by rules alone: the same for the same turns, at no cost. Pure.

It quotes and leaves away; it rewrites nothing. What only leans on other sentences is left out: too little is better than wrong.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from itertools import chain, groupby

from memory.consolidation import own_facts
from memory.consolidation.endings import calls_off, concludes
from memory.consolidation.findings import (
    LONGEST_MOMENT,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_MOMENTS,
    MOST_OPENED,
    RULES,
    EarlierTopic,
    ExtractedFact,
    Findings,
    NewTopic,
    ResolvedTopic,
    Retraction,
    SourceTurn,
)
from memory.consolidation.sentences import LONGEST_READ, SpokenSentence, sentences_of
from memory.consolidation.statements import (
    LEAST_WORDS,
    WORD,
    capitalised,
    is_meant,
    leans,
    plans,
    read_alone,
    remember_requests,
    shortened,
    stated,
    statements,
    undertakings,
    with_speaker,
    without_opener,
)
from memory.language import cue_phrases
from memory.language.coming_days import coming_day
from memory.language.words import asks, stems

MOST_A_TURN = 6
SENTENCES = 5
OF_THE_ASSISTANT = 2
LONGEST_QUOTE = 180


def extract(turns: Sequence[SourceTurn], open_topics: Iterable[EarlierTopic] = (), *, last: int = 0) -> Findings:
    """All that the rules find. ``open_topics`` are those that were open before; ``last`` is where the part ends, which is
    after the last of the turns where an answer was forgotten."""
    sentences = [sentence for turn in turns for sentence in sentences_of(turn)]
    if not sentences:
        return Findings()
    own_words = [sentence for sentence in sentences if sentence.is_own_word]
    opened = list(_new_topics(own_words, turns if turns[-1].position >= last else ()))
    chosen, moments = _weighed(sentences)
    return Findings(
        summary="\n".join(map(_line, chosen)),
        moments=[shortened(with_speaker(moment.speaker, stated(moment.text)), LONGEST_MOMENT) for moment in moments],
        facts=list(_facts(sentences))[:MOST_FACTS],
        opened=opened[:MOST_OPENED],
        resolved=list(_resolved(own_words, open_topics)),
        retracted=tuple(_retracted(own_words)),
        made_by=RULES,
    )


def _facts(sentences: Iterable[SpokenSentence]) -> Iterator[ExtractedFact]:
    counts: Counter[object] = Counter()
    known: set[str] = set()
    persons = (sentence for sentence in sentences if sentence.turn.is_persons)
    for _, of_turn in groupby(persons, key=lambda sentence: sentence.turn.id):
        for sentence, text in _told(list(of_turn)):
            if counts[sentence.turn.id] < MOST_A_TURN and text.casefold() not in known:
                counts[sentence.turn.id] += 1
                known.add(text.casefold())
                yield ExtractedFact(
                    text=_note_text(sentence, text),
                    sources=(sentence.turn.id,),
                    at=sentence.turn.at,
                    valid_until=_valid_until(sentence, text),
                )


def _told(sentences: Sequence[SpokenSentence]) -> Iterator[tuple[SpokenSentence, str]]:
    """What each sentence of a turn tells of the person."""
    message = sentences[0].turn.text[:LONGEST_READ]
    judged = own_facts.of_sentences(message, (sentence.text for sentence in sentences))
    for sentence, judgements in zip(sentences, judged, strict=True):
        yield from ((sentence, text) for text in _texts(message, sentence, judgements))


def _texts(message: str, sentence: SpokenSentence, judgements: Sequence[own_facts.Judgement]) -> Sequence[str]:
    """What a sentence asks to be remembered, else what it tells of the person. What rules find there counts where the weights
    are not against it; where they find nothing, what the weights are sure of."""
    if sentence.is_own_word and (asked := remember_requests(sentence.text)):
        return asked
    found = statements(sentence.text) if sentence.is_own_word else ()
    if sentence.speaker or not own_facts.knows(sentence.text):
        return found
    if found:
        return [text for text in found if plans(text) or own_facts.may_be(judgements, text)]
    if not is_meant(sentence.text):
        return ()
    return [alone for text in own_facts.sure(message, judgements) for alone in read_alone(text)]


def _retracted(sentences: Iterable[SpokenSentence]) -> Iterator[Retraction]:
    for sentence in sentences:
        if calls_off(sentence.text):
            yield Retraction(text=sentence.text, source=sentence.turn.id, at=sentence.turn.at)


def _valid_until(sentence: SpokenSentence, text: str) -> datetime | None:
    """The end of the day that a plan is for."""
    day = coming_day(text, sentence.turn.at.date()) if plans(text) else None
    return datetime.combine(day + timedelta(days=1), time(), sentence.turn.at.tzinfo) if day else None


def _note_text(sentence: SpokenSentence, text: str) -> str:
    """With who said it, where the turn names him, and with the day where it says "yesterday"."""
    day = f" ({sentence.turn.at.date().isoformat()})" if cue_phrases.RELATIVE.search(text) else ""
    return f"{with_speaker(sentence.speaker, text)}{day}"


def _new_topics(sentences: Sequence[SpokenSentence], turns: Sequence[SourceTurn]) -> Iterator[NewTopic]:
    titles: set[str] = set()
    for sentence in sentences:
        for title in undertakings(sentence.text):
            if title.casefold() not in titles and not _is_done(title, sentence, sentences):
                titles.add(title.casefold())
                shown = shortened(_note_text(sentence, title), LONGEST_TITLE)
                yield NewTopic(title=shown, sources=(sentence.turn.id,), at=sentence.turn.at)
    # A question that nobody answered.
    if sentences and turns and sentences[-1].turn is turns[-1] and asks(sentences[-1].text):
        last_sentence = without_opener(sentences[-1].text)
        if len(WORD.findall(last_sentence)) > LEAST_WORDS and not leans(last_sentence.replace("you", "")):
            title = shortened(with_speaker(sentences[-1].speaker, capitalised(last_sentence)), LONGEST_TITLE)
            yield NewTopic(title=title, sources=(turns[-1].id,), at=turns[-1].at)


def _is_done(title: str, opened: SpokenSentence, sentences: Sequence[SpokenSentence]) -> bool:
    later = (
        sentence
        for sentence in sentences
        if (sentence.turn.position, sentence.place) > (opened.turn.position, opened.place)
    )
    return any(concludes(sentence.text, title) for sentence in later)


def _resolved(sentences: Sequence[SpokenSentence], topics: Iterable[EarlierTopic]) -> Iterator[ResolvedTopic]:
    """Of the topics that a sentence may conclude the one that it names best, of equals the newest."""
    left = {topic.id: topic for topic in topics}
    for sentence in sentences:
        open_then = (topic for topic in left.values() if sentence.turn.at > topic.opened_at)
        scores = [(concludes(sentence.text, topic.title), topic.opened_at, topic.id) for topic in open_then]
        score, _, id = max(scores, default=(0.0, sentence.turn.at, sentence.turn.id))
        if score:
            del left[id]
            yield ResolvedTopic(topic=id, at=sentence.turn.at)


def _weighed(sentences: Sequence[SpokenSentence]) -> tuple[list[SpokenSentence], list[SpokenSentence]]:
    """The sentences that carry most, by how rare and how central their words are, for the summary, and of the others those that
    tell what happened to the person."""
    words = [[stem for stem in stems(sentence.text) if stem not in cue_phrases.FILLERS] for sentence in sentences]
    counts = Counter(chain.from_iterable(map(set, words)))
    mean = max(1.0, sum(map(len, words)) / len(words))
    weights = [
        _weight(sentence, stems_in, counts, len(sentences), mean)
        for sentence, stems_in in zip(sentences, words, strict=True)
    ]
    ranked = sorted(range(len(sentences)), key=lambda n: (-weights[n], n))
    chosen: list[int] = []
    for n in ranked:
        assistants = sum(not sentences[m].turn.is_persons for m in chosen)
        if weights[n] <= 0 or len(chosen) == SENTENCES:
            break
        if cue_phrases.EMPTY.fullmatch(sentences[n].text):
            continue
        if not sentences[n].turn.is_persons and assistants >= OF_THE_ASSISTANT:
            continue
        if all(_overlap(words[n], words[m]) < 0.5 for m in chosen):
            chosen.append(n)
    moments = [
        n
        for n in ranked
        if n not in chosen and weights[n] > 0 and _tells_of_person(sentences[n]) and not leans(sentences[n].text)
    ]
    return [sentences[n] for n in sorted(chosen)], [sentences[n] for n in sorted(moments[:MOST_MOMENTS])]


def _weight(sentence: SpokenSentence, words: Sequence[str], counts: Counter[str], sentences: int, mean: float) -> float:
    """Words that come back tell what it is about, rare ones and names tell it apart; length counts little, as in BM25."""
    rare = sum(math.log(1 + sentences / counts[word]) * (1 + math.log(counts[word])) for word in {*words})
    names = len(re.findall(r"(?<=[a-zß-ÿ,] )[A-Z]\w+|\d+", sentence.text))
    weight = (rare + names) * 2.2 / (1.2 + len(words) / mean)
    weight *= 1.4 if sentence.is_own_word else 1.0
    weight *= 1.5 if _tells_of_person(sentence) else 1.0
    weight *= 0.6 if asks(sentence.text) and sentence.speaker else 1.0
    weight *= 0.5 if leans(sentence.text) else 1.0
    return weight * (0.4 if cue_phrases.REACTION.match(sentence.text) or len(words) < LEAST_WORDS else 1.0)


def _tells_of_person(sentence: SpokenSentence) -> bool:
    return sentence.is_own_word and bool(statements(sentence.text) or undertakings(sentence.text))


def _overlap(some: Sequence[str], others: Sequence[str]) -> float:
    return len({*some} & {*others}) / max(1, min(len({*some}), len({*others})))


def _line(sentence: SpokenSentence) -> str:
    who = sentence.speaker or ("User" if sentence.turn.is_persons else "Assistant")
    text = without_opener(sentence.text)
    ended = (
        capitalised(f"{text.rstrip('.')}?") if asks(text) and not text.endswith(("?", "？", "؟", "…")) else stated(text)
    )
    return f"{who}: {shortened(ended, LONGEST_QUOTE)}"
