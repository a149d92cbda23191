"""Which of the words that are looked for stand in a text, in whatever form. Pure but for what it keeps in mind."""

from collections.abc import Collection, Iterable, Mapping

from conversations.forgetting.reading import folded
from memory.words import UNSPACED, WORD, every_stem, stems

BEGINNING = 4
"""Characters that a word has in common with one that is looked for, before it is looked at closely."""


class Lookup:
    """Stems by the forms that they may be met in.

    Most words of a long history are met again and again, and so each is looked at once: by whatever language, as a text may be
    a word long.
    """

    def __init__(self, stems: Mapping[str, Collection[str]]) -> None:
        self._stems = stems
        self._beginnings = {form[:BEGINNING] for form in stems}
        self._met: dict[str, frozenset[str]] = {}

    def held(self, text: str) -> set[str]:
        """The stems that stand in a text."""
        return set().union(*[self._of(word) for word in {*WORD.findall(folded(text))}])

    def _of(self, word: str) -> frozenset[str]:
        known = self._met.get(word)
        if known is None:
            forms = {word, *self._forms(word)}
            known = self._met[word] = frozenset(stem for form in forms for stem in self._stems.get(form, ()))
        return known

    def _forms(self, word: str) -> Iterable[str]:
        if UNSPACED.search(word):
            return stems(word)
        is_like_one = any(word[:length] in self._beginnings for length in range(1, BEGINNING + 1))
        return every_stem(word) if is_like_one else ()
