"""Shares of evidence, and tables of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memory.language.word_families import LANGUAGES
from memory.language.words import language_of, stems
from tests.benchmarks.measuring import p50_p95
from tests.benchmarks.talk.shapes import Conversation, Question, flattened

CONTEXT, SEARCH = "context", "search"
CONTEXT_WORDS, SEARCH_WORDS = f"{CONTEXT}, words", f"{SEARCH}, words"
"""Of the words of the evidence, in place of whole turns of it."""
TOKENS = (1_000, 2_000)
"""What may be recalled for a message, beside what is shipped."""
SAMPLED = 4
"""Each so many-th question is asked with other budgets as well."""
ASKED = [f"{CONTEXT}, in a new thread", f"{CONTEXT}, the third time"]
"""A question asked in three new threads, the first and the last time."""
BY_BUDGET = [f"{CONTEXT}, {tokens:,}" for tokens in TOKENS]


@dataclass(kw_only=True)
class Result:
    """Shares of a question's evidence that were recalled, and milliseconds, by the way of recalling."""

    conversation: Conversation
    question: Question
    shares: dict[str, float] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    """Estimated, of whole contexts."""


def packed(matches: Iterable[str], characters: int) -> str:
    """Of what was found, best first, whatever still fits."""
    text = ""
    for match in matches:
        if len(text) + len(match) + 1 <= characters:
            text += match + "\n"
    return text


def share(result: Result, text: str) -> float:
    """How much of the evidence stands in a text. Pure."""
    text = flattened(text)
    places = result.question.evidence
    return sum(flattened(result.conversation.messages[place].raw) in text for place in places) / len(places)


def word_share(result: Result, text: str) -> float:
    """How much of the words of the evidence that are not in the question stand in a text. Pure."""
    language = LANGUAGES.get(result.conversation.language) or language_of(result.question.question)
    evidence = " ".join(result.conversation.messages[place].raw for place in result.question.evidence)
    wanted = {*stems(evidence, language)} - {*stems(result.question.question, language)}
    return len(wanted & {*stems(text, language)}) / len(wanted) if wanted else 1.0


def report(title: str, results: Sequence[Result], *, is_brief: bool) -> None:
    ways = dict.fromkeys(name for result in results for name in result.shares)
    names = [name for name in ways if name not in {*BY_BUDGET, *ASKED}]
    head(f"evidence recalled, {title}, %", names)
    rows("", results, lambda _: "all", names)
    rows("by kind", results, lambda result: result.conversation.profile, names)
    rows("by language", results, lambda result: result.conversation.language, names)
    rows("by category", results, lambda result: result.question.category, names)
    if not is_brief:
        rows("by kind, language and category", results, whole_key, names)
    if sampled := [result for result in results if BY_BUDGET[0] in result.shares]:
        names = [*BY_BUDGET, CONTEXT]
        head(f"by tokens that may be recalled for a message, the last as shipped, one question in {SAMPLED}, %", names)
        rows("", sampled, lambda _: "all", names)
        rows("by kind", sampled, lambda result: result.conversation.profile, names)
    if asked := [result for result in results if ASKED[0] in result.shares]:
        head(f"asked in three new threads, the first and the third time, one question in {SAMPLED}, %", ASKED)
        rows("", asked, lambda _: "all", ASKED)
        rows("by kind", asked, lambda result: result.conversation.profile, ASKED)
    print(f"\n== cost, {title}", flush=True)
    for name in dict.fromkeys(name for result in results for name in result.milliseconds):
        p50, p95 = p50_p95([result.milliseconds[name] for result in results if name in result.milliseconds])
        tokens = [result.tokens[name] for result in results if name in result.tokens]
        room = f"  {sum(tokens) / len(tokens):8,.0f} tokens in the mean" if tokens else ""
        print(f"  {name:<44} p50 {p50:8.1f}  p95 {p95:8.1f} ms{room}", flush=True)


def list_misses(results: Sequence[Result], most: int, name: str) -> None:
    """Questions, by kind and category, of whose evidence not all was recalled in this way, and the evidence."""
    print(f"\n== misses of {name}")
    groups = defaultdict(list)
    for result in results:
        if result.shares[name] < 1:
            groups[whole_key(result)].append(result)
    for label, group in sorted(groups.items()):
        print(f"  – {label}: {len(group)}")
        for result in group[:most]:
            print(f"  {result.shares[name]:.2f} {result.question.question}")
            for place in result.question.evidence:
                print(f"       {place}: {flattened(result.conversation.messages[place].raw)[:120]}")


def whole_key(result: Result) -> str:
    return f"{result.conversation.profile}, {result.conversation.language}: {result.question.category}"


def head(title: str, names: Sequence[str]) -> None:
    print(f"\n== {title}")
    print(f"  {'':<44}" + "".join(f"{name.replace(', ', ' '):>15}" for name in names) + f"{'questions':>12}")


def rows(title: str, results: Sequence[Result], key: Callable[[Result], str], names: Sequence[str]) -> None:
    groups = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    if title and len(groups) == 1:
        return
    if title:
        print(f"  – {title}")
    for label, group in sorted(groups.items()):
        cells = ""
        for name in names:
            shares = [result.shares[name] for result in group]
            cells += f"{100 * sum(shares) / len(shares):>15.1f}"
        print(f"  {label:<44}{cells}{len(group):>12,}")
