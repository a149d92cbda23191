"""Whether a text gives a fact away to somebody who was told the fact before. Pure.

There a single word can be the whole answer. And an answer is read together with its question, as if both were one sentence.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from conversations.forgetting.reading import folded, sentences, texts_in
from conversations.forgetting.telling import UUID, Fact, beginning, enough
from memory.words import UNSPACED, WORD, asks, stems

type Keys = frozenset[uuid.UUID]
"""Memories whose facts are meant."""

NONE: Keys = frozenset()


class Hints:
    """The facts of memories, looked for together. What stands in ``but`` – the person's own names – gives nothing away."""

    def __init__(self, facts: Mapping[uuid.UUID, Sequence[Fact]], *, but: str = "") -> None:
        self.keys: Keys = frozenset(facts)
        usual = _forms(but)
        self._single: dict[str, set[uuid.UUID]] = {}
        self._facts: dict[str, list[tuple[uuid.UUID, Fact]]] = {}
        for key, fact in ((key, fact) for key, told in facts.items() for fact in told):
            for word in fact.words:
                for form in word.forms:
                    if word.is_singled_out and form not in usual:
                        self._single.setdefault(form, set()).add(key)
                    self._facts.setdefault(form, []).append((key, fact))
        self._single_beginnings = _Beginnings(self._single)
        self._beginnings = _Beginnings(self._facts)

    def __bool__(self) -> bool:
        return bool(self._facts)

    def told(self, value: Any, keys: Keys) -> Keys:
        """Those of the memories that a text, or one of the texts in a JSON value, gives away with a single word."""
        found: set[uuid.UUID] = set()
        for text in texts_in(value):
            if self._single_beginnings.stand_in(text):
                for form in _forms(UUID.sub(" ", text)):
                    found |= self._single.get(form, set())
        return keys & found

    def answered(self, question: str, answer: str, keys: Keys) -> Keys:
        """Those of the memories that an answer gives away by what its question didn't say yet."""
        if not (self._beginnings.stand_in(answer) and self._beginnings.stand_in(question)):
            return NONE
        asked = _forms(question)
        return frozenset(key for sentence in sentences(answer) for key in self._completed(asked, sentence, keys))

    def _completed(self, asked: Collection[str], sentence: str, keys: Keys) -> Iterable[uuid.UUID]:
        said = _forms(sentence)
        likely = {id(fact): (key, fact) for form in said for key, fact in self._facts.get(form, ()) if key in keys}
        is_question = bool(likely) and asks(sentence)
        for key, fact in likely.values():
            known = [word for word in fact.words if not word.forms.isdisjoint(asked)]
            new = [word for word in fact.words if word not in known and not word.forms.isdisjoint(said)]
            if known and new and enough(fact, [*known, *new], is_question=is_question, length=len(said)):
                yield key


class _Beginnings:
    """What the words begin with that are looked for: a quick look at a text that says nothing of them."""

    def __init__(self, forms: Iterable[str]) -> None:
        self._all = {beginning(form) for form in forms}
        self._lengths = {len(one) for one in self._all}

    def stand_in(self, text: str) -> bool:
        if not self._all or not text:
            return False
        plain = folded(text)
        return bool(UNSPACED.search(plain)) or any(
            word[:length] in self._all for word in {*WORD.findall(plain)} for length in self._lengths
        )


@lru_cache(maxsize=4_096)
def _forms(text: str) -> frozenset[str]:
    return frozenset([*stems(text), *WORD.findall(folded(text))])
