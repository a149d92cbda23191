"""Whether a text gives a fact away to somebody who was told the fact before. Pure.

There a single word can be the whole answer. And an answer is read together with its question, as if both were one sentence.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from conversations.runtime.text import texts_in
from memory.forgetting.matcher import UUID, Lookup, TargetSentence, enough
from memory.forgetting.normalization import folded, sentences
from memory.language.words import WORD, asks, stems

type Keys = frozenset[str]
"""Memories whose facts are meant, by their ids as text."""

NONE: Keys = frozenset()


class Hints:
    """The facts of memories, looked for together. What stands in ``but`` – the person's own names – gives nothing away."""

    def __init__(self, facts: Mapping[str, Sequence[TargetSentence]], *, but: str = "") -> None:
        self.keys: Keys = frozenset(facts)
        self._single: dict[str, set[str]] = {}
        self._heavy: dict[str, list[tuple[str, TargetSentence]]] = {}
        usual = {*stems(but), *WORD.findall(folded(but))}
        for key, fact in ((key, fact) for key, targets in facts.items() for fact in targets):
            for word in fact.heaviest:
                self._heavy.setdefault(word.stem, []).append((key, fact))
            for word in fact.words:
                if word.is_singled_out and word.forms.isdisjoint(usual):
                    self._single.setdefault(word.stem, set()).add(key)
        self._lookup = Lookup(word for targets in facts.values() for fact in targets for word in fact.words)

    def __bool__(self) -> bool:
        return bool(self._heavy)

    def matching_keys(self, value: Any, keys: Keys) -> Keys:
        """Those of the memories that a text, or one of the texts in a JSON value, gives away with a single word."""
        if not keys:
            return NONE
        held = {stem for text in texts_in(value) for stem in self._lookup.stems_in(UUID.sub(" ", text))}
        return keys.intersection(key for stem in held for key in self._single.get(stem, ()))

    def answered(self, question: str, answer: str, keys: Keys) -> Keys:
        """Those of the memories that an answer gives away by what its question didn't say yet."""
        question_stems = self._lookup.stems_in(question)
        if not question_stems:
            return NONE
        return frozenset(
            key for sentence in sentences(answer) for key in self._completed(question_stems, sentence, keys)
        )

    def _completed(self, question_stems: Collection[str], sentence: str, keys: Keys) -> Iterable[str]:
        new = self._lookup.stems_in(sentence).difference(question_stems)
        if not new:
            return
        both = new.union(question_stems)
        likely = {id(fact): (key, fact) for stem in both for key, fact in self._heavy.get(stem, ()) if key in keys}
        is_question = bool(likely) and asks(sentence)
        for key, fact in likely.values():
            words = [word for word in fact.words if word.stem in both]
            is_exchange = any(word.stem in question_stems for word in words) and any(word.stem in new for word in words)
            if is_exchange and enough(fact, words, is_question=is_question):
                yield key
