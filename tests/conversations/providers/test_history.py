from typing import Any

from conversations.providers.history import with_ids_once
from conversations.providers.messages_api import RequestParts, messages_api_payload
from tests.model_server.rules import complaint


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def round_trip(*ids: str) -> list[dict[str, Any]]:
    calls = [{"type": "tool_use", "id": call_id, "name": "look", "input": {}} for call_id in ids]
    results = [{"type": "tool_result", "tool_use_id": call_id, "content": "found"} for call_id in ids]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def test_an_id_that_comes_again_becomes_another_with_its_result() -> None:
    imported = [user("Look"), *round_trip("a", "b"), *round_trip("a"), *round_trip("a_2"), *round_trip("b", "c")]
    expected = [user("Look"), *round_trip("a", "b"), *round_trip("a_2"), *round_trip("a_2_2"), *round_trip("b_2", "c")]
    assert with_ids_once(imported) == expected
    assert with_ids_once(expected) == expected


def test_calls_of_the_history_are_defined_and_not_offered_where_the_assistant_has_no_tools() -> None:
    payload = messages_api_payload(
        RequestParts(model="m", max_tokens=1, system=[], messages=[user("Look"), *round_trip("a"), *round_trip("a")])
    )
    assert complaint(payload) is None
    assert (payload["tools"], payload["tool_choice"]) == (
        [{"name": "look", "input_schema": {"type": "object"}}],
        {"type": "none"},
    )
    assert "tools" not in messages_api_payload(
        RequestParts(model="m", max_tokens=1, system=[], messages=[user("Look")])
    )
