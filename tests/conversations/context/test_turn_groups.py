"""What belongs together: tool calls and their results, questions and their answers (requirements W3, W4)."""

from conversations.context.rules.windowing import whole, without_orphans
from conversations.context.turns.groups import exchanges, last_pair
from conversations.models import text_blocks
from tests.conversations.context.turns import call, result, talk, turn


def test_an_exchange_is_a_question_and_all_that_answers_it() -> None:
    turns = [
        turn(1, "assistant", 9),
        turn(2, "user", 9),
        turn(3, "user", 9),
        call(4),
        result(5),
        call(6),
        result(7),
        turn(8, "assistant", 9),
        turn(9, "assistant", 9),
        turn(10, "user", 9),
    ]
    assert [[turns[place].position for place in one] for one in exchanges(turns)] == [[1], [3, 4, 5, 6, 7, 8], [9]]
    assert last_pair(turns) == 8  # from the third turn on
    assert [last_pair([]), last_pair(turns[:4]), last_pair(turns[:5]), last_pair(talk(9, 9))] == [0, 2, 0, 2]


def test_halves_of_tool_calls_are_found() -> None:
    turns = [
        turn(1, "user", 9),
        call(2),
        turn(3, "user", 9),
        result(4, 9, "x"),
        call(5, 9, "y"),
        result(6, 9, "y"),
        result(7, 9, "y"),
        turn(8, "assistant", 9),
    ]
    found, orphans = whole(turns)
    assert [[one.position for one in part] for part in (found, orphans)] == [[1, 3, 5, 6, 8], [2, 4, 7]]


def test_results_whose_call_was_not_read_are_no_orphans_and_no_candidates() -> None:
    read = [result(5), turn(6, "assistant", 9)]
    assert whole(read) == (read[1:], [])
    assert whole([result(1), turn(2, "assistant", 9)])[1] == [result(1)]


def test_only_whole_tool_calls_are_sent_and_results_come_first() -> None:
    text, use, other = text_blocks("Looking.")[0], call(1).content[0], call(1, 9, "other").content[0]
    found, foreign = result(1).content[0], result(1, 9, "foreign").content[0]
    imported = {"type": "tool_use", "id": ["no", "text"], "name": "search", "input": {}}
    turns = [
        turn(1, "user", 9, [found, text]),
        turn(2, "assistant", 9, [text, use, other, use, imported]),
        turn(3, "user", 9, [text, found, foreign, found]),
        turn(4, "assistant", 9, [use]),
        turn(5, "assistant", 9, [found, text]),
        turn(6, "user", 9, [use, text]),
        turn(7, "user", 9, [found]),
    ]
    sent = without_orphans(turns)
    assert [(one.position, one.content) for one in sent] == [
        (1, [text]),
        (2, [text, use]),
        (3, [found, text]),
        (4, [use]),
        (5, [found, text]),
        (6, [text]),
    ]
    assert without_orphans(sent) == sent
