"""A conversation whose messages name the one before: as its active path, and the turns beside it. Pure.

Exports may lack messages, or have some that name each other in a circle: what is left of the tree is taken.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any


def rooted[K: Hashable](parents: Mapping[K, K | None], end: K | None) -> dict[K, K | None]:
    """The same parents, each element behind its parent. One that is not there is none; a circle is cut where the way back from
    ``end``, or from any other element, comes to it again."""
    placed: dict[K, K | None] = {}
    for start in parents if end is None else [end, *parents]:
        way: dict[K, None] = {}
        at: K | None = start
        while at is not None and at in parents and at not in placed and at not in way:
            way[at] = None
            at = parents[at]
        above = at if at in placed else None
        for each in reversed(way):
            placed[each] = above
            above = each
    return placed


def nearest[K: Hashable](parents: Mapping[K, K | None], shown: Collection[K]) -> dict[K, K | None]:
    """For each element the nearest that is shown: itself, or one on the way back. ``parents`` as ``rooted`` gives them."""
    found: dict[K, K | None] = {}
    for each, parent in parents.items():
        found[each] = each if each in shown else of(found, parent)
    return found


def of[K: Hashable](found: Mapping[K, K | None], each: K | None) -> K | None:
    """What was found for an element; of none there is none."""
    return None if each is None else found[each]


def in_order[K: Hashable](parents: Mapping[K, K | None], times: Mapping[K, float]) -> list[K]:
    """By the time, each behind its parent; one without a time right behind its parent. ``parents`` as ``rooted`` gives them."""
    begun: dict[K, float] = {}
    for each, parent in parents.items():
        before = float("-inf") if parent is None else begun[parent]
        begun[each] = max(before, times.get(each, before))
    return sorted(begun, key=begun.__getitem__)


def way_to[K: Hashable](parents: Mapping[K, K | None], end: K | None) -> Iterator[K]:
    """From an element back to the first."""
    while end is not None:
        yield end
        end = parents[end]


def laid_out[K: Hashable](
    turns: Mapping[K, dict[str, Any]], parents: Mapping[K, K | None], end: K | None
) -> dict[str, list[dict[str, Any]]]:
    """Turns, each behind its parent, as `messages` and `branches` of a thread. The path ends with ``end``, or with the last."""
    path = set(way_to(parents, end if end is not None else next(reversed(list(turns)), None)))
    messages: list[dict[str, Any]] = []
    branches: list[dict[str, Any]] = []
    for key, turn in turns.items():
        parent = parents[key]
        if key in path:
            messages.append(turn)
        else:
            follows = {} if parent is None else {"parent": turns[parent]["id"]}
            branches.append(turn | follows | {"after_position": len(messages)})
    return {"messages": messages, **({"branches": branches} if branches else {})}
