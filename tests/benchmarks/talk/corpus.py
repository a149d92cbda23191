"""All conversations of the corpus, each by its seed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from tests.benchmarks.talk import assistant, companion, messenger
from tests.benchmarks.talk.shapes import Conversation

PROFILES: Mapping[str, Sequence[Callable[[], Conversation]]] = {
    "assistant_short": [
        partial(assistant.conversation, seed, profile="assistant_short", turns=230, projects=2) for seed in range(4)
    ],
    "assistant_long": [
        partial(assistant.conversation, seed, profile="assistant_long", turns=1_000, projects=6) for seed in range(2)
    ],
    "messenger": [partial(messenger.conversation, seed, turns=900) for seed in range(4)],
    "companion": [partial(companion.conversation, name, turns=500) for name in companion.LANGUAGES],
}


UNSEEN = "_unseen"
"""Of other undertakings and topics than those that the rules are looked at with."""


def _work(
    name: str, seeds: int, turns: int, projects: int
) -> Iterator[tuple[str, Sequence[Callable[[], Conversation]]]]:
    """Long work, of which half of the undertakings is kept apart."""
    for half, ending in enumerate(("", UNSEEN)):
        profile, of = f"{name}{ending}", slice(half, None, 2)
        made = partial(assistant.conversation, profile=profile, turns=turns, projects=projects, of=of, at_large=True)
        yield profile, [partial(made, seed) for seed in range(seeds)]


LONG_WORK: Mapping[str, Sequence[Callable[[], Conversation]]] = dict(
    [*_work("work_100k", 4, 350, 3), *_work("work_500k", 1, 1_750, 5)]
)
"""About so many tokens each; ``make bench`` asks for them by name alone."""


def conversations(profiles: Iterable[str] | None = None) -> list[Conversation]:
    return [make() for profile in profiles or PROFILES for make in {**PROFILES, **LONG_WORK}[profile]]
