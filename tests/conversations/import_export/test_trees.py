"""Trees of turns: as each maker documents them, as our own documents have them, and what is refused. No database here."""

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.errors import InvalidImport
from conversations.import_export.importers import thread_of
from conversations.import_export.records import ThreadRecord
from conversations.import_export.turn_tree import StoredTurn, branch_count, continuation, placed_turns
from conversations.import_export.values import MOST_CHARS
from conversations.models import text_blocks
from tests.conversations.import_export.books import read_book
from tests.conversations.import_export.test_importers import HIDDEN, chatgpt, claude, node, wrote

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def turn(id: int, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"id": str(uuid.UUID(int=id)), "role": role, "content": f"turn {id}", **fields}


def beside(id: int, parent: int | None, **fields: Any) -> dict[str, Any]:
    return turn(id, parent=parent and str(uuid.UUID(int=parent)), **fields)


def thread(*path: dict[str, Any], branches: Any = (), **fields: Any) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": [{"messages": list(path), "branches": list(branches), **fields}]}


def read(document: Any) -> ThreadRecord:
    (record,) = read_book(document, user_id=7, now=NOW).threads
    return record


def said(record: ThreadRecord) -> list[tuple[str, int, bool]]:
    """Each turn in order: its text, the position of its parent, whether it is on the path."""
    placed = list(placed_turns(record.turns, record.branches))
    assert [each.position for each in placed] == list(range(1, len(placed) + 1))
    depths = {0: 0} | {each.position: each.depth for each in placed}
    assert all(each.parent < each.position and each.depth == depths[each.parent] + 1 for each in placed)
    return [(each.turn.content[0]["text"], each.parent, each.is_active) for each in placed]


def test_turns_beside_the_path_stand_where_they_were_said() -> None:
    branches = [
        beside(3, 2, after_position=2),
        beside(4, 3, after_position=2),
        beside(7, None, after_position=3),
        beside(6, 5, after_position=3),
    ]
    assert said(read(thread(turn(1), turn(2), turn(5), branches=branches))) == [
        ("turn 1", 0, True),
        ("turn 2", 1, True),
        ("turn 3", 2, False),
        ("turn 4", 3, False),
        ("turn 5", 2, True),
        ("turn 7", 0, False),
        ("turn 6", 5, False),
    ]


def test_without_a_place_a_turn_beside_the_path_is_older_than_its_version_there() -> None:
    assert said(read(thread(turn(1), turn(2), branches=[beside(4, 1), beside(3, None), beside(5, 2)]))) == [
        ("turn 1", 0, True),
        ("turn 4", 1, False),
        ("turn 3", 0, False),
        ("turn 2", 1, True),
        ("turn 5", 4, False),
    ]


def test_a_document_without_branches_is_a_path() -> None:
    assert said(read({"format": "openbook/1", "threads": [{"messages": [turn(1), turn(2)]}]})) == [
        ("turn 1", 0, True),
        ("turn 2", 1, True),
    ]


LONG = "x" * (MOST_CHARS + 1)


def test_what_follows_a_message_that_is_left_out_follows_the_one_before() -> None:
    path = [turn(1), turn(2, content=LONG), turn(3)]
    branches = [beside(4, 2), beside(5, 1, content=LONG), beside(6, 5), beside(7, 3)]
    record = read(thread(*path, branches=branches, summaries=[{"first": 1, "last": 2, "text": "x"}]))
    assert said(record) == [
        ("turn 1", 0, True),
        ("turn 4", 1, False),
        ("turn 6", 1, False),
        ("turn 3", 1, True),
        ("turn 7", 4, False),
    ]
    assert record.summaries == []


def test_artifacts_and_summaries_find_their_turns_in_the_tree() -> None:
    answer = {"role": "assistant"}
    document = thread(
        turn(1),
        turn(2, **answer),
        turn(3),
        branches=[beside(4, 1, **answer), beside(5, 4), beside(6, 2, after_position=3)],
        artifacts=[
            {"title": "A", "content": "", "message": str(uuid.UUID(int=4)), "after": str(uuid.UUID(int=4))},
            {"title": "B", "content": "", "message": 2},
            {"title": "C", "content": "", "after_position": 3},
            {"title": "D", "content": "", "message": str(uuid.UUID(int=4))},
        ],
        summaries=[{"first": 1, "last": 1, "text": "x"}, {"first": 2, "last": 3, "text": "y"}],
        title_through=99,
    )
    record = read(document)
    assert [one[0] for one in said(record)] == [f"turn {number}" for number in (1, 4, 5, 2, 3, 6)]
    assert [artifact.after_position for artifact in record.artifacts] == [2, 4, 5, 2]
    assert [(part.first_position, part.last_position) for part in record.summaries] == [(1, 1), (4, 5)]
    assert record.title_through == 6


UNKNOWN = (
    "`threads[0].branches[{}].parent` must be the `id` of one of the `messages` of this thread, or of one of its `branches` "
    "that stands before it; leave it out for another first message."
)


@pytest.mark.parametrize(
    ("branches", "problem"),
    [
        ([beside(3, 9)], UNKNOWN.format(0)),
        ([beside(3, 3)], UNKNOWN.format(0)),
        ([beside(3, 4), beside(4, 3)], UNKNOWN.format(0)),  # a circle
        ([beside(3, 1), beside(3, 1)], "`threads[0].branches[1].id` stands twice in the document"),
        ([beside(1, None)], "`threads[0].branches[0].id` stands twice in the document"),
        ([beside(3, 2, after_position=1)], "`threads[0].branches[0].after_position` must be at least 2"),
        (
            [beside(3, 2, after_position=2), beside(4, 1, after_position=1)],
            "`threads[0].branches[1].after_position` must be at least 2: `branches` stand in the order in which",
        ),
        ([beside(3, 1, after_position=-1)], "`threads[0].branches[0].after_position` must be a number"),
        ([beside(3, 1, content="")], "`threads[0].branches[0].content` is empty."),
        ({"3": 1}, "`threads[0].branches` must be a list."),
        ([{"parent": "x"} | turn(3)], "`threads[0].branches[0].parent` must be a UUID"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_place(branches: Any, problem: str) -> None:
    document = thread(turn(1), turn(2))
    document["threads"][0]["branches"] = branches
    with pytest.raises(InvalidImport) as refusal:
        read(document)
    assert problem in refusal.value.message


def test_a_parent_is_of_the_same_thread() -> None:
    document = thread(turn(1))
    document["threads"] += thread(turn(2), branches=[beside(3, 1)])["threads"]
    with pytest.raises(InvalidImport, match=r"threads\[1\].branches\[0\].parent"):
        read_book(document, user_id=7, now=NOW)


trees = st.lists(st.integers(min_value=0, max_value=50), min_size=1, max_size=25)
"""Of each element the number of the one that it follows, cut down to those before it; 0 is the beginning."""


def parents_of(choices: list[int]) -> dict[int, int]:
    return {number: choice % number for number, choice in enumerate(choices, 1)}


def way(parents: dict[int, int], end: int) -> list[int]:
    found = []
    while end:
        found.append(end)
        end = parents[end]
    return found[::-1]


def of_chatgpt(parents: dict[int, int], end: int) -> dict[str, Any]:
    """As it documents a tree: each node with its parent and its children, and between any two one that nobody sees."""
    nodes: list[tuple[str, Any]] = [node("system", "root", "system", "", weight=0.0, **HIDDEN)]
    for number, parent in parents.items():
        role = ("assistant", "user")[len(way(parents, number)) % 2]
        nodes.append(node(f"h{number}", str(parent) if parent else "system", "system", "", **HIDDEN))
        nodes.append(node(str(number), f"h{number}", role, f"said {number}", minute=number))
    conversation = chatgpt(*nodes, current=str(end))
    for name, each in conversation["mapping"].items():
        if each["parent"]:
            conversation["mapping"][each["parent"]]["children"].append(name)
    return conversation


def of_claude(parents: dict[int, int], end: int) -> dict[str, Any]:
    """As it documents a tree: one list, each with its parent, the first of all with a fixed one; and the current leaf."""
    messages = [
        wrote(number, ("assistant", "human")[len(way(parents, number)) % 2], f"said {number}", parent=parent)
        | {"created_at": "2026-03-01T09:00:00Z"}
        for number, parent in parents.items()
    ]
    return claude(*messages, current_leaf_message_uuid=str(uuid.UUID(int=end)))


@given(trees, st.data())
def test_a_tree_of_another_maker_comes_whole_and_its_current_end_is_that_of_the_path(
    choices: list[int], data: st.DataObject
) -> None:
    parents = parents_of(choices)
    leaves = sorted(parents.keys() - set(parents.values()))
    end = data.draw(st.sampled_from(leaves))
    for maker in (of_chatgpt, of_claude):
        record = read([maker(parents, end)])
        placed = list(placed_turns(record.turns, record.branches))
        numbers = {0: 0} | {each.position: int(each.turn.content[0]["text"].split()[1]) for each in placed}
        came = {numbers[each.position]: numbers[each.parent] for each in placed}
        assert came == parents
        assert [numbers[each.position] for each in placed if each.is_active] == way(parents, end)
        assert branch_count(placed) == len(leaves) - 1
        assert [numbers[each.position] for each in placed] == sorted(parents), "versions in the order they were made"


def test_an_answer_of_several_messages_is_divided_where_it_was_made_again() -> None:
    conversation = chatgpt(
        node("asked", "root", "user", "asked", minute=0),
        node("looks", "asked", "assistant", "looks", minute=1),
        node("finds", "looks", "assistant", "finds", minute=2),
        node("ends", "finds", "assistant", "ends", minute=3),
        node("ends again", "finds", "assistant", "ends again", minute=4),
        node("thanks", "ends again", "user", "thanks", minute=5),
        current="ends",
    )
    assert said(read([conversation])) == [
        ("asked", 0, True),
        ("looks\n\nfinds", 1, True),
        ("ends", 2, True),
        ("ends again", 2, False),
        ("thanks", 4, False),
    ]


def test_a_first_message_that_was_edited_is_another_first_one() -> None:
    first, second = wrote(1, "human", "1"), wrote(3, "human", "3")
    answers = [wrote(2, "assistant", "2", parent=1), wrote(4, "assistant", "4", parent=3)]
    conversation = claude(first, answers[0], second, answers[1])
    assert said(read([conversation])) == [("1", 0, False), ("2", 1, False), ("3", 0, True), ("4", 3, True)]


@given(trees, st.integers(min_value=0, max_value=40), st.data())
def test_a_newer_tree_adds_what_is_new_and_loses_nothing(choices: list[int], older: int, data: st.DataObject) -> None:
    """Of the tree that is there, the one here is a part; then the document's path is followed."""
    parents = parents_of(choices)
    count = min(older, len(parents))
    end = data.draw(st.sampled_from(list(parents)))
    here_end = data.draw(st.sampled_from(list(parents)[:count])) if count else 0
    record = read([of_chatgpt(parents, end)])
    placed = list(placed_turns(record.turns, record.branches))
    path = set(way(parents, here_end))
    here = [
        StoredTurn(each.turn.id, None, each.position, each.depth, 0, each.position in path)
        for each in placed
        if each.position <= count
    ]
    brought = continuation(placed, here, last=count, known={})
    assert {each.position: each.parent for each in brought.new} == {
        number: parent for number, parent in parents.items() if number > count
    }
    follows = end > count
    assert [each.position for each in brought.new if each.is_active] == (
        [number for number in way(parents, end) if number > count] if follows else []
    )
    known = [number for number in way(parents, end) if number <= count]
    assert brought.goes_on == (follows and known == way(parents, here_end))


def test_a_conversation_without_a_current_message_ends_with_its_newest() -> None:
    conversation = of_chatgpt({1: 0, 2: 1, 3: 1}, 2) | {"current_node": None}
    assert json.dumps(thread_of(conversation, "[0]"))
    record = read([conversation])
    assert [turn.content for turn in record.turns] == [text_blocks("said 1"), text_blocks("said 3")]


def test_where_no_id_is_known_a_turn_is_known_by_what_was_said_after_what() -> None:
    texts = ("Yes?", "Go on.", "Yes?")
    here = [StoredTurn(uuid.uuid4(), None, number, number, 0, True) for number in (1, 2)]
    said = {(number - 1, "user", text): number for number, text in enumerate(texts[:2], 1)}
    record = read({"format": "openbook/1", "threads": [{"messages": [{"role": "user", "content": t} for t in texts]}]})
    brought = continuation(placed_turns(record.turns), here, last=2, known=said)
    assert [(each.position, each.parent, each.depth) for each in brought.new] == [(3, 2, 3)]
    assert brought.goes_on
