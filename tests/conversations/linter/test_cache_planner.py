"""The planner of the prompt cache against a cache that is played through, request by request."""

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from conversations.context.rules.prompt_cache import FIVE_MINUTES, HOUR, LIVES
from conversations.linter.cache_planner import POLICIES, Marks, Policy, Step, cost, pause_of, plan
from conversations.models import ModelPrice

PRICE = ModelPrice(
    input=Decimal(3),
    output=Decimal(15),
    cache_read=Decimal("0.3"),
    cache_write=Decimal("3.75"),
    cache_write_hour=Decimal(6),
)
LEAST = 1_000
"""Tokens that the model caches."""

type Request = tuple[timedelta | None, tuple[str, ...], tuple[int, ...]]
"""The pause before it, what it is made of – the system text first –, and how many tokens each of that takes."""


def change(draw: st.DrawFn, texts: list[tuple[str, int]], number: int) -> list[tuple[str, int]]:
    """What a thread sends next: a turn more; sometimes another system text, or without its oldest turns."""
    kind = draw(st.sampled_from(["more", "more", "more", "system", "moved"]))
    more = (f"turn {number}", draw(st.integers(1, 900)))
    if kind == "system":
        return [(f"system {number}", draw(st.integers(1, 2_000))), *texts[1:], more]
    if kind == "moved" and len(texts) > 2:
        return [texts[0], *texts[2:], more]
    return [*texts, more]


@st.composite
def threads(draw: st.DrawFn) -> list[Request]:
    texts = [("system", draw(st.integers(1, 2_000))), ("turn", draw(st.integers(1, 900)))]
    requests: list[Request] = []
    for number in range(draw(st.integers(1, 8))):
        pause = timedelta(seconds=draw(st.sampled_from([1, 299, 300, 301, 3_599, 3_600, 3_601])))
        texts = change(draw, texts, number) if number else texts
        names, sizes = zip(*texts, strict=True)
        requests.append((pause if number else None, names, sizes))
    return requests


def played(requests: list[Request], policy: Policy) -> Decimal:
    """USD, by the entries that there are at each request: a prefix and until when it lives."""
    now, entries, total = timedelta(0), {}, Decimal(0)  # type: ignore[var-annotated]
    write = PRICE.cache_write_hour if policy.lifetime == HOUR else PRICE.cache_write
    for pause, names, sizes in requests:
        now += pause or timedelta(0)
        ends = {Marks.BOTH: [1, len(names)], Marks.SYSTEM: [1], Marks.NONE: []}[policy.marks or Marks.NONE]
        marked = [end for end in ends if sum(sizes[:end]) >= LEAST]
        alive = [end for end in range(1, len(names) + 1) if entries.get(names[:end], timedelta(-1)) >= now]
        written_to = max(marked, default=0)
        read_to = max((end for end in alive if end <= written_to), default=0)
        read, last = sum(sizes[:read_to]), sum(sizes[:written_to])
        total += PRICE.cache_read * read + write * (last - read) + PRICE.input * (sum(sizes) - last)
        for end in {*marked, read_to} - {0}:
            entries[names[:end]] = now + LIVES[policy.lifetime]
    return total / 1_000_000


def steps(requests: list[Request]) -> list[Step]:
    """Each request by what it has in common with the one before."""
    before: tuple[str, ...] = ()
    found = []
    for pause, names, sizes in requests:
        same_system = sizes[0] if before[:1] == names[:1] else 0
        keeps_system = sizes[0] >= LEAST
        known = sum(sizes[: len(before)])
        is_kept = known >= LEAST  # less than what is cached is no entry
        goes_on = before and names[: len(before)] == before
        shared_system = same_system if keeps_system else 0
        shared = known if goes_on and is_kept else shared_system
        found.append(
            Step(
                pause=pause_of(pause),
                lived=FIVE_MINUTES,
                lives=FIVE_MINUTES,
                marks=Marks.BOTH,
                keeps_system=keeps_system,
                keeps_all=sum(sizes) >= LEAST,
                requests=1,
                example="",
                total=sum(sizes),
                system=sizes[0],
                same_system=same_system,
                shared=shared,
            )
        )
        before = names
    return found


def grouped(each: list[Step]) -> list[Step]:
    """As the statement adds them up."""
    groups: dict[Step, list[Step]] = defaultdict(list)
    for step in each:
        groups[replace(step, requests=0, total=0, system=0, same_system=0, shared=0)].append(step)
    names = ("requests", "total", "system", "same_system", "shared")
    return [
        replace(key, **{name: sum(getattr(step, name) for step in same) for name in names})
        for key, same in groups.items()
    ]


@given(st.lists(threads(), min_size=1, max_size=4))
def test_each_policy_costs_what_it_costs_played_through(all_threads: list[list[Request]]) -> None:
    found = grouped([step for requests in all_threads for step in steps(requests)])
    for policy in POLICIES:
        assert cost(found, policy, PRICE) == sum(played(requests, policy) for requests in all_threads)
    planned = plan(found, PRICE, None)
    assert planned.as_sent == planned.costs[0]  # all were sent with five minutes, and both marks
    assert planned.saving == max(planned.as_sent - planned.costs[1], Decimal(0))
