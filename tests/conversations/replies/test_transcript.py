"""What a reply says and calls, piece by piece: what is shown is what is stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.tokens.estimate import text_of
from conversations.providers.base import ToolCalled
from conversations.replies.partial_input import InputWatcher
from conversations.replies.transcript import ReplyTranscript, result_block

pieces = st.lists(st.text(alphabet="ab \n\ud83d\ude00\x00é", max_size=3), max_size=4)


@given(rounds=st.lists(pieces, min_size=1, max_size=4))
def test_the_shown_pieces_joined_are_the_text_of_the_blocks(rounds: list[list[str]]) -> None:
    said, shown = ReplyTranscript(), ""
    for number, texts in enumerate(rounds):
        for piece in texts:
            shown += said.say(piece)
        shown += said.pause()
        said.call(ToolCalled(id=f"t{number}", name="look", input={}))
        said.answer([result_block(f"t{number}", "found", is_error=False)])
    assert shown == text_of(said.content)
    assert all(block["text"].strip() for block in said.content if block["type"] == "text")
    assert not any(character in shown for character in "\x00\ud83d\ude00")


@given(parts=st.lists(st.tuples(st.booleans(), pieces), max_size=6))
def test_what_is_shown_of_thinking_is_what_is_kept_beside_the_text(parts: list[tuple[bool, list[str]]]) -> None:
    said, shown, text = ReplyTranscript(), "", "Well."
    text = said.say(text) + said.pause()
    for thinks, texts in parts:
        if thinks:
            shown += "".join(map(said.think, texts)) + said.thought({"type": "thinking", "thinking": "".join(texts)})
        else:
            text += "".join(map(said.say, texts)) + said.pause()
    kept = [block["thinking"] for block in said.content if block["type"] == "thinking"]
    assert (shown, text) == ("\n\n".join(kept), text_of(said.content))


def test_calls_without_results_are_not_part_of_the_turn() -> None:
    said = ReplyTranscript.of("Now.")
    said.call(ToolCalled(id="t", name="look", input=None))
    assert said.content == [{"type": "text", "text": "Now."}]
    said.answer([result_block("t", "cut off", is_error=True)])
    assert said.content[1:] == [
        {"type": "tool_use", "id": "t", "name": "look", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": "cut off", "is_error": True},
    ]


@given(content=st.text(max_size=60), size=st.integers(1, 9))
def test_the_content_is_shown_as_it_is_written_whatever_the_pieces(content: str, size: int) -> None:
    content = content.replace("\x00", "0")
    written = json.dumps({"title": "Boats", "kind": "svg", "content": content})
    watching = InputWatcher(id="t", streamed="content")
    told = []
    for start in range(0, len(written), size):
        watching._looked_at = -1.0
        told.append(watching.feed(written[start : start + size]))
    told.append(watching.end(json.loads(written)))
    shown = [data for data in told if data]
    assert "".join(data["text"] for data in shown) == content
    assert [(data.get("title"), data.get("kind")) for data in shown[:1]] == [("Boats", "svg")] * bool(content)
    assert not any("title" in data for data in shown[1:])


@pytest.mark.parametrize("written", ["", "[1, 2", '{"content": 4', '{"content": ["a"]}', "nonsense", '{"title": "x"'])
def test_what_is_no_text_is_not_shown(written: str) -> None:
    watching = InputWatcher(id="t", streamed="content")
    assert (watching.feed(written), watching.end(None)) == (None, None)
