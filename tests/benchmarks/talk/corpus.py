"""All conversations of the corpus, each by its seed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
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


def conversations(profiles: Iterable[str] | None = None) -> list[Conversation]:
    return [make() for profile in profiles or PROFILES for make in PROFILES[profile]]
