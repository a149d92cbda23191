"""What checks make of texts, and what comes of it: the pure part."""

from typing import Any

import pytest

from conversations.models import Moderator, Stage
from conversations.moderation import patterns
from conversations.moderation.checks import CheckFailed, parse_answer
from conversations.moderation.examined import text_of_blocks
from conversations.moderation.verdicts import Opinion, Result, failed_verdict, holds_back, verdict_of
from conversations.providers.openai import flagged_categories
from conversations.providers.signatures import signature_headers

LIST = "# names of projects\nproject (falcon|osprey)\n\nstra(ß|ss)e\n"


def moderator(**values: object) -> Moderator:
    return Moderator(**{"name": "Rules", "kind": Moderator.Kind.PATTERNS, "action": "refuse", **values})


def test_a_list_names_the_lines_that_match_and_never_what_they_matched() -> None:
    assert patterns.opinion_of(LIST, "About PROJECT Osprey in the STRASSE").labels == ("line 2", "line 4")
    assert not patterns.opinion_of(LIST, "About birds").has_seen_something
    for text, line in (("a\n(", 2), ("x*", 1), ("a(?=b)", 1)):
        with pytest.raises(patterns.InvalidPattern) as refused:
            patterns.compiled(text)
        assert refused.value.line == line


def test_a_pattern_takes_time_in_proportion_whatever_it_repeats() -> None:
    """What keeps a backtracking engine busy for ever: it would not end within the test's time."""
    assert not patterns.opinion_of("(a+)+$\n(.*,)*b", "a" * 100_000 + "!").has_seen_something


def test_a_check_refuses_only_where_its_row_lets_it() -> None:
    seen, mild = Opinion(labels=("line 2",)), Opinion(labels=("spam",), refuses=False)
    for row, opinion, result in (
        (moderator(), Opinion(), Result.ALLOWED),
        (moderator(), seen, Result.REFUSED),
        (moderator(action="mark"), seen, Result.MARKED),
        (moderator(), mild, Result.MARKED),
    ):
        assert verdict_of(row, Stage.MESSAGE, opinion, milliseconds=1).result is result
    own = verdict_of(moderator(words="Not here."), Stage.REPLY, seen, milliseconds=1)
    assert (own.words, own.stops) == ("Not here.", True)
    assert verdict_of(moderator(), Stage.REPLY, seen, milliseconds=1).words.startswith("The answer is not shown")


def test_a_check_that_fails_follows_its_row() -> None:
    is_open, closed = (
        failed_verdict(moderator(when_failing=how), "Gone.", milliseconds=1) for how in ("open", "closed")
    )
    assert (is_open.stops, is_open.words) == (False, "")
    assert closed.stops
    assert "Your message is saved" in closed.words


def test_replies_are_held_back_only_where_they_may_be_stopped() -> None:
    of_replies = {"examines_replies": True}
    assert not holds_back([moderator(), moderator(**of_replies, action="mark")])
    assert holds_back([moderator(**of_replies)])
    assert holds_back([moderator(**of_replies, action="mark", when_failing="closed")])


def test_whatever_a_model_wrote_is_examined() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "I think"},
        {"type": "text", "text": "Words"},
        {"type": "tool_use", "id": "1", "name": "save", "input": {"title": "T", "rows": [["a", 1], {"b": "c"}]}},
        {"type": "tool_result", "tool_use_id": "1", "content": "not the model's"},
    ]
    assert text_of_blocks(blocks) == "I think\n\nWords\n\nT\n\na\n\nc"


@pytest.mark.parametrize(
    ("answer", "opinion"),
    [
        (b'{"action": "allow", "labels": ["x"]}', Opinion()),
        (b'{"action": "mark", "labels": ["spam"]}', Opinion(labels=("spam",), refuses=False)),
        (b'{"action": "refuse", "message": "No."}', Opinion(labels=("refuse",), words="No.")),
        (b'{"action": "refuse", "labels": ["\xc3\xa4 what was said"]}', Opinion(labels=("unnamed",))),
    ],
)
def test_what_a_service_answers(answer: bytes, opinion: Opinion) -> None:
    assert parse_answer(answer) == opinion


@pytest.mark.parametrize(
    "answer", [b"", b"[]", b'{"action": "maybe"}', b'{"action": "mark", "labels": "all"}', b"[" * 9999]
)
def test_a_service_that_answers_otherwise_has_failed(answer: bytes) -> None:
    with pytest.raises(CheckFailed):
        parse_answer(answer)


def test_a_moderation_model_names_its_categories() -> None:
    said = {"results": [{"flagged": True, "categories": {"violence": True, "hate": False}}]}
    assert flagged_categories(said) == ["violence"]
    assert flagged_categories({"results": [{"flagged": False, "categories": {"violence": True}}]}) == []
    with pytest.raises(ValueError, match="moderation"):
        flagged_categories({"results": []})


def test_a_request_is_signed_where_there_is_a_secret() -> None:
    assert signature_headers(b"{}", "", now=5) == {}
    assert signature_headers(b"{}", "secret", now=5) == {
        "X-Openbook-Time": "5",
        "X-Openbook-Signature": "sha256=f18d2fcd9a24151471e3e2d71bc7ce901fb7b89b341918a08f95e9ffc497ea26",
    }
