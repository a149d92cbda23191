"""What storing a turn costs elsewhere. None of them records what the model was given."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.benchmarks.peers import agents_sdk


@contextmanager
def writers(url: str) -> Iterator[dict[str, Callable[[], object]]]:
    """Candidates to measure beside Openbook's."""
    with agents_sdk.connected(url) as sdk:
        yield {f"OpenAI Agents SDK, add_items of {items}": sdk.writer(items) for items in (1, 2)}
