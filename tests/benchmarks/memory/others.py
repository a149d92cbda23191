"""Other ways to find turns, each by itself: PostgreSQL's ``ts_rank``, BM25 over words as they stand, and static embeddings."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from heapq import nlargest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import connection

MOST = 50
K1, B = 1.2, 0.75
WORD = re.compile(r"[\u4e00-\u9fff]|\w+")
CONFIGURATIONS = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "ru": "russian", "ar": "arabic"}
RANKED = """
WITH words AS (SELECT replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, '&', '|')::tsquery AS query)
SELECT text FROM bench_turns, words
WHERE vector @@ query ORDER BY ts_rank(vector, query) DESC LIMIT %(most)s
"""

PACKAGE = "wordllama"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
LONGEST_TEXT = 4_000
"""Characters of a text that are looked at: the mean of many words means nothing any more."""

POINTS: dict[str, Any] = {}
"""Of turns that were embedded before: unrelated ones stand beside one conversation after another."""

type Way = Callable[[str], Sequence[str]]


def ways(turns: Sequence[str], language: str) -> Mapping[str, Way]:
    """Each gives the turns that it finds for a text, best first."""
    candidates = {"ts_rank": ts_rank(turns, language), "BM25": bm25(turns)}
    return candidates | {"static": static_embeddings(turns)} if find_spec(PACKAGE) else candidates


def ts_rank(turns: Sequence[str], language: str) -> Way:
    configuration = CONFIGURATIONS.get(language, "simple")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_turns")
        cursor.execute("CREATE TABLE bench_turns (text text, vector tsvector)")
        cursor.execute(
            "INSERT INTO bench_turns SELECT text, to_tsvector(%s::regconfig, text) FROM unnest(%s::text[]) AS text",
            [configuration, list(turns)],
        )
        cursor.execute("CREATE INDEX bench_turns_words ON bench_turns USING gin (vector)")
        cursor.execute("ANALYZE bench_turns")

    def search(text: str) -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(RANKED, {"language": configuration, "text": text, "most": MOST})
            return [row[0] for row in cursor.fetchall()]

    return search


def bm25(turns: Sequence[str]) -> Way:
    counted = [counts(turn) for turn in turns]
    lengths = [count.total() for count in counted]
    mean = sum(lengths) / max(1, len(turns))
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, count in enumerate(counted):
        for word, times in count.items():
            places[word].append((number, times))

    def search(text: str) -> list[str]:
        scores: dict[int, float] = defaultdict(float)
        for word in set(words(text)):
            holding = places.get(word, [])
            rarity = math.log(1 + (len(turns) - len(holding) + 0.5) / (len(holding) + 0.5))
            for number, times in holding:
                scores[number] += rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[number] / mean))
        return [turns[number] for number in nlargest(MOST, scores, key=scores.__getitem__)]

    return search


@cache
def counts(turn: str) -> Counter[str]:
    return Counter(words(turn))


def words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def static_embeddings(turns: Sequence[str]) -> Way:
    """By how close a turn's mean of its words' vectors is to the text's."""
    numpy = import_module("numpy")
    fresh = list(dict.fromkeys(turn for turn in turns if turn not in POINTS))
    POINTS.update(zip(fresh, embed(fresh), strict=True))
    points = numpy.array([POINTS[turn] for turn in turns])

    def search(text: str) -> list[str]:
        (point,) = embed([text])
        return [turns[number] for number in numpy.argsort(-(points @ point))[:MOST]]

    return search


def embed(texts: Sequence[str]) -> Iterator[Any]:
    tokenizer, rows = model()
    for token in tokenizer.encode_batch([text[:LONGEST_TEXT] for text in texts], add_special_tokens=False):
        mean = rows[[id for id in token.ids if id < len(rows)]].astype("float32").sum(axis=0)
        yield mean / (float(mean @ mean) ** 0.5 or 1.0)


@cache
def model() -> tuple[Any, Any]:
    """The tokenizer, and a vector for each of its tokens; both lie within the package, and nothing is downloaded."""
    spec = find_spec(PACKAGE)
    assert spec and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (rows,) = import_module("safetensors.numpy").load_file(folder / WEIGHTS).values()
    return tokenizer, rows
