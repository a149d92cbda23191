"""A text read value by value is the text read whole, wherever it is cut, and never in memory as a whole."""

import io
import json
from contextlib import closing
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.errors import InvalidImport
from conversations.import_export import json_stream
from conversations.import_export.disk_lists import FEW, Scratch, Spool
from conversations.import_export.json_stream import PASSED, Shape, Text, walk

inner = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(max_size=4), values, max_size=3),
    max_leaves=8,
)
tops = st.lists(inner, max_size=4) | st.dictionaries(
    st.text(max_size=4), st.lists(inner, max_size=4) | inner, max_size=4
)


class AnyName(dict[str, Shape]):
    """Every name, with a list or any other value."""

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Shape:
        return [None]


class ChunkedFile(io.BytesIO):
    """A file that gives no more than a few bytes at once."""

    size = 1

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.size)


def in_chunks(value: Any, size: int, **options: Any) -> ChunkedFile:
    file = ChunkedFile(json.dumps(value, **options).encode("utf-8", "surrogatepass"))
    file.size = size
    return file


def whole(file: IO[bytes]) -> Any:
    """What was walked through, put together again."""
    lists: dict[str | None, Any] = {}
    for name, index, value in walk(file, Scratch(), AnyName()):
        if index is None:
            lists[name] = value
        else:
            assert len(lists[name]) == index
            lists[name].append(value)
    return lists.get(None, lists)


@given(tops | inner, st.integers(1, 20), st.sampled_from([None, 2]), st.booleans())
def test_a_document_is_the_same_wherever_it_is_cut(value: Any, size: int, indent: int | None, escaped: bool) -> None:
    assert whole(in_chunks(value, size, indent=indent, ensure_ascii=escaped)) == value


@given(inner, inner, st.integers(1, 20))
def test_what_is_passed_over_leaves_no_trace(value: Any, other: Any, size: int) -> None:
    file = in_chunks({"a": value, "b": other, "c": [value, other], "d": value}, size)
    kept = [(found.name, found.value) for found in walk(file, Scratch(), {"b": None, "c": PASSED, "d": None})]
    assert kept == [("b", other), ("d", value)]
    assert [found.value for found in walk(in_chunks([value, other], size), Scratch(), {}, makes_elements=False)] == [
        [],
        None,
        None,
    ]


@given(st.lists(st.fixed_dictionaries({"kept": inner, "list": st.lists(inner, max_size=3), "other": inner})))
def test_a_shape_names_what_is_read(values: list[dict[str, Any]]) -> None:
    shape: Shape = [{"kept": None, "list": [None]}]
    read = Text(in_chunks(values, 7), Scratch()).read(shape)
    assert read == [{"kept": value["kept"], "list": value["list"]} for value in values]


def test_a_long_list_lies_in_a_file_with_the_lists_in_it() -> None:
    values = [{"list": [f"{number} " * 9] * (FEW + 1 if number == FEW + 2 else 2)} for number in range(FEW + 5)]
    with closing(Scratch()) as scratch:
        read = Text(in_chunks(values, 10_000), scratch).read([{"list": [None]}])
        assert isinstance(read, Spool)
        assert [{"list": list(each["list"])} for each in read] == values
        assert (isinstance(read[FEW + 2]["list"], Spool), read[-1], len(read)) == (True, values[-1], len(values))


@given(tops, st.data())
def test_a_document_that_ends_too_early_is_refused(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    with pytest.raises(InvalidImport):
        whole(io.BytesIO(text[: data.draw(st.integers(0, len(text) - 1))]))


@pytest.mark.parametrize(
    "text",
    ["{'a': 1}", '{"a" 1}', "[1 2]", "[1,]", "[] []", "[NaN]", "[-Infinity]", '["\n"]', "{1: 2}", "[1}", '{"a": [1}}'],
)
def test_what_is_nearly_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(InvalidImport, match=r"^The document is no valid JSON: .*, at character \d+\.$"):
        whole(io.BytesIO(text.encode()))


def test_a_mistake_is_found_where_it_stands_and_no_further_is_read() -> None:
    text = '{"threads": [' + '{"a": "' + "é" * json_stream.CHUNK + '" oops},' + "{}," * 10 * json_stream.CHUNK
    file = io.BytesIO(text.encode())
    with pytest.raises(InvalidImport, match=f"at character {13 + 7 + json_stream.CHUNK + 3:,}"):
        whole(file)
    assert file.tell() <= 6 * json_stream.CHUNK


@pytest.mark.wide
@pytest.mark.long
def test_of_a_long_list_no_more_is_read_than_its_next_element_needs() -> None:
    file = io.BytesIO(b"[" + b", ".join([b'{"a": 1}'] * json_stream.CHUNK) + b"]")
    for _, index, _ in walk(file, Scratch(), {}):
        assert index is None or file.tell() <= 10 * (index + 1) + 2 * json_stream.CHUNK


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"b": ' + b"[" * 201 + b"]" * 201 + b"}", "nested more than 200 levels"),
        (b'{"b": [' + b"[]," * 200_000 + b"[]]}", "holds more than 50,000 values"),
        (b'{"b": {' + b'"a":0,' * 400_000 + b'"a":0}}', "holds more than 50,000 values"),
        (b'{"other": [' + b"[]," * 1_500_000 + b"[]]}", "holds more than 1,000,000 values"),
        (b'{"other": ' + b"[" * 201 + b"]" * 201 + b"}", "nested more than 200 levels"),
        (b'{"b": "' + b"x" * 15_000_000 + b'"}', "a part of it is too long"),
        (b'{"b": "' + "🍵".encode() + b"x" * 6_000_000 + b'"}', "a part of it is too long"),
        (b'{"b": ' + b"1" * 5_000 + b"}", "a number is too long"),
    ],
)
def test_what_would_take_much_memory_is_refused_before_it_is_made(text: bytes, problem: str) -> None:
    with pytest.raises(InvalidImport, match=problem):
        list(walk(io.BytesIO(text), Scratch(), {"b": None}))


def test_a_message_of_a_million_characters_is_read_however_it_is_written() -> None:
    for escaped in (True, False):
        text = json.dumps({"b": "🍵" * 1_000_000}, ensure_ascii=escaped).encode()
        (found,) = walk(io.BytesIO(text), Scratch(), {"b": None})
        assert found.value == "🍵" * 1_000_000
