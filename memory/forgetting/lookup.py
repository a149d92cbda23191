"""Which of the words that are looked for stand in a text, in whatever form. Pure but for what it keeps in mind."""

from collections.abc import Collection, Iterable, Mapping

from memory.forgetting.normalization import folded
from memory.language.words import UNSPACED, WORD, every_stem, stems

BEGINNING = 4
"""Characters that a word has in common with one that is looked for, before it is looked at closely."""


class Lookup:
    """Stems by the forms that they may be met in."""

    def __init__(self, stems: Mapping[str, Collection[str]]) -> None:
        self._met = _StemsByWord(stems)

    def stems_in(self, text: str) -> set[str]:
        """The stems that stand in a text."""
        return set().union(*filter(None, map(self._met.__getitem__, {*WORD.findall(folded(text))})))


class _StemsByWord(dict[str, frozenset[str]]):
    """The stems by the words that were met. Most words of a long history are met again and again, so each is looked at once:
    by whatever language, as a text may be a word long."""

    def __init__(self, stems: Mapping[str, Collection[str]]) -> None:
        self._stems = stems
        self._beginnings = {form[:BEGINNING] for form in stems}

    def __missing__(self, word: str) -> frozenset[str]:
        forms = {word, *self._forms(word)}
        stems = self[word] = frozenset(stem for form in forms for stem in self._stems.get(form, ()))
        return stems

    def _forms(self, word: str) -> Iterable[str]:
        if UNSPACED.search(word):
            return stems(word)
        is_like_one = any(word[:length] in self._beginnings for length in range(1, BEGINNING + 1))
        return every_stem(word) if is_like_one else ()
