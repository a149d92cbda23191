"""Each line that quotes an earlier turn is told with the turn's place, by the words that stand in both."""

from typing import Any

from conversations.context.explain.quoted_turns import quoted_turns
from conversations.providers.markers import RECALLED

LONG = "We sail at  six.\n\nBring a warm coat. Bring a lamp, too. The harbour closes at ten."
BLOCK = f"""user: what now?
- person: "Six?"

{RECALLED}
Said on 1 May 2026, earlier in this conversation:
- person: "Six?"
Said on 2 May 2026 in another conversation:
- assistant: "We sail […] Bring a lamp, too. The harbour closes at ten."
- person: "Six?" (said 2 times)
Remembered on 3 May 2026:
- The boat is called Marisol.

[Something else that stands beside the message]"""


def turn(id: str, position: int, *parts: str, included: bool = True) -> dict[str, Any]:
    places = [(LONG.index(part), LONG.index(part) + len(part)) for part in parts]
    passages = [{"start": start, "end": end, "included": included} for start, end in places]
    return {"id": id, "thread": f"thread of {id}", "position": position, "included": included, "passages": passages}


def test_each_quote_leads_to_the_turn_that_says_it() -> None:
    recalled = [
        turn("b", 2, "Bring a lamp, too.", "The harbour closes at ten."),
        turn("c", 9, "We sail at  six."),  # nothing of it stands there
        turn("a", 1),
        turn("d", 4),
    ]
    texts = {"a": "Six?", "b": LONG, "c": LONG, "d": " Six?\n"}
    assert quoted_turns(BLOCK, recalled, texts) == [
        {"line": 6, "thread": "thread of a", "position": 1},
        {"line": 8, "thread": "thread of b", "position": 2},
        {"line": 9, "thread": "thread of d", "position": 4},
    ]


def test_a_turn_that_is_gone_or_says_something_else_today_is_not_led_to() -> None:
    recalled = [turn("b", 2, "Bring a lamp, too."), turn("a", 1)]
    assert quoted_turns(BLOCK, recalled, {"b": "This turn was forgotten."}) == []


def test_what_the_person_wrote_herself_is_no_quote() -> None:
    assert quoted_turns('user: - person: "Six?"', [turn("a", 1)], {"a": "Six?"}) == []
