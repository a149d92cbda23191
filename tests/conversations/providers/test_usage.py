"""What is read of the figures and words that services report beside an answer: pure."""

import pytest

from conversations.models import Reply, data_map
from conversations.providers.base import Finished, ModelCall, Usage
from conversations.providers.errors import provider_error
from conversations.providers.message_stream import MessageAccumulator
from conversations.replies.outcomes import Outcome

WRITTEN = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 300}
STARTED = {
    "input_tokens": 12,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 400,
    "cache_creation": WRITTEN,
    "output_tokens": 1,
    "service_tier": "standard",
    "server_tool_use": None,
}
GONE_ON = {"output_tokens": 70, "output_tokens_details": {"thinking_tokens": 60}, "cache_creation_input_tokens": None}


def test_later_figures_replace_earlier_ones_and_what_only_the_start_tells_stays() -> None:
    reading = MessageAccumulator()
    reading.take_object({"type": "message_start", "message": {"id": "msg_1", "usage": STARTED}})
    reading.take_object({"type": "message_delta", "delta": {}, "usage": GONE_ON})
    assert Usage(**reading.usage) == Usage(
        input_tokens=12,
        output_tokens=70,
        cache_read_input_tokens=5,
        cache_creation_input_tokens=400,
        cache_creation_1h_input_tokens=300,
        thinking_tokens=60,
    )


def test_what_is_no_number_is_passed_over() -> None:
    reading = MessageAccumulator()
    odd: list[object] = [
        None,
        [],
        {"cache_creation": None, "output_tokens_details": []},
        {"thinking_tokens": 3, "input_tokens": "4"},
    ]
    for usage in odd:
        reading.note_usage(usage)
    assert reading.usage == {}


def test_the_usage_of_rounds_adds_up_part_by_part() -> None:
    one = Usage(output_tokens=70, thinking_tokens=60, cache_creation_input_tokens=4, cache_creation_1h_input_tokens=3)
    assert one + one == Usage(
        output_tokens=140, thinking_tokens=120, cache_creation_input_tokens=8, cache_creation_1h_input_tokens=6
    )


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("end_turn", "end_turn"),
        ("a_new_one", "a_new_one"),
        ("", ""),
        ("it said ZEBRA", "unknown"),
        ("ZEBRA\n", "unknown"),
    ],
)
def test_a_stop_reason_is_kept_where_it_is_a_word_of_a_protocol(told: str, kept: str) -> None:
    call = ModelCall(finished=Finished(stop_reason=told, usage=Usage(), request_id="req a ZEBRA", message_id="msg_1"))
    outcome = Outcome(status=Reply.Status.COMPLETED).after(call)
    assert (outcome.stop_reason, outcome.provider_request_id, outcome.provider_message_id) == (kept, "", "msg_1")
    assert data_map.known_reason(kept) == ("unknown" if kept == "a_new_one" else kept)


def test_what_a_service_says_of_an_error_holds_nothing_that_a_terminal_obeys() -> None:
    error = provider_error("invalid_request", detail="\x1b]0;title\x07no \x1b[31mroom\u202e")
    assert error.message.endswith("It says: “]0;titleno [31mroom”")
