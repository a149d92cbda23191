from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.tokens.thinking import OutputAllowance, pack, plan_for, plan_without, unpack
from conversations.models import Assistant, Effort, Model
from conversations.providers.messages_api import RequestParts, messages_api_payload
from conversations.providers.thinking import NO_THINKING, ThinkingPlan, payload_fields

FIVE = list(Effort.values)
SUMMARY = Assistant.ShowThinking.SUMMARY


def model(**values: Any) -> Model:
    return Model(**{"provider": "anthropic", "max_output": 128_000, "efforts": FIVE, "thinks_unasked": True} | values)


ALWAYS = model(name="always", thinking="adaptive")
SONNET = model(name="sonnet", thinking="adaptive", thinking_off="between_tools")
HAIKU = model(name="haiku", thinking="adaptive", thinking_off="disabled")
ASKED = model(name="asked", thinking="adaptive", thinking_off="disabled", thinks_unasked=False)
BUDGET = model(name="budget", thinking="budget", thinking_off="disabled", thinks_unasked=False, efforts=[])
PLAIN = model(name="plain", efforts=[])


def companion(**values: Any) -> Assistant:
    return Assistant(**{"max_output_tokens": 2_048, "thinking_tokens": 8_192} | values)


@pytest.mark.parametrize(
    ("row", "assistant", "fields", "max_tokens"),
    [
        (ALWAYS, companion(), {"thinking": {"type": "adaptive", "display": "omitted"}}, 10_240),
        (
            SONNET,
            companion(show_thinking=SUMMARY, effort="medium"),
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
            10_240,
        ),
        (ASKED, companion(), {"thinking": {"type": "adaptive", "display": "omitted"}}, 10_240),
        (
            BUDGET,
            companion(effort="low"),
            {"thinking": {"type": "enabled", "budget_tokens": 8_192, "display": "omitted"}},
            10_240,
        ),
        (BUDGET, companion(thinking_tokens=1_000), {}, 2_048),
        (PLAIN, companion(show_thinking=SUMMARY, effort="low"), {}, 2_048),
        (
            SONNET,
            companion(thinking_tokens=0, effort="max"),
            {"thinking": {"type": "between_tools"}, "output_config": {"effort": "high"}},
            2_048,
        ),
        (ASKED, companion(thinking_tokens=0), {}, 2_048),
        (ALWAYS, companion(thinking_tokens=0), {"thinking": {"type": "adaptive", "display": "omitted"}}, 3_072),
        (
            model(thinking="adaptive", max_output=4_096),
            companion(),
            {"thinking": {"type": "adaptive", "display": "omitted"}},
            4_096,
        ),
    ],
)
def test_a_reply_thinks_as_its_assistant_and_its_model_say(
    row: Model, assistant: Assistant, fields: dict[str, Any], max_tokens: int
) -> None:
    allowance = OutputAllowance.of(row, assistant, answer=assistant.max_output_tokens)
    assert payload_fields(allowance.thinking) == fields
    assert allowance.max_tokens == max_tokens


def test_a_program_that_asks_for_fewer_tokens_takes_none_from_thinking() -> None:
    assert OutputAllowance.of(ALWAYS, companion(), answer=100).max_tokens == 8_292


@pytest.mark.parametrize(
    ("row", "plan"),
    [
        (PLAIN, NO_THINKING),
        (BUDGET, NO_THINKING),
        (ASKED, NO_THINKING),
        (HAIKU, ThinkingPlan(mode="disabled")),
        (SONNET, ThinkingPlan(mode="between_tools")),
        (ALWAYS, ThinkingPlan(mode="adaptive", display="omitted", effort="low", room=2_000)),
    ],
)
def test_a_helping_task_does_not_think_where_that_can_be_said(row: Model, plan: ThinkingPlan) -> None:
    assert plan_without(row, 2_000) == plan


@given(
    st.builds(
        ThinkingPlan,
        mode=st.sampled_from(["", "adaptive", "enabled", "disabled", "between_tools"]),
        display=st.sampled_from(["", "summarized", "omitted"]),
        effort=st.sampled_from(["", *FIVE]),
        room=st.integers(0, 1_000_000),
    )
)
def test_a_plan_is_written_down_in_few_characters_and_read_again(plan: ThinkingPlan) -> None:
    assert unpack(pack(plan)) == plan
    assert len(pack(plan)) <= 60


def test_a_helping_task_has_room_for_an_answer_whatever_its_model_thinks() -> None:
    least = ThinkingPlan(mode="adaptive", display="omitted", effort="low", room=1_024)
    assert OutputAllowance.of_task(ALWAYS, answer=300, room=1_024) == OutputAllowance(max_tokens=1_324, thinking=least)
    off = ThinkingPlan(mode="disabled")
    assert OutputAllowance.of_task(HAIKU, answer=300, room=1_024) == OutputAllowance(max_tokens=300, thinking=off)
    assert OutputAllowance.of_task(model(max_output=200), answer=300, room=1_024).max_tokens == 200


def test_no_thinking_is_not_written_down() -> None:
    assert pack(NO_THINKING) == ""


def test_a_request_says_what_its_plan_says() -> None:
    plan = plan_for(SONNET, companion(effort="low"))
    payload = messages_api_payload(RequestParts(model="m", max_tokens=9, system=[], messages=[], thinking=plan))
    assert payload["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert payload["output_config"] == {"effort": "low"}
