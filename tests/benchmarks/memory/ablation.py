"""What each part of recall is worth: the same questions with the part taken away, and what it costs.

``python -m tests.benchmarks.memory --ablation [--data FILE] [--questions N]``: all of a kind in one account.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from unittest.mock import patch

from memory.index import ranking, word_index
from memory.language import words
from memory.sources import recall
from tests.benchmarks.measuring import doing, p50_p95
from tests.benchmarks.memory import evidence
from tests.benchmarks.memory.accounts import store
from tests.benchmarks.memory.report import CONTEXT, SEARCH, Result
from tests.benchmarks.talk.shapes import Conversation
from tests.conversations.factories import make_user

SEARCHED = f"{SEARCH}, {evidence.PACKED:,}"


@dataclass(frozen=True, kw_only=True)
class Part:
    """What is taken away: pieces of the ranking statement, and attributes of modules. ``is_indexed``: turns are to be
    indexed anew for it."""

    name: str
    statement: Sequence[tuple[str, str]] = ()
    values: Sequence[tuple[Any, str, Any]] = ()
    is_indexed: bool = False

    @contextmanager
    def taken_away(self) -> Iterator[None]:
        statement = recall.RANKED
        for piece, instead in self.statement:
            assert piece in statement, f"{self.name}: the statement has no “{piece}”"
            statement = statement.replace(piece, instead)
        with ExitStack() as stack:
            stack.callback(forget_stems)
            for module, name, value in [(recall, "RANKED", statement), *self.values]:
                stack.enter_context(patch.object(module, name, value))
            forget_stems()
            yield


def forget_stems() -> None:
    for function in vars(words).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def without_other_forms(user_id: int, text: str) -> Iterator[ranking.Word]:
    for word in WORDS_OF(user_id, text):
        yield replace(word, others=())


def only_the_rarest(*arguments: Any, **options: Any) -> dict[str, Any]:
    return VALUES_OF(*arguments, **options) | {"rest": [ranking.NOTHING]}


WORDS_OF, VALUES_OF = ranking._words, ranking.values_of
SPREAD = "CASE away WHEN 0 THEN 1 ELSE 0.6 * 0.7::float ^ ((abs(away) - 1) / reach) END"
PARTS = (
    Part(name="turns around one that bears", statement=[(SPREAD, "CASE away WHEN 0 THEN 1 ELSE 0 END")]),
    Part(name="more for each further word", statement=[("(1 + 0.5 * (count(*) - 1))", "1")]),
    Part(name="conversations that hold more of the words first", statement=[("* (1 + share) ", "")]),
    Part(
        name="the conversation that is asked in first",
        statement=[("* (2 + (thread_id IS NOT DISTINCT FROM %(here)s)::int) / 2 ", "")],
    ),
    Part(name="further words looked up in it", values=[(ranking, "values_of", only_the_rarest)]),
    Part(name="what the person said first", statement=[("* (10 + 3 * (speaker = %(person)s::int)::int) / 10 ", "")]),
    Part(name="who is named has said it", statement=[("(5 + 2 * (speaker = ANY(%(speakers)s::int[]))::int)", "5")]),
    Part(name="days that are named", values=[(ranking, "spans", lambda *_: [])]),
    Part(name="stems by all languages", values=[(ranking, "_words", without_other_forms)]),
    Part(name="misspelt words", values=[(ranking, "misspelt", lambda *_: {})]),
    Part(name="repeats told once", values=[(recall, "without_repeats", list)]),
    Part(
        name="passages instead of turns",
        values=[(word_index, "WHOLE", dict.fromkeys(word_index.WHOLE, 10**9))],
        is_indexed=True,
    ),
    Part(
        name="irregular and short forms, numbers",
        values=[(words, "BASES", {language: {} for language in words.BASES})],
        is_indexed=True,
    ),
    Part(name="days that turns tell of", values=[(word_index, "_mentioned_days", lambda *_: ())], is_indexed=True),
)


def main(conversations: Sequence[Conversation], questions: int) -> None:
    plan = evidence.Plan(questions=questions, budgets=False, others=False)
    ordered = sorted(conversations, key=lambda conversation: conversation.profile)
    groups = [list(group) for _, group in groupby(ordered, key=lambda conversation: conversation.profile)]
    with doing("indexing"):
        users = [make_user() for _ in groups]
        threads = [store(user, group) for user, group in zip(users, groups, strict=True)]

    def measured() -> list[Result]:
        accounts = zip(users, groups, threads, strict=True)
        return [result for user, group, ids in accounts for result in evidence.ask_all(user, group, ids, group, plan)]

    print("\n== evidence recalled without a part, % and points, and milliseconds of a search")
    measured()  # so that all find the same in memory
    row("all parts", whole := measured())
    for part in PARTS:
        with part.taken_away():
            if part.is_indexed:
                users = [make_user() for _ in groups]
                threads = [store(user, group) for user, group in zip(users, groups, strict=True)]
            row(f"without: {part.name}", measured(), whole)


def row(name: str, results: Sequence[Result], whole: Sequence[Result] = ()) -> None:
    figures = []
    for way in (CONTEXT, SEARCHED):
        figures.append(f"{percent(results, way):5.1f}")
        if whole:
            figures.append(f"({percent(results, way) - percent(whole, way):+5.1f})")
    p50, p95 = p50_p95([result.milliseconds[SEARCH] for result in results])
    tokens = sum(result.tokens[CONTEXT] for result in results) / len(results)
    print(f"  {name:<58} {' '.join(figures):<30} p50 {p50:6.1f}  p95 {p95:6.1f} ms  {tokens:6,.0f} tokens", flush=True)


def percent(results: Sequence[Result], way: str) -> float:
    return 100 * sum(result.shares[way] for result in results) / len(results)
