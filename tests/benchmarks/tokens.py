"""The estimate beside real tokenizers: how far off, by kind of message, and how fast, in the same run."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean, median

from conversations.context.tokens.estimate import estimate_tokens
from tests.benchmarks.measuring import side_by_side
from tests.conversations.context.corpus import corpus
from tests.conversations.context.tokenizers import O200K, REFERENCES

HELD_OUT = 1
REALISTIC = 40
MEGABYTE = 1_000_000
SPEED_KINDS = ("English chat", "code", "JSON, minified", "Chinese", "Russian", "emoji")


def main() -> None:
    accuracy()
    speed()


def accuracy() -> None:
    """Per kind and tokenizer: mean error of a message, then how far single messages are under or over."""
    tokenizers = REFERENCES | {"o200k": O200K}
    print("\n== estimated tokens against real tokenizers, held-out messages: mean error (lowest .. highest)")
    print(f"  {'':<22}" + "".join(f"{name:>26}" for name in tokenizers))
    for kind, texts in corpus(HELD_OUT).items():
        print(f"  {kind:<22}" + "".join(f"{errors(texts, count):>26}" for count in tokenizers.values()))


def errors(texts: Sequence[str], count: Callable[[str], int]) -> str:
    found = [estimate_tokens(text) / real - 1 for text in texts if (real := count(text)) >= REALISTIC]
    return f"{mean(map(abs, found)):.1%} ({min(found):+.0%} .. {max(found):+.0%})"


def speed() -> None:
    print("\n== MB/s, p50 (messages joined to a megabyte)")
    counters = {"estimate": estimate_tokens} | REFERENCES
    print(f"  {'':<22}" + "".join(f"{name:>26}" for name in counters))
    for kind in SPEED_KINDS:
        text = filled(corpus(HELD_OUT)[kind])
        size = len(text.encode()) / MEGABYTE
        taken = side_by_side({name: partial(count, text) for name, count in counters.items()}, rounds=1)
        print(f"  {kind:<22}" + "".join(f"{size / median(values) * 1_000:>26.1f}" for values in taken.values()))


def filled(texts: Sequence[str]) -> str:
    joined = "\n".join(texts)
    return joined * max(1, MEGABYTE // len(joined.encode()))
