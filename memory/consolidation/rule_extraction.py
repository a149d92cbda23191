"""What a part of a conversation tells, found by rules alone: the same for the same turns, at no cost. Pure.

It quotes and leaves away; it rewrites nothing. What only leans on other sentences is left out: too little is better than wrong.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memory.consolidation.findings import (
    LONGEST_MOMENT,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_OPENED,
    RULES,
    EarlierTopic,
    ExtractedFact,
    Findings,
    NewTopic,
    ResolvedTopic,
    SourceTurn,
)
from memory.consolidation.salience import line, weighed
from memory.consolidation.sentences import SpokenSentence, sentences_of
from memory.consolidation.statements import (
    LEAST_WORDS,
    WORD,
    capitalised,
    finishes,
    leans,
    remember_requests,
    says_done,
    shortened,
    stated,
    statements,
    undertakings,
    with_speaker,
    without_opener,
)
from memory.language import cue_phrases
from memory.language.words import asks

MOST_A_TURN = 6


def extract(turns: Sequence[SourceTurn], open_topics: Iterable[EarlierTopic] = (), *, last: int = 0) -> Findings:
    """All that the rules find. ``open_topics`` are those that were open before; ``last`` is where the part ends, which is
    after the last of the turns where an answer was forgotten."""
    sentences = [sentence for turn in turns for sentence in sentences_of(turn)]
    if not sentences:
        return Findings()
    own_words = [sentence for sentence in sentences if sentence.is_own_word]
    opened = list(_new_topics(own_words, turns if turns[-1].position >= last else ()))
    chosen, moments = weighed(sentences)
    return Findings(
        summary="\n".join(map(line, chosen)),
        moments=[shortened(with_speaker(moment.speaker, stated(moment.text)), LONGEST_MOMENT) for moment in moments],
        facts=list(_facts(own_words))[:MOST_FACTS],
        opened=opened[:MOST_OPENED],
        resolved=list(_resolved(own_words, open_topics)),
        made_by=RULES,
    )


def _facts(sentences: Iterable[SpokenSentence]) -> Iterator[ExtractedFact]:
    counts: Counter[object] = Counter()
    known: set[str] = set()
    for sentence in sentences:
        for text in remember_requests(sentence.text) or statements(sentence.text):
            if counts[sentence.turn.id] < MOST_A_TURN and text.casefold() not in known:
                counts[sentence.turn.id] += 1
                known.add(text.casefold())
                yield ExtractedFact(text=_note_text(sentence, text), sources=(sentence.turn.id,), at=sentence.turn.at)


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
    return any(finishes(sentence.text, title) for sentence in later)


def _resolved(sentences: Sequence[SpokenSentence], topics: Iterable[EarlierTopic]) -> Iterator[ResolvedTopic]:
    done = [sentence for sentence in sentences if says_done(sentence.text)]
    for topic in topics:
        finishing = next(
            (
                sentence
                for sentence in done
                if sentence.turn.at > topic.opened_at and finishes(sentence.text, topic.title)
            ),
            None,
        )
        if finishing:
            yield ResolvedTopic(topic=topic.id, at=finishing.turn.at)
