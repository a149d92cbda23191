"""Over all sections of a request nothing near-identical stands twice, and nothing is lost for that."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from django.utils import timezone

from conversations.context.reasons import Reason
from conversations.context.rules import standing
from conversations.context.rules.standing import Tier, cut_tiers
from conversations.context.sources import Fitted, SourceItem
from conversations.models import Assistant
from memory.sources.rows import spoken
from tests.memory.profiles import KnownFact, OpenTopic, Profile, Summary, build_tiers

NOW = timezone.now()
SAID_IN_EACH = "The boat has to be out of the water by November."
ONLY = {
    name: f"Only {name} holds this line of its own."
    for name in ("memory", "today", "open_threads", "last_conversation")
}


def said_everywhere(*, today: tuple[str, ...] = (ONLY["today"], SAID_IN_EACH)) -> Profile:
    """Each section with a line that all of them have, and with one of its own."""
    return Profile(
        began_at=NOW,
        facts=[
            KnownFact(id="f1", text=SAID_IN_EACH),
            KnownFact(id="f2", text=ONLY["memory"]),
            KnownFact(id="f3", text=ONLY["memory"].upper()),
        ],
        today=Summary(id="d", text="\n".join(f"User: {line}" for line in today)) if today else None,
        topics=[
            OpenTopic(id="t1", title=SAID_IN_EACH, opened_at=NOW),
            OpenTopic(id="t2", title=ONLY["open_threads"], opened_at=NOW),
        ],
        last_conversation=Summary(id="l", text=f"User: {SAID_IN_EACH}\nUser: {ONLY['last_conversation']}"),
    )


def lines_of(tiers: Sequence[Tier]) -> list[str]:
    return [spoken(line) for tier in tiers for line in tier.text.splitlines()]


@pytest.mark.parametrize("without", ["today", "today open_threads", "today open_threads last_conversation", ""])
def test_no_line_stands_twice_over_all_sections(without: str) -> None:
    profile = said_everywhere()
    profile = replace(
        profile,
        today=None if "today" in without else profile.today,
        topics=() if "open" in without else profile.topics,
        last_conversation=None if "last" in without else profile.last_conversation,
    )
    tiers = build_tiers(profile, Assistant())
    lines = lines_of(tiers)
    assert [lines.count(line) for line in (SAID_IN_EACH, *ONLY.values())] == [
        1,
        *(int(name not in without.split()) for name in ONLY),
    ]
    assert ONLY["memory"].upper() not in lines


@pytest.mark.parametrize(("topics", "left_out"), [(False, {"f1", "f3"}), (True, {"f1", "f3", "d"})])
def test_a_topic_goes_before_today_and_today_before_a_note(topics: bool, left_out: set[str]) -> None:
    """That it is open, and that it was today, is more than that it was noted."""
    profile = said_everywhere(today=(SAID_IN_EACH,))
    tiers = {tier.name: tier for tier in build_tiers(profile if topics else replace(profile, topics=()), Assistant())}
    holder = "open_threads" if topics else "today"
    assert [name for name, tier in tiers.items() if SAID_IN_EACH in tier.text] == [holder]
    assert {item.id: item.reason for tier in tiers.values() for item in tier.items if not item.included} == (
        dict.fromkeys(left_out, Reason.REPEATED)
    )


def test_a_conversation_of_which_all_is_repeated_is_left_out_as_such() -> None:
    profile = Profile(
        began_at=NOW,
        today=Summary(id="d", text=f"User: {SAID_IN_EACH}"),
        last_conversation=Summary(id="l", text=f"User: {SAID_IN_EACH.upper()}"),
    )
    (_, last) = build_tiers(profile, Assistant())
    assert last.text == "" and [(item.included, item.reason) for item in last.items] == [(False, Reason.REPEATED)]


def test_what_a_cut_section_no_longer_says_comes_back_where_it_was_left_out_for_it() -> None:
    tiers = build_tiers(said_everywhere(), Assistant())
    sizes = [cut_tiers(tiers, room) for room in range(sum(tier.tokens for tier in tiers) + 1)]
    for room, left in enumerate(sizes):
        lines = lines_of(left)
        assert max(map(lines.count, (SAID_IN_EACH, *ONLY.values()))) <= 1
        repeated = [
            item for tier in left for item in tier.items if item.reason is Reason.REPEATED and item.id in ("f1", "t1")
        ]
        assert not repeated or SAID_IN_EACH in lines, room
        assert sum(tier.tokens for tier in left if tier.source.cut_order) <= room


def test_what_was_sent_before_stays_as_it_was() -> None:
    sent = Fitted(
        text=f"## Facts:\n\n- {SAID_IN_EACH}",
        items=[SourceItem(kind="memory", id="f1", included=True, reason=Reason.REMEMBERED, tokens=9)],
    )
    known = replace(said_everywhere().known, sent={"memory": sent})
    assert standing.build_tiers(known, Assistant())[0].text == sent.text
