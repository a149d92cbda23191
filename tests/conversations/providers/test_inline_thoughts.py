"""Thoughts between tags at the beginning of an answer, however the stream cuts them."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.providers.base import ProviderEvent
from conversations.providers.chat_calls import PiecedCalls
from conversations.providers.chat_stream import ChatAccumulator
from conversations.providers.event_stream import StreamEvent
from conversations.providers.harmony import MARKS
from conversations.providers.inline_thoughts import THOUGHT_TAGS, InlineThoughts
from conversations.providers.tool_calls import ToolCalls

THOUGHT = "I count\n\nthe <b>loaves</b>, as </thin air."


def split(*pieces: str) -> tuple[str, str]:
    """Thought and text."""
    reading = InlineThoughts(THOUGHT_TAGS)
    told = [*(piece for text in pieces for piece in reading.feed(text)), *reading.end()]
    assert all(piece.text for piece in told)
    thought, text = ([piece.text for piece in told if piece.is_thought is kind] for kind in (True, False))
    return "".join(thought), "".join(text)


ANSWERS = [
    ("<think>\nSo.\n</think>\n\nYes.", "So.", "Yes."),
    ("\n <think>So.</think>Yes.\n", "So.", "Yes.\n"),
    ("[THINK]So.[/THINK]Yes.", "So.", "Yes."),
    (f"<think>{THOUGHT}</think> Yes.", THOUGHT, "Yes."),
    ("<thinking>So.</thinking>Yes.", "So.", "Yes."),
    ("<think>So.</think>\n<think>Or</think> Yes.", "So.Or", "Yes."),
    ("<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "So.", "Yes."),
    ("<|channel|>final <|constrain|>json<|message|>Yes <|x|>.<|return|>", "", "Yes <|x|>."),
    ("<|start|>assistant<|channel|>commentary<|message|>I look.<|end|>", "", "I look."),
    ("<|channel|>analysis<|message|>It goes on <|e", "It goes on <|e", ""),
    ("<think>\n\n</think>\n\nYes.", "", "Yes."),  # how Qwen says that it doesn't think
    ("<think>So.</think>The tag <think>is</think> quoted.", "So.", "The tag <think>is</think> quoted."),
    ("The tag <think>is</think> quoted.", "", "The tag <think>is</think> quoted."),
    ("`<think>` is a tag.", "", "`<think>` is a tag."),
    ("<thinker>Yes.", "", "<thinker>Yes."),
    ("  \n", "", "  \n"),
    ("<thi", "", "<thi"),
    ("", "", ""),
    # Never closed: the model did not come to an answer, and the engine's own parsers say so, too.
    ("<think>So it goes on </thi", "So it goes on </thi", ""),
    ("<think>", "", ""),
    # Opened by the prompt: what was shown by then stays, and where nothing was there is only the tag to leave away.
    ("Thought first.</think>Yes.", "", "Thought first.</think>Yes."),
    ("</think>\n\nYes.", "", "Yes."),
    ("\n</think><think>So.</think> Yes.", "So.", "Yes."),
    ("So.</thi", "", "So.</thi"),
]


@pytest.mark.parametrize(
    ("answer", "opened"),
    [
        ("So.\n</think>\n\nYes.", "<think>So.\n</think>\n\nYes."),
        ("So. </thinking>\nYes.", "<thinking>So. </thinking>\nYes."),
        ("<think>So.\n</think>\nYes.", "<think>So.\n</think>\nYes."),
        ("It ends with `</think>`, as a tag.", "It ends with `</think>`, as a tag."),
        ("Yes.", "Yes."),
        ("", ""),
    ],
)
def test_of_a_whole_answer_an_opening_tag_that_the_prompt_held_is_put_back(answer: str, opened: str) -> None:
    assert InlineThoughts(THOUGHT_TAGS).whole(answer) == opened
    assert InlineThoughts({}).whole(answer) == answer


@pytest.mark.parametrize(("answer", "thought", "text"), ANSWERS)
def test_thought_and_text_are_told_apart(answer: str, thought: str, text: str) -> None:
    assert split(answer) == (thought, text)
    assert split(*answer) == (thought, text)


@given(
    answer=st.sampled_from([answer for answer, _, _ in ANSWERS])
    | st.lists(st.sampled_from(["<think>", "</think>", "[THINK]", "[/THINK]", "<", "/", " ", "\n", "a", *MARKS])).map(
        "".join
    ),
    cuts=st.lists(st.integers(min_value=0, max_value=70)),
)
def test_how_the_stream_is_cut_does_not_matter(answer: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    assert split(*(answer[start:end] for start, end in pairwise(places))) == split(answer)


def accumulated(*deltas: dict[str, object]) -> list[ProviderEvent]:
    reading = ChatAccumulator(calls=PiecedCalls(ToolCalls()), inline=InlineThoughts(THOUGHT_TAGS))
    chunks = [StreamEvent(json.dumps({"choices": [{"delta": delta, "finish_reason": "stop"}]})) for delta in deltas]
    return [*(event for chunk in chunks for event in reading.take(chunk)), *reading.end("")]


def test_text_comes_as_soon_as_it_can_be_no_tag() -> None:
    reading = InlineThoughts(THOUGHT_TAGS)
    assert [[piece.text for piece in reading.feed(text)] for text in ("<th", "e", " loaf")] == [[], ["<the"], [" loaf"]]


def test_a_call_of_a_tool_ends_a_thought_that_was_not_closed() -> None:
    call = {"index": 0, "id": "call_1", "function": {"name": "save", "arguments": '{"n": 1}'}}
    events = accumulated({"content": "<think>I save it. </"}, {"tool_calls": [call]}, {"content": "<think>"})
    assert [type(event).__name__ for event in events] == [
        "ThinkingStarted",
        "ThinkingDelta",
        "ThinkingDelta",
        "ThinkingDone",
        "ToolStarted",
        "ToolDelta",
        "TextDelta",
        "ToolCalled",
        "Finished",
    ]
