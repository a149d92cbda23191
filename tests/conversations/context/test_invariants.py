"""A request that breaks a rule is never sent, and the error names the rule."""

from typing import Any

import pytest

from conversations.context.render.invariants import BrokenInvariant, check
from conversations.models import text_blocks

CALL = {"type": "tool_use", "id": "call_1", "name": "search", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "call_1", "content": "found"}


def user(*blocks: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"role": "user", "content": [*blocks, *(text_blocks(text) if text else [])]}


def assistant(*blocks: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": [*(text_blocks(text) if text else []), *blocks]}


def broken_rule(
    messages: list[dict[str, Any]], *, system: str = "Be kind.", newest: str = "And now?", tokens: int = 10
) -> str:
    payload = {"model": "m", "max_tokens": 9, "system": text_blocks(system) if system else [], "messages": messages}
    try:
        check(payload, newest=newest, total_tokens=tokens, hard_cap=10)
    except BrokenInvariant as error:
        return error.rule
    return ""


WHOLE = [
    user(text="Find it."),
    assistant(CALL, text="A moment."),
    user(RESULT),
    assistant(text="Here."),
    user(text="And now?"),
]


def test_a_whole_request_passes() -> None:
    assert broken_rule(WHOLE) == ""
    assert broken_rule([user(text="And now?")]) == ""
    assert broken_rule([user(*text_blocks("And now?"), text="[added]")]) == ""


@pytest.mark.parametrize("system", ["", "  \n"])
def test_the_system_prompt_must_be_there(system: str) -> None:
    assert broken_rule(WHOLE, system=system) == "system_prompt"


def test_the_newest_message_must_be_there_and_last() -> None:
    assert broken_rule([]) == "newest_message"
    assert broken_rule([user(text="Another message.")]) == "newest_message"
    assert broken_rule([user(text="And now?"), assistant(text="Now this."), user(text="Hm.")]) == "newest_message"
    assert broken_rule([assistant(text="And now?")]) == "newest_message"


def test_roles_must_alternate_from_user_to_user() -> None:
    assert broken_rule([user(text="Hi."), user(text="And now?")]) == "roles"
    assert broken_rule([assistant(text="Hi."), user(text="And now?")]) == "roles"
    assert broken_rule([user(text="Hi."), assistant(text="Hello."), *WHOLE[-1:]]) == ""


def test_no_turn_may_be_empty() -> None:
    assert broken_rule([user(), assistant(text="Hello."), *WHOLE[-1:]]) == "empty_turn"


@pytest.mark.parametrize(
    "messages",
    [
        [user(text="Find it."), assistant(CALL), user(text="And now?")],
        [user(text="Hi."), assistant(text="Hello."), user(RESULT, text="And now?")],
        [user(text="Find it."), assistant(CALL), user(RESULT | {"tool_use_id": "call_2"}, text="And now?")],
        [
            user(text="Find it."),
            assistant(CALL),
            user(text="Wait."),
            assistant(text="Yes?"),
            user(RESULT, text="And now?"),
        ],
    ],
)
def test_no_half_of_a_tool_call_may_stand_alone(messages: list[dict[str, Any]]) -> None:
    assert broken_rule(messages) == "tool_pairs"


def test_the_hard_cap_holds_and_the_error_tells_what_to_do() -> None:
    assert broken_rule(WHOLE, tokens=11) == "hard_cap"
    with pytest.raises(BrokenInvariant, match="shorten the assistant's system prompt or raise the cap"):
        check(
            {"system": text_blocks("Be kind."), "messages": [user(text="And now?")]},
            newest="And now?",
            total_tokens=7_000,
            hard_cap=6_150,
        )
