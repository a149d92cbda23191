"""Other ways to find turns, each by itself: PostgreSQL's ``ts_rank``, BM25 over words as they stand, and static embeddings."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from heapq import nlargest
from importlib import import_module
from typing import Any

from django.db import connection

from memory.index import embeddings
from memory.index.embeddings import NoModel

MOST = 50
K1, B = 1.2, 0.75
WORD = re.compile(r"[\u4e00-\u9fff]|\w+")
CONFIGURATIONS = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "ru": "russian", "ar": "arabic"}
RANKED = """
WITH words AS (SELECT replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, '&', '|')::tsquery AS query)
SELECT text FROM bench_turns, words
WHERE vector @@ query ORDER BY ts_rank(vector, query) DESC LIMIT %(most)s
"""

POINTS: dict[str, Any] = {}
"""Of turns that were embedded before: unrelated ones stand beside one conversation after another."""

type Way = Callable[[str], Sequence[str]]


def ways(turns: Sequence[str], language: str) -> Mapping[str, Way]:
    """Each gives the turns that it finds for a text, best first."""
    candidates = {"ts_rank": ts_rank(turns, language), "BM25": bm25(turns)}
    try:
        return candidates | {"meaning": by_meaning(turns)}
    except NoModel:
        return candidates


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


def by_meaning(turns: Sequence[str]) -> Way:
    """Raises ``NoModel``."""
    model = embeddings.model()
    numpy = import_module("numpy")
    fresh = list(dict.fromkeys(turn for turn in turns if turn not in POINTS))
    for turn, embedded in zip(fresh, model.embed(fresh), strict=True):
        POINTS[turn] = numpy.array(json.loads(embedded), dtype="float32")
    points = numpy.array([POINTS[turn] for turn in turns])

    def search(text: str) -> list[str]:
        (point,) = model.embed([text])
        closeness = points @ numpy.array(json.loads(point), dtype="float32")
        return [turns[number] for number in numpy.argsort(-closeness)[:MOST]]

    return search
