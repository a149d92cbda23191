import logging
from typing import Any

import pytest

from conversations.providers.claude_cli import prompt


def turn(role: str, *blocks: str | dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


USE = {"type": "tool_use", "id": "t1", "name": "save_artifact", "input": {"title": "Secret"}}
SEARCH = {"type": "tool_use", "id": "t1", "name": "search_messages", "input": {"query": "secret"}}
THINKING = {"type": "thinking", "thinking": "secret", "signature": "secret"}
REDACTED = {"type": "redacted_thinking", "data": "secret"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "secret"}
DOCUMENT = {"type": "document", "title": "plan.pdf", "source": {"type": "text", "data": "secret"}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], ""),
        ([{"role": "user", "content": "Hi"}], "Human: Hi"),
        ([turn("user", " Hi\n")], "Human:  Hi\n"),
        ([turn("user", "One", "Two")], "Human: One\n\nTwo"),
        (
            [turn("user", "Who?"), turn("assistant", "He."), turn("user", "Why?")],
            "Human: Who?\n\n---\n\nAssistant: He.\n\n---\n\nHuman: Why?",
        ),
        ([turn("assistant", "I make it.", USE)], "Assistant: I make it.\n\n[performed an action]"),
        ([turn("assistant", "I look.", SEARCH)], "Assistant: I look.\n\n[searched documents]"),
        ([turn("user", "Read", DOCUMENT)], "Human: Read\n\n[referenced: plan.pdf]"),
        ([turn("user", {**RESULT, "content": [DOCUMENT, {"type": "text", "text": "secret"}]})],
         "Human: [referenced: plan.pdf]"),
        ([turn("user", {"type": "document", "source": {"filename": "a.txt"}})], "Human: [referenced: a.txt]"),
        ([turn("user", {"type": "document"})], "Human: [referenced: document]"),
        ([turn("user", "See", {"type": "image", "source": {}})], "Human: See\n\n[image]"),
        ([turn("assistant", THINKING, REDACTED, "Yes")], "Assistant: Yes"),
        ([turn("user", "A"), turn("assistant", THINKING, REDACTED), turn("user", "B")], "Human: A\n\n---\n\nHuman: B"),
        (
            [turn("user", "A"), turn("assistant", USE), turn("user", RESULT), turn("assistant", "Done")],
            "Human: A\n\n---\n\nAssistant: Done",
        ),
        (
            [
                *(turn("user", "A"), turn("assistant", THINKING, " ", SEARCH, USE), turn("user", RESULT, RESULT)),
                *(turn("assistant", "I look.", SEARCH), turn("user", RESULT)),
                *(turn("assistant", USE), turn("user", RESULT)),
                *(turn("assistant", "I make it.", USE), turn("user", RESULT), turn("assistant", "Done")),
            ],
            "Human: A\n\n---\n\n"
            "Assistant: I look.\n\n[searched documents]\n\nI make it.\n\n[performed an action]\n\nDone",
        ),
        (
            [turn("user", "A"), turn("assistant", "I make it.", USE), turn("user", RESULT, "B"), turn("assistant", "C")],
            "Human: A\n\n---\n\nAssistant: I make it.\n\n[performed an action]\n\n---\n\nHuman: B\n\n---\n\n"
            "Assistant: C",
        ),
        ([turn("system", "secret"), turn("narrator", "secret"), turn("user", "Hi")], "Human: Hi"),
        ([turn("user", " \n"), turn("assistant"), turn("user", RESULT), turn("user", "Hi")], "Human: Hi"),
    ],
)  # fmt: skip
def test_a_conversation_becomes_one_text(messages: list[dict[str, Any]], expected: str) -> None:
    assert prompt(messages) == expected


@pytest.mark.parametrize(
    ("roles", "warnings"), [(["user", "assistant", "user"], []), (["user", "user", "assistant", "assistant"], [2])]
)
def test_turns_of_one_role_in_a_row_are_sent_with_a_warning(
    roles: list[str], warnings: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "openbook.providers"):
        text = prompt([turn(role, "x") for role in roles])
    assert text.count("x") == len(roles)
    assert [record.__dict__["turns"] for record in caplog.records] == warnings


def test_the_rounds_of_one_reply_are_no_turns_of_one_role_in_a_row(caplog: pytest.LogCaptureFixture) -> None:
    rounds = [turn("assistant", "I look.", SEARCH), turn("user", RESULT)]
    with caplog.at_level(logging.WARNING, "openbook.providers"):
        assert prompt([turn("user", "A"), *rounds, *rounds, turn("assistant", "Done")]).count("Assistant:") == 1
    assert not caplog.records
