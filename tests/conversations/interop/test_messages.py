"""Turns as PydanticAI's messages and back."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessagesTypeAdapter

from conversations.context.render.rendering import api_messages
from conversations.context.turns.turn import Turn
from conversations.interop.messages import model_messages, turns_of

TEXTS = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() == text and text)
CALLS = st.tuples(st.sampled_from(["look", "save"]), st.dictionaries(TEXTS, TEXTS, max_size=2), TEXTS, st.booleans())
ROUNDS = st.lists(st.tuples(TEXTS, st.lists(CALLS, max_size=3)), min_size=1, max_size=3)


@given(st.lists(st.tuples(TEXTS, ROUNDS), min_size=1, max_size=3))
def test_a_round_trip_loses_nothing(story: list[tuple[str, list[Any]]]) -> None:
    turns = []
    for question, rounds in story:
        turns.append(("user", [{"type": "text", "text": question}]))
        turns.append(("assistant", list(_answer(rounds, len(turns)))))
    stored = [
        Turn(position=place, depth=place, role=role, content=content, token_count=1)
        for place, (role, content) in enumerate(turns, 1)
    ]
    messages = ModelMessagesTypeAdapter.validate_python(model_messages(api_messages(stored)))
    assert turns_of(ModelMessagesTypeAdapter.dump_python(messages, mode="json")) == turns


def _answer(rounds: list[Any], turn: int) -> Iterator[dict[str, Any]]:
    for number, (text, calls) in enumerate(rounds):
        yield {"type": "text", "text": text}
        ids = [f"{turn}-{number}-{index}" for index in range(len(calls))]
        for id, (name, args, _, _) in zip(ids, calls, strict=True):
            yield {"type": "tool_use", "id": id, "name": name, "input": args}
        for id, (_, _, result, failed) in zip(ids, calls, strict=True):
            block = {"type": "tool_result", "tool_use_id": id, "content": result}
            yield block | {"is_error": True} if failed else block
    if calls:
        yield {"type": "text", "text": "Done."}
