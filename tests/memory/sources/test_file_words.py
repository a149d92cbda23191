"""Of a long part of a file the passage is quoted that tells the word, as people write it."""

from memory.language.words import words_of
from memory.sources.file_passages import around


def test_the_passage_is_the_one_that_holds_the_word_with_its_particle() -> None:
    text = f"{'다른 이야기를 합니다. ' * 120}계약은 부산에서 했다. {'다른 이야기를 합니다. ' * 120}"
    words = frozenset(form for stem, others in words_of("부산") for form in (stem, *others))
    start, end = around(text, words)
    assert "부산에서" in text[start:end]
