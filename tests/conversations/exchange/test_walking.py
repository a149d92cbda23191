"""A text read value by value is the text read whole, wherever it is cut, and never in memory as a whole."""

import io
import json
from typing import Any, TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.errors import InvalidImport
from conversations.exchange import walking
from conversations.exchange.walking import walk

inner = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=8,
)
tops = st.lists(inner, max_size=4) | st.dictionaries(
    st.text(max_size=4), st.lists(inner, max_size=4) | inner, max_size=4
)


class Cut(io.StringIO):
    """A file that gives no more than a few characters at once."""

    size = 1

    def read(self, size: int | None = -1, /) -> str:
        return super().read(self.size)


def whole(file: TextIO) -> Any:
    """What was walked through, put together again."""
    lists: dict[str | None, Any] = {}
    for name, index, value in walk(file):
        if index is None:
            lists[name] = value
        else:
            assert len(lists[name]) == index
            lists[name].append(value)
    return lists.get(None, lists)


@given(tops | inner, st.integers(1, 20), st.sampled_from([None, 2]))
def test_a_document_is_the_same_wherever_it_is_cut(value: Any, size: int, indent: int | None) -> None:
    file = Cut(json.dumps(value, indent=indent))
    file.size = size
    assert whole(file) == value


@given(tops, st.data())
def test_a_document_that_ends_too_early_is_refused(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    with pytest.raises(InvalidImport):
        whole(io.StringIO(text[: data.draw(st.integers(0, len(text) - 1))]))


@pytest.mark.parametrize(
    "text", ["{'a': 1}", '{"a" 1}', "[1 2]", "[1,]", "[] []", "[NaN]", "[-Infinity]", '["\n"]', "{1: 2}"]
)
def test_what_is_nearly_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InvalidImport, match=r"^The document is no valid JSON: .*, at character [1-9]\.$"):
        whole(io.StringIO(text))


def test_a_mistake_is_found_where_it_stands_and_no_further_is_read() -> None:
    file = io.StringIO('{"threads": [' + '{"a": "' + "x" * walking.CHUNK + '" oops},' + "{}," * 10 * walking.CHUNK)
    with pytest.raises(InvalidImport, match=f"at character {13 + 7 + walking.CHUNK + 3:,}"):
        whole(file)
    assert file.tell() <= 4 * walking.CHUNK


def test_of_a_long_list_no_more_is_read_than_its_next_element_needs() -> None:
    file = io.StringIO("[" + ", ".join(['{"a": 1}'] * walking.CHUNK) + "]")
    for _, index, _ in walk(file):
        assert index is None or file.tell() <= 10 * (index + 1) + 2 * walking.CHUNK
