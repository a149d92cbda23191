"""The local model server against the real SDK: it behaves as the documentation of Claude 5.5 says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, DefaultHttpxClient
from anthropic.types import Message, ThinkingBlock, ToolUseBlock

from conversations.context.tokens.estimate import TURN_OVERHEAD, estimate_tokens
from conversations.providers.http_client import trusted
from tests.model_scripts import ScriptedToolUse, refusal, text, turn
from tests.model_server import FORBIDDEN, ModelServer, Thinking

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
TOOL: dict[str, Any] = {"name": "search", "input_schema": {"type": "object"}}
LONG = "Nobody knows how the light bulb in the cellar came to burn for a hundred years. " * 60
NOTE = "I found the file. It holds three names. One of them is new. I look it up."
MARK = {"type": "ephemeral"}


@pytest.fixture
def client(model_server: ModelServer) -> Iterator[Anthropic]:
    http = DefaultHttpxClient(verify=trusted())
    with Anthropic(api_key="key-of-the-tests", base_url=model_server.url, max_retries=0, http_client=http) as client:
        yield client


def user(*parts: Any) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts],
    }


def ask(client: Anthropic, *messages: Any, model: str = SONNET, **more: Any) -> Message:
    request: dict[str, Any] = {"model": model, "max_tokens": 4_000, "messages": messages or [user("Hello")]} | more
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def refused(client: Anthropic, *messages: Any, **more: Any) -> str:
    with pytest.raises(anthropic.BadRequestError) as raised:
        ask(client, *messages, **more)
    assert raised.value.type == "invalid_request_error"
    return raised.value.api_message or ""


def back(answer: Message) -> Any:
    return {"role": "assistant", "content": [block.to_dict() for block in answer.content]}


def kinds(answer: Message) -> list[str]:
    return [block.type for block in answer.content]


def text_of_answer(answer: Message) -> str:
    return "".join(block.text for block in answer.content if block.type == "text")


def thoughts(answer: Message) -> list[str]:
    return [block.thinking for block in answer.content if isinstance(block, ThinkingBlock)]


def test_it_thinks_unasked_and_silently(client: Anthropic) -> None:
    answer = ask(client)
    (thought, reply) = answer.content
    assert isinstance(thought, ThinkingBlock) and (thought.thinking, len(thought.signature) > 100) == ("", True)
    assert reply.type == "text" and reply.text.endswith("“Hello”")
    assert (answer.model, answer.stop_reason) == (SONNET, "end_turn")


def test_thinking_streams_as_the_documentation_shows(client: Anthropic, model_server: ModelServer) -> None:
    request: dict[str, Any] = {"model": SONNET, "max_tokens": 4_000, "messages": [user("Hi")], "stream": True}
    raw = client.messages.with_raw_response.create(**request).http_response.read().decode()
    events = [line.removeprefix("event: ") for line in raw.splitlines() if line.startswith("event: ")]
    assert events[:7] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",  # an empty thinking_delta
        "content_block_delta",  # the signature
        "content_block_stop",
        "content_block_start",
    ]


def test_a_summary_is_shown_on_request(client: Anthropic, model_server: ModelServer) -> None:
    model_server.claude.thinking = Thinking(summary="I weigh two words.")
    assert thoughts(ask(client, thinking={"type": "adaptive", "display": "summarized"})) == ["I weigh two words."]
    assert thoughts(ask(client, thinking={"type": "adaptive", "display": "omitted"})) == [""]


@pytest.mark.parametrize(
    ("model", "off"), [(SONNET, "between_tools"), (HAIKU, "disabled"), ("claude-opus-5", "disabled")]
)
def test_thinking_is_off_by_the_form_that_the_model_takes(client: Anthropic, model: str, off: Any) -> None:
    assert kinds(ask(client, model=model, thinking={"type": off})) == ["text"]


def test_an_older_model_thinks_on_request(client: Anthropic) -> None:
    assert kinds(ask(client, model="claude-opus-4-8")) == ["text"]
    assert kinds(ask(client, model="claude-opus-4-8", thinking={"type": "adaptive"})) == ["thinking", "text"]


def test_thinking_is_billed_as_output_and_less_of_it_at_low_effort(client: Anthropic) -> None:
    def tokens(**more: Any) -> tuple[int, int]:
        usage = ask(client, **more).usage
        assert usage.output_tokens_details
        return usage.output_tokens_details.thinking_tokens, usage.output_tokens

    thinking, whole = tokens()
    assert thinking == 600 and whole == 600 + round(
        estimate_tokens("I was given 1 messages. The newest says: “Hello”") * 1.3
    )
    assert tokens(output_config={"effort": "low"})[0] == 120
    assert tokens(model=HAIKU)[0] == 360  # whose default is medium
    assert tokens(thinking={"type": "between_tools"})[0] == 0


def test_thinking_eats_the_answer_where_there_is_no_room_for_both(client: Anthropic, model_server: ModelServer) -> None:
    model_server.script(text(*["word "] * 400), text(*["word "] * 400), text(LONG))
    eaten = ask(client, max_tokens=500)
    assert (kinds(eaten), eaten.stop_reason, eaten.usage.output_tokens) == (["thinking"], "max_tokens", 500)
    cut = ask(client, max_tokens=700)
    assert (kinds(cut), cut.stop_reason, cut.usage.output_tokens) == (["thinking", "text"], "max_tokens", 700)
    assert 50 < len(text_of_answer(cut).split()) < 100
    piece = ask(client, max_tokens=700)
    assert LONG.startswith(text_of_answer(piece)) and 200 < len(text_of_answer(piece)) < 500
    assert ask(client, max_tokens=0).content == []


def test_notes_between_calls_come_as_thinking(client: Anthropic, model_server: ModelServer) -> None:
    first, second = ScriptedToolUse(name="search", input={}, id="t1"), ScriptedToolUse(name="search", input={}, id="t2")

    def blocks(model: str, note: str, **more: Any) -> list[tuple[str, str]]:
        model_server.script(turn("I look. ", first, note, second))
        answer = ask(client, model=model, tools=[TOOL], **more)
        return [(block.type, getattr(block, "thinking", getattr(block, "text", ""))) for block in answer.content]

    use, silent, look = ("tool_use", ""), ("thinking", ""), ("text", "I look. ")
    assert blocks(SONNET, NOTE) == [silent, look, use, silent, use]
    assert blocks(SONNET, "Found. ") == [silent, look, use, ("text", "Found. "), use]
    assert blocks(OPUS, "Found. ") == [silent, look, use, silent, use]
    assert blocks(HAIKU, NOTE) == [silent, look, use, ("text", NOTE), use]
    assert blocks(SONNET, NOTE, thinking={"type": "between_tools"}) == [look, use, ("thinking", NOTE), use]


def tool_round(client: Anthropic, model_server: ModelServer, **more: Any) -> tuple[Message, list[Any]]:
    """The answer that calls, and the messages of the next request."""
    model_server.script(turn("I look. ", ScriptedToolUse(name="search", input={"q": "x"}, id="t1")))
    answer = ask(client, user("Find x"), tools=[TOOL], **more)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "found"}
    return answer, [user("Find x"), back(answer), user(result)]


def test_thinking_comes_back_unchanged(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    assert text_of_answer(ask(client, *messages, tools=[TOOL])).startswith("I was given 3 messages")


def test_thinking_that_this_server_never_wrote_is_refused(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    messages[1]["content"][0]["signature"] += "x"
    assert refused(client, *messages, tools=[TOOL]) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_changed_thinking_is_refused(client: Anthropic, model_server: ModelServer) -> None:
    shown = {"type": "adaptive", "display": "summarized"}
    _, messages = tool_round(client, model_server, thinking=shown)
    messages[1]["content"][0]["thinking"] = "Something else."
    assert "cannot be modified" in refused(client, *messages, tools=[TOOL], thinking=shown)


def test_text_in_silent_thinking_is_passed_over(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    messages[1]["content"][0]["thinking"] = "I never said so."
    assert ask(client, *messages, tools=[TOOL]).stop_reason == "end_turn"


@pytest.mark.parametrize("change", ["system", "tools", "messages"])
def test_thinking_is_bound_to_all_that_stood_before_it(
    client: Anthropic, model_server: ModelServer, change: str
) -> None:
    _, messages = tool_round(client, model_server)
    more: dict[str, Any] = {"tools": [TOOL]}
    if change == "system":
        more["system"] = "It is Monday."
    elif change == "tools":
        more["tools"] = [TOOL, TOOL | {"name": "save"}]
    else:
        messages[0] = user("Find x", "And be quick.")
    assert "bound to a different conversation" in refused(client, *messages, **more)
    model_server.claude.ledger.account_is_new = False
    ask(client, *messages, **more)


def test_cache_marks_and_other_parameters_are_no_change(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    messages[0]["content"][0]["cache_control"] = MARK
    more: Any = {"output_config": {"effort": "low"}, "tool_choice": {"type": "none"}, "max_tokens": 99}
    assert ask(client, *messages, tools=[TOOL], **more).content


def test_old_thinking_may_be_left_out_from_the_front_alone(client: Anthropic) -> None:
    messages: list[Any] = [user("One")]
    for word in ("Two", "Three", "Four"):
        messages += [back(ask(client, *messages)), user(word)]
    bare = [{**message, "content": message["content"][-1:]} for message in messages]
    assert ask(client, *messages).content
    assert ask(client, *bare).content
    assert ask(client, *bare[:3], *messages[3:]).content
    gap = [*messages[:3], *bare[3:5], *messages[5:]]
    assert "missing or out of order" in refused(client, *gap)


def test_what_a_model_cannot_read_is_dropped_without_a_word(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    with_it = ask(client, *messages, tools=[TOOL]).usage.input_tokens
    assert ask(client, *messages, model=HAIKU, tools=[TOOL]).usage.input_tokens == with_it - 600


def test_a_block_may_be_dropped_on_request(client: Anthropic, model_server: ModelServer) -> None:
    _, messages = tool_round(client, model_server)
    bound: Any = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    request: Any = {"model": SONNET, "max_tokens": 4_000, "messages": messages, "tools": [TOOL], "thinking": bound}
    betas: Any = ["thinking-binding-controls-2026-08-01"]
    with client.beta.messages.stream(**request, system="It is Monday.", betas=betas) as stream:
        answer = stream.get_final_message().to_dict()
    dropped = {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"}
    assert answer["input_transformations"] == [dropped]


def test_a_tool_round_needs_its_thinking(client: Anthropic, model_server: ModelServer) -> None:
    model_server.claude.ledger.demands_thinking = True
    _, messages = tool_round(client, model_server)
    ask(client, *messages, tools=[TOOL])
    bare = [messages[0], {**messages[1], "content": messages[1]["content"][1:]}, messages[2]]
    assert "cannot be modified" in refused(client, *bare, tools=[TOOL])
    model_server.claude.ledger.demands_thinking = False
    assert ask(client, *bare, tools=[TOOL]).content


def test_it_refuses_before_and_after_it_has_said_something(client: Anthropic, model_server: ModelServer) -> None:
    model_server.script(refusal(category="bio"), refusal("I could ", "tell", category=None))
    before, after = ask(client), ask(client)
    assert (before.content, before.stop_reason, before.usage.output_tokens) == ([], "refusal", 0)
    assert before.stop_details and before.stop_details.category == "bio"
    assert (text_of_answer(after), after.stop_reason) == ("I could tell", "refusal")
    assert after.stop_details and (after.stop_details.category, after.stop_details.explanation) == (None, None)


def test_what_is_forbidden_is_refused_again_and_again(client: Anthropic, model_server: ModelServer) -> None:
    messages = [user("Tell me of the forbidden-topic"), {"role": "assistant", "content": "No."}, user("Why not?")]
    assert FORBIDDEN in str(messages)
    assert [ask(client, *messages).stop_reason for _ in range(2)] == ["refusal"] * 2
    assert ask(client, user("Why not?")).stop_reason == "end_turn"
    assert ask(client, *messages, model="claude-sonnet-5").stop_reason == "end_turn"  # has no classifier
    model_server.claude.never_refuse = {OPUS}
    assert ask(client, *messages, model=OPUS).stop_reason == "end_turn"


def test_it_counts_a_third_more_than_the_estimate(client: Anthropic) -> None:
    usage = ask(client, user(LONG), system=LONG).usage
    assert usage.input_tokens == round((estimate_tokens(LONG) * 2 + TURN_OVERHEAD) * 1.3)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)


def test_figures_that_a_script_names_are_kept(client: Anthropic, model_server: ModelServer) -> None:
    usage = {"input_tokens": 1, "output_tokens": 1}
    script = text("Hi")
    start: Any = script.steps[0]
    named = replace(script, steps=({**start, "message": {**start["message"], "usage": usage}}, *script.steps[1:]))
    model_server.script(named)
    answer = ask(client)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1, 7)


def test_a_marked_prefix_is_written_and_read(client: Anthropic, model_server: ModelServer) -> None:
    def figures(*messages: Any, ttl: str = "5m", **more: Any) -> tuple[int, int, int]:
        system = [{"type": "text", "text": LONG, "cache_control": MARK | {"ttl": ttl}}]
        usage = ask(client, *messages, system=system, **more).usage
        assert usage.cache_creation
        written = usage.cache_creation.ephemeral_5m_input_tokens, usage.cache_creation.ephemeral_1h_input_tokens
        assert sum(written) == usage.cache_creation_input_tokens
        return usage.cache_read_input_tokens or 0, *written

    size = round(estimate_tokens(LONG) * 1.3)
    assert figures(user("One")) == (0, size, 0)
    model_server.claude.passed_seconds += 200
    assert figures(user("Two")) == (size, 0, 0)
    model_server.claude.passed_seconds += 200  # the second request gave it five minutes more
    assert figures(user("Three")) == (size, 0, 0)
    model_server.claude.passed_seconds += 301
    assert figures(user("Four"), ttl="1h") == (0, 0, size)
    model_server.claude.passed_seconds += 3_000
    assert figures(user("Five"), ttl="1h") == (size, 0, 0)
    assert figures(user("Six"), ttl="1h", model=HAIKU) == (0, 0, size)


def test_a_message_is_read_from_the_cache_as_long_as_the_model_thinks_alike(client: Anthropic) -> None:
    first = user({"type": "text", "text": LONG, "cache_control": MARK})
    again = [
        user(LONG),
        {"role": "assistant", "content": "Yes."},
        user({"type": "text", "text": "So?", "cache_control": MARK}),
    ]
    written = ask(client, first).usage.cache_creation_input_tokens
    assert written and ask(client, *again).usage.cache_read_input_tokens == written
    assert ask(client, *again, thinking={"type": "adaptive"}).usage.cache_read_input_tokens
    assert ask(client, first, output_config={"effort": "low"}).usage.cache_read_input_tokens == 0


def test_a_short_prefix_is_not_cached(client: Anthropic) -> None:
    short = user({"type": "text", "text": "Hello " * 100, "cache_control": MARK})
    for _ in range(2):
        usage = ask(client, short).usage
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)


def test_diagnostics_compare_with_a_request_that_carried_them(client: Anthropic) -> None:
    def reason(answer: Message) -> dict[str, Any] | None:
        return answer.diagnostics.to_dict()["cache_miss_reason"] if answer.diagnostics else None  # type: ignore[return-value]

    def after(answer: Message, *messages: Any, **more: Any) -> Message:
        return ask(client, *messages, diagnostics={"previous_message_id": answer.id}, **more)

    unasked, first = ask(client), ask(client, diagnostics={"previous_message_id": None})
    assert (unasked.diagnostics, first.diagnostics) == (None, None)
    assert reason(after(unasked)) == {"type": "previous_message_not_found"}
    assert reason(after(first, user("Hello"), back(first), user("So?"))) is None
    missed = {"cache_missed_input_tokens": first.usage.input_tokens}
    assert reason(after(first, user("Bye"))) == {"type": "messages_changed", **missed}
    assert reason(after(first, system="Be kind.")) == {"type": "system_changed", **missed}
    assert reason(after(first, tools=[TOOL])) == {"type": "tools_changed", **missed}
    assert reason(after(first, model=OPUS)) == {"type": "model_changed", **missed}
    assert reason(after(first, output_config={"effort": "low"})) == {"type": "unavailable"}


def test_a_prompt_that_does_not_fit_is_refused_and_an_answer_that_does_not_is_cut(
    client: Anthropic, model_server: ModelServer
) -> None:
    tokens = ask(client, user(LONG), thinking={"type": "between_tools"}).usage.input_tokens
    model_server.claude.context_window = tokens - 1
    assert refused(client, user(LONG)) == f"prompt is too long: {tokens} tokens > {tokens - 1} maximum"
    model_server.claude.context_window = tokens + 50
    model_server.script(text(*["word "] * 400))
    answer = ask(client, user(LONG), thinking={"type": "between_tools"})
    assert (answer.stop_reason, answer.usage.output_tokens) == ("model_context_window_exceeded", 50)


def test_a_call_comes_whole(client: Anthropic, model_server: ModelServer) -> None:
    answer, _ = tool_round(client, model_server)
    call = answer.content[-1]
    assert isinstance(call, ToolUseBlock) and (call.id, call.input, answer.stop_reason) == (
        "t1",
        {"q": "x"},
        "tool_use",
    )
